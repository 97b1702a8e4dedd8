/* Decisions as they are told: every verb to the letter, and what happens where there is no room. */
#include "explain/scheduling.h"
#include "explain/scores.h"

#include "base/json_reader.h"
#include "explain/admission.h"
#include "explain/ages.h"
#include "unit/cluster_builder.h"

#include <stdatomic.h>
#include <stdio.h>

#define ABOUT(verb_, result_)                                                                      \
    (struct decision_about) {                                                                      \
        .verb = (verb_), .subject = {STR(""), STR("Pod"), STR("shop"), STR("web")},                \
        .uid = STR("u1"), .at_us = 1767323045678901, .took_us = 12, .data_age_ms = 3,              \
        .result = (result_)                                                                        \
    }
#define HEAD(verb, result)                                                                         \
    "{\"verb\":\"" verb "\",\"result\":\"" result "\",\"time\":\"2026-01-02T03:04:05.678901Z\","   \
    "\"tookMicroseconds\":12,\"dataAgeMilliseconds\":3,\"kind\":\"Pod\",\"namespace\":\"shop\","   \
    "\"name\":\"web\","                                                                            \
    "\"uid\":\"u1\""

struct fixture {
    struct cluster c;
    struct strbuf out;
    struct decision d;
    uint32_t nodes; /* named for each reason */
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.nodes = 5};
    cluster_open(&f.c);
    cluster_nodes(&f.c, "a b x y o,-zone");
    cluster_pods(&f.c, "a:2 x:1");
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    strbuf_done(&f->out);
    cluster_close(&f->c);
    return 0;
}

/* ---- telling ---- */

static void begin(struct fixture *f, const struct decision_about *about) {
    size_t max = f->out.max;
    strbuf_done(&f->out);
    f->out.max = max;
    strbuf_append_char(&f->out, '{');
    decision_begin(&f->d, &f->out, about, f->nodes);
}

static void end(struct fixture *f) {
    decision_end(&f->d);
    strbuf_append_char(&f->out, '}');
}

static const struct str names[] = {{"a", 1}, {"b", 1}, {"x", 1},
                                   {"y", 1}, {"o", 1}, {"nowhere", 7}};
static const struct candidates candidates = {names, 6};

static void tell_filter(struct fixture *f, const char *constraints) {
    const struct decision_about about = ABOUT("filter", "answered");
    struct pod pod = cluster_pod(&f->c, "foo", constraints, "");
    struct filter_result result;
    assert_int_equal(
        engine_filter(&f->c.options, f->c.cache, &pod, &candidates, &f->c.arena, &result, NULL), 0);
    begin(f, &about);
    decision_put_filter(&f->d, &candidates, &result);
    end(f);
}

static void tell_scores(struct fixture *f, const char *constraints) {
    const struct decision_about about = ABOUT("prioritize", "answered");
    struct pod pod = cluster_pod(&f->c, "foo", constraints, "");
    struct score_result result;
    assert_int_equal(
        engine_score(&f->c.options, f->c.cache, &pod, &candidates, &f->c.arena, &result, NULL), 0);
    begin(f, &about);
    decision_put_scores(&f->d, &pod, &candidates, &result);
    end(f);
}

#define CONSTRAINT(from, key, when, skew, rest)                                                    \
    "{\"from\":\"" from "\",\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"" when             \
    "\",\"maxSkew\":" skew "," rest "}"
#define DROPPED(verdict, reason, nodes, names)                                                     \
    "{\"verdict\":\"" verdict "\",\"reason\":\"" reason "\",\"nodes\":" nodes ",\"names\":[" names \
    "]}"

/* ---- every verb ---- */

