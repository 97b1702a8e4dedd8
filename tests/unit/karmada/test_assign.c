/*
 * How replicas are divided: upstream's own tables (pkg/scheduler/core assignment_test.go,
 * division_algorithm_test.go, common_test.go), and what they leave open. Recorded cases of many
 * clusters are tests/conformance/data/karmada/assign_replicas*.jsonl.
 */
#include "karmada/assign.h"

#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>

enum { FEW = 16, MANY = 5000 };

static struct arena arena;

static int set_up(void **state) {
    (void)state;
    arena_init(&arena, 64 << 20);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

/* ---- cases as text ---- */

/* "m1=10 m2=8": a list of names and numbers. */
struct pairs {
    struct str names[FEW];
    int64_t numbers[FEW];
    uint32_t count;
};

static struct pairs pairs_of(const char *text) {
    struct pairs p = {.count = 0};
    while (text != NULL && *text != '\0') {
        const char *equals = strchr(text, '=');
        char *end;
        assert_non_null(equals);
        assert_true(p.count < FEW);
        p.names[p.count] = (struct str){text, (size_t)(equals - text)};
        p.numbers[p.count++] = strtoll(equals + 1, &end, 10);
        text = *end == ' ' ? end + 1 : end;
    }
    return p;
}

struct assign_case {
    const char *id;
    enum division division;
    int32_t replicas;
    bool no_requirements;
    const char *allocatable; /* candidates, in order */
    const char *previous;    /* spec.clusters */
    const char *tiers;       /* overflow orders; NULL: no overflow */
    bool fresh;
    const char *uid;
    const struct static_weight *weights;
    uint32_t weight_count;
    uint32_t components;
    bool no_weights; /* weightPreference is not there */
    enum karmada_division method;
    bool empty_propagation;
    const char *want; /* by name */
    enum karmada_error kind;
    const char *error;
};

static int64_t number_of(const struct pairs *p, struct str name) {
    for (uint32_t i = 0; i < p->count; i++)
        if (str_eq(p->names[i], name))
            return p->numbers[i];
    return 0;
}

static uint32_t candidates_of(const struct assign_case *c, struct karmada_candidate *ret) {
    const struct pairs allocatable = pairs_of(c->allocatable), previous = pairs_of(c->previous);
    const struct pairs tiers = pairs_of(c->tiers);
    for (uint32_t i = 0; i < allocatable.count; i++)
        ret[i] = (struct karmada_candidate){
            .cluster.name = allocatable.names[i],
            .allocatable = allocatable.numbers[i],
            .available = allocatable.numbers[i] + number_of(&previous, allocatable.names[i]),
            .overflow_order = (int32_t)number_of(&tiers, allocatable.names[i]),
        };
    return allocatable.count;
}

static int assign(const struct assign_case *c, struct karmada_assignment *ret, struct err *err) {
    struct karmada_candidate candidates[FEW];
    struct target_cluster clusters[FEW];
    const struct pairs previous = pairs_of(c->previous);
    const uint32_t count = candidates_of(c, candidates);
    for (uint32_t i = 0; i < previous.count; i++)
        clusters[i] = (struct target_cluster){previous.names[i], (int32_t)previous.numbers[i]};
    const struct binding_spec spec = {
        .resource_uid = str_of(c->uid),
        .replicas = c->replicas,
        .requirements.given = !c->no_requirements,
        .component_count = c->components,
        .clusters = clusters,
        .cluster_count = previous.count,
        .has_placement = true,
        .placement.replicas = {.division = c->division,
                               .type = STR("Divided"),
                               .preference = STR("Sideways"),
                               .has_weights = !c->no_weights,
                               .weights = c->weights,
                               .weight_count = c->weight_count},
        .has_reschedule = true,
        .reschedule_ms = 2000,
    };
    const struct binding_status status = {.has_scheduled = true,
                                          .scheduled_ms = c->fresh ? 1999 : 2000};
    struct karmada_options options = karmada_defaults;
    options.division = c->method;
    options.empty_propagation = c->empty_propagation;
    return karmada_assign(candidates, count, &spec, &status, c->tiers != NULL, &options, &arena,
                          ret, err);
}

static void expect(const struct assign_case *c) {
    struct karmada_assignment got;
    struct strbuf text = {0};
    arena_reset(&arena);
    assert_int_equal(assign(c, &got, NULL), 0);
    for (uint32_t i = 0; i < got.count; i++)
        strbuf_appendf(&text, "%s%.*s=%d", i > 0 ? " " : "", STR_ARG(got.clusters[i].name),
                       got.clusters[i].replicas);
    const struct str want = str_of(c->want);
    if (!str_eq(strbuf_str(&text), want) || got.kind != c->kind ||
        !str_eq(got.error, str_of(c->error)))
        print_error("%s: got '%.*s' %d '%.*s'\n", c->id, (int)text.n, text.p != NULL ? text.p : "",
                    got.kind, STR_ARG(got.error));
    assert_true(str_eq(strbuf_str(&text), want));
    assert_int_equal(got.kind, c->kind);
    assert_true(str_eq(got.error, str_of(c->error)));
    strbuf_done(&text);
}

static void expect_all(const struct assign_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++)
        expect(&cases[i]);
}
#define EXPECT_ALL(cases) expect_all(cases, sizeof(cases) / sizeof(cases)[0])

