/*
 * What one call of the engine takes in steps: no more than twice as many for twice as much of
 * anything that a user writes; and with fewer than it needs, the answer is "too many steps" or the
 * right one. Nothing is kept here, so every question builds all that it needs.
 */
#include "engine/engine.h"

#include "unit/cluster_builder.h"

#include <errno.h>
#include <stdio.h>

enum { SMALL = 256, DOUBLINGS = 3, NODES = 32, FIRST_LIMIT = 1 << 12 };

enum verb { FILTER, SCORE, PREEMPT, VERBS };

/* One question of a size. */
struct asked {
    struct pod pod;
    struct candidates candidates;
    struct preemption *preemptions;
    uint32_t preemption_count;
};

static void open_cluster(struct cluster *c) {
    char json[128];
    cluster_open_with(c, (struct cache_options){.max_bytes = 64});
    for (uint32_t i = 0; i < NODES; i++) {
        (void)snprintf(json, sizeof json, /* fits, here and below */
                       "{\"metadata\":{\"name\":\"n%u\",\"labels\":{\"zone\":\"z%u\","
                       "\"host\":\"n%u\"}}}",
                       i, i % 4, i);
        cluster_apply_json(c, OBJECT_NODE, json);
    }
    cluster_pods(c, "n1:foo n2:foo n2:bar n3:foo+bar=1");
    c->options.filters = FILTERS_OF_EXTENDER | FILTER_INTER_POD_AFFINITY;
    c->options.spread_weight = 1;
    c->options.locality_weight = 1;
}

static int ask(struct cluster *c, const struct asked *a, enum verb verb, uint64_t max_steps,
               struct filter_result *filter, struct score_result *score, bool **fits) {
    struct err err = {0};
    c->options.max_steps = max_steps;
    int r =
        verb == FILTER
            ? engine_filter(&c->options, c->cache, &a->pod, &a->candidates, &c->arena, filter, &err)
        : verb == SCORE
            ? engine_score(&c->options, c->cache, &a->pod, &a->candidates, &c->arena, score, &err)
            : engine_preempt(&c->options, c->cache, &a->pod, a->preemptions, a->preemption_count,
                             &c->arena, fits, &err);
    if (r != 0 && r != -E2BIG)
        fail_msg("%s", err.text);
    if (r == -E2BIG)
        assert_non_null(strstr(err.text, "steps to evaluate"));
    return r;
}

/* The fewest that do. */
static uint64_t steps_of(struct cluster *c, const struct asked *a, enum verb verb) {
    struct filter_result filter;
    struct score_result score;
    bool *fits;
    uint64_t too_few = 0, enough = FIRST_LIMIT;
    while (ask(c, a, verb, enough, &filter, &score, &fits) != 0)
        enough *= 2;
    while (enough - too_few > 1) {
        uint64_t middle = too_few + (enough - too_few) / 2;
        if (ask(c, a, verb, middle, &filter, &score, &fits) == 0)
            enough = middle;
        else
            too_few = middle;
    }
    return enough;
}

/* ---- what a user writes, `size` of it ---- */

static void put_list(struct strbuf *out, const char *before, const char *item, uint32_t size,
                     const char *after) {
    strbuf_append_str(out, str_of(before));
    for (uint32_t i = 0; i < size; i++) {
        if (i > 0)
            strbuf_append_char(out, ',');
        for (const char *at = item; *at != '\0'; at++) {
            if (*at == '#')
                strbuf_appendf(out, "%u", i);
            else
                strbuf_append_char(out, *at);
        }
    }
    strbuf_append_str(out, str_of(after));
}

#define REQUIRED "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":["
#define NEIGHBOURS "\"requiredDuringSchedulingIgnoredDuringExecution\":["
#define SPREAD "\"topologySpreadConstraints\":["
#define BOTH_SPREADS                                                                               \
    SPREAD "{\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\","      \
           "\"labelSelector\":{}},{\"maxSkew\":1,\"topologyKey\":\"host\",\"whenUnsatisfiable\":"  \
           "\"ScheduleAnyway\",\"labelSelector\":{}}],"