static void a_filter(void **state) {
    struct fixture *f = *state;
    tell_filter(f, "1/zone/foo");
    assert_str(
        strbuf_str(&f->out),
        HEAD("filter", "answered") ",\"constraints\":[" CONSTRAINT(
            "pod", "zone", "DoNotSchedule", "1",
            "\"selector\":\"foo\",\"domains\":2,\"fewestPods\":1") "],\"candidates\":6,\"passed\":"
                                                                   "2,\"dropped\":["              //
        DROPPED("Unschedulable", "node is not in the cache yet", "1", "\"nowhere\"") ","          //
        DROPPED("UnschedulableAndUnresolvable", "no label zone to spread over", "1", "\"o\"") "," //
        DROPPED("Unschedulable", "over maxSkew on zone", "2",
                "\"a\",\"b\"") "],"
                               "\"podsByDomain\":[{\"topologyKey\":\"zone\",\"pods\":{\"zone1\":2,"
                               "\"zone2\":1}}]}");
}

/* The nodes that workers of two datasets are leaving: five at most, whatever locality weighs. */
static void tell_leaving(struct fixture *f, uint32_t first, uint32_t second, const char *want) {
    static const struct leaving_node nodes[] = {
        {STR("a"), STR("w-0"), -1}, {STR("b"), STR("w-1"), 1}, {STR("c"), STR("w-2"), 1},
        {STR("d"), STR("w-3"), 1},  {STR("e"), STR("w-4"), 0}, {STR("f"), STR("w-5"), 0}};
    const struct mounted_dataset datasets[] = {
        {.id = STR("n-d"), .leaving = nodes, .leaving_count = first},
        {.id = STR("n-e"), .leaving = nodes, .leaving_count = second}};
    const struct decision_about about = ABOUT("prioritize", "answered");
    const struct pod pod = {.datasets = datasets, .dataset_count = 2};
    const struct score_result result = {.column_count = 0};
    const struct candidates none = {NULL, 0};
    begin(f, &about);
    decision_put_scores(&f->d, &pod, &none, &result);
    end(f);
    strbuf_append_char(&f->out, '\0');
    const char *at = strstr(f->out.p, "\"candidates\":0");
    assert_non_null(at);
    assert_string_equal(at + strlen("\"candidates\":0"), want);
}

#define LEFT(node, dataset, reason)                                                                \
    "{\"node\":\"" node "\",\"dataset\":\"" dataset "\",\"reason\":\"" reason "\"}"
#define TOO_MANY(worker, replicas) "worker '" worker "' is one too many for replicas: " replicas

static void nodes_that_are_left(void **state) {
    struct fixture *f = *state;
    tell_leaving(f, 0, 0, ",\"scores\":[]}");
    tell_leaving(
        f, 0, 1,
        ",\"leaving\":[" LEFT("a", "n-e", "worker 'w-0' is being deleted") "],"
                                                                           "\"scores\":[]}");
    tell_leaving(
        f, 3, 6,
        ",\"leaving\":[" LEFT("a", "n-d", "worker 'w-0' is being deleted") "," //
        LEFT("b", "n-d", TOO_MANY("w-1", "1")) "," LEFT("c", "n-d", TOO_MANY("w-2", "1")) "," LEFT(
            "a", "n-e",
            "worker 'w-0' is being deleted") "," //
        LEFT("b", "n-e", TOO_MANY("w-1", "1")) "],\"scores\":[]}");
}

static void expect_counts(struct fixture *f, const char *constraints, const char *counts) {
    tell_filter(f, constraints);
    strbuf_append_char(&f->out, '\0');
    const char *at = strstr(f->out.p, "\"podsByDomain\"");
    assert_string_equal(at == NULL ? "" : at, counts);
}