#define DYN .division = DIVISION_DYNAMIC
#define AGG .division = DIVISION_AGGREGATED
#define NOT_ENOUGH(action, sum)                                                                    \
    .kind = KARMADA_UNSCHEDULABLE,                                                                 \
    .error = action "Clusters available replicas " sum "are not enough to schedule."

/* ---- by what clusters can hold ---- */

static void test_first_time(void **state) {
    (void)state;
    const struct assign_case cases[] = {
        {"DY01", DYN, 12, .allocatable = "m1=18 m2=12 m3=6", .want = "m1=6 m2=4 m3=2"},
        {"DY02", DYN, 12, .allocatable = "m1=20 m2=12 m3=6", .want = "m1=6 m2=4 m3=2"},
        {"DY03", DYN, 12, .allocatable = "m1=6 m2=12 m3=6", .want = "m1=3 m2=6 m3=3"},
        {"DY04", DYN, 10, .allocatable = "m1=1 m2=1 m3=1",
         NOT_ENOUGH("failed to scale up: ", "3 ")},
        {"DY05", DYN, 4, .allocatable = "m1=0 m2=3 m3=5", .want = "m2=2 m3=2"},
        {"AG01", AGG, 12, .allocatable = "m1=6 m2=12 m3=6", .want = "m2=12"},
        {"AG02", AGG, 12, .allocatable = "m1=6 m2=6 m3=6", .want = "m1=6 m2=6"},
        {"AG03", AGG, 10, .allocatable = "m1=6 m2=6", .want = "m1=5 m2=5"},
        {"AG04", AGG, 7, .allocatable = "m1=5 m2=5 m3=5", .want = "m1=4 m2=3"},
        {"SU07a", DYN, 12, .allocatable = "m1=6 m2=8 m3=10", .want = "m1=3 m2=4 m3=5"},
        {"SU07b", DYN, 12, .allocatable = "m1=8 m2=8 m3=10", .want = "m1=4 m2=4 m3=4"},
        {"SU07c", DYN, 12, .allocatable = "m1=3 m2=3 m3=3",
         NOT_ENOUGH("failed to scale up: ", "9 ")},
        {"SU08a", AGG, 12, .allocatable = "m1=6 m2=8 m3=10", .want = "m2=5 m3=7"},
        {"SU08b", AGG, 12, .allocatable = "m1=12 m2=8 m3=10", .want = "m1=12"},
        {"SU08c", AGG, 12, .allocatable = "m1=3 m2=3 m3=3",
         NOT_ENOUGH("failed to scale up: ", "9 ")},
        {"just enough", DYN, 9, .allocatable = "m1=3 m2=3 m3=3", .want = "m1=3 m2=3 m3=3"},
        {"one short", DYN, 10, .allocatable = "m1=3 m2=3 m3=3",
         NOT_ENOUGH("failed to scale up: ", "9 ")},
        {"the first two just suffice", AGG, 9, .allocatable = "m1=5 m2=4 m3=3",
         .want = "m1=5 m2=4"},
        {"they do not", AGG, 10, .allocatable = "m1=5 m2=4 m3=3", .want = "m1=4 m2=3 m3=3"},
    };
    EXPECT_ALL(cases);
}

