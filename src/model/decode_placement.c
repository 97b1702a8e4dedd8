#include "model/decode_placement.h"

#include "model/fields.h"
#include "model/names.h"

#define V1ALPHA1 OCM_GROUP "/v1alpha1"

/* ---- spread policy ---- */

static void key_type_decode(struct json_reader *r, struct placement_term *t) {
    static const char *const types[] = {"Label", "Claim"};
    enum { TYPES = sizeof types / sizeof types[0], CLAIM = 1 };
    t->is_claim = json_word(r, types, TYPES, TYPES) == CLAIM;
}

static void when_decode(struct json_reader *r, struct placement_term *t) {
    static const char *const words[] = {"ScheduleAnyway", "DoNotSchedule"};
    enum { WORDS = sizeof words / sizeof words[0], HARD = 1 };
    t->hard = json_word(r, words, WORDS, WORDS) == HARD;
}

static void term_decode(struct json_reader *r, struct placement_term *t, bool of_question) {
    bool typed = false;
    struct str key;
    t->max_skew = 1;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("topologyKey"))) {
                t->key = json_string(r);
            } else if (str_eq(key, STR("topologyKeyType"))) {
                typed = json_peek(r) != JSON_NULL;
                key_type_decode(r, t);
            } else if (str_eq(key, STR("maxSkew")))
                t->max_skew = json_null(r) ? 1 : (int32_t)json_integer(r, 1, INT32_MAX);
            else if (str_eq(key, STR("whenUnsatisfiable")))
                when_decode(r, t);
            else if (of_question && str_eq(key, STR("minDomains")))
                t->min_domains = (int32_t)json_integer(r, 0, INT32_MAX);
        }
    if (str_empty(t->key))
        json_fail(r, "topologyKey is required");
    if (!typed && !of_question)
        json_fail(r, "topologyKeyType is required: Label or Claim");
}

static void own_term_decode(struct json_reader *r, void *into) {
    term_decode(r, into, false);
}

static void any_term_decode(struct json_reader *r, void *into) {
    term_decode(r, into, true);
}

const struct placement_term *placement_terms_decode(struct json_reader *r, bool of_question,
                                                    uint32_t *ret_count) {
    return json_array_of(r, sizeof(struct placement_term), PLACEMENT_TERMS,
                         of_question ? any_term_decode : own_term_decode, ret_count);
}

static void spread_decode(struct json_reader *r, struct placement *p) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("spreadConstraints")))
            p->terms = placement_terms_decode(r, false, &p->term_count);
    }
}

/* ---- tolerations ---- */

static struct str effect_decode(struct json_reader *r) {
    static const char *const effects[] = {"NoSelect", "PreferNoSelect", "NoSelectIfNew", ""};
    enum { EFFECTS = sizeof effects / sizeof effects[0] };
    return str_of(effects[json_word(r, effects, EFFECTS, EFFECTS - 1)]);
}

static void toleration_decode(struct json_reader *r, void *into) {
    struct placement_toleration *t = into;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("key")))
            t->toleration.key = json_string(r);
        else if (str_eq(key, STR("operator")))
            t->toleration.op = json_string(r);
        else if (str_eq(key, STR("value")))
            t->toleration.value = json_string(r);
        else if (str_eq(key, STR("effect")))
            t->toleration.effect = effect_decode(r);
        else if (str_eq(key, STR("tolerationSeconds"))) {
            t->has_seconds = !json_null(r);
            t->seconds = t->has_seconds ? json_integer(r, INT64_MIN, INT64_MAX) : 0;
        }
    }
}

/* ---- the Placement ---- */

static void number_decode(struct json_reader *r, struct placement *p, bool may_be_negative) {
    p->has_number = !json_null(r);
    p->number = p->has_number ? (int32_t)json_integer(r, INT32_MIN, INT32_MAX) : 0;
    if (p->number < 0 && !may_be_negative)
        json_fail(r, "%d is negative, which would crash Open Cluster Management's controller",
                  p->number);
}

static void spec_decode(struct json_reader *r, struct placement *p, bool is_stored,
                        struct placement_warnings *warnings) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("clusterSets")))
            p->sets = strings_decode(r, &p->set_count);
        else if (str_eq(key, STR("numberOfClusters")))
            number_decode(r, p, is_stored);
        else if (str_eq(key, STR("predicates")))
            p->predicates = placement_predicates_decode(r, &p->predicate_count);
        else if (str_eq(key, STR("prioritizerPolicy")))
            placement_prioritizers_decode(r, p, warnings);
        else if (str_eq(key, STR("spreadPolicy")))
            spread_decode(r, p);
        else if (str_eq(key, STR("tolerations")))
            p->tolerations = json_array_of(r, sizeof *p->tolerations, UINT32_MAX, toleration_decode,
                                           &p->toleration_count);
        else if (str_eq(key, STR("decisionStrategy")))
            placement_strategy_decode(r, p);
    }
}

static void outlined_spec_decode(struct json_reader *r, struct placement *p, bool is_stored) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("numberOfClusters")))
            number_decode(r, p, is_stored);
        else if (str_eq(key, STR("spreadPolicy")))
            spread_decode(r, p);
    }
}

/* The version's warning comes first. */
static void warn_of_version(struct json_reader *r, struct placement_warnings *warnings) {
    struct str *items = arena_array(r->arena, (size_t)warnings->count + 1, sizeof *items);
    if (items == NULL)
        return; /* the arena says so */
    items[0] = STR("apiVersion " V1ALPHA1 " is no longer served: read as v1beta1");
    for (uint32_t i = 0; i < warnings->count; i++)
        items[i + 1] = warnings->items[i];
    warnings->items = items;
    warnings->count++;
}

void placement_decode_as(struct json_reader *r, struct placement_reading how,
                         struct placement *ret) {
    struct placement_warnings warnings = {0};
    struct str key, version = {0};
    *ret = (struct placement){.group_length = {.is_text = true, .text = STR("100%")},
                              .is_outline = how.is_outline};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("apiVersion")))
            version = json_string(r);
        else if (str_eq(key, STR("metadata")))
            meta_decode_annotated(r, &ret->meta, &ret->annotations);
        else if (str_eq(key, STR("spec")) && how.is_outline)
            outlined_spec_decode(r, ret, how.is_stored);
        else if (str_eq(key, STR("spec")))
            spec_decode(r, ret, how.is_stored, &warnings);
    }
    if (str_empty(ret->meta.namespace))
        ret->meta.namespace = STR("default"); /* as kubectl reads it */
    if (str_eq(version, STR(V1ALPHA1)))
        warn_of_version(r, &warnings);
    ret->warnings = warnings.items;
    ret->warning_count = warnings.count;
}

void placement_decode(struct json_reader *r, struct placement *ret) {
    placement_decode_as(r, (struct placement_reading){.is_outline = false}, ret);
}