static void few_domains_are_counted_by_name(void **state) {
    struct fixture *f = *state;
    char node[40];
    cluster_nodes(&f->c, "a,-zone b,-zone x,-zone y,-zone");
    for (int i = 0; i < DOMAINS_COUNTED; i++) {
        (void)snprintf(node, sizeof node, "n%d,+row=%d", i, i); /* fits */
        cluster_nodes(&f->c, node);
    }
    cluster_pods(&f->c, "n3:4");
    expect_counts(f, "1/row/foo",
                  "\"podsByDomain\":[{\"topologyKey\":\"row\",\"pods\":{\"0\":0,\"1\":0,"
                  "\"2\":0,\"3\":4,\"4\":0,\"5\":0,\"6\":0,\"7\":0}}]}");
    cluster_nodes(&f->c, "n8,+row=8");
    expect_counts(f, "1/row/foo", "");
}

/* Why nodes were dropped is worth more than how many pods were where: whatever there is room for,
 * the counts go first. */
static void counts_take_no_room_from_reasons(void **state) {
    struct fixture *f = *state;
    tell_filter(f, "1/zone/foo");
    const size_t with = f->out.n;
    const char *at = memmem(f->out.p, f->out.n, ",\"podsByDomain\"", 15);
    assert_non_null(at);
    const size_t without = (size_t)(at - f->out.p);
    struct str whole = arena_str(&f->c.arena, (struct str){f->out.p, without});
    for (size_t max = without + DECISION_ROOM; max < with; max++) {
        f->out.max = max;
        tell_filter(f, "1/zone/foo");
        assert_true(f->out.n >= without);
        assert_memory_equal(f->out.p, whole.p, without);
    }
}

static void a_filter_with_nothing_to_say(void **state) {
    struct fixture *f = *state;
    tell_filter(f, "1/zone/foo,soft");
    assert_str(strbuf_str(&f->out),
               HEAD("filter", "answered") ",\"constraints\":[],\"candidates\":6,\"passed\":6,"
                                          "\"dropped\":[]}");
}

static void only_so_many_names(void **state) {
    struct fixture *f = *state;
    f->nodes = 1;
    tell_filter(f, "1/zone/foo");
    strbuf_append_char(&f->out, '\0');
    assert_contains(f->out.p, DROPPED("Unschedulable", "over maxSkew on zone", "2", "\"a\""));
}

/* Soft constraints, the best first, equals in the order of the request. */
static void scores(void **state) {
    struct fixture *f = *state;
    f->nodes = 2; /* of three equals */
    tell_scores(f, "1/node/foo,soft");
    assert_str(strbuf_str(&f->out),
               HEAD("prioritize", "answered") ",\"constraints\":[" CONSTRAINT(
                   "pod", "node", "ScheduleAnyway", "1",
                   "\"selector\":\"foo\"") "],"
                                           "\"candidates\":6,\"scores\":["
                                           "{\"node\":\"b\",\"priority\":10,\"spread\":{\"raw\":0,"
                                           "\"normalized\":100}},"
                                           "{\"node\":\"y\",\"priority\":10,\"spread\":{\"raw\":0,"
                                           "\"normalized\":100}}]}");
}

static void scores_that_prefer_one_of_the_best(void **state) {
    struct fixture *f = *state;
    f->c.options.choose = true;
    f->nodes = 1;
    tell_scores(f, "1/node/foo,soft");
    strbuf_append_char(&f->out, '\0');
    assert_contains(f->out.p, "\"candidates\":6,\"preferred\":1,\"scores\":[");
}