static void test_more_or_fewer(void **state) {
    (void)state;
    const struct assign_case cases[] = {
        {"SD01", DYN, 6, .allocatable = "m1=1 m2=1 m3=1", .previous = "m1=2 m2=4 m3=6",
         .want = "m1=1 m2=2 m3=3"},
        {"SU01", DYN, 24, .allocatable = "m1=10 m2=10 m3=10", .previous = "m1=2 m2=4 m3=6",
         .want = "m1=6 m2=8 m3=10"},
        {"SU02", DYN, 24, .allocatable = "m1=1 m2=1 m3=1", .previous = "m1=2 m2=4 m3=6",
         NOT_ENOUGH("failed to scale up: ", "3 ")},
        {"SD02", AGG, 6, .allocatable = "m1=1 m2=1 m3=1", .previous = "m1=4 m2=8", .want = "m2=6"},
        {"SD03", AGG, 8, .allocatable = "m1=100 m2=100", .previous = "m1=4 m2=8", .want = "m2=8"},
        {"SU03", AGG, 24, .allocatable = "m1=4 m2=6 m3=8", .previous = "m1=4 m2=8",
         .want = "m1=7 m2=12 m3=5"},
        {"SU04", AGG, 24, .allocatable = "m1=6 m2=6 m3=20", .previous = "m1=4 m2=8",
         .want = "m1=10 m2=14"},
        {"SU05", AGG, 24, .allocatable = "m1=1 m2=1 m3=1", .previous = "m1=4 m2=8",
         NOT_ENOUGH("failed to scale up: ", "3 ")},
        {"SU06", AGG, 24, .allocatable = "m1=4 m3=8 m4=12", .previous = "m1=4 m2=8",
         .want = "m1=7 m3=7 m4=10"},
        {"SU09", DYN, 12, .allocatable = "m1=3 m2=3", .previous = "m1=6 m3=6", .want = "m1=9 m2=3"},
        {"the same number", DYN, 12, .allocatable = "m1=0 m2=0", .previous = "m2=7 m1=5",
         .want = "m1=5 m2=7"},
        {"the same number, one gone", DYN, 5, .allocatable = "m1=0 m2=0", .previous = "m3=7 m1=5",
         .want = "m1=5"},
        {"one fewer", DYN, 11, .allocatable = "m1=0 m2=0", .previous = "m2=7 m1=5",
         .want = "m1=5 m2=6"},
        {"one more", DYN, 13, .allocatable = "m1=0 m2=1", .previous = "m2=7 m1=5",
         .want = "m1=5 m2=8"},
        {"none", DYN, 0, .allocatable = "m1=9 m2=9", .previous = "m2=7 m1=5", .want = ""},
        {"none, aggregated", AGG, 0, .allocatable = "m1=9 m2=9", .previous = "m2=7 m1=5",
         .want = ""},
        /* equal weights in scale down: in the order of spec.clusters, not of candidates */
        {"the order of today", AGG, 4, .allocatable = "m1=9 m2=9 m3=9", .previous = "m3=4 m1=4",
         .want = "m3=4"},
        /* a cluster that has 0 is not preferred */
        {"a cluster with none", AGG, 4, .allocatable = "m1=9 m2=3", .previous = "m2=0",
         .want = "m1=4"},
        {"a cluster with one", AGG, 4, .allocatable = "m1=9 m2=3", .previous = "m2=1",
         .want = "m2=4"},
        {"the first place of one that is there twice", AGG, 4, .allocatable = "m1=9 m2=9 m3=9",
         .previous = "m1=2 m3=4 m1=2", .want = "m1=4"},
        {"less than none today", DYN, 3, .allocatable = "m1=9 m2=9", .previous = "m1=-5 m2=3",
         .want = "m2=3"},
        /* twelve are sorted stably; fourteen, as many as there are candidates, would not be */
        {"as many as there are today", AGG, 15,
         .allocatable = "a=0 b=0 c=0 d=0 e=0 f=0 g=0 h=0 i=0 j=0 k=0 l=0 m=0 n=0",
         .previous = "a=1 b=2 c=1 d=2 e=1 f=2 g=1 h=2 i=1 j=2 k=1 l=2",
         .want = "a=1 b=2 c=1 d=2 e=1 f=2 h=2 j=2 l=2"},
        {"twice in spec.clusters", DYN, 6, .allocatable = "m1=3 m2=3", .previous = "m1=2 m1=2",
         .want = "m1=5 m2=1"},
    };
    EXPECT_ALL(cases);
}

static void test_fresh(void **state) {
    (void)state;
    const struct assign_case cases[] = {
        {"FR01", DYN, 12, .allocatable = "m1=6 m2=8 m3=10", .previous = "m1=6 m2=6", .fresh = true,
         .want = "m1=4 m2=5 m3=3"},
        {"FR02", AGG, 12, .allocatable = "m1=6 m2=8 m3=10", .previous = "m1=6 m2=6", .fresh = true,
         .want = "m2=12"},
        {"FR03", AGG, 8, .allocatable = "m02=9 m04=14", .previous = "m02=3", .fresh = true,
         .want = "m04=8"},
        {"FR04", AGG, 31, .allocatable = "m01=2 m02=9 m03=0 m04=10 m05=18 m06=9 m07=11",
         .previous = "m03=6 m07=4", .fresh = true, .want = "m05=17 m07=14"},
        {"the same number", DYN, 12, .allocatable = "m1=12 m2=0", .previous = "m1=0 m2=12",
         .fresh = true, .want = "m1=6 m2=6"},
        {"two of one name", AGG, 9, .allocatable = "m1=5 m1=0", .previous = "m1=4", .fresh = true,
         .want = "m1=9"},
        {"fewer", DYN, 6, .allocatable = "m1=12 m2=0", .previous = "m1=0 m2=12", .fresh = true,
         .want = "m1=3 m2=3"},
        {"not enough", DYN, 13, .allocatable = "m1=0 m2=0", .previous = "m1=0 m2=12 m3=4",
         .fresh = true, NOT_ENOUGH("failed to do fresh scale: ", "12 ")},
        /* OV00: upstream's sum wraps to -2147483632 */
        {"OV00", DYN, 0, .allocatable = "m1=2147483647 m2=2147483647", .previous = "m1=9 m2=9",
         .fresh = true, .want = ""},
        {"OV00 aggregated", AGG, 0, .allocatable = "m1=2147483647 m2=2147483647",
         .previous = "m1=9 m2=9", .fresh = true, .want = ""},
    };
    EXPECT_ALL(cases);
}

/* Fresh is what was asked for after the last time it was done; there must have been one. */
static void test_when_fresh(void **state) {
    (void)state;
    const struct karmada_candidate candidates[] = {{.cluster.name = STR("m1"), .allocatable = 12},
                                                   {.cluster.name = STR("m2")}};
    const struct target_cluster clusters[] = {{STR("m2"), 12}};
    struct binding_spec spec = {.replicas = 12,
                                .clusters = clusters,
                                .cluster_count = 1,
                                .placement.replicas.division = DIVISION_DYNAMIC};
    for (uint32_t bits = 0; bits < 8; bits++) {
        struct karmada_assignment got;
        const struct binding_status status = {.has_scheduled = (bits & 1) != 0,
                                              .scheduled_ms = (bits & 4) != 0 ? 9 : 10};
        spec.has_reschedule = (bits & 2) != 0;
        spec.reschedule_ms = 10;
        assert_int_equal(karmada_assign(candidates, 2, &spec, &status, false, &karmada_defaults,
                                        &arena, &got, NULL),
                         0);
        assert_int_equal(got.count, bits == 7 ? 2 : 1);
    }
}

