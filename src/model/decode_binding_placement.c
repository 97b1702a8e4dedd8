/* What a binding says of which clusters: its copy of a policy's placement. */
#include "model/decode_binding.h"

#include "model/fields.h"

#include <errno.h>
#include <stdlib.h>

/* ---- affinities ---- */

static int by_bytes(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Sorted, each once. */
static const struct str *names_decode(struct json_reader *r, uint32_t *ret_count) {
    uint32_t count, unique = 0;
    const struct str *from = strings_decode(r, &count);
    struct str *names = arena_array(r->arena, count, sizeof *names);
    *ret_count = 0;
    if (names == NULL)
        return NULL; /* the arena says so */
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

/* Of a selector that was compiled: does it match nothing because of what is written? Errors that
 * are ours stay in r. */
static bool is_invalid(struct json_reader *r, int failed, const struct err *err) {
    if (failed != 0 && failed != -EINVAL && failed != -ENOMEM)
        json_fail(r, "%s", err->text);
    return failed != 0;
}

static void label_selector_member(struct json_reader *r, struct cluster_affinity *ret) {
    struct err err;
    ret->label_selector = label_selector_decode(r);
    if (json_failed(r) || arena_failed(r->arena) || !ret->label_selector.present)
        return;
    const int failed =
        selector_compile(&ret->label_selector, (struct labels){0}, r->arena, &ret->labels, &err);
    ret->invalid = is_invalid(r, failed, &err) || ret->invalid;
}

/* Upstream checks neither key nor values of an expression on zones, and Exists may have values. */
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
        return; /* the arena says so */
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

static void field_selector_member(struct json_reader *r, struct cluster_affinity *ret) {
    struct str key;
    uint32_t count = 0;
    const struct label_expression *expressions = NULL;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("matchExpressions")))
            expressions = label_expressions_decode(r, &count);
    }
    if (!json_failed(r) && !arena_failed(r->arena))
        compile_fields(r, expressions, count, ret);
}

/* False: `key` is no member of a cluster affinity. */
static bool affinity_member(struct json_reader *r, struct str key, struct cluster_affinity *ret) {
    if (str_eq(key, STR("affinityName")))
        ret->name = json_string(r);
    else if (str_eq(key, STR("labelSelector")))
        label_selector_member(r, ret);
    else if (str_eq(key, STR("fieldSelector")))
        field_selector_member(r, ret);
    else if (str_eq(key, STR("clusterNames")))
        ret->names = names_decode(r, &ret->name_count);
    else if (str_eq(key, STR("exclude")))
        ret->excluded = names_decode(r, &ret->excluded_count);
    else
        return false;
    return true;
}

void cluster_affinity_decode(struct json_reader *r, struct cluster_affinity *ret) {
    struct str key;
    *ret = (struct cluster_affinity){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (!affinity_member(r, key, ret))
            (void)json_skip(r); /* not ours; errors stay in r */
}

static void overflow_decode(struct json_reader *r, void *into) {
    cluster_affinity_decode(r, into);
}

static void term_decode(struct json_reader *r, void *into) {
    struct affinity_term *term = into;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("overflowAffinities"))) {
            term->has_overflow = json_peek(r) != JSON_NULL;
            term->overflow = json_array_of(r, sizeof *term->overflow, UINT32_MAX, overflow_decode,
                                           &term->overflow_count);
        } else if (!affinity_member(r, key, &term->affinity))
            (void)json_skip(r); /* not ours; errors stay in r */
    }
}

/* ---- spread ---- */

static void spread_decode(struct json_reader *r, void *into) {
    static const char *const words[] = {"provider", "region", "zone", "cluster", ""};
    static const enum spread_field fields[] = {SPREAD_PROVIDER, SPREAD_REGION, SPREAD_ZONE,
                                               SPREAD_CLUSTER, SPREAD_LABEL};
    enum { WORDS = sizeof words / sizeof words[0] };
    struct cluster_spread *spread = into;
    struct str key;
    spread->field = SPREAD_LABEL;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("spreadByField")))
            spread->field = fields[json_word(r, words, WORDS, WORDS - 1)];
        else if (str_eq(key, STR("spreadByLabel")))
            spread->label = json_string(r);
        else if (str_eq(key, STR("maxGroups")))
            spread->max = json_null(r) ? 0 : json_integer(r, 0, INT64_MAX);
        else if (str_eq(key, STR("minGroups")))
            spread->min = json_null(r) ? 0 : json_integer(r, 0, INT64_MAX);
    }
    if (spread->field != SPREAD_LABEL)
        spread->label = (struct str){0};
}

/* ---- replicas ---- */

static void weight_decode(struct json_reader *r, void *into) {
    struct static_weight *weight = into;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("targetCluster")))
            cluster_affinity_decode(r, &weight->target);
        else if (str_eq(key, STR("weight")))
            weight->weight = json_null(r) ? 0 : json_integer(r, INT64_MIN, INT64_MAX);
    }
}

static struct str enum_decode(struct json_reader *r, const char *const *words, uint32_t count,
                              uint32_t absent) {
    return str_of(words[json_word(r, words, count, absent)]);
}

static void weights_decode(struct json_reader *r, struct replica_scheduling *ret) {
    static const char *const dynamic[] = {"AvailableReplicas", ""};
    struct str key;
    ret->has_weights = json_peek(r) != JSON_NULL;
    ret->dynamic = (struct str){0};
    ret->weights = NULL;
    ret->weight_count = 0;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("staticWeightList")))
            ret->weights = json_array_of(r, sizeof *ret->weights, UINT32_MAX, weight_decode,
                                         &ret->weight_count);
        else if (str_eq(key, STR("dynamicWeight")))
            ret->dynamic = enum_decode(r, dynamic, 2, 1);
    }
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

static void replica_scheduling_decode(struct json_reader *r, struct replica_scheduling *ret) {
    static const char *const types[] = {"Duplicated", "Divided"};
    static const char *const preferences[] = {"Aggregated", "Weighted", ""};
    struct str key;
    *ret = (struct replica_scheduling){.division = DIVISION_NONE};
    if (!json_object(r))
        return;
    ret->type = STR("Divided"); /* the CRD's default */
    while (json_member(r, &key)) {
        if (str_eq(key, STR("replicaSchedulingType")))
            ret->type = enum_decode(r, types, 2, 1);
        else if (str_eq(key, STR("replicaDivisionPreference")))
            ret->preference = enum_decode(r, preferences, 3, 2);
        else if (str_eq(key, STR("weightPreference")))
            weights_decode(r, ret);
    }
    ret->division = division_of(ret);
}

/* ---- the placement ---- */

void cluster_placement_decode(struct json_reader *r, struct cluster_placement *ret) {
    struct str key;
    *ret = (struct cluster_placement){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("clusterAffinity"))) {
            ret->has_affinity = json_peek(r) != JSON_NULL;
            cluster_affinity_decode(r, &ret->affinity);
        } else if (str_eq(key, STR("clusterAffinities")))
            ret->affinities = json_array_of(r, sizeof *ret->affinities, UINT32_MAX, term_decode,
                                            &ret->affinity_count);
        else if (str_eq(key, STR("clusterTolerations")))
            ret->tolerations = tolerations_decode(r);
        else if (str_eq(key, STR("spreadConstraints")))
            ret->spread = json_array_of(r, sizeof *ret->spread, UINT32_MAX, spread_decode,
                                        &ret->spread_count);
        else if (str_eq(key, STR("replicaScheduling")))
            replica_scheduling_decode(r, &ret->replicas);
    }
}