static void a_rule_and_defaults(void **state) {
    struct fixture *f = *state;
    static const struct spread_constraint term = {.topology_key = {"zone", 4},
                                                  .max_skew = 1,
                                                  .min_domains = 1,
                                                  .hard = true,
                                                  .honor_affinity = true};
    const struct ordered_rule rule = {
        .name = STR("ours"),
        .pods = cluster_selector(&f->c, "{\"matchExpressions\":[{\"key\":\"foo\",\"operator\":"
                                        "\"Exists\"},{\"key\":\"gone\",\"operator\":"
                                        "\"DoesNotExist\"}]}"),
        .terms = &term,
        .term_count = 1};
    f->c.options.ordered_rules = &rule;
    f->c.options.ordered_rule_count = 1;
    f->c.options.ordered_weight = 1;
    f->c.options.spread_weight = 1;
    f->c.options.default_constraints = cluster_constraints(
        &f->c, "2/node/nil,minDomains=3 3/node/nil,soft", &f->c.options.default_constraint_count);
    cluster_workload(&f->c, OBJECT_SERVICE,
                     "{\"metadata\":{\"name\":\"s\",\"namespace\":\"default\"},\"spec\":{"
                     "\"selector\":{\"foo\":\"\"}}}");
    tell_filter(f, "");
    strbuf_append_char(&f->out, '\0');
    assert_contains(
        f->out.p,
        "\"constraints\":[" CONSTRAINT(
            "defaults", "node", "DoNotSchedule", "2",
            "\"minDomains\":3,\"selector\":\"foo=\",\"domains\":5,"
            "\"fewestPods\":0") ",{\"from\":\"rule\",\"rule\":\"ours\","
                                "\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\","
                                "\"maxSkew\":1,\"selector\":\"foo,!gone\"}]");
    tell_scores(f, "");
    strbuf_append_char(&f->out, '\0');
    assert_contains(f->out.p, "\"orderedSpread\":{\"raw\":");
    struct spread_constraint soft_term = term;
    struct ordered_rule soft_rule = rule;
    soft_term.hard = false;
    soft_rule.terms = &soft_term;
    f->c.options.ordered_rules = &soft_rule;
    tell_filter(f, "");
    strbuf_append_char(&f->out, '\0');
    assert_null(strstr(f->out.p, "\"rule\"")); /* it drops no node */
}

/* A Service's selector is the cache's, and may go before the decision is told. */
static void a_service_that_goes(void **state) {
    struct fixture *f = *state;
    const struct decision_about about = ABOUT("filter", "answered");
    struct pod pod = cluster_pod(&f->c, "foo", "", "");
    struct filter_result result;
    f->c.options.default_constraints =
        cluster_constraints(&f->c, "2/node/nil", &f->c.options.default_constraint_count);
    cluster_workload(&f->c, OBJECT_SERVICE,
                     "{\"metadata\":{\"name\":\"s\",\"namespace\":\"default\"},\"spec\":{"
                     "\"selector\":{\"foo\":\"\"}}}");
    assert_int_equal(
        engine_filter(&f->c.options, f->c.cache, &pod, &candidates, &f->c.arena, &result, NULL), 0);
    cluster_remove(&f->c, &f->c.workloads[0]);
    cluster_workload(&f->c, OBJECT_SERVICE,
                     "{\"metadata\":{\"name\":\"t\",\"namespace\":\"default\"},\"spec\":{"
                     "\"selector\":{\"bar\":\"\"}}}");
    begin(f, &about);
    decision_put_filter(&f->d, &candidates, &result);
    end(f);
    strbuf_append_char(&f->out, '\0');
    assert_contains(f->out.p, "\"selector\":\"foo=\"");
}

static void preemptions(void **state) {
    struct fixture *f = *state;
    const struct decision_about about = ABOUT("preempt", "answered");
    const struct preemption list[] = {{.node = {"a", 1}}, {.node = {"b", 1}}, {.node = {"x", 1}}};
    const bool fits[] = {false, true, false}, all[] = {true, true, true};
    begin(f, &about);
    decision_put_preemptions(&f->d, list, fits, 3);
    end(f);
    assert_str(strbuf_str(&f->out),
               HEAD("preempt", "answered") ",\"candidates\":3,\"passed\":1,\"dropped\":[" DROPPED(
                   "Unschedulable", "evicting its victims makes no room", "2", "\"a\",\"x\"") "]}");
    begin(f, &about);
    decision_put_preemptions(&f->d, list, all, 3);
    end(f);
    assert_str(strbuf_str(&f->out),
               HEAD("preempt", "answered") ",\"candidates\":3,\"passed\":3,\"dropped\":[]}");
}