/* ---- the other strategies ---- */

static void test_duplicated(void **state) {
    (void)state;
    const struct assign_case cases[] = {
        /* the order of bytes: shorter first, none of them negative, and far behind the beginning */
        {"names", DIVISION_DUPLICATED, 1,
         .allocatable =
             "m-b=0 m-\xc3\xa4=0 m-a12345678=0 m-=0 m-a\xc3\xa4=0 m-a12345677=0 m-a123456=0",
         .want = "m-=1 m-a123456=1 m-a12345677=1 m-a12345678=1 m-a\xc3\xa4=1 m-b=1 m-\xc3\xa4=1"},
        {"a short name that is not the first", DIVISION_DUPLICATED, 1,
         .allocatable = "m-b=0 m-a9=0", .want = "m-a9=1 m-b=1"},
        {"DU01", DIVISION_DUPLICATED, 2, .allocatable = "m1=0 m2=9", .want = "m1=2 m2=2"},
        {"no strategy", DIVISION_NONE, 2, .allocatable = "m2=0 m1=9", .previous = "m1=9",
         .want = "m1=2 m2=2"},
        {"none", DIVISION_DUPLICATED, 0, .allocatable = "m1=0 m2=9", .want = ""},
        {"most", DIVISION_DUPLICATED, INT32_MAX, .allocatable = "m1=0", .want = "m1=2147483647"},
    };
    EXPECT_ALL(cases);
}

#define NAMED(cluster, of)                                                                         \
    { .target = {.names = (const struct str[]){STR(cluster)}, .name_count = 1}, .weight = (of) }
#define RULES(list) .weights = (list), .weight_count = sizeof(list) / sizeof(list)[0]
#define STATIC .division = DIVISION_STATIC

static void test_static(void **state) {
    (void)state;
    const struct static_weight by_place[] = {NAMED("m1", 3), NAMED("m2", 2), NAMED("m3", 1)};
    const struct static_weight equal[] = {NAMED("m1", 1), NAMED("m2", 1), NAMED("m3", 1)};
    const struct static_weight first_heavier[] = {NAMED("m4", 1), NAMED("m3", 1), NAMED("m1", 2),
                                                  NAMED("m2", 1)};
    const struct static_weight only_first[] = {NAMED("m1", 2)};
    const struct static_weight twice[] = {NAMED("m1", 1), NAMED("m2", 1), NAMED("m1", 2)};
    const struct static_weight twice_before[] = {NAMED("m1", 2), NAMED("m2", 1), NAMED("m1", 1)};
    const struct static_weight other[] = {NAMED("other", 1)};
    const struct static_weight worthless[] = {NAMED("m1", 0), NAMED("m2", -5)};
    const struct assign_case cases[] = {
        {"ST01", STATIC, 12, .allocatable = "m1=0 m2=0 m3=0", RULES(by_place),
         .want = "m1=6 m2=4 m3=2"},
        {"ST02", STATIC, 12, .allocatable = "m1=0 m2=0 m3=0", .no_weights = true,
         .want = "m1=4 m2=4 m3=4"},
        {"ST03", STATIC, 13, .allocatable = "m1=0 m2=0 m3=0", RULES(by_place),
         .want = "m1=7 m2=4 m3=2"},
        {"ST04", STATIC, 14, .allocatable = "m1=0 m2=0 m3=0", RULES(by_place),
         .want = "m1=7 m2=5 m3=2"},
        {"ST05", STATIC, 0, .allocatable = "m1=0 m2=0", RULES(equal), .want = ""},
        {"ST06", STATIC, 2, .allocatable = "m1=0 m2=0", RULES(only_first), .want = "m1=2"},
        {"ST07", STATIC, 3, .allocatable = "m1=0 m2=0", RULES(twice), .want = "m1=2 m2=1"},
        {"ST07 the other way", STATIC, 6, .allocatable = "m1=0 m2=0", RULES(twice_before),
         .want = "m1=4 m2=2"},
        {"ST08", STATIC, 5, .allocatable = "m1=0 m2=0 m3=0", RULES(equal),
         .want = "m1=2 m2=2 m3=1"},
        {"ST09", STATIC, 7, .allocatable = "m2=0 m1=0 m4=0 m3=0", RULES(first_heavier),
         .want = "m1=3 m2=2 m3=1 m4=1"},
        {"nobody's rules", STATIC, 6, .allocatable = "m1=0 m2=0 m3=0", RULES(other),
         .want = "m1=2 m2=2 m3=2"},
        {"an empty list", STATIC, 3, .allocatable = "m1=0 m2=0", .want = "m1=2 m2=1"},
        {"weights below 1", STATIC, 3, .allocatable = "m1=0 m2=0", RULES(worthless),
         .want = "m1=2 m2=1"},
        {"neither capacity nor today counts", STATIC, 3, .allocatable = "m1=1 m2=100",
         .previous = "m2=3", RULES(equal), .want = "m1=2 m2=1"},
        {"uid", STATIC, 5, .allocatable = "m1=0 m2=0", RULES(equal),
         .uid = "d43fdeeb-d750-4e2b-bee3-64eb94534f4c", .want = "m1=2 m2=3"},
        {"another uid", STATIC, 5, .allocatable = "m1=0 m2=0", RULES(equal),
         .uid = "4858ca61-3ff8-4095-8267-f3d059d8074c", .want = "m1=3 m2=2"},
        {"as many as there can be", STATIC, INT32_MAX, .allocatable = "m1=0 m2=0 m3=0",
         RULES(by_place), .want = "m1=1073741824 m2=715827882 m3=357913941"},
        {"AS01", STATIC, 3, .allocatable = "m1=0", .no_weights = true, .want = "m1=3"},
    };
    EXPECT_ALL(cases);
}

