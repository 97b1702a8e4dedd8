/*
 * Questions about Karmada's bindings: which clusters take part, whose estimators are asked, what
 * comes of what they say, and what is refused.
 */
#include "clusters/ask.h"

#include "karmada/binding.h"
#include "unit/clusters/state.h"

#include <errno.h>
#include <stdio.h>

/* Room for so many pods; Deployments are served everywhere. */
#define CLUSTER(name, pods, more)                                                                  \
    "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'" name       \
    "'},'spec':{'syncMode':'Push'" more "},'status':{'apiEnablements':[{'groupVersion':'apps/v1'," \
    "'resources':[{'kind':'Deployment','name':'deployments'}]}],'resourceSummary':{"               \
    "'allocatable':{'cpu':'100','pods':'" pods "'}}}}"
#define KARMADA                                                                                    \
    "{'apiVersion':'v1','kind':'List','items':[" CLUSTER("m1", "10", "") "," CLUSTER(              \
        "m2", "20",                                                                                \
        "") "," CLUSTER("m3", "30",                                                                \
                        "") "," CLUSTER("tainted", "40",                                           \
                                        ",'taints':[{'key':'k','effect':'NoSchedule'}]") "]}"
#define BINDING(spec)                                                                              \
    "'binding':{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"     \
    "'name':'b','namespace':'n'},'spec':{'resource':{'apiVersion':'apps/v1','kind':'Deployment',"  \
    "'name':'w'}" spec "}}"
#define PODS ",'replicas':6,'replicaRequirements':{'resourceRequest':{'cpu':'1'}}"

enum { VERBS = 5 };
static const enum binding_verb verbs[VERBS] = {BINDING_FILTER, BINDING_PRIORITIZE, BINDING_SELECT,
                                               BINDING_ASSIGN, BINDING_ESTIMATE};

struct fixture {
    struct clusters_state state;
    struct arena arena;
    struct strbuf out;
    struct err err;
    struct karmada_options options;
    struct clusters_question q;
    char *text;
};

static int set_up(void **state) {
    static struct fixture f;
    f = (struct fixture){.options = karmada_defaults};
    read_state(KARMADA, &f.state);
    arena_init(&f.arena, 1 << 20);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    arena_done(&f->arena);
    strbuf_done(&f->out);
    free(f->text);
    clusters_state_done(&f->state);
    return 0;
}

static void read_question(struct fixture *f, const char *body) {
    free(f->text);
    f->text = with_quotes(body);
    if (clusters_question_decode(str_of(f->text), &f->arena, &f->q, &f->err) != 0)
        fail_msg("%s", f->err.text);
}

/* Asks what was read, with what `asked` says beside it. */
static int ask(struct fixture *f, struct binding_asked asked) {
    asked.question = &f->q;
    asked.options = &f->options;
    strbuf_clear(&f->out);
    return clusters_ask_binding(f->state.karmada, &asked, &f->arena, &f->out, &f->err);
}

static void ask_well(struct fixture *f, struct binding_asked asked) {
    if (ask(f, asked) != 0)
        fail_msg("%s", f->err.text);
}

/* ---- which clusters ---- */

static void names_say_who_takes_part(void **state) {
    static const struct {
        const char *names, *passing, *failing, *estimated;
    } cases[] = {
        {"", "['m1','m2','m3']", "tainted", "m1 m2 m3 "},
        {",'clusterNames':null", "['m1','m2','m3']", "tainted", "m1 m2 m3 "},
        {",'clusterNames':[]", "[]", NULL, ""},
        {",'clusterNames':['m2']", "['m2']", NULL, "m2 "},
        {",'clusterNames':['m3','nobody','m1','m3']", "['m1','m3']", NULL, "m1 m3 "},
        {",'clusterNames':['tainted']", "[]", "tainted", ""},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char body[1024], estimated[64] = "";
        const struct str *names;
        uint32_t count;
        struct arena kept;
        (void)snprintf(body, sizeof body, "{%s%s}", BINDING(PODS), cases[i].names); /* fits */
        read_question(f, body);
        ask_well(f, (struct binding_asked){.verb = BINDING_FILTER});
        assert_string_equal(member_of(&f->out, "clusterNames"), cases[i].passing);
        assert_true((strstr(member_of(&f->out, "failedClusters"), "'tainted':") != NULL) ==
                    (cases[i].failing != NULL));
        arena_init(&kept, 1 << 16);
        assert_int_equal(clusters_to_estimate(f->state.karmada, &f->q, &f->options, &f->arena,
                                              &kept, &names, &count, &f->err),
                         0);
        for (const char *name = cases[i].estimated; *name != '\0'; name = strchr(name, ' ') + 1) {
            const struct str wanted = {name, (size_t)(strchr(name, ' ') - name)};
            uint32_t times = 0;
            for (uint32_t n = 0; n < count; n++)
                times += str_eq(names[n], wanted);
            assert_int_equal(times, 1);
            strncat(estimated, name, wanted.n + 1);
        }
        assert_int_equal(strlen(estimated) / 3, count);
        arena_done(&kept);
    }
}

