/*
 * The general estimator. Expectations: upstream's own tables (karmada pkg/estimator/client
 * general_test.go, v1.18.1), and what v1.11, v1.17 and v1.18 make of the same models.
 */
#include "estimator/estimator.h"

#include "unit/model/decoding.h"

static struct karmada_cluster cluster_of(const char *json) {
    struct karmada_cluster c;
    struct json_reader r = decoding_reader(json);
    karmada_cluster_decode(&r, &c);
    decoding_good(&r);
    return c;
}

static struct replica_requirements requirements_of(const char *json) {
    struct replica_requirements requirements;
    struct json_reader r = decoding_reader(json);
    replica_requirements_decode(&r, &requirements);
    decoding_good(&r);
    return requirements;
}

static const struct component *components_of(const char *json, uint32_t *ret_count) {
    struct json_reader r = decoding_reader(json);
    const struct component *components = components_decode(&r, ret_count);
    decoding_good(&r);
    return components;
}

/* Everything of a question; "null" where there is none. */
struct asked {
    const char *cluster, *requirements, *components, *assumed;
    enum estimator_models models;
    bool by_name;
};

static void prepare(const struct asked *a, struct estimator_question *q) {
    struct replica_requirements *requirements = arena_alloc(&decoding_arena, sizeof *requirements);
    struct component_set *assumed = arena_alloc(&decoding_arena, sizeof *assumed);
    uint32_t count;
    *requirements = requirements_of(a->requirements != NULL ? a->requirements : "null");
    const struct component *components =
        components_of(a->components != NULL ? a->components : "null", &count);
    assert_int_equal(estimator_question_init(q, requirements, components, count, &decoding_arena),
                     0);
    q->models = a->models;
    q->sets_by_name = a->by_name;
    if (a->assumed == NULL)
        return;
    components = components_of(a->assumed, &count);
    assert_int_equal(component_set_init(assumed, components, count, &decoding_arena), 0);
    q->assumed = assumed;
    q->assumed_count = 1;
}

static void replicas_are(struct asked a, int64_t want) {
    struct estimator_question q;
    struct general_estimate estimate;
    const struct karmada_cluster cluster = cluster_of(a.cluster);
    prepare(&a, &q);
    assert_int_equal(estimator_general_replicas(&cluster, &q, &decoding_arena, &estimate), 0);
    if (estimate.replicas != want)
        print_error("%s of %s, models %d\n", a.requirements, a.cluster, (int)a.models);
    assert_int_equal(estimate.replicas, want);
}

/* Of a cluster without models. */
static void summary_is(const char *cluster, const char *requirements, int64_t want) {
    replicas_are((struct asked){.cluster = cluster, .requirements = requirements}, want);
}

static void sets_are(struct asked a, int64_t want) {
    struct estimator_question q;
    int64_t sets;
    const struct karmada_cluster cluster = cluster_of(a.cluster);
    prepare(&a, &q);
    assert_int_equal(estimator_general_sets(&cluster, &q, &decoding_arena, &sets), 0);
    if (sets != want)
        print_error("%s of %s, models %d\n", a.components, a.cluster, (int)a.models);
    assert_int_equal(sets, want);
}

#define SUMMARY(allocatable, allocating, allocated)                                                \
    "{\"status\":{\"resourceSummary\":{\"allocatable\":{" allocatable                              \
    "},\"allocating\":{" allocating "},\"allocated\":{" allocated "}}}}"
#define REQUEST(amounts) "{\"resourceRequest\":{" amounts "}}"
#define COMPONENT(replicas, amounts)                                                               \
    "{\"name\":\"c\",\"replicas\":" replicas ",\"replicaRequirements\":" REQUEST(amounts) "}"

/* ---- the summary ---- */

