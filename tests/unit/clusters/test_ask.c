/*
 * Questions about Placements, from what is known: which clusters take part, at what time, with
 * which policies, and what is refused.
 */
#include "clusters/ask.h"

#include "fleet/internal.h"
#include "unit/clusters/state.h"

#include <errno.h>
#include <stdio.h>

#define CLUSTER(name, zone, more)                                                                  \
    "{'apiVersion':'cluster.open-cluster-management.io/v1','kind':'ManagedCluster','metadata':{"   \
    "'name':'" name "','labels':{'zone':'" zone "'}}" more "}"
#define SET                                                                                        \
    "{'apiVersion':'cluster.open-cluster-management.io/v1beta2','kind':'ManagedClusterSet',"       \
    "'metadata':{'name':'all'},'spec':{'clusterSelector':{'selectorType':'LabelSelector',"         \
    "'labelSelector':{}}}},"                                                                       \
    "{'apiVersion':'cluster.open-cluster-management.io/v1beta2','kind':"                           \
    "'ManagedClusterSetBinding','metadata':{'name':'all','namespace':'n'},'spec':{'clusterSet':"   \
    "'all'}}"
#define PLACEMENT(name, spec)                                                                      \
    "{'apiVersion':'cluster.open-cluster-management.io/v1beta1','kind':'Placement','metadata':{"   \
    "'name':'" name "','namespace':'n','labels':{'spread':'yes'}},'spec':" spec "}"
#define POLICY                                                                                     \
    "{'apiVersion':'evenkeel.io/v1alpha1','kind':'TopologyPolicy','metadata':{'name':'zones'},"    \
    "'spec':{'placements':{'spread':[{'topologyKey':'zone','topologyKeyType':'Label','maxSkew':1," \
    "'whenUnsatisfiable':'DoNotSchedule'}]}}}"
/* c is unreachable since 03:00:00 */
#define HUB                                                                                        \
    "{'apiVersion':'v1','kind':'List','items':[" CLUSTER("a", "x", "") "," CLUSTER(                \
        "b", "x",                                                                                  \
        "") "," CLUSTER("c", "y",                                                                  \
                        ",'spec':{'taints':[{'key':'gone','effect':'NoSelect','timeAdded':"        \
                        "'2026-01-02T03:00:00Z'}]}") "," SET                                       \
                                                     "," PLACEMENT("kept",                         \
                                                                   "{'numberOfClusters':1}") "]}"
#define TOLERANT "{'tolerations':[{'key':'gone','operator':'Exists','tolerationSeconds':60}]}"

static const int64_t at_three_ms = 1767322800000; /* 2026-01-02T03:00:00Z */

struct fixture {
    struct clusters_state state;
    struct clusters_known known;
    struct arena arena;
    struct strbuf out;
    struct err err;
};

static int set_up(void **state) {
    static struct fixture f;
    f = (struct fixture){.out = {0}};
    read_state(HUB, &f.state);
    f.known = (struct clusters_known){f.state.fleet, f.state.policies};
    arena_init(&f.arena, 1 << 20);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    arena_done(&f->arena);
    strbuf_done(&f->out);
    clusters_state_done(&f->state);
    return 0;
}

static int ask_at(struct fixture *f, const char *body, enum placement_verb verb, int64_t now_ms) {
    char *text = with_quotes(body);
    struct clusters_question q;
    strbuf_clear(&f->out);
    if (clusters_question_decode(str_of(text), &f->arena, &q, &f->err) != 0)
        fail_msg("%s", f->err.text);
    const int r = clusters_ask(&f->known, &q, verb, now_ms, &f->arena, &f->out, &f->err);
    free(text);
    return r;
}

static void expect(struct fixture *f, const char *body, enum placement_verb verb, int64_t now_ms,
                   const char *path, const char *value) {
    if (ask_at(f, body, verb, now_ms) != 0)
        fail_msg("%s", f->err.text);
    assert_string_equal(member_of(&f->out, path), value);
}

