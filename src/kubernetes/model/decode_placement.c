#include "model/decode_placement.h"

#include "model/fields.h"
#include "model/names.h"

#define V1ALPHA1 OCM_GROUP "/v1alpha1"

/* ---- spread policy ---- */

static const char *const key_types[] = {"Label", "Claim"};
static const char *const when[] = {"ScheduleAnyway", "DoNotSchedule"};

/* A spread constraint, while it is read. */
struct read_term {
    struct placement_term term;
    bool typed;
};

#define OWN_TERM_FIELDS                                                                            \
    JSON_TEXT("topologyKey", struct read_term, term.key),                                          \
        JSON_WORD("topologyKeyType", struct read_term, term.is_claim, key_types,                   \
                  JSON_GIVEN(struct read_term, typed)),                                            \
        JSON_INTEGER("maxSkew", struct read_term, term.max_skew, 1, INT32_MAX, .absent = 1),       \
        JSON_WORD("whenUnsatisfiable", struct read_term, term.hard, when, .absent = 0)
static const struct json_field own_term_fields[] = {OWN_TERM_FIELDS};
static const struct json_field term_fields[] = {
    OWN_TERM_FIELDS,
    JSON_INTEGER("minDomains", struct read_term, term.min_domains, 0, INT32_MAX, .absent = 0),
};

static void term_decode(struct json_reader *r, struct placement_term *ret, bool of_question) {
    struct read_term read = {.term.max_skew = 1};
    json_fields(r, of_question ? &JSON_ROWS(term_fields) : &JSON_ROWS(own_term_fields), &read);
    *ret = read.term;
    if (str_empty(ret->key))
        json_fail(r, "topologyKey is required");
    if (!read.typed && !of_question)
        json_fail(r, "topologyKeyType is required: Label or Claim");
}

static void own_term_read(struct json_reader *r, void *into) {
    term_decode(r, into, false);
}

static void term_of_question_read(struct json_reader *r, void *into) {
    term_decode(r, into, true);
}

const struct placement_term *placement_terms_decode(struct json_reader *r, bool of_question,
                                                    uint32_t *ret_count) {
    return json_array_of(r, sizeof(struct placement_term), PLACEMENT_TERMS,
                         of_question ? term_of_question_read : own_term_read, ret_count);
}

static const struct json_field spread_fields[] = {
    JSON_LIST_BY("spreadConstraints", struct placement, terms, term_count, PLACEMENT_TERMS,
                 own_term_read),
};

/* ---- tolerations ---- */

static void effect_read(struct json_reader *r, void *into) {
    static const char *const effects[] = {"NoSelect", "PreferNoSelect", "NoSelectIfNew", ""};
    enum { EFFECTS = sizeof effects / sizeof effects[0] };
    *(struct str *)into = str_of(effects[json_word(r, effects, EFFECTS, EFFECTS - 1)]);
}

static const struct json_field toleration_fields[] = {
    JSON_TEXT("key", struct placement_toleration, toleration.key),
    JSON_TEXT("operator", struct placement_toleration, toleration.op),
    JSON_TEXT("value", struct placement_toleration, toleration.value),
    JSON_CALL("effect", struct placement_toleration, toleration.effect, effect_read),
    JSON_INTEGER("tolerationSeconds", struct placement_toleration, seconds, INT64_MIN, INT64_MAX,
                 JSON_GIVEN(struct placement_toleration, has_seconds)),
};

/* ---- the Placement ---- */

/* A Placement, while it is read. */
struct reading {
    struct placement placement;
    struct placement_warnings warnings;
    struct str version;
    struct placement_reading how;
};

static void number_read(struct json_reader *r, void *into) {
    struct reading *x = into;
    struct placement *p = &x->placement;
    p->has_number = !json_null(r);
    p->number = p->has_number ? (int32_t)json_integer(r, INT32_MIN, INT32_MAX) : 0;
    if (p->number < 0 && !x->how.is_stored)
        json_fail(r, "%d is negative, which would crash Open Cluster Management's controller",
                  p->number);
}

static void predicates_read(struct json_reader *r, void *into) {
    struct placement *p = into;
    p->predicates = placement_predicates_decode(r, &p->predicate_count);
}

static void prioritizers_read(struct json_reader *r, void *into) {
    struct reading *x = into;
    placement_prioritizers_decode(r, &x->placement, &x->warnings);
}

static void strategy_read(struct json_reader *r, void *into) {
    placement_strategy_decode(r, into);
}

#define OUTLINE_FIELDS                                                                             \
    JSON_CALL_WHOLE("numberOfClusters", number_read),                                              \
        JSON_OBJECT_AT("spreadPolicy", struct reading, placement, spread_fields)
static const struct json_field outline_fields[] = {OUTLINE_FIELDS};
static const struct json_field spec_fields[] = {
    OUTLINE_FIELDS,
    JSON_TEXTS("clusterSets", struct reading, placement.sets, placement.set_count, UINT32_MAX),
    JSON_CALL("predicates", struct reading, placement, predicates_read),
    JSON_CALL_WHOLE("prioritizerPolicy", prioritizers_read),
    JSON_LIST("tolerations", struct reading, placement.tolerations, placement.toleration_count,
              UINT32_MAX, toleration_fields),
    JSON_CALL("decisionStrategy", struct reading, placement, strategy_read),
};

static void meta_and_annotations_read(struct json_reader *r, void *into) {
    struct placement *p = into;
    meta_decode_annotated(r, &p->meta, &p->annotations);
}

static void spec_read(struct json_reader *r, void *into) {
    struct reading *x = into;
    json_fields(r, x->how.is_outline ? &JSON_ROWS(outline_fields) : &JSON_ROWS(spec_fields), x);
}

static const struct json_field placement_fields[] = {
    JSON_TEXT("apiVersion", struct reading, version),
    JSON_CALL("metadata", struct reading, placement, meta_and_annotations_read),
    JSON_CALL_WHOLE("spec", spec_read),
};

/* Puts the warning about the version before the other warnings. */
static void warn_of_version(struct json_reader *r, struct placement_warnings *warnings) {
    struct str *items = arena_array(r->arena, (size_t)warnings->count + 1, sizeof *items);
    if (items == NULL)
        return; /* the arena has failed */
    items[0] = STR("apiVersion " V1ALPHA1 " is no longer served: read as v1beta1");
    for (uint32_t i = 0; i < warnings->count; i++)
        items[i + 1] = warnings->items[i];
    warnings->items = items;
    warnings->count++;
}

void placement_decode_as(struct json_reader *r, struct placement_reading how,
                         struct placement *ret) {
    struct reading x = {.placement = {.group_length = {.is_text = true, .text = STR("100%")},
                                      .is_outline = how.is_outline},
                        .how = how};
    json_fields(r, &JSON_ROWS(placement_fields), &x);
    if (str_eq(x.version, STR(V1ALPHA1)))
        warn_of_version(r, &x.warnings);
    *ret = x.placement;
    ret->warnings = x.warnings.items;
    ret->warning_count = x.warnings.count;
    if (str_empty(ret->meta.namespace))
        ret->meta.namespace = STR("default"); /* kubectl's default namespace */
}

void placement_decode(struct json_reader *r, struct placement *ret) {
    placement_decode_as(r, (struct placement_reading){.is_outline = false}, ret);
}