static void what_the_summary_leaves(void **state) {
    (void)state;
    const char *four = SUMMARY("\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"100\"", "",
                               "\"cpu\":\"1\",\"memory\":\"2Gi\",\"pods\":\"20\"");
    const char *half = REQUEST("\"cpu\":\"500m\",\"memory\":\"1Gi\"");
    replicas_are((struct asked){four, half, .models = MODELS_THIRD}, 6);
    replicas_are(
        (struct asked){four, half, .models = MODELS_THIRD,
                       .assumed = "[" COMPONENT("2", "\"cpu\":\"500m\",\"memory\":\"1Gi\"") "]"},
        4);
    summary_is("{}", half, 0);
    summary_is("{\"status\":{\"resourceSummary\":null}}", "null", 0);
    summary_is(SUMMARY("\"pods\":\"10\"", "", "\"pods\":\"10\""), "null", 0);
    summary_is(SUMMARY("\"pods\":\"10\"", "", "\"pods\":\"9\""), "null", 1);
    summary_is(SUMMARY("\"pods\":\"10\"", "", ""), "null", 10);
    summary_is(SUMMARY("\"pods\":\"10\",\"memory\":\"2Gi\"", "", "\"memory\":\"1536Mi\""),
               REQUEST("\"memory\":\"1Gi\""), 0);
    summary_is(SUMMARY("\"pods\":\"100\"", "\"pods\":\"10\"", "\"pods\":\"40\""), "null", 50);
    summary_is(SUMMARY("\"pods\":\"100\"", "\"pods\":\"20\"", "\"pods\":\"90\""), "null", 0);
}

static void edges_of_the_summary(void **state) {
    (void)state;
    /* less than one core is left: it passes as one, and is divided in thousandths */
    summary_is(SUMMARY("\"pods\":\"10\",\"cpu\":\"1\"", "", "\"cpu\":\"700m\""),
               REQUEST("\"cpu\":\"100m\""), 3);
    /* a resource that is only used, or that is not reported, or is not asked for */
    summary_is(SUMMARY("\"pods\":\"10\"", "\"x.io/y\":\"-5\"", ""), REQUEST("\"x.io/y\":\"1\""), 0);
    summary_is(SUMMARY("\"pods\":\"10\"", "", ""), REQUEST("\"x.io/y\":\"1\""), 0);
    summary_is(SUMMARY("\"pods\":\"10\"", "", ""), REQUEST("\"x.io/y\":\"0\",\"cpu\":\"-1\""), 10);
    /* what no node is asked for counts here */
    summary_is(SUMMARY("\"pods\":\"10\",\"storage\":\"6\"", "", ""), REQUEST("\"storage\":\"2\""),
               3);
    /* several, of which one decides, in any place of the list */
    const char *three = SUMMARY("\"a.io/a\":\"7\",\"b.io/b\":\"5\",\"c.io/c\":\"9\","
                                "\"pods\":\"100\"",
                                "", "");
    summary_is(three, REQUEST("\"a.io/a\":\"1\",\"c.io/c\":\"1\""), 7);
    summary_is(three, REQUEST("\"b.io/b\":\"1\",\"c.io/c\":\"2\""), 4);
    summary_is(three, REQUEST("\"b.io/bb\":\"1\",\"c.io/c\":\"1\""), 0);
    summary_is(three, REQUEST("\"d.io/d\":\"1\""), 0);
    /* 2^31 - 1 and what is above it */
    summary_is(SUMMARY("\"pods\":\"2147483647\"", "", ""), "null", INT32_MAX);
    summary_is(SUMMARY("\"pods\":\"2147483648\"", "", ""), "null", INT32_MAX);
    summary_is(SUMMARY("\"pods\":\"9223372036854775807\"", "\"pods\":\"-9223372036854775807\"", ""),
               "null", INT32_MAX);
    summary_is(SUMMARY("\"pods\":\"9Ei\",\"memory\":\"9Ei\"", "", ""), REQUEST("\"memory\":\"1\""),
               INT32_MAX);
    summary_is(SUMMARY("\"pods\":\"1k\",\"cpu\":\"9E\"", "\"cpu\":\"-9E\"", ""),
               REQUEST("\"cpu\":\"9E\""),
               1); /* 18E cores are more thousandths than are counted, and so are 9E */
}