/* ---- whose estimators are asked ---- */

static void who_needs_estimators(void **state) {
    enum { NONE, CAPACITY = 1u << PLUGIN_CAPACITY, FREE = 1u << PLUGIN_FREE_CAPACITY };
    static const struct {
        unsigned plugins;
        bool asks[VERBS]; /* filter, prioritize, select, assign, estimate */
    } rows[] = {
        {NONE, {false, false, true, true, true}},
        {KARMADA_UPSTREAM_PLUGINS, {false, false, true, true, true}},
        {CAPACITY, {true, true, true, true, true}},
        {FREE, {false, true, true, true, true}},
        {CAPACITY | FREE, {true, true, true, true, true}},
        {1u << PLUGIN_DATA_LOCALITY, {false, false, true, true, true}},
    };
    const struct binding_spec nothing = {.replicas = 0}, replicas = {.replicas = 1},
                              components = {.component_count = 1},
                              both = {.replicas = 1, .component_count = 1};
    struct karmada_options options = karmada_defaults;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int v = 0; v < VERBS; v++) {
            options.plugins = rows[i].plugins;
            assert_false(clusters_asks_estimators(verbs[v], &options, &nothing));
            assert_int_equal(clusters_asks_estimators(verbs[v], &options, &replicas),
                             rows[i].asks[v]);
            assert_int_equal(clusters_asks_estimators(verbs[v], &options, &components),
                             rows[i].asks[v]);
            assert_int_equal(clusters_asks_estimators(verbs[v], &options, &both), rows[i].asks[v]);
        }
}

/* ---- what they say ---- */

#define DIVIDED                                                                                    \
    PODS ",'placement':{'replicaScheduling':{'replicaSchedulingType':'Divided',"                   \
         "'replicaDivisionPreference':'Aggregated'}}"

/* In an order of their own, with a cluster that has gone; one that has come was not asked. */
static void estimates_are_found_by_name(void **state) {
    struct fixture *f = *state;
    const struct str names[] = {STR("m3"), STR("gone"), STR("m1")};
    const int64_t replicas[] = {2, 99, 7};
    const struct accurate_replicas estimated = {names, replicas, 3};
    read_question(f, "{" BINDING(DIVIDED) "}");
    ask_well(f, (struct binding_asked){.verb = BINDING_SELECT, .estimated = &estimated});
    assert_string_equal(member_of(&f->out, "available.m1.accurate"), "7");
    assert_string_equal(member_of(&f->out, "available.m2.accurate"), "null");
    assert_string_equal(member_of(&f->out, "available.m3.accurate"), "2");
    assert_string_equal(member_of(&f->out, "available.m1.available"), "7"); /* less than 10 */
    assert_string_equal(member_of(&f->out, "available.m2.available"), "20");
    assert_string_equal(member_of(&f->out, "available.m3.available"), "2"); /* less than 30 */
    read_question(f, "{" BINDING(DIVIDED) ",'clusterNames':['m3']}");
    ask_well(f, (struct binding_asked){.verb = BINDING_SELECT, .estimated = &estimated});
    assert_string_equal(member_of(&f->out, "available.m3.accurate"), "2");
    assert_string_equal(member_of(&f->out, "available.m1"), "none");
    ask_well(f, (struct binding_asked){.verb = BINDING_SELECT});
    assert_string_equal(member_of(&f->out, "available.m3.accurate"), "null");
}

static void one_member_was_asked(void **state) {
    struct fixture *f = *state;
    const struct str names[] = {STR("m1")};
    const int64_t replicas[] = {1};
    const struct accurate_replicas estimated = {names, replicas, 1};
    read_question(f, "{" BINDING(DIVIDED) "}");
    ask_well(f, (struct binding_asked){.verb = BINDING_SELECT,
                                       .member = STR("m2"),
                                       .accurate = 3,
                                       .estimated = &estimated});
    assert_string_equal(member_of(&f->out, "available.m2.accurate"), "3");
    assert_string_equal(member_of(&f->out, "available.m1.accurate"), "null"); /* `member` counts */
    strbuf_clear(&f->out);
    assert_int_equal(ask(f, (struct binding_asked){.verb = BINDING_SELECT, .member = STR("gone")}),
                     -ENOENT);
    assert_string_equal(f->err.text, "there is no cluster 'gone'");
    assert_int_equal(f->out.n, 0);
}