/* Rules with more than names: what they say must hold, and the heaviest that does counts. */
static void test_static_selectors(void **state) {
    (void)state;
    const struct label eu = {STR("area"), STR("eu")};
    const struct requirement zone = {.op = SELECTOR_IN, .values = &eu.value, .value_count = 1};
    const struct str names[] = {STR("m1"), STR("m2")};
    const struct requirement region = {
        .key = STR("region"), .op = SELECTOR_IN, .values = &eu.value, .value_count = 1};
    const struct requirement area = {
        .key = STR("area"), .op = SELECTOR_IN, .values = &eu.value, .value_count = 1};
    const struct karmada_candidate candidates[] = {
        {.cluster = {.name = STR("m1"), .labels = {&eu, 1}}},
        {.cluster = {.name = STR("m2"), .region = STR("eu")}},
        {.cluster = {.name = STR("m3"), .zones = &eu.value, .zone_count = 1}},
    };
    const struct {
        struct cluster_affinity target;
        int want[3]; /* of 100, beside a rule of weight 1 for all */
    } rules[] = {
        {{.label_selector.present = true, .labels = {.items = &area, .count = 1}}, {98, 1, 1}},
        {{.fields = {.items = &region, .count = 1}}, {1, 98, 1}},
        {{.zones = &zone, .zone_count = 1}, {1, 1, 98}},
        {{.excluded = names, .excluded_count = 2}, {1, 1, 98}},
        {{.names = names, .name_count = 2, .excluded = names, .excluded_count = 1}, {1, 98, 1}},
        {{.names = names, .name_count = 2, .invalid = true}, {34, 33, 33}},
        {{.names = names,
          .name_count = 2,
          .label_selector.present = true,
          .labels = {.items = &area, .count = 1}},
         {98, 1, 1}},
        {{.names = names, .name_count = 2, .zones = &zone, .zone_count = 1}, {34, 33, 33}},
        {{.names = names, .name_count = 2, .fields = {.items = &region, .count = 1}}, {1, 98, 1}},
        {{.names = names, .name_count = 1}, {98, 1, 1}},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        struct karmada_assignment got;
        const struct static_weight both[] = {{.weight = 1},
                                             {.target = rules[i].target, .weight = 98}};
        const struct binding_spec spec = {.replicas = 100,
                                          .placement.replicas = {.division = DIVISION_STATIC,
                                                                 .has_weights = true,
                                                                 .weights = both,
                                                                 .weight_count = 2}};
        assert_int_equal(karmada_assign(candidates, 3, &spec, &(struct binding_status){0}, false,
                                        &karmada_defaults, &arena, &got, NULL),
                         0);
        assert_int_equal(got.count, 3);
        for (uint32_t n = 0; n < 3; n++)
            assert_int_equal(got.clusters[n].replicas, rules[i].want[n]);
    }
}

static void test_errors(void **state) {
    (void)state;
    const struct assign_case cases[] = {
        {"AS02", DIVISION_DUPLICATED, 3, .allocatable = "", .kind = KARMADA_ERROR,
         .error = "no clusters available to schedule"},
        {"AS02 not even one", DIVISION_DUPLICATED, 0, .no_requirements = true, .allocatable = "",
         .empty_propagation = true, .kind = KARMADA_ERROR,
         .error = "no clusters available to schedule"},
        {"AS04", DIVISION_UNSUPPORTED, 3, .allocatable = "m1=9", .kind = KARMADA_ERROR,
         .error = "unsupported replica scheduling strategy, replicaSchedulingType: Divided, "
                  "replicaDivisionPreference: Sideways, please try another scheduling strategy"},
        {"AS04 in tiers", DIVISION_UNSUPPORTED, 3, .allocatable = "m1=9", .tiers = "m1=0",
         .kind = KARMADA_ERROR,
         .error = "unsupported replica scheduling strategy, replicaSchedulingType: Divided, "
                  "replicaDivisionPreference: Sideways, please try another scheduling strategy"},
        {"AS04 in tiers that hold too little", DIVISION_UNSUPPORTED, 3, .allocatable = "m1=1 m2=1",
         .tiers = "m1=0 m2=1", .kind = KARMADA_ERROR,
         .error = "unsupported replica scheduling strategy, replicaSchedulingType: Divided, "
                  "replicaDivisionPreference: Sideways, please try another scheduling strategy"},
        {"AS04 with nothing to divide", DIVISION_UNSUPPORTED, 0, .no_requirements = true,
         .allocatable = "m1=9", .want = "m1=0"},
    };
    EXPECT_ALL(cases);
}