static const struct {
    const char *name, *before, *item, *after;
    uint32_t small;
} lists[] = {
    {"node selector", BOTH_SPREADS "\"nodeSelector\":{", "\"k#\":\"v\"", "},", SMALL},
    {"terms", BOTH_SPREADS "\"affinity\":{\"nodeAffinity\":{" REQUIRED,
     "{\"matchExpressions\":[{\"key\":\"k#\",\"operator\":\"Exists\"}]}", "]}}},", SMALL / 4},
    {"requirements",
     BOTH_SPREADS "\"affinity\":{\"nodeAffinity\":{" REQUIRED "{\"matchExpressions\":[",
     "{\"key\":\"k#\",\"operator\":\"DoesNotExist\"}", "]}]}}},", SMALL / 4},
    {"values",
     BOTH_SPREADS "\"affinity\":{\"nodeAffinity\":{" REQUIRED
                  "{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"NotIn\",\"values\":[",
     "\"v#\"", "]}]}]}}},", SMALL},
    {"tolerations", BOTH_SPREADS "\"tolerations\":[", "{\"key\":\"k#\",\"operator\":\"Exists\"}",
     "],", SMALL / 4},
    {"selector",
     SPREAD "{\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
            "\"DoNotSchedule\",\"labelSelector\":{\"matchExpressions\":[",
     "{\"key\":\"k#\",\"operator\":\"DoesNotExist\"}", "]}}],", SMALL / 4},
    {"hard constraints", SPREAD,
     "{\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
     "\"DoNotSchedule\",\"labelSelector\":{\"matchLabels\":{\"k#\":\"v\"}}}",
     "],", 8},
    {"soft constraints", SPREAD,
     "{\"maxSkew\":1,\"topologyKey\":\"key#\",\"whenUnsatisfiable\":"
     "\"ScheduleAnyway\",\"labelSelector\":{\"matchLabels\":{\"k#\":\"v\"}}}",
     "],", 8},
    {"pods to be beside", "\"affinity\":{\"podAffinity\":{" NEIGHBOURS,
     "{\"topologyKey\":\"zone\",\"labelSelector\":{\"matchLabels\":{\"k#\":\"v\"}}}", "]}},",
     SMALL / 4},
    {"pods to be apart from", "\"affinity\":{\"podAntiAffinity\":{" NEIGHBOURS,
     "{\"topologyKey\":\"host\",\"namespaceSelector\":{},\"labelSelector\":{\"matchLabels\":"
     "{\"k#\":\"v\"}}}",
     "]}},", SMALL / 4},
    {"namespaces of neighbours",
     "\"affinity\":{\"podAffinity\":{" NEIGHBOURS
     "{\"topologyKey\":\"zone\",\"labelSelector\":{},\"namespaces\":[",
     "\"n#\"", "]}]}},", SMALL},
};

static void ask_about_json(struct cluster *c, struct str json, struct asked *ret) {
    struct object object;
    assert_int_equal(object_decode(json, OBJECT_POD, POD_WHOLE, &c->arena, &object, NULL), 0);
    ret->pod = object.pod;
    struct str *names = arena_array(&c->arena, NODES, sizeof *names);
    ret->preemptions = arena_array(&c->arena, NODES, sizeof *ret->preemptions);
    assert_non_null(names);
    assert_non_null(ret->preemptions);
    for (uint32_t i = 0; i < NODES; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "n%u", i);
        names[i] = arena_str(&c->arena, str_of(name));
        ret->preemptions[i] = (struct preemption){names[i], &c->pods[0].object.meta, 1};
    }
    ret->candidates = (struct candidates){names, NODES};
    ret->preemption_count = NODES;
}

static void ask_about(struct cluster *c, size_t list, uint32_t size, struct asked *ret) {
    CLEANUP(strbuf_done) struct strbuf spec = {0};
    strbuf_append_str(&spec, STR("{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\","
                                 "\"labels\":{\"foo\":\"\"}},\"spec\":{"));
    put_list(&spec, lists[list].before, lists[list].item, size, lists[list].after);
    strbuf_append_str(&spec, STR("\"nodeName\":\"\"}}"));
    ask_about_json(c, arena_str(&c->arena, strbuf_str(&spec)), ret);
}

