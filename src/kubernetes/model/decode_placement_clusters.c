/*
 * Decodes a Placement's choice of clusters: predicates, and decision groups, which divide the
 * selected clusters.
 */
#include "base/json_fields.h"
#include "model/decode_placement.h"
#include "model/injected.h"

/* ---- selectors ---- */

static const struct placement_selector everything = {.labels = {.present = true},
                                                     .claims = {.present = true}};

static void labels_selector_read(struct json_reader *r, void *into) {
    struct label_selector *s = into;
    *s = label_selector_decode(r);
    s->present = true;
}

static void claim_expressions_read(struct json_reader *r, void *into) {
    struct label_selector *s = into;
    s->expressions = label_expressions_decode(r, &s->expression_count);
}

static const struct json_field claims_fields[] = {
    JSON_CALL_WHOLE("matchExpressions", claim_expressions_read),
};

static void claims_read(struct json_reader *r, void *into) {
    *(struct label_selector *)into = everything.claims;
    json_fields(r, &JSON_ROWS(claims_fields), into);
}

#define SELECTOR_FIELDS(type, selector)                                                            \
    JSON_CALL("labelSelector", type, selector.labels, labels_selector_read),                       \
        JSON_CALL("claimSelector", type, selector.claims, claims_read)

/* ---- predicates ---- */

static void cel_expressions_read(struct json_reader *r, void *into) {
    struct placement_predicate *p = into;
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

static const struct json_field cel_fields[] = {
    JSON_CALL_WHOLE("celExpressions", cel_expressions_read),
};
static const struct json_field required_fields[] = {
    SELECTOR_FIELDS(struct placement_predicate, selector),
    JSON_WITHIN("celSelector", cel_fields),
};
static const struct json_field predicate_fields[] = {
    JSON_WITHIN("requiredClusterSelector", required_fields),
};

static void predicate_read(struct json_reader *r, void *into) {
    ((struct placement_predicate *)into)->selector = everything;
    json_fields(r, &JSON_ROWS(predicate_fields), into);
}

const struct placement_predicate *placement_predicates_decode(struct json_reader *r,
                                                              uint32_t *ret_count) {
    return json_array_of(r, sizeof(struct placement_predicate), UINT32_MAX, predicate_read,
                         ret_count);
}

/* ---- groups ---- */

/* A decision group, while it is read. */
struct read_group {
    struct placement_group group;
    bool selects;
};

static const struct json_field group_selector_fields[] = {
    SELECTOR_FIELDS(struct read_group, group.selector),
};
static const struct json_field group_fields[] = {
    JSON_TEXT("groupName", struct read_group, group.name),
    JSON_WITHIN_GIVEN("groupClusterSelector", group_selector_fields, struct read_group, selects),
};

static void group_read(struct json_reader *r, void *into) {
    struct read_group read = {.group.selector = everything};
    json_fields(r, &JSON_ROWS(group_fields), &read);
    *(struct placement_group *)into = read.group;
    if (str_empty(read.group.name))
        json_fail(r, "groupName is required");
    if (!read.selects)
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

static void group_length_read(struct json_reader *r, void *into) {
    struct placement_group_length *ret = into;
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

static const struct json_field group_strategy_fields[] = {
    JSON_CALL("clustersPerDecisionGroup", struct placement, group_length, group_length_read),
    JSON_LIST_BY("decisionGroups", struct placement, groups, group_count, UINT32_MAX, group_read),
};
static const struct json_field strategy_fields[] = {
    JSON_WITHIN("groupStrategy", group_strategy_fields),
};

void placement_strategy_decode(struct json_reader *r, struct placement *p) {
    json_fields(r, &JSON_ROWS(strategy_fields), p);
}