/* ---- answers ---- */

static void each_verb_has_its_answer(void **state) {
    static const struct {
        enum binding_verb verb;
        bool with_plan;
        const char *has, *lacks;
    } cases[] = {
        {BINDING_FILTER, false, "failedClusters", "scores"},
        {BINDING_PRIORITIZE, false, "scores", "failedClusters"},
        {BINDING_SELECT, false, "selected", "clusters"},
        {BINDING_SELECT, true, "clusters", "scores.tainted"},
        {BINDING_ASSIGN, false, "errorKind", "selected"},
        {BINDING_ESTIMATE, false, "replicas", "errorKind"},
    };
    struct fixture *f = *state;
    read_question(f, "{" BINDING(DIVIDED) "}");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ask_well(f, (struct binding_asked){.verb = cases[i].verb, .with_plan = cases[i].with_plan});
        assert_string_not_equal(member_of(&f->out, cases[i].has), "none");
        assert_string_equal(member_of(&f->out, cases[i].lacks), "none");
    }
}

static void lists_are_limited(void **state) {
    struct fixture *f = *state;
    read_question(f, "{" BINDING(PODS) ",'limit':1}");
    ask_well(f, (struct binding_asked){.verb = BINDING_SELECT});
    assert_string_equal(member_of(&f->out, "selected"), "['m3']"); /* it has most room */
    assert_string_equal(member_of(&f->out, "omitted.selected"), "2");
}

/* Nothing is left of an answer that was begun, and steps bound the look at names. */
static void what_runs_out_leaves_no_trace(void **state) {
    struct fixture *f = *state;
    bool answered = false;
    read_question(f, "{" BINDING(DIVIDED) ",'clusterNames':['m1','m2','m3']}");
    for (uint64_t more = 1; !answered; more *= 2) {
        f->arena.steps.max = f->arena.steps.used + more;
        const int r = ask(f, (struct binding_asked){.verb = BINDING_SELECT});
        f->arena.steps.max = 0;
        answered = r == 0;
        assert_true(answered || r == -E2BIG);
        assert_true(answered == (f->out.n > 0));
        assert_true(answered || more < 1 << 20);
        if (more < 4)
            assert_string_equal(f->err.text, "more clusters than there is time for");
    }
}

/* However far the answer has come when memory runs out. */
static void short_memory_leaves_no_trace(void **state) {
    struct fixture *f = *state;
    bool answered = false;
    unsigned refused = 0;
    read_question(f, "{" BINDING(DIVIDED) "}");
    for (size_t bytes = 64; !answered; bytes += bytes / 16 + 16) {
        CLEANUP(arena_done) struct arena small;
        const struct binding_asked asked = {
            .question = &f->q, .verb = BINDING_SELECT, .options = &f->options, .with_plan = true};
        arena_init(&small, bytes);
        strbuf_clear(&f->out);
        strbuf_append_str(&f->out, STR("before"));
        const int r = clusters_ask_binding(f->state.karmada, &asked, &small, &f->out, &f->err);
        answered = r == 0;
        assert_true(answered || r == -ENOMEM);
        assert_true(answered == (f->out.n > strlen("before")));
        assert_memory_equal(f->out.p, "before", strlen("before"));
        refused += !answered;
        assert_true(bytes < 1 << 20);
    }
    assert_true(refused > 10);
}

/* Each name takes a step, known or not. */
static void names_take_steps(void **state) {
    enum { NAMES = 1000 };
    struct fixture *f = *state;
    uint64_t used[2];
    for (int many = 0; many < 2; many++) {
        CLEANUP(strbuf_done) struct strbuf body = {0};
        strbuf_appendf(&body, "{%s,'clusterNames':['m1'", BINDING(PODS));
        for (int i = 0; many && i < NAMES; i++)
            strbuf_append_str(&body, STR(",'m1'"));
        strbuf_append_str(&body, STR("]}"));
        strbuf_append_char(&body, '\0');
        read_question(f, body.p);
        f->arena.steps.used = 0;
        ask_well(f, (struct binding_asked){.verb = BINDING_FILTER});
        used[many] = f->arena.steps.used;
    }
    assert_in_range(used[1] - used[0], NAMES, NAMES + NAMES / 10);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(names_say_who_takes_part),      TEST(who_needs_estimators),
        TEST(estimates_are_found_by_name),   TEST(one_member_was_asked),
        TEST(each_verb_has_its_answer),      TEST(lists_are_limited),
        TEST(what_runs_out_leaves_no_trace), TEST(names_take_steps),
        TEST(short_memory_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