/* A pod with so many hard constraints, each of them on hosts. */
static void ask_spread_over_hosts(struct cluster *c, uint32_t constraints, struct asked *ret) {
    CLEANUP(strbuf_done) struct strbuf spec = {0};
    put_list(&spec,
             "{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",\"labels\":{\"foo\":\"\"}},"
             "\"spec\":{" SPREAD,
             "{\"maxSkew\":1#,\"topologyKey\":\"host\",\"whenUnsatisfiable\":\"DoNotSchedule\","
             "\"labelSelector\":{\"matchLabels\":{\"foo\":\"\"}}}",
             constraints, "]}}");
    ask_about_json(c, arena_str(&c->arena, strbuf_str(&spec)), ret);
}

static void twice_as_much_takes_twice_as_many(void **state) {
    (void)state;
    for (size_t list = 0; list < sizeof lists / sizeof lists[0]; list++)
        for (enum verb verb = FILTER; verb < VERBS; verb++) {
            uint64_t before = 0;
            for (uint32_t i = 0; i < DOUBLINGS; i++) {
                struct cluster c;
                struct asked a;
                open_cluster(&c);
                ask_about(&c, list, lists[list].small << i, &a);
                uint64_t steps = steps_of(&c, &a, verb);
                if (i > 0 && steps * 10 > before * 22)
                    fail_msg("%s: %llu steps, then %llu", lists[list].name,
                             (unsigned long long)before, (unsigned long long)steps);
                before = steps;
                cluster_close(&c);
            }
        }
}

/* What grows must be counted: 16 times as much takes more steps, whoever counts the nodes. */
static void whatever_grows_is_counted(void **state) {
    (void)state;
    for (size_t list = 0; list < sizeof lists / sizeof lists[0]; list++) {
        struct cluster c;
        struct asked few, many;
        uint64_t grown = 0;
        open_cluster(&c);
        cluster_nodes(&c, "n1,!");
        ask_about(&c, list, 1, &few);
        ask_about(&c, list, 16, &many);
        for (enum verb verb = FILTER; verb < VERBS; verb++)
            grown += steps_of(&c, &many, verb) - steps_of(&c, &few, verb);
        if (grown < 15)
            fail_msg("%s: not counted", lists[list].name);
        cluster_close(&c);
    }
}

static void more_victims_and_more_nodes_are_linear(void **state) {
    enum { ENTRIES = 200 };
    struct cluster c;
    (void)state;
    uint64_t before = 0;
    open_cluster(&c);
    for (uint32_t count = ENTRIES; count <= 8 * ENTRIES; count *= 2) {
        struct asked a;
        ask_about(&c, 6, 4, &a);
        a.preemptions = arena_array(&c.arena, count, sizeof *a.preemptions);
        assert_non_null(a.preemptions);
        for (uint32_t i = 0; i < count; i++)
            a.preemptions[i] = (struct preemption){STR("n1"), &c.pods[0].object.meta, 1};
        a.preemption_count = count;
        uint64_t steps = steps_of(&c, &a, PREEMPT);
        assert_true(before == 0 || steps * 10 <= before * 22);
        assert_true(steps > 3 * (uint64_t)count);
        before = steps;
    }
    cluster_close(&c);
}

/* ---- pods in flight ---- */

/* Notes that `count` pods may land on any node. */
static void put_in_flight(struct cluster *c, const struct asked *a, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        struct pod pod = a->pod;
        char uid[16];
        (void)snprintf(uid, sizeof uid, "u%u", i);
        pod.meta.uid = arena_str(&c->arena, str_of(uid));
        cache_write_begin(c->cache);
        assert_int_equal(cache_expect(c->cache, &pod, a->candidates.names, NODES, 0), 0);
        cache_write_end(c->cache);
    }
}

static void put_rule(struct cluster *c, struct ordered_rule *rule) {
    static const struct spread_constraint terms[] = {
        {.topology_key = {"zone", 4}, .max_skew = 1, .hard = true},
        {.topology_key = {"host", 4}, .max_skew = 1, .hard = true}};
    *rule = (struct ordered_rule){.terms = terms, .term_count = 2};
    c->options.ordered_rules = rule;
    c->options.ordered_rule_count = 1;
}