static void a_binding_that_failed(void **state) {
    struct fixture *f = *state;
    struct decision_about about = ABOUT("bind", "not bound");
    about.message = STR("pods \"web\" not \xff found");
    begin(f, &about);
    decision_put_binding(&f->d, STR("a"), STR("system:kube-scheduler"), STR("10.0.0.7:51342"));
    end(f);
    assert_str(strbuf_str(&f->out),
               HEAD("bind", "not bound") ",\"message\":\"pods \\\"web\\\" not \xef\xbf\xbd found\","
                                         "\"node\":\"a\",\"by\":\"system:kube-scheduler\","
                                         "\"from\":\"10.0.0.7:51342\"}");
}

static void a_decision_about_another_kind(void **state) {
    struct fixture *f = *state;
    struct decision_about about = ABOUT("decide", "answered");
    about.subject = (struct subject){STR("cluster.open-cluster-management.io"), STR("Placement"),
                                     STR("fleet"), STR("web")};
    begin(f, &about);
    end(f);
    assert_str(
        strbuf_str(&f->out),
        "{\"verb\":\"decide\",\"result\":\"answered\",\"time\":\"2026-01-02T03:04:05.678901Z\""
        ",\"tookMicroseconds\":12,\"dataAgeMilliseconds\":3,"
        "\"group\":\"cluster.open-cluster-management.io\",\"kind\":\"Placement\","
        "\"namespace\":\"fleet\",\"name\":\"web\",\"uid\":\"u1\"}");
}

static void an_admission(void **state) {
    struct fixture *f = *state;
    struct decision_about about = ABOUT("admit", "patched");
    struct patch_operation operations[] = {{.path = STR("/spec/x"), .value = STR("{\"a\":[1]}")},
                                           {.path = STR("/spec/y"), .value = STR("2")}};
    const struct patch patch = {.operations = operations, .count = 2};
    struct review_answer answer = {.allowed = true, .patch = &patch};
    const struct review review = {.dry_run = true};
    about.subject.name = about.uid = STR("");
    about.generate_name = STR("web-");
    review_annotate(&answer, STR("policy"), STR("even"));
    review_annotate(&answer, STR("unchanged"), STR("told elsewhere"));
    review_annotate(&answer, STR("spread"), STR("added: zone"));
    review_warn(&answer, STR("evenkeel: fluid: no"));
    begin(f, &about);
    decision_put_admission(&f->d, &review, &answer);
    end(f);
    assert_str(strbuf_str(&f->out),
               "{\"verb\":\"admit\",\"result\":\"patched\",\"time\":\"2026-01-02T03:04:05.678901Z\""
               ",\"tookMicroseconds\":12,\"dataAgeMilliseconds\":3,\"kind\":\"Pod\",\"namespace\":"
               "\"shop\","
               "\"generateName\":\"web-\",\"dryRun\":true,\"policy\":\"even\",\"notes\":[{"
               "\"plugin\":\"spread\",\"note\":\"added: zone\"}],\"warnings\":["
               "\"evenkeel: fluid: no\"],\"patch\":[{\"path\":\"/spec/x\",\"value\":"
               "\"{\\\"a\\\":[1]}\"},{\"path\":\"/spec/y\",\"value\":\"2\"}]}");
}

/* ---- selectors ---- */

static void tell_selector(struct fixture *f, const char *json, const char *want) {
    const struct spread_constraint c = {.topology_key = {"k", 1}, .max_skew = 1};
    const struct selector selector = cluster_selector(&f->c, json);
    const struct applied_constraint applied = {.constraint = &c, .selector = &selector};
    const struct decision_about about = ABOUT("filter", "answered");
    const struct filter_result result = {.applied = &applied, .applied_count = 1};
    const struct candidates none = {0};
    char member[320];
    begin(f, &about);
    decision_put_filter(&f->d, &none, &result);
    end(f);
    strbuf_append_char(&f->out, '\0');
    (void)snprintf(member, sizeof member, "\"selector\":\"%s\"", want);
    assert_contains(f->out.p, member);
}