/* ---- models ---- */

#define GRADE(grade, ranges) "{\"grade\":" grade ",\"ranges\":[" ranges "]}"
#define RANGE(name, min) "{\"name\":\"" name "\",\"min\":\"" min "\",\"max\":\"1\"}"
#define COUNT(grade, count) "{\"grade\":" grade ",\"count\":" count "}"
#define MODELS(grades, counts)                                                                     \
    "{\"spec\":{\"resourceModels\":[" grades "]},\"status\":{\"resourceSummary\":{"                \
    "\"allocatable\":{\"cpu\":\"100k\",\"memory\":\"1Pi\",\"g.io/g\":\"1k\",\"pods\":\"1M\"},"     \
    "\"allocatableModelings\":[" counts "]}}}"

#define CPU_GRADES                                                                                 \
    GRADE("0", RANGE("cpu", "0"))                                                                  \
    "," GRADE("1", RANGE("cpu", "1")) "," GRADE("2", RANGE("cpu", "2"))
#define BOTH(grade, cpu, memory) GRADE(grade, RANGE("cpu", cpu) "," RANGE("memory", memory))
#define BOTH_GRADES BOTH("0", "0", "0") "," BOTH("1", "1", "1Gi") "," BOTH("2", "2", "2Gi")
#define ONE_EACH COUNT("0", "1") "," COUNT("1", "1") "," COUNT("2", "1")
#define DEFAULT_GRADES                                                                             \
    BOTH("0", "0", "0")                                                                            \
    "," BOTH("1", "1", "4Gi") "," BOTH("2", "2", "16Gi") "," BOTH("3", "4", "32Gi") "," BOTH(      \
        "4", "8",                                                                                  \
        "64Gi") "," BOTH("5", "16",                                                                \
                         "128Gi") "," BOTH("6", "32",                                              \
                                           "256Gi") "," BOTH("7", "64",                            \
                                                             "512Gi") "," BOTH("8", "128", "1Ti")
#define DEFAULT_COUNTS(c0, c1, c2, c3, c4, c5, c6, c7, c8)                                         \
    COUNT("0", c0)                                                                                 \
    "," COUNT("1", c1) "," COUNT("2", c2) "," COUNT("3", c3) "," COUNT("4", c4) "," COUNT(         \
        "5", c5) "," COUNT("6", c6) "," COUNT("7", c7) "," COUNT("8", c8)

static void generations(const char *cluster, const char *request, int64_t first, int64_t second,
                        int64_t third) {
    replicas_are((struct asked){cluster, request, .models = MODELS_FIRST}, first);
    replicas_are((struct asked){cluster, request, .models = MODELS_SECOND}, second);
    replicas_are((struct asked){cluster, request, .models = MODELS_THIRD}, third);
}

static void what_three_generations_make_of_models(void **state) {
    (void)state;
    const char *small = MODELS(CPU_GRADES, ONE_EACH), *both = MODELS(BOTH_GRADES, ONE_EACH);
    generations(small, REQUEST("\"cpu\":\"1500m\""), 2, 1, 1);
    generations(small, REQUEST("\"cpu\":\"3\""), 1, 0, 0);
    generations(both, REQUEST("\"cpu\":\"1\",\"memory\":\"1536Mi\""), 2, 1, 1);
    generations(both, REQUEST("\"cpu\":\"1\",\"memory\":\"2560Mi\""), 1, 0, 0);
    const char *large = REQUEST("\"cpu\":\"3\",\"memory\":\"20Gi\"");
    generations(MODELS(DEFAULT_GRADES, DEFAULT_COUNTS("0", "0", "1", "6", "0", "0", "0", "0", "0")),
                large, 7, 6, 6);
    generations(MODELS(DEFAULT_GRADES, DEFAULT_COUNTS("0", "0", "4", "4", "0", "0", "0", "0", "0")),
                large, 8, 4, 4);
    const char *sixth =
        MODELS(DEFAULT_GRADES, DEFAULT_COUNTS("0", "0", "0", "0", "0", "0", "1", "0", "0"));
    generations(sixth, large, 10, 10, 10);
    generations(sixth, REQUEST("\"cpu\":\"5\",\"memory\":\"60Gi\""), 4, 4, 4);
    generations(MODELS(DEFAULT_GRADES, DEFAULT_COUNTS("3", "0", "0", "0", "0", "0", "0", "0", "0")),
                REQUEST("\"cpu\":\"100m\""), 3, 0, 0);
    const char *last =
        MODELS(DEFAULT_GRADES, DEFAULT_COUNTS("0", "0", "0", "0", "0", "0", "0", "0", "1"));
    generations(last, REQUEST("\"cpu\":\"1m\""), 128000, 128000, 110);
    generations(last, REQUEST("\"cpu\":\"200\""), 1, 0, 0);
    /* the models do not know the resource: the summary's thousand, or nothing */
    generations(last, REQUEST("\"cpu\":\"1\",\"g.io/g\":\"1\""), 1000, 1000, 0);
    /* no node is asked for it at all, while the older ones look it up */
    generations(last, REQUEST("\"storage\":\"1\""), 0, 0, 110);
}