/* What is not divided goes to all; what is, to those that have some, or to all if that is wanted.
 */
static void test_empty(void **state) {
    (void)state;
    const struct assign_case cases[] = {
        {"AS03", DYN, 0, .no_requirements = true, .allocatable = "m2=9 m1=9", .want = "m1=0 m2=0"},
        {"replicas alone", DYN, 1, .no_requirements = true, .allocatable = "m2=9 m1=9",
         .want = "m1=1"},
        {"requirements alone", DYN, 0, .allocatable = "m2=9 m1=9", .want = ""},
        {"one component", DYN, 3, .allocatable = "m2=9 m1=9", .components = 1, .want = "m1=2 m2=1"},
        {"two components", DYN, 3, .allocatable = "m2=9 m1=9", .components = 2,
         .want = "m1=0 m2=0"},
        {"CP03", DYN, 3, .allocatable = "m3=0 m2=9 m1=5", .empty_propagation = true,
         .want = "m1=1 m2=2 m3=0"},
        {"none left", DYN, 0, .allocatable = "m2=9 m1=9", .empty_propagation = true,
         .want = "m1=0 m2=0"},
        {"an error stays one", DYN, 3, .allocatable = "m2=1 m1=1", .empty_propagation = true,
         NOT_ENOUGH("failed to scale up: ", "2 ")},
    };
    EXPECT_ALL(cases);
}

static void test_overflow(void **state) {
    (void)state;
    const struct static_weight heavy[] = {NAMED("m1", 1), NAMED("m2", 3), NAMED("m3", 1)};
    const struct assign_case cases[] = {
        {"OV01", DYN, 5, .allocatable = "m1=10 m2=10", .tiers = "m1=0 m2=1", .want = "m1=5"},
        {"OV02", DYN, 5, .allocatable = "m1=2 m2=10", .tiers = "m1=0 m2=1", .want = "m1=2 m2=3"},
        {"OV03", DYN, 10, .allocatable = "m1=2 m2=2", .tiers = "m1=0 m2=1", NOT_ENOUGH("", "")},
        {"OV04", DYN, 8, .allocatable = "m1=2 m2=10", .previous = "m1=3", .tiers = "m1=0 m2=1",
         .want = "m1=5 m2=3"},
        {"just enough", DYN, 4, .allocatable = "m1=2 m2=2", .tiers = "m1=0 m2=1000",
         .want = "m1=2 m2=2"},
        {"one short", DYN, 5, .allocatable = "m1=2 m2=2", .tiers = "m1=0 m2=1000",
         NOT_ENOUGH("", "")},
        {"not in order, with gaps", DYN, 9, .allocatable = "m3=4 m1=2 m4=9 m2=4",
         .tiers = "m3=7 m1=2 m4=1000 m2=7", .want = "m1=2 m2=4 m3=3"},
        /* the first tier receives what it can hold; what it had is part of that */
        {"refilled", DYN, 8, .allocatable = "m1=3 m2=10", .previous = "m2=5", .tiers = "m1=0 m2=1",
         .want = "m1=3 m2=5"},
        {"shrinks from behind", DYN, 4, .allocatable = "m1=3 m2=10", .previous = "m1=2 m2=5",
         .tiers = "m1=0 m2=1", .want = "m1=4"},
        {"static weights in each", STATIC, 10, .allocatable = "m1=2 m2=3 m3=9",
         .tiers = "m1=0 m2=0 m3=1", RULES(heavy), .want = "m1=1 m2=4 m3=5"},
        {"aggregated in each", AGG, 10, .allocatable = "m1=2 m2=3 m3=4 m4=9",
         .tiers = "m1=0 m2=0 m3=1 m4=1", .want = "m1=2 m2=3 m4=5"},
        {"nothing to divide", DYN, 0, .allocatable = "m1=2 m2=3", .previous = "m1=1 m2=1",
         .tiers = "m1=0 m2=1", .want = ""},
        {"nothing to divide, and all of them", DYN, 0, .allocatable = "m1=2 m2=3",
         .tiers = "m1=0 m2=1", .empty_propagation = true, .want = "m1=0 m2=0"},
        {"a tier that holds nothing", DYN, 3, .allocatable = "m1=0 m2=3", .tiers = "m1=0 m2=1",
         .want = "m2=3"},
        {"a tier that holds less than nothing", DYN, 3, .allocatable = "m1=-7 m2=3",
         .tiers = "m1=0 m2=1", .want = "m2=3"},
        {"fresh", DYN, 8, .allocatable = "m1=2 m2=10", .previous = "m1=3 m2=1",
         .tiers = "m1=0 m2=1", .fresh = true, .want = "m1=5 m2=3"},
        {"equal ones in the order of their names", DYN, 1, .allocatable = "m2=1 m1=1",
         .tiers = "m2=0 m1=0", .want = "m1=1"},
        {"the first selected of equal ones", AGG, 1, .allocatable = "m2=1 m1=1",
         .tiers = "m2=0 m1=0", .want = "m2=1"},
    };
    EXPECT_ALL(cases);
}

