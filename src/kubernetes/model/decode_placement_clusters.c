/*
 * Decodes a Placement's choice of clusters: predicates, and decision groups, which divide the
 * selected clusters.
 */
#include "base/json_fields.h"
#include "model/decode_placement.h"
#include "model/injected.h"

/* ---- selectors ---- */

static struct label_selector claims_decode(struct json_reader *r) {
    struct label_selector s = {.present = true};
    struct str key;
    if (!json_object(r))
        return s;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("matchExpressions")))
            s.expressions = label_expressions_decode(r, &s.expression_count);
    }
    return s;
}

/* Reads labelSelector or claimSelector. Returns false if `key` is neither. */
static bool selector_member(struct json_reader *r, struct str key, struct placement_selector *s) {
    if (str_eq(key, STR("labelSelector"))) {
        s->labels = label_selector_decode(r);
        s->labels.present = true;
    } else if (str_eq(key, STR("claimSelector"))) {
        s->claims = claims_decode(r);
    } else {
        return false;
    }
    return true;
}

/* ---- predicates ---- */

static const struct placement_selector everything = {.labels = {.present = true},
                                                     .claims = {.present = true}};

static void cel_expressions_decode(struct json_reader *r, struct placement_predicate *p) {
    struct injected_key key;
    p->has_cel = p->is_gated = false;
    if (!json_array(r))
        return;
    while (json_element(r)) {
        const bool is_text = json_peek(r) == JSON_STRING;
        const bool is_gate = is_text && gate_read(json_string(r), &key);
        p->is_gated = p->is_gated || is_gate;
        p->gate = is_gate ? key : p->gate;
        p->has_cel = p->has_cel || !is_gate;
    }
}

static void cel_decode(struct json_reader *r, struct placement_predicate *p) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("celExpressions")))
            cel_expressions_decode(r, p);
    }
}

static void required_selector_decode(struct json_reader *r, struct placement_predicate *p) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("celSelector")))
            cel_decode(r, p);
        else if (!selector_member(r, key, &p->selector))
            (void)json_skip(r); /* we need no other member; errors stay in r */
    }
}

static void predicate_decode(struct json_reader *r, void *into) {
    struct placement_predicate *p = into;
    struct str key;
    p->selector = everything;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("requiredClusterSelector")))
            required_selector_decode(r, p);
    }
}

const struct placement_predicate *placement_predicates_decode(struct json_reader *r,
                                                              uint32_t *ret_count) {
    return json_array_of(r, sizeof(struct placement_predicate), UINT32_MAX, predicate_decode,
                         ret_count);
}

/* ---- groups ---- */

static void group_selector_decode(struct json_reader *r, struct placement_group *g) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (!selector_member(r, key, &g->selector))
            (void)json_skip(r); /* we need no other member; errors stay in r */
}

static void group_decode(struct json_reader *r, void *into) {
    struct placement_group *g = into;
    struct str key;
    bool selects = false;
    g->selector = everything;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("groupName"))) {
                g->name = json_string(r);
            } else if (str_eq(key, STR("groupClusterSelector"))) {
                selects = json_peek(r) == JSON_OBJECT;
                group_selector_decode(r, g);
            }
        }
    if (str_empty(g->name))
        json_fail(r, "groupName is required");
    if (!selects)
        json_fail(r, "groupClusterSelector is required");
}

/* Upstream's pattern: a number above 0, or 1% to 100%. */
static bool group_length_valid(struct str text) {
    int64_t number;
    const bool percent = str_has_suffix(text, STR("%"));
    const struct str digits = {text.p, text.n - percent};
    if (str_empty(digits) || digits.p[0] < '1' || digits.p[0] > '9')
        return false;
    for (size_t i = 0; i < digits.n; i++)
        if (digits.p[i] < '0' || digits.p[i] > '9')
            return false;
    return !percent || (str_to_i64(digits, &number) && number <= 100);
}

static void group_length_decode(struct json_reader *r, struct placement_group_length *ret) {
    if (json_null(r))
        return;
    if (json_peek(r) == JSON_NUMBER) {
        *ret = (struct placement_group_length){.number =
                                                   (int32_t)json_integer(r, INT32_MIN, INT32_MAX)};
        return;
    }
    *ret = (struct placement_group_length){.is_text = true, .text = json_string(r)};
    if (!group_length_valid(ret->text))
        json_fail(r, "'%.*s' is neither a number nor a percentage from 1%% to 100%%",
                  STR_ARG(ret->text));
}

static void group_strategy_decode(struct json_reader *r, struct placement *p) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("clustersPerDecisionGroup")))
            group_length_decode(r, &p->group_length);
        else if (str_eq(key, STR("decisionGroups")))
            p->groups =
                json_array_of(r, sizeof *p->groups, UINT32_MAX, group_decode, &p->group_count);
    }
}

void placement_strategy_decode(struct json_reader *r, struct placement *p) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("groupStrategy")))
            group_strategy_decode(r, p);
    }
}