/* Each flight counts in the domain of each of its nodes: 32 of them here. That is work. */
static void flights_are_counted_by_the_node(void **state) {
    enum { FLIGHTS = 8 };
    (void)state;
    for (int ordered = 0; ordered < 2; ordered++)
        for (uint32_t constraints = 1; constraints <= 4; constraints++) {
            struct cluster c;
            struct asked a;
            struct ordered_rule rule;
            uint64_t took[3];
            open_cluster(&c);
            c.options.count_flights = true;
            ask_spread_over_hosts(&c, ordered ? 0 : constraints, &a);
            if (ordered)
                put_rule(&c, &rule);
            for (uint32_t i = 0; i < 3; i++) {
                put_in_flight(&c, &a, i * FLIGHTS);
                took[i] = steps_of(&c, &a, FILTER);
            }
            /* between the numbers of flights only those differ */
            uint64_t more = took[2] - took[1], each = ordered ? 1 : constraints;
            if (more < FLIGHTS * NODES * each || more > 4 * FLIGHTS * NODES * each)
                fail_msg("%d: %llu steps more", ordered, (unsigned long long)more);
            cluster_close(&c);
        }
}

/* ---- ports of the host ---- */

/* A pod that wants a port looks at every other pod, and at every port that others hold. */
static void other_pods_and_their_ports_are_counted(void **state) {
    enum { PODS = 50 };
    struct cluster c;
    struct asked a;
    char json[256];
    (void)state;
    open_cluster(&c);
    c.options.filters = FILTER_NODE_PORTS;
    ask_about_json(&c,
                   STR("{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"ports\":"
                       "[{\"hostPort\":1}]}]}}"),
                   &a);
    uint64_t without = steps_of(&c, &a, FILTER);
    for (uint32_t i = 0; i < PODS; i++) {
        (void)snprintf(json, sizeof json,
                       "{\"metadata\":{\"name\":\"o%u\",\"uid\":\"o%u\",\"namespace\":\"x\"},"
                       "\"spec\":{\"nodeName\":\"n%u\",\"containers\":[{\"ports\":["
                       "{\"hostPort\":%u},{\"hostPort\":%u}]}]}}",
                       i, i, i % NODES, 2 * i + 2, 2 * i + 3);
        cluster_apply_json(&c, OBJECT_POD, json);
    }
    uint64_t more = steps_of(&c, &a, FILTER) - without;
    if (more < 2 * PODS || more > 20 * PODS)
        fail_msg("%llu steps more", (unsigned long long)more);
    cluster_close(&c);
}

/* ---- with fewer than it needs ---- */

static void no_number_of_steps_makes_an_answer_wrong(void **state) {
    struct cluster c;
    struct asked a;
    struct filter_result want, got;
    struct score_result want_score, got_score;
    bool *want_fits, *fits;
    (void)state;
    open_cluster(&c);
    ask_about(&c, 3, 20, &a);
    assert_int_equal(ask(&c, &a, FILTER, UINT64_MAX, &want, NULL, NULL), 0);
    assert_int_equal(ask(&c, &a, SCORE, UINT64_MAX, NULL, &want_score, NULL), 0);
    assert_int_equal(ask(&c, &a, PREEMPT, UINT64_MAX, NULL, NULL, &want_fits), 0);
    uint32_t right = 0, too_few = 0;
    for (uint64_t max = 1; max < 3000; max += 7) {
        struct arena before = c.arena; /* what a question takes is given back */
        arena_init(&c.arena, 1u << 22);
        for (enum verb verb = FILTER; verb < VERBS; verb++) {
            int r = ask(&c, &a, verb, max, &got, &got_score, &fits);
            right += r == 0;
            too_few += r != 0;
            if (r == 0 && verb == FILTER)
                assert_memory_equal(got.verdicts, want.verdicts, NODES);
            if (r == 0 && verb == SCORE)
                assert_memory_equal(got_score.priorities, want_score.priorities,
                                    NODES * sizeof *want_score.priorities);
            if (r == 0 && verb == PREEMPT)
                assert_memory_equal(fits, want_fits, NODES * sizeof *fits);
        }
        arena_done(&c.arena);
        c.arena = before;
    }
    assert_true(right > 10 && too_few > 10);
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twice_as_much_takes_twice_as_many),
        cmocka_unit_test(whatever_grows_is_counted),
        cmocka_unit_test(flights_are_counted_by_the_node),
        cmocka_unit_test(other_pods_and_their_ports_are_counted),
        cmocka_unit_test(more_victims_and_more_nodes_are_linear),
        cmocka_unit_test(no_number_of_steps_makes_an_answer_wrong),
    };
    return cmocka_run_group_tests_name("engine, steps", tests, NULL, NULL);
}