static void edges_of_models(void **state) {
    (void)state;
    /* exactly a grade's least: of the first generation as of the second */
    generations(MODELS(CPU_GRADES, ONE_EACH), REQUEST("\"cpu\":\"1\""), 3, 3, 3);
    generations(MODELS(CPU_GRADES, ONE_EACH), REQUEST("\"cpu\":\"2\""), 1, 1, 1);
    generations(MODELS(CPU_GRADES, ONE_EACH), REQUEST("\"cpu\":\"1001m\""), 2, 1, 1);
    generations(MODELS(CPU_GRADES, ONE_EACH), REQUEST("\"cpu\":\"999m\""), 4, 3, 3);
    /* requirements that ask for nothing: until v1.17 no limit but the pods */
    generations(MODELS(CPU_GRADES, ONE_EACH), REQUEST(""), 1000000, 1000000, 330);
    /* no models, or a count below 0: the summary */
    generations(MODELS("", ONE_EACH), REQUEST("\"cpu\":\"1\""), 100000, 100000, 100000);
    replicas_are((struct asked){MODELS(CPU_GRADES, COUNT("1", "-1") "," COUNT("2", "3")),
                                REQUEST("\"cpu\":\"1\""), .models = MODELS_THIRD},
                 100000);
    /* off: the summary */
    replicas_are((struct asked){MODELS(CPU_GRADES, ONE_EACH), REQUEST("\"cpu\":\"1\""),
                                .models = MODELS_OFF},
                 100000);
    /* no requirements: the free pods */
    generations(MODELS(CPU_GRADES, ONE_EACH), "null", 1000000, 1000000, 1000000);
    /* by grade, not by place; counts of a grade add up; a grade twice is the last */
    const char *mixed =
        MODELS(GRADE("7", RANGE("cpu", "4")) "," GRADE("3", RANGE("cpu", "100")) "," GRADE(
                   "3", RANGE("cpu", "2")),
               COUNT("3", "5") "," COUNT("9", "8") "," COUNT("3", "2") "," COUNT("7", "1"));
    replicas_are((struct asked){mixed, REQUEST("\"cpu\":\"2\""), .models = MODELS_THIRD}, 9);
    /* 110 pods a node, at the limit */
    replicas_are((struct asked){MODELS(GRADE("0", RANGE("cpu", "111")), COUNT("0", "1")),
                                REQUEST("\"cpu\":\"1\""), .models = MODELS_THIRD},
                 110);
    replicas_are((struct asked){MODELS(GRADE("0", RANGE("cpu", "109")), COUNT("0", "1")),
                                REQUEST("\"cpu\":\"1\""), .models = MODELS_THIRD},
                 109);
    /* as many nodes as a number holds */
    generations(
        MODELS(GRADE("0", RANGE("cpu", "4")), COUNT("0", "9223372036854775807") "," COUNT(
                                                  "0", "9223372036854775807") "," COUNT("0", "9")),
        REQUEST("\"cpu\":\"1\""), 1000000, 1000000, 1000000);
    /* a grade that has less than nothing */
    generations(MODELS(GRADE("0", RANGE("cpu", "-4")), COUNT("0", "3")), REQUEST("\"cpu\":\"1\""),
                3, 0, 0);
}