static void selectors(void **state) {
    struct fixture *f = *state;
    struct strbuf many = {0};
    tell_selector(f, "null", "(nothing)");
    tell_selector(f, "{}", "(everything)");
    tell_selector(f, "{\"matchLabels\":{\"b\":\"2\",\"a\":\"\"}}", "a=,b=2");
    tell_selector(f,
                  "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"x\","
                  "\"y\"]},{\"key\":\"b\",\"operator\":\"NotIn\",\"values\":[\"z\"]}]}",
                  "a in (x,y),b notin (z)");
    strbuf_appendf(&many, "{\"matchLabels\":{");
    for (int i = 0; i < 40; i++)
        strbuf_appendf(&many, "%s\"key%02d\":\"%d\"", i > 0 ? "," : "", i, i % 10);
    strbuf_appendf(&many, "}}");
    strbuf_append_char(&many, '\0');
    tell_selector(f, many.p,
                  "key00=0,key01=1,key02=2,key03=3,key04=4,key05=5,key06=6,key07=7,key08=8,"
                  "key09=9,key10=0,key11=1,key12=2,key13=3,key14=4,key15=5,key16=6,key17=7,"
                  "key18=8,key19=9,key20=0,key21=1,key22=2,key23=3,key24=4,key25=5,key26=6,"
                  "key27=7,key28=8,key29=9,key30=0,...");
    strbuf_done(&many);
}

/* ---- no room ---- */

/* The same in a buffer of every size: always one good JSON object, and it says what is missing. */
static void sizes(struct fixture *f, void (*tell)(struct fixture *f, const char *constraints)) {
    struct arena arena;
    f->out.max = 0;
    tell(f, "1/zone/foo 1/node/foo,soft");
    size_t whole = f->out.n;
    arena_init(&arena, 1 << 20);
    for (size_t max = DECISION_ROOM + 2; max < whole + DECISION_ROOM + 2; max++) {
        struct json_reader r;
        f->out.max = max;
        tell(f, "1/zone/foo 1/node/foo,soft");
        assert_false(strbuf_failed(&f->out));
        json_reader_init(&r, strbuf_str(&f->out), &arena, "decision");
        (void)json_skip(&r);
        assert_int_equal(json_finish(&r, NULL), 0);
        bool cut = memmem(f->out.p, f->out.n, "\"cut\":true", 10) != NULL;
        assert_int_equal(f->out.n == whole, !cut);
        assert_true(max == DECISION_ROOM + 2 ? cut : max < whole + DECISION_ROOM || !cut);
    }
    arena_done(&arena);
}

static void a_filter_without_room(void **state) {
    sizes(*state, tell_filter);
}

static void scores_without_room(void **state) {
    sizes(*state, tell_scores);
}

/* A long message and long values are shown up to a whole character. */
static void long_texts(void **state) {
    struct fixture *f = *state;
    struct decision_about about = ABOUT("admit", "patched");
    struct strbuf text = {0};
    while (text.n < 300)
        strbuf_append_str(&text, STR("\xc3\xa4x")); /* three bytes: 256 falls into a character */
    struct patch_operation operation = {.path = STR("/x"), .value = strbuf_str(&text)};
    while (operation.value.n < 500) {
        strbuf_append_str(&text, STR("\xc3\xa4x"));
        operation.value = strbuf_str(&text);
    }
    const struct patch patch = {.operations = &operation, .count = 1};
    const struct review_answer answer = {.patch = &patch};
    const struct review review = {0};
    about.message = strbuf_str(&text);
    begin(f, &about);
    decision_put_admission(&f->d, &review, &answer);
    end(f);
    assert_null(memmem(f->out.p, f->out.n, "\xef\xbf\xbd", 3));
    strbuf_append_char(&f->out, '\0');
    assert_contains(f->out.p, "x\",\"notes\":[]"); /* 255 bytes */
    assert_contains(f->out.p, "x\"}]}");
    strbuf_done(&text);
}