static void names_say_who_takes_part(void **state) {
    static const struct {
        const char *names, *taking_part;
    } cases[] = {
        {"", "['a','b']"},
        {",'clusterNames':null", "['a','b']"},
        {",'clusterNames':[]", "[]"},
        {",'clusterNames':['b']", "['b']"},
        {",'clusterNames':['nobody','b','b','c']", "['b']"},
        {",'clusterNames':['c','b','a']", "['a','b']"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char body[512];
        (void)snprintf(body, sizeof body, "{'placement':%s%s}", PLACEMENT("p", "{}"),
                       cases[i].names); /* fits */
        expect(f, body, PLACEMENT_FILTER, 0, "clusterNames", cases[i].taking_part);
        expect(f, body, PLACEMENT_SELECT, 0, "selected", cases[i].taking_part);
        expect(f, body, PLACEMENT_PRIORITIZE, 0, "error", "''");
        const char *scores = member_of(&f->out, "scores");
        for (const char *name = "abc"; *name != '\0'; name++) {
            const char quoted[] = {'\'', *name, '\'', '\0'};
            assert_true((strstr(scores, quoted) != NULL) ==
                        (strstr(cases[i].taking_part, quoted) != NULL));
        }
    }
}

/* The question's own time, or else the caller's. */
static void a_toleration_lasts_a_minute(void **state) {
    static const char body[] = "{'placement':" PLACEMENT("p", TOLERANT) "}";
    static const char with_now[] =
        "{'placement':" PLACEMENT("p", TOLERANT) ",'now':'2026-01-02T03:00:30Z'}";
    static const char later[] =
        "{'placement':" PLACEMENT("p", TOLERANT) ",'now':'2026-01-02T03:02:00Z'}";
    static const char all[] = "['a','b','c']", two[] = "['a','b']";
    struct fixture *f = *state;
    const int64_t soon_ms = at_three_ms + 30000, late_ms = at_three_ms + 90000;
    expect(f, body, PLACEMENT_SELECT, soon_ms, "selected", all);
    expect(f, body, PLACEMENT_SELECT, late_ms, "selected", two);
    expect(f, with_now, PLACEMENT_SELECT, late_ms, "selected", all);
    expect(f, later, PLACEMENT_SELECT, soon_ms, "selected", two);
}

/* A Placement that is not kept as a whole is answered with why nothing is decided of it. */
static void one_that_is_too_large(void **state) {
    enum { LONG = 64 << 10 };
    struct fixture *f = *state;
    struct strbuf text = {0};
    strbuf_append_str(&text,
                      STR("{'apiVersion':'v1','kind':'List','items':[{'apiVersion':"
                          "'cluster.open-cluster-management.io/v1beta1','kind':'Placement',"
                          "'metadata':{'name':'large','namespace':'n','annotations':{'a':'"));
    for (int i = 0; i < LONG; i++)
        strbuf_append_char(&text, 'x');
    strbuf_append_str(&text, STR("'}},'spec':{'numberOfClusters':1}}]}"));
    strbuf_append_char(&text, '\0');
    clusters_state_done(&f->state);
    read_state(text.p, &f->state);
    strbuf_done(&text);
    f->known = (struct clusters_known){f->state.fleet, f->state.policies};
    assert_int_equal(
        clusters_ask_by_name(&f->known, STR("n"), STR("large"), 0, 0, &f->arena, &f->out, &f->err),
        0);
    assert_string_equal(member_of(&f->out, "placement"), "'n/large'");
    assert_string_equal(member_of(&f->out, "spreadSatisfied.status"), "'Unknown'");
    assert_string_equal(member_of(&f->out, "spreadSatisfied.reason"), "'TooLarge'");
    assert_contains(member_of(&f->out, "error"), "Make it smaller");
    assert_string_equal(member_of(&f->out, "selected"), "none"); /* it is not known */
}

/* As a watch does it. */
static void take_stored(struct fixture *f, char *json) {
    struct informer *informer = fleet_informer(f->state.fleet);
    const struct informer_kind *kind = &fleet_store.kinds[FLEET_PLACEMENTS];
    struct informer_object object = {
        .kind = FLEET_PLACEMENTS, .json = str_of(json), .arena = &f->arena, .is_stored = true};
    struct json_reader r;
    json_reader_init(&r, object.json, &f->arena, "object");
    kind->decode(&r, &object);
    assert_int_equal(json_finish(&r, &f->err), 0);
    assert_int_equal(kind->apply(informer_write(informer), &object, &f->err), 0);
    informer_write_done(informer);
}

static void one_that_would_crash_ocm(void **state) {
    struct fixture *f = *state;
    char *json = with_quotes(PLACEMENT("negative", "{'numberOfClusters':-7}"));
    take_stored(f, json);
    free(json);
    assert_int_equal(clusters_ask_by_name(&f->known, STR("n"), STR("negative"), 0, 0, &f->arena,
                                          &f->out, &f->err),
                     0);
    assert_string_equal(member_of(&f->out, "spreadSatisfied.reason"), "'Misconfigured'");
    assert_contains(member_of(&f->out, "error"), "numberOfClusters is -7");
}

static void rounds_and_limits_are_wished_for(void **state) {
    struct fixture *f = *state;
    expect(f, "{'placement':" PLACEMENT("p", "{}") "}", PLACEMENT_SELECT, 0, "rounds", "none");
    expect(f, "{'placement':" PLACEMENT("p", "{}") "}", PLACEMENT_SELECT, 0, "omitted", "none");
    (void)ask_at(f, "{'placement':" PLACEMENT("p", "{}") ",'rounds':true}", PLACEMENT_SELECT, 0);
    assert_string_not_equal(member_of(&f->out, "rounds"), "none");
    expect(f, "{'placement':" PLACEMENT("p", "{}") ",'limit':1}", PLACEMENT_SELECT, 0, "available",
           "['a']");
    assert_string_equal(member_of(&f->out, "omitted.available"), "2");
}

/* A policy's terms hold where the Placement has none; a fleet may come without any policies. */
static void policies_are_heeded(void **state) {
    static const char one[] = "{'placement':" PLACEMENT("p", "{'numberOfClusters':2,'tolerations':["
                                                             "{'operator':'Exists'}]}") "}";
    struct fixture *f = *state;
    struct clusters_state with_policy;
    char hub[4096];
    expect(f, one, PLACEMENT_SELECT, 0, "selected", "['a','b']");
    f->known.policies = NULL;
    expect(f, one, PLACEMENT_SELECT, 0, "selected", "['a','b']");
    (void)snprintf(hub, sizeof hub, "%.*s,%s]}", (int)strlen(HUB) - 2, HUB, POLICY); /* fits */
    read_state(hub, &with_policy);
    f->known.policies = with_policy.policies;
    expect(f, one, PLACEMENT_SELECT, 0, "selected", "['a','c']"); /* one of each zone */
    f->known.policies = NULL;
    clusters_state_done(&with_policy);
}

static void a_placement_by_its_name(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *namespace, *name;
        int result;
    } cases[] = {{"n", "kept", 0}, {"n", "other", -ENOENT}, {"m", "kept", -ENOENT}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        strbuf_clear(&f->out);
        assert_int_equal(clusters_ask_by_name(&f->known, str_of(cases[i].namespace),
                                              str_of(cases[i].name), 1, 0, &f->arena, &f->out,
                                              &f->err),
                         cases[i].result);
        if (cases[i].result != 0) {
            assert_int_equal(f->out.n, 0);
            assert_contains(f->err.text, "no Placement '");
            continue;
        }
        assert_string_equal(member_of(&f->out, "placement"), "'n/kept'");
        assert_string_equal(member_of(&f->out, "selected"), "['a']");
        assert_string_equal(member_of(&f->out, "omitted.available"), "2");
    }
}