static void assumed_workloads_take_from_models(void **state) {
    (void)state;
    const char *three = MODELS(GRADE("1", RANGE("cpu", "1")), COUNT("1", "3"));
    const char *half = REQUEST("\"cpu\":\"500m\"");
    replicas_are((struct asked){three, half, .models = MODELS_THIRD}, 6);
    replicas_are((struct asked){three, half, .models = MODELS_THIRD,
                                .assumed = "[" COMPONENT("4", "\"cpu\":\"500m\"") "]"},
                 2);
    /* of what does not fit, the part that was placed stays taken */
    replicas_are((struct asked){three, half, .models = MODELS_THIRD,
                                .assumed = "[" COMPONENT("1", "\"cpu\":\"1\"") "," COMPONENT(
                                    "3", "\"cpu\":\"1\"") "]"},
                 0);
    replicas_are((struct asked){three, half, .models = MODELS_THIRD,
                                .assumed = "[" COMPONENT("1", "\"cpu\":\"2\"") "," COMPONENT(
                                    "3", "\"cpu\":\"1\"") "]"},
                 6);
    /* pods of assumed workloads, and 10,000 of 1Ti without an overflow */
    replicas_are((struct asked){SUMMARY("\"pods\":\"10\",\"memory\":\"10001Ti\"", "", ""),
                                REQUEST("\"memory\":\"1Ti\""),
                                .assumed = "[" COMPONENT("9", "") "]"},
                 1);
    replicas_are((struct asked){SUMMARY("\"pods\":\"20k\",\"memory\":\"10001Ti\"", "", ""),
                                REQUEST("\"memory\":\"1Ti\""),
                                .assumed = "[" COMPONENT("10000", "\"memory\":\"1Ti\"") "]"},
                 1);
}

/* ---- sets ---- */

static void what_the_summary_leaves_for_sets(void **state) {
    (void)state;
    const char *two =
        "[" COMPONENT("1", "\"cpu\":\"1\"") "," COMPONENT("2", "\"cpu\":\"1500m\"") "]";
    sets_are((struct asked){"{}", .components = two}, 0);
    sets_are((struct asked){SUMMARY("\"cpu\":\"1\"", "", ""), .components = two}, 0);
    sets_are((struct asked){.cluster = SUMMARY("\"pods\":\"10\"", "", "")}, 10);
    sets_are((struct asked){SUMMARY("\"pods\":\"10\"", "", ""), .components = "[]"}, 10);
    sets_are((struct asked){SUMMARY("\"pods\":\"10\"", "", ""),
                            .components = "[" COMPONENT("0", "\"cpu\":\"1\"") "]"},
             10);
    sets_are((struct asked){SUMMARY("\"pods\":\"10\"", "", ""),
                            .components = "[" COMPONENT("3", "") "]"},
             3);
    sets_are((struct asked){SUMMARY("\"pods\":\"100\",\"cpu\":\"10\"", "", ""), .components = two},
             2);
    sets_are(
        (struct asked){SUMMARY("\"pods\":\"100\",\"cpu\":\"10\",\"memory\":\"6Gi\"", "", ""),
                       .components =
                           "[" COMPONENT("1", "\"cpu\":\"1\",\"memory\":\"2Gi\"") "," COMPONENT(
                               "2", "\"cpu\":\"2\",\"memory\":\"2Gi\"") "]"},
        1);
    sets_are((struct asked){SUMMARY("\"pods\":\"3\",\"cpu\":\"10\"", "", ""), .components = two},
             1);
    sets_are((struct asked){SUMMARY("\"pods\":\"2\",\"cpu\":\"10\"", "", ""), .components = two},
             0);
    sets_are((struct asked){SUMMARY("\"pods\":\"100\",\"cpu\":\"40\",\"memory\":\"64Gi\","
                                    "\"g.io/gpu\":\"8\"",
                                    "", ""),
                            .components = "[" COMPONENT(
                                "2", "\"cpu\":\"4\",\"memory\":\"8Gi\",\"g.io/gpu\":\"1\"") "]"},
             4);
    /* no allocatable of it */
    sets_are((struct asked){SUMMARY("\"pods\":\"100\"", "\"cpu\":\"-10\"", ""), .components = two},
             0);
}