/* A value is there as a whole, or its length is. */
static void patches_are_whole(void **state) {
    struct fixture *f = *state;
    const struct decision_about about = ABOUT("admit", "patched");
    struct strbuf value = {0};
    strbuf_append_char(&value, '"');
    while (value.n < 1000)
        strbuf_append_char(&value, 'v');
    strbuf_append_char(&value, '"');
    struct patch_operation operations[] = {{.path = STR("/a"), .value = strbuf_str(&value)},
                                           {.path = STR("/b"), .value = STR("2")}};
    const struct patch patch = {.operations = operations, .count = 2};
    const struct review_answer answer = {.patch = &patch};
    const struct review review = {0};
    for (size_t max = 700; max <= 2000; max += 1300) { /* on record, and in a what-if */
        f->out.max = max;
        begin(f, &about);
        decision_put_admission(&f->d, &review, &answer);
        end(f);
        strbuf_append_char(&f->out, '\0');
        if (max < 1000)
            assert_contains(f->out.p, "[{\"path\":\"/a\",\"valueBytes\":1001},"
                                      "{\"path\":\"/b\",\"value\":\"2\"}],\"cut\":true}");
        else
            assert_contains(f->out.p, "vvv\\\"\"},{\"path\":\"/b\",\"value\":\"2\"}]}");
    }
    f->out.max = 0;
    strbuf_done(&value);
}

/* The quietest watch is that of Services, which only defaults use. */
static void the_age_of_what_was_used(void **state) {
    struct fixture *f = *state;
    const struct applied_constraint applied[] = {{.origin = CONSTRAINT_OF_POD},
                                                 {.origin = CONSTRAINT_OF_DEFAULTS}};
    struct decision_ages ages;
    struct decision_about about = ABOUT("filter", "answered");
    ages_of(f->c.cache, applied, 2, &ages, &about);
    assert_int_equal(about.data_age_ms, 0);
    assert_null(about.ages); /* nobody says */
    int64_t now_ms = f->c.clock.at_ms;
    atomic_fetch_add(&f->c.clock.at_ms, 90000);
    cache_heard(f->c.cache, OBJECT_SERVICE, now_ms + 1000);
    cache_heard(f->c.cache, OBJECT_NODE, now_ms + 60000);
    cache_heard(f->c.cache, OBJECT_POD, now_ms + 89900);
    ages_of(f->c.cache, applied, 1, &ages, &about);
    assert_int_equal(about.data_age_ms, 30000);
    begin(f, &about);
    end(f);
    strbuf_append_char(&f->out, '\0');
    assert_contains(f->out.p,
                    "\"dataAgeMilliseconds\":30000,\"dataAges\":{\"nodes\":30000,\"pods\":100},");
    ages_of(f->c.cache, applied, 2, &ages, &about);
    assert_int_equal(about.data_age_ms, 89000);
    assert_int_equal(ages.workloads_ms, 89000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_filter),
        TEST(few_domains_are_counted_by_name),
        TEST(nodes_that_are_left),
        TEST(counts_take_no_room_from_reasons),
        TEST(a_filter_with_nothing_to_say),
        TEST(only_so_many_names),
        TEST(scores),
        TEST(scores_that_prefer_one_of_the_best),
        TEST(a_rule_and_defaults),
        TEST(a_service_that_goes),
        TEST(preemptions),
        TEST(a_binding_that_failed),
        TEST(a_decision_about_another_kind),
        TEST(an_admission),
        TEST(selectors),
        TEST(a_filter_without_room),
        TEST(scores_without_room),
        TEST(long_texts),
        TEST(patches_are_whole),
        TEST(the_age_of_what_was_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