static void test_overflows(void **state) {
    (void)state;
    struct affinity_term terms[] = {{.affinity.name = STR("a")},
                                    {.affinity.name = STR("b"), .has_overflow = true}};
    struct binding_spec spec = {.placement = {.affinities = terms, .affinity_count = 2}};
    struct binding_status status = {.observed_affinity = STR("b")};
    assert_true(karmada_assign_overflows(&spec, &status));
    status.observed_affinity = STR("a");
    assert_false(karmada_assign_overflows(&spec, &status));
    status.observed_affinity = STR("");
    terms[1].affinity.name = STR("");
    assert_false(karmada_assign_overflows(&spec, &status));
    terms[1].affinity.name = STR("b");
    status.observed_affinity = STR("b");
    spec.placement.has_affinity = true;
    assert_false(karmada_assign_overflows(&spec, &status));
    spec.placement.has_affinity = false;
    spec.placement.affinity_count = 1;
    assert_false(karmada_assign_overflows(&spec, &status));
}

/* ---- before v1.16 ---- */

static void test_remainder(void **state) {
    (void)state;
    const struct static_weight by_place[] = {NAMED("m1", 1), NAMED("m2", 2), NAMED("m3", 1)};
    const struct static_weight huge[] = {NAMED("m1", INT64_MAX), NAMED("m2", INT64_MAX),
                                         NAMED("m3", INT64_MAX)};
    const struct assign_case cases[] = {
        /* Webster's method would be 2 5 2 and 2 3 1 */
        {"one remains", STATIC, 9, .allocatable = "m1=0 m2=0 m3=0", RULES(by_place),
         .method = DIVISION_REMAINDER, .want = "m1=2 m2=5 m3=2"},
        {"two remain", STATIC, 6, .allocatable = "m1=0 m2=0 m3=0", RULES(by_place),
         .method = DIVISION_REMAINDER, .want = "m1=1 m2=4 m3=1"},
        {"three remain", STATIC, 7, .allocatable = "m1=0 m2=0 m3=0", RULES(by_place),
         .method = DIVISION_REMAINDER, .want = "m1=2 m2=4 m3=1"},
        {"today before the name", STATIC, 7, .allocatable = "m1=0 m2=0 m3=0", .previous = "m3=1",
         RULES(by_place), .method = DIVISION_REMAINDER, .want = "m1=1 m2=4 m3=2"},
        {"no rules: the name, not today", STATIC, 1, .allocatable = "m1=0 m2=0", .previous = "m2=1",
         .method = DIVISION_REMAINDER, .want = "m1=1"},
        {"no preference: today", STATIC, 1, .allocatable = "m1=0 m2=0", .previous = "m2=1",
         .no_weights = true, .method = DIVISION_REMAINDER, .want = "m2=1"},
        {"no wrap", STATIC, INT32_MAX, .allocatable = "m1=0 m2=0 m3=0", RULES(huge),
         .method = DIVISION_REMAINDER, .want = "m1=715827883 m2=715827882 m3=715827882"},
        {"added to today", DYN, 8, .allocatable = "m1=5 m2=5", .previous = "m2=3",
         .method = DIVISION_REMAINDER, .want = "m1=2 m2=6"},
        {"today does not count in fewer", DYN, 5, .allocatable = "m1=5 m2=5",
         .previous = "m2=3 m1=3", .method = DIVISION_REMAINDER, .want = "m1=3 m2=2"},
        {"nor in fresh", DYN, 5, .allocatable = "m1=5 m2=2", .previous = "m2=3",
         .method = DIVISION_REMAINDER, .fresh = true, .want = "m1=3 m2=2"},
        {"less than nothing", DYN, 6, .allocatable = "m1=-3 m2=9", .method = DIVISION_REMAINDER,
         .want = "m2=6"},
        {"nothing", DYN, 0, .allocatable = "m1=0 m2=0", .method = DIVISION_REMAINDER, .fresh = true,
         .want = ""},
        {"aggregated", AGG, 9, .allocatable = "m1=3 m2=6 m3=4", .method = DIVISION_REMAINDER,
         .want = "m2=6 m3=3"},
    };
    EXPECT_ALL(cases);
}

/* ---- much ---- */

static struct karmada_candidate fleet[MANY];
static struct static_weight rules_of_all[MANY];
static char names[MANY][8];

static void make_fleet(bool one_name) {
    for (uint32_t i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof names[i], "m%05u", i);
        fleet[i] = (struct karmada_candidate){.cluster.name = str_of(names[one_name ? 0 : i]),
                                              .allocatable = INT64_MAX,
                                              .available = INT64_MAX};
        rules_of_all[i] = (struct static_weight){
            .target = {.names = &fleet[MANY - 1 - i].cluster.name, .name_count = 1},
            .weight = INT64_MAX};
    }
}

static int64_t assign_fleet(enum division division, bool overflow, uint64_t steps) {
    const struct binding_spec spec = {.replicas = INT32_MAX,
                                      .placement.replicas = {.division = division,
                                                             .has_weights = true,
                                                             .weights = rules_of_all,
                                                             .weight_count = MANY}};
    struct karmada_assignment got = {0};
    struct err err;
    arena_reset(&arena);
    arena.steps = (struct steps){.max = steps};
    const int r = karmada_assign(fleet, MANY, &spec, &(struct binding_status){0}, overflow,
                                 &karmada_defaults, &arena, &got, &err);
    arena.steps = (struct steps){.max = 0};
    if (r != 0)
        return r;
    int64_t sum = 0, least = INT32_MAX, most = 0;
    for (uint32_t i = 0; i < got.count; i++) {
        const int64_t replicas = got.clusters[i].replicas;
        sum += replicas;
        least = replicas < least ? replicas : least;
        most = replicas > most ? replicas : most;
    }
    assert_int_equal(got.count, division == DIVISION_AGGREGATED ? 1 : MANY);
    assert_true(most - least <= 1);
    return sum;
}