static void assumed_workloads_take_from_sets(void **state) {
    (void)state;
    const char *four = "[" COMPONENT("1", "\"cpu\":\"4\"") "]";
    const char *eight = SUMMARY("\"pods\":\"9\",\"cpu\":\"8\"", "", "");
    sets_are((struct asked){eight, .components = four}, 2);
    sets_are((struct asked){eight, .components = four,
                            .assumed = "[" COMPONENT("1", "\"cpu\":\"4\"") "]"},
             1);
    sets_are((struct asked){eight, .components = four,
                            .assumed = "[" COMPONENT("2", "\"cpu\":\"4\"") "]"},
             0);
    sets_are((struct asked){eight, .components = four, .assumed = "[" COMPONENT("9", "") "]"}, 0);
    sets_are((struct asked){eight, .components = four, .assumed = "[" COMPONENT("8", "") "]"}, 1);
    const char *three = MODELS(GRADE("1", RANGE("cpu", "1")), COUNT("1", "3"));
    sets_are((struct asked){three, .models = MODELS_THIRD,
                            .components = "[" COMPONENT("1", "\"cpu\":\"500m\"") "]",
                            .assumed = "[" COMPONENT("4", "\"cpu\":\"500m\"") "]"},
             2);
}

/* Amounts are compared in thousandths or whole units, by the suffixes that they happen to have. */
static void families_of_quantities(void **state) {
    (void)state;
    const char *binary = SUMMARY("\"pods\":\"100\",\"memory\":\"16Gi\"", "", "");
    const char *decimal = "[" COMPONENT("1", "\"memory\":\"1000M\"") "]";
    sets_are((struct asked){binary, .components = decimal}, 0);
    sets_are((struct asked){binary, .components = decimal, .by_name = true}, 17);
    const char *gigabyte = SUMMARY("\"pods\":\"100k\",\"memory\":\"16G\"", "", "");
    const char *gibi = "[" COMPONENT("1", "\"memory\":\"1Gi\"") "]";
    sets_are((struct asked){gigabyte, .components = gibi}, 14901);
    sets_are((struct asked){gigabyte, .components = gibi, .by_name = true}, 14);
    /* what is taken away leaves the suffix as it is, but to zero it gives its own */
    sets_are(
        (struct asked){SUMMARY("\"pods\":\"100\",\"memory\":\"16Gi\"", "", "\"memory\":\"1G\""),
                       .components = gibi},
        15);
    sets_are((struct asked){SUMMARY("\"pods\":\"100k\",\"memory\":\"0\"", "\"memory\":\"-2G\"",
                                    "\"memory\":\"-2Gi\""),
                            .components = gibi},
             3);
    sets_are((struct asked){SUMMARY("\"pods\":\"100k\",\"memory\":\"0\"", "\"memory\":\"-2Gi\"",
                                    "\"memory\":\"-2G\""),
                            .components = gibi},
             3862);
}

