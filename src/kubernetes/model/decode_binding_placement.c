/* Decodes a binding's copy of a policy's placement, which selects clusters. */
#include "model/binding.h"

#include "model/fields.h"

#include <errno.h>
#include <stdlib.h>

/* ---- affinities ---- */

static int by_bytes(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Reads names, sorted, each once. */
static const struct str *names_decode(struct json_reader *r, uint32_t *ret_count) {
    uint32_t count, unique = 0;
    const struct str *from = strings_decode(r, &count);
    struct str *names = arena_array(r->arena, count, sizeof *names);
    *ret_count = 0;
    if (names == NULL)
        return NULL; /* the error stays in the arena */
    if (!steps_take_sort(&r->arena->steps, count)) {
        json_fail(r, "too many names");
        return NULL;
    }
    if (count > 0)
        memcpy(names, from, count * sizeof *names);
    if (count > 1)
        qsort(names, count, sizeof *names, by_bytes);
    for (uint32_t i = 0; i < count; i++)
        if (unique == 0 || !str_eq(names[unique - 1], names[i]))
            names[unique++] = names[i];
    *ret_count = unique;
    return names;
}

/* Did a selector fail to compile because its text is wrong? Then the selector matches nothing.
 * Other errors stay in r. */
static bool is_invalid(struct json_reader *r, int failed, const struct err *err) {
    if (failed != 0 && failed != -EINVAL && failed != -ENOMEM)
        json_fail(r, "%s", err->text);
    return failed != 0;
}

static void affinity_labels_read(struct json_reader *r, void *into) {
    struct cluster_affinity *ret = into;
    struct err err;
    ret->label_selector = label_selector_decode(r);
    if (json_failed(r) || arena_failed(r->arena) || !ret->label_selector.present)
        return;
    const int failed =
        selector_compile(&ret->label_selector, (struct labels){0}, r->arena, &ret->labels, &err);
    ret->invalid = is_invalid(r, failed, &err) || ret->invalid;
}

/* upstream checks neither the key nor the values of an expression on zones, and Exists may have
 * values. */
static int zone_compile(const struct label_expression *from, struct arena *arena,
                        struct requirement *ret) {
    static const struct {
        struct str name;
        enum selector_operator op;
    } operators[] = {
        {{"In", 2}, SELECTOR_IN},
        {{"NotIn", 5}, SELECTOR_NOT_IN},
        {{"Exists", 6}, SELECTOR_EXISTS},
        {{"DoesNotExist", 12}, SELECTOR_DOES_NOT_EXIST},
    };
    enum { OPERATORS = sizeof operators / sizeof operators[0] };
    size_t op = 0;
    while (op < OPERATORS && !str_eq(from->op, operators[op].name))
        op++;
    if (op == OPERATORS)
        return -EINVAL;
    struct str *values = arena_array(arena, from->value_count, sizeof *values);
    if (values == NULL)
        return -ENOMEM;
    if (!steps_take_sort(&arena->steps, from->value_count))
        return -E2BIG;
    if (from->value_count > 0)
        memcpy(values, from->values, from->value_count * sizeof *values);
    if (from->value_count > 1)
        qsort(values, from->value_count, sizeof *values, by_bytes);
    *ret = (struct requirement){.key = from->key,
                                .op = operators[op].op,
                                .values = values,
                                .value_count = from->value_count};
    return 0;
}

static void compile_fields(struct json_reader *r, const struct label_expression *from,
                           uint32_t count, struct cluster_affinity *ret) {
    struct requirement *zones = arena_array(r->arena, count, sizeof *zones);
    struct requirement *others = arena_array(r->arena, count, sizeof *others);
    uint32_t zone_count = 0, other_count = 0;
    if (zones == NULL || others == NULL)
        return; /* the error stays in the arena */
    for (uint32_t i = 0; i < count && !json_failed(r) && !arena_failed(r->arena); i++) {
        struct err err = {.text = "more values than there is time for"};
        const int failed =
            str_eq(from[i].key, STR("zone"))
                ? zone_compile(&from[i], r->arena, &zones[zone_count++])
                : requirement_compile(&from[i], true, r->arena, &others[other_count++], &err);
        ret->invalid = is_invalid(r, failed, &err) || ret->invalid;
    }
    ret->zones = zones;
    ret->zone_count = zone_count;
    ret->fields = (struct selector){.items = others, .count = other_count};
}

/* A fieldSelector, while it is read. */
struct read_fields {
    const struct label_expression *expressions;
    uint32_t count;
};

static void expressions_read(struct json_reader *r, void *into) {
    struct read_fields *read = into;
    read->expressions = label_expressions_decode(r, &read->count);
}

static void affinity_fields_read(struct json_reader *r, void *into) {
    static const struct json_field fields[] = {
        JSON_CALL_WHOLE("matchExpressions", expressions_read)};
    struct read_fields read = {.count = 0};
    const bool given = json_peek(r) != JSON_NULL;
    json_fields(r, &JSON_ROWS(fields), &read);
    if (given && !json_failed(r) && !arena_failed(r->arena))
        compile_fields(r, read.expressions, read.count, into);
}

static void names_read(struct json_reader *r, void *into) {
    struct cluster_affinity *ret = into;
    ret->names = names_decode(r, &ret->name_count);
}

static void excluded_read(struct json_reader *r, void *into) {
    struct cluster_affinity *ret = into;
    ret->excluded = names_decode(r, &ret->excluded_count);
}

static const struct json_field affinity_fields[] = {
    JSON_TEXT("affinityName", struct cluster_affinity, name),
    JSON_CALL_WHOLE("labelSelector", affinity_labels_read),
    JSON_CALL_WHOLE("fieldSelector", affinity_fields_read),
    JSON_CALL_WHOLE("clusterNames", names_read),
    JSON_CALL_WHOLE("exclude", excluded_read),
};

void cluster_affinity_decode(struct json_reader *r, struct cluster_affinity *ret) {
    *ret = (struct cluster_affinity){0};
    json_fields(r, &JSON_ROWS(affinity_fields), ret);
}

static void affinity_read(struct json_reader *r, void *into) {
    cluster_affinity_decode(r, into);
}

static const struct json_field term_fields[] = {
    JSON_TEXT("affinityName", struct affinity_term, affinity.name),
    JSON_CALL("labelSelector", struct affinity_term, affinity, affinity_labels_read),
    JSON_CALL("fieldSelector", struct affinity_term, affinity, affinity_fields_read),
    JSON_CALL("clusterNames", struct affinity_term, affinity, names_read),
    JSON_CALL("exclude", struct affinity_term, affinity, excluded_read),
    JSON_LIST_GIVEN("overflowAffinities", struct affinity_term, overflow, overflow_count,
                    UINT32_MAX, affinity_fields, has_overflow),
};

/* ---- spread ---- */

static void field_read(struct json_reader *r, void *into) {
    static const char *const words[] = {"provider", "region", "zone", "cluster", ""};
    static const enum spread_field fields[] = {SPREAD_PROVIDER, SPREAD_REGION, SPREAD_ZONE,
                                               SPREAD_CLUSTER, SPREAD_LABEL};
    enum { WORDS = sizeof words / sizeof words[0] };
    *(enum spread_field *)into = fields[json_word(r, words, WORDS, WORDS - 1)];
}

static const struct json_field spread_fields[] = {
    JSON_CALL("spreadByField", struct cluster_spread, field, field_read),
    JSON_TEXT("spreadByLabel", struct cluster_spread, label),
    JSON_INTEGER("maxGroups", struct cluster_spread, max, 0, INT64_MAX, .absent = 0),
    JSON_INTEGER("minGroups", struct cluster_spread, min, 0, INT64_MAX, .absent = 0),
};

static void spread_read(struct json_reader *r, void *into) {
    struct cluster_spread *spread = into;
    spread->field = SPREAD_LABEL;
    json_fields(r, &JSON_ROWS(spread_fields), spread);
    spread->has_both = spread->field != SPREAD_LABEL && !str_empty(spread->label);
    if (spread->has_both)
        spread->label = (struct str){0};
}

/* ---- replicas ---- */

static const struct json_field weight_fields[] = {
    JSON_CALL("targetCluster", struct static_weight, target, affinity_read),
    JSON_INTEGER("weight", struct static_weight, weight, INT64_MIN, INT64_MAX, .absent = 0),
};

static struct str enum_decode(struct json_reader *r, const char *const *words, uint32_t count,
                              uint32_t absent) {
    return str_of(words[json_word(r, words, count, absent)]);
}

static void dynamic_read(struct json_reader *r, void *into) {
    static const char *const words[] = {"AvailableReplicas", ""};
    *(struct str *)into = enum_decode(r, words, 2, 1);
}

static void weights_read(struct json_reader *r, void *into) {
    static const struct json_field fields[] = {
        JSON_LIST("staticWeightList", struct replica_scheduling, weights, weight_count, UINT32_MAX,
                  weight_fields),
        JSON_CALL("dynamicWeight", struct replica_scheduling, dynamic, dynamic_read),
    };
    struct replica_scheduling *ret = into;
    ret->has_weights = json_peek(r) != JSON_NULL;
    ret->dynamic = (struct str){0};
    ret->weights = NULL;
    ret->weight_count = 0;
    json_fields(r, &JSON_ROWS(fields), ret);
}

/* upstream: newAssignState() */
static enum division division_of(const struct replica_scheduling *replicas) {
    if (str_eq(replicas->type, STR("Duplicated")))
        return DIVISION_DUPLICATED;
    if (str_eq(replicas->preference, STR("Aggregated")))
        return DIVISION_AGGREGATED;
    if (!str_eq(replicas->preference, STR("Weighted")))
        return DIVISION_UNSUPPORTED;
    return str_empty(replicas->dynamic) ? DIVISION_STATIC : DIVISION_DYNAMIC;
}

static void type_read(struct json_reader *r, void *into) {
    static const char *const words[] = {"Duplicated", "Divided"};
    *(struct str *)into = enum_decode(r, words, 2, 1);
}

static void preference_read(struct json_reader *r, void *into) {
    static const char *const words[] = {"Aggregated", "Weighted", ""};
    *(struct str *)into = enum_decode(r, words, 3, 2);
}

static const struct json_field scheduling_fields[] = {
    JSON_CALL("replicaSchedulingType", struct replica_scheduling, type, type_read),
    JSON_CALL("replicaDivisionPreference", struct replica_scheduling, preference, preference_read),
    JSON_CALL_WHOLE("weightPreference", weights_read),
};

static void scheduling_read(struct json_reader *r, void *into) {
    struct replica_scheduling *ret = into;
    const bool given = json_peek(r) != JSON_NULL;
    *ret = (struct replica_scheduling){.division = DIVISION_NONE};
    if (given)
        ret->type = STR("Divided"); /* the CRD's default */
    json_fields(r, &JSON_ROWS(scheduling_fields), ret);
    if (given)
        ret->division = division_of(ret);
}

/* ---- the placement ---- */

static const struct json_field placement_fields[] = {
    JSON_CALL_GIVEN("clusterAffinity", struct cluster_placement, affinity, affinity_read,
                    has_affinity),
    JSON_LIST("clusterAffinities", struct cluster_placement, affinities, affinity_count, UINT32_MAX,
              term_fields),
    JSON_CALL("clusterTolerations", struct cluster_placement, tolerations, tolerations_read),
    JSON_LIST_BY("spreadConstraints", struct cluster_placement, spread, spread_count, UINT32_MAX,
                 spread_read),
    JSON_CALL("replicaScheduling", struct cluster_placement, replicas, scheduling_read),
};

void cluster_placement_decode(struct json_reader *r, struct cluster_placement *ret) {
    *ret = (struct cluster_placement){0};
    json_fields(r, &JSON_ROWS(placement_fields), ret);
}