/* Both what is worked out and what the view builds for it are bounded, and nothing is left of an
 * answer that was begun. */
static void steps_bound_a_question(void **state) {
    static const char body[] = "{'placement':" PLACEMENT("p", "{}") "}";
    struct fixture *f = *state;
    bool answered = false;
    for (uint64_t more = 1; !answered; more *= 2) {
        struct clusters_question q;
        char *text = with_quotes(body);
        assert_int_equal(clusters_question_decode(str_of(text), &f->arena, &q, &f->err), 0);
        f->arena.steps.max = f->arena.steps.used + more;
        strbuf_clear(&f->out);
        strbuf_append_str(&f->out, STR("before"));
        const int r = clusters_ask(&f->known, &q, PLACEMENT_SELECT, 0, &f->arena, &f->out, &f->err);
        f->arena.steps.max = 0;
        free(text);
        answered = r == 0;
        assert_true(answered || r == -E2BIG);
        assert_true(answered == (f->out.n > strlen("before")));
        assert_true(answered || more < 1 << 20);
        assert_true(!answered || more > 1);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(names_say_who_takes_part),         TEST(a_toleration_lasts_a_minute),
        TEST(rounds_and_limits_are_wished_for), TEST(policies_are_heeded),
        TEST(a_placement_by_its_name),          TEST(one_that_is_too_large),
        TEST(one_that_would_crash_ocm),         TEST(steps_bound_a_question),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