static void sets_on_the_nodes_of_models(void **state) {
    (void)state;
    sets_are((struct asked){MODELS("", COUNT("0", "3")), .models = MODELS_THIRD,
                            .components = "[" COMPONENT("1", "\"cpu\":\"1k\"") "]"},
             100); /* models that cannot be read are left out */
    sets_are((struct asked){MODELS(GRADE("0", RANGE("cpu", "500m")) "," GRADE(
                                       "1", RANGE("cpu", "1")) "," GRADE("2", RANGE("cpu", "2")),
                                   COUNT("0", "5") "," COUNT("2", "10")),
                            .models = MODELS_THIRD,
                            .components = "[" COMPONENT("1", "\"cpu\":\"1500m\"") "]"},
             10);
#define THREE(grade, cpu, memory, gpu)                                                             \
    GRADE(grade, RANGE("cpu", cpu) "," RANGE("memory", memory) "," RANGE("g.io/g", gpu))
    sets_are((struct asked){MODELS(THREE("1", "1", "2Gi", "0") "," THREE(
                                       "2", "2", "4Gi", "1") "," THREE("3", "4", "8Gi", "2"),
                                   COUNT("1", "4") "," COUNT("2", "3") "," COUNT("3", "2")),
                            .models = MODELS_THIRD,
                            .components = "[" COMPONENT(
                                "2", "\"cpu\":\"2\",\"memory\":\"4Gi\",\"g.io/g\":\"1\"") "]"},
             3);
    sets_are((struct asked){MODELS(GRADE("1", RANGE("cpu", "1")) "," GRADE("2", RANGE("cpu", "2")),
                                   COUNT("1", "10") "," COUNT("2", "10")),
                            .models = MODELS_THIRD,
                            .components = "[" COMPONENT("1", "\"cpu\":\"3\"") "]"},
             0);
#define FLINK                                                                                      \
    COMPONENT("1", "\"cpu\":\"1\",\"memory\":\"2Gi\"")                                             \
    "," COMPONENT("3", "\"cpu\":\"3\",\"memory\":\"10Gi\"")
    sets_are((struct asked){MODELS(BOTH("1", "1", "2Gi") "," BOTH("2", "3", "10Gi") "," BOTH(
                                       "3", "4", "12Gi"),
                                   COUNT("1", "2") "," COUNT("2", "6") "," COUNT("3", "3")),
                            .models = MODELS_THIRD, .components = "[" FLINK "]"},
             3);
    sets_are(
        (struct asked){
            MODELS(BOTH("1", "1", "2Gi") "," BOTH("2", "2", "4Gi") "," BOTH(
                       "3", "3", "6Gi") "," BOTH("4", "8", "12Gi"),
                   COUNT("1", "2") "," COUNT("2", "3") "," COUNT("3", "2") "," COUNT("4", "6")),
            .models = MODELS_THIRD,
            .components = "[" FLINK "," COMPONENT("1", "\"cpu\":\"500m\",\"memory\":\"1Gi\"") "]"},
        2);
    /* by grade, not by place: what is small comes first, and leaves the large one */
    sets_are((struct asked){MODELS(GRADE("2", RANGE("cpu", "3")) "," GRADE("1", RANGE("cpu", "2")),
                                   COUNT("2", "1") "," COUNT("1", "1")),
                            .models = MODELS_THIRD,
                            .components = "[" COMPONENT("1", "\"cpu\":\"2\"") "," COMPONENT(
                                "1", "\"cpu\":\"3\"") "]"},
             1);
    /* what asks for no resource is placed on the nodes since v1.18 */
    const char *none = MODELS(GRADE("1", RANGE("cpu", "1")), COUNT("1", "0"));
    const char *pods = "[" COMPONENT("1", "") "]";
    sets_are((struct asked){none, .components = pods, .models = MODELS_THIRD}, 0);
    sets_are((struct asked){none, .components = pods, .models = MODELS_SECOND}, 1000000);
    sets_are((struct asked){none, .components = pods, .models = MODELS_OFF}, 1000000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(what_the_summary_leaves),
        DECODING_TEST(edges_of_the_summary),
        DECODING_TEST(what_three_generations_make_of_models),
        DECODING_TEST(edges_of_models),
        DECODING_TEST(assumed_workloads_take_from_models),
        DECODING_TEST(what_the_summary_leaves_for_sets),
        DECODING_TEST(assumed_workloads_take_from_sets),
        DECODING_TEST(families_of_quantities),
        DECODING_TEST(sets_on_the_nodes_of_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