/* Sums of what is largest do not wrap, and cost no more than others: some hundred steps a cluster.
 */
static void test_whole_fleet(void **state) {
    (void)state;
    const enum division divisions[] = {DIVISION_STATIC, DIVISION_DYNAMIC, DIVISION_AGGREGATED};
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t bits = 0; bits < 4; bits++) {
            make_fleet((bits & 1) != 0);
            assert_int_equal(assign_fleet(divisions[i], (bits & 2) != 0, 200 * MANY), INT32_MAX);
        }
}

/* Rules that are no names: 5,000 of them are tried on 5,000 clusters, which is too much. */
static void test_many_selectors(void **state) {
    (void)state;
    make_fleet(false);
    for (uint32_t i = 0; i < MANY; i++)
        rules_of_all[i].target.invalid = true;
    assert_int_equal(assign_fleet(DIVISION_STATIC, false, 1000000), -E2BIG);
    /* one that matches ends the search, if no other is heavier */
    rules_of_all[MANY - 1].target = (struct cluster_affinity){0};
    rules_of_all[MANY - 1].weight = INT64_MAX;
    for (uint32_t i = 0; i < MANY - 1; i++)
        rules_of_all[i].weight = 1;
    assert_int_equal(assign_fleet(DIVISION_STATIC, false, 1000000), INT32_MAX);
}

/* Wherever the steps or the memory end, that is said, and nothing is answered. */
static void test_budgets(void **state) {
    (void)state;
    const struct static_weight rules[] = {NAMED("m1", 3), NAMED("m2", 2), {.weight = 1}};
    const struct assign_case cases[] = {
        {"dyn", DYN, 900, .allocatable = "m1=500 m2=500 m3=500", .previous = "m1=3 m2=4"},
        {"agg", AGG, 900, .allocatable = "m1=500 m2=500 m3=500", .previous = "m1=3 m2=4"},
        {"fewer", AGG, 6, .allocatable = "m1=500 m2=500 m3=500", .previous = "m1=3 m2=4"},
        {"static", STATIC, 900, .allocatable = "m1=500 m2=500 m3=500", RULES(rules)},
        {"tiers", DYN, 900, .allocatable = "m1=500 m2=500", .tiers = "m1=1 m2=0"},
        {"remainder", STATIC, 900, .allocatable = "m1=500 m2=500 m3=500", RULES(rules),
         .method = DIVISION_REMAINDER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct karmada_assignment got = {.count = 77};
        struct err err;
        arena_reset(&arena);
        arena.steps = (struct steps){.max = 0};
        assert_int_equal(assign(&cases[i], &got, &err), 0);
        const uint64_t needed = arena.steps.used;
        assert_true(needed > 10);
        for (uint64_t max = 1; max < needed; max++) {
            got.count = 77;
            arena_reset(&arena);
            arena.steps = (struct steps){.max = max};
            assert_int_equal(assign(&cases[i], &got, &err), -E2BIG);
            assert_int_equal(got.count, 77);
        }
        arena_reset(&arena);
        arena.steps = (struct steps){.max = needed};
        assert_int_equal(assign(&cases[i], &got, &err), 0);
        arena.steps = (struct steps){.max = 0};
    }
}

/* The same for each allocation. */
static void test_memory(void **state) {
    (void)state;
    const struct static_weight rules[] = {NAMED("m1", 3), {.weight = 1}};
    const struct assign_case cases[] = {
        {"agg", AGG, 900, .allocatable = "m1=500 m2=500 m3=500", .previous = "m1=3 m2=4"},
        {"static", STATIC, 900, .allocatable = "m1=500 m2=500 m3=500", RULES(rules)},
        {"remainder", STATIC, 900, .allocatable = "m1=500 m2=500 m3=500", RULES(rules),
         .method = DIVISION_REMAINDER},
        {"too few", AGG, 9, .allocatable = "m1=1"},
        {"unsupported", DIVISION_UNSUPPORTED, 9, .allocatable = "m1=1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct karmada_assignment got = {.count = 77};
        uint32_t failed = 0;
        int r;
        do {
            struct err err;
            arena_done(&arena);
            arena_init(&arena, 16 + 16 * failed);
            r = assign(&cases[i], &got, &err);
            assert_true(r == 0 || (r == -ENOMEM && got.count == 77));
            failed += r != 0;
        } while (r != 0);
        assert_true(failed > 5);
    }
    arena_done(&arena);
    arena_init(&arena, 64 << 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_time),
        cmocka_unit_test(test_more_or_fewer),
        cmocka_unit_test(test_fresh),
        cmocka_unit_test(test_when_fresh),
        cmocka_unit_test(test_duplicated),
        cmocka_unit_test(test_static),
        cmocka_unit_test(test_static_selectors),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_overflows),
        cmocka_unit_test(test_remainder),
        cmocka_unit_test(test_whole_fleet),
        cmocka_unit_test(test_many_selectors),
        cmocka_unit_test(test_budgets),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
