/*
 * Constraints as they are written: how much may be, in which form one is made again, and what is
 * counted when nothing comes of it. What is injected at all is in test_pods.c.
 */
#include "admission/pods/spread_plan.h"

#include "base/limits.h"
#include "unit/cluster_builder.h"

struct fixture {
    struct cluster c;
    struct spread_tally tally;
    struct patch patch;
    struct review_answer answer;
    enum admission result;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.answer = {.allowed = false}};
    cluster_open(&f.c);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    cluster_close(&f->c);
    return 0;
}

static void admit(struct fixture *f, const char *spread, struct str pod) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    struct json_reader r;
    struct policy policy;
    const struct pod_options options = {
        .head.policies = &policy, .head.policy_count = 1, .cache = f->c.cache, .spread = &f->tally};
    const struct review review = {.uid = STR("u"),
                                  .resource = STR("pods"),
                                  .operation = STR("CREATE"),
                                  .namespace = STR("shop"),
                                  .object = pod};
    strbuf_appendf(&text, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"pods\":{\"spread\":[%s]}}}",
                   spread);
    json_reader_init(&r, arena_str(&f->c.arena, strbuf_str(&text)), &f->c.arena, "policy");
    policy_decode(&r, &policy);
    assert_int_equal(json_finish(&r, NULL), 0);
    assert_str(policy.problem, "");
    f->tally = (struct spread_tally){.policy = {0}};
    f->result =
        admit_object(&admitted_pods, &options.head, &review, &f->c.arena, &f->patch, &f->answer);
}

/* The cache has listed everything: these nodes. */
static void know_nodes(struct fixture *f, const char *nodes) {
    cache_write_begin(f->c.cache);
    cache_sync_begin(f->c.cache, CACHE_ALL_KINDS);
    cache_write_end(f->c.cache);
    cluster_nodes(&f->c, nodes);
    cache_write_begin(f->c.cache);
    cache_sync_end(f->c.cache, CACHE_ALL_KINDS);
    cache_write_end(f->c.cache);
}

static const char *document(struct fixture *f) {
    return arena_cstr(&f->c.arena, f->patch.document);
}

static void has(struct fixture *f, const char *part, bool wanted) {
    if ((strstr(document(f), part) != NULL) != wanted)
        fail_msg("'%s' is%s in %s", part, wanted ? " not" : "", document(f));
}

#define HARD(key, more)                                                                            \
    "{\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"DoNotSchedule\"" more "}"
#define WEB "\"labels\":{\"app\":\"web\"}"
#define POD(metadata, spec) STR("{\"metadata\":{" metadata "},\"spec\":{" spec "}}")

/* minDomains as the policy gives it: 1 is not the same as none, for it is what is compared when the
 * webhook is asked again. */
static void min_domains_is_written_as_it_is_given(void **state) {
    struct fixture *f = *state;
    admit(f, HARD("zone", ""), POD(WEB, ""));
    has(f, "minDomains", false);
    admit(f, HARD("zone", ",\"minDomains\":1"), POD(WEB, ""));
    has(f, "\"minDomains\":1,", true);
    admit(f, HARD("zone", ",\"minDomains\":2"), POD(WEB, ""));
    has(f, "\"minDomains\":2,", true);
}

/* ---- how much may be written ---- */

enum { NAME_BYTES = 8, LONGEST_KEY = 253 + 1 + NAME_BYTES };

static void append_many(struct strbuf *text, char c, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        strbuf_append_char(text, c);
}

/* A pod whose labels have so many bytes: long keys, and the last one as long as is needed. */
static struct str pod_of_bytes(struct fixture *f, uint32_t bytes) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    strbuf_append_str(&text, STR("{\"metadata\":{\"labels\":{"));
    for (uint32_t i = 0; bytes > 0; i++) {
        uint32_t key = bytes < 2 * LONGEST_KEY ? bytes / 2 : LONGEST_KEY;
        if (bytes <= LONGEST_KEY)
            key = bytes;
        strbuf_appendf(&text, "%s\"", i > 0 ? "," : "");
        append_many(&text, 'a', key - NAME_BYTES - 1);
        strbuf_appendf(&text, "/%08u\":\"\"", i);
        bytes -= key;
    }
    strbuf_append_str(&text, STR("}},\"spec\":{}}"));
    return arena_str(&f->c.arena, strbuf_str(&text));
}

/* LIMIT_PATCH_BYTES of selectors in all constraints together; what is written beside the labels has
 * room in a sixteenth of it. */
static void so_much_is_written_and_no_more(void **state) {
    static const char *const spreads[] = {
        HARD("a", ""),
        HARD("a", "") "," HARD("b", ""),
        HARD("a", "") "," HARD("b", "") "," HARD("c", "") "," HARD("d", ""),
    };
    struct fixture *f = *state;
    for (uint32_t i = 0; i < sizeof spreads / sizeof spreads[0]; i++) {
        const uint32_t count = 1u << i, limit = LIMIT_PATCH_BYTES / count;
        admit(f, spreads[i], pod_of_bytes(f, limit - limit / 16));
        assert_int_equal(f->result, ADMISSION_PATCHED);
        assert_int_equal(f->tally.fates[SPREAD_INJECTED], count);
        admit(f, spreads[i], pod_of_bytes(f, limit + 1));
        assert_int_equal(f->result, ADMISSION_FAILED);
        assert_int_equal(f->answer.warning_count, 1);
        assert_contains(arena_cstr(&f->c.arena, f->answer.warnings[0]),
                        "too long to be a selector");
        assert_int_equal(f->tally.fates[SPREAD_INJECTED], 0);
    }
}

/* ---- what is made again ---- */

/* managedFields say that nobody's request had the constraint on "zone". */
#define OURS WEB ",\"managedFields\":[{\"fieldsV1\":{\"f:spec\":{\"f:containers\":{}}}}]"
#define ON(key, app, more)                                                                         \
    "{\"maxSkew\":1,\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"DoNotSchedule\"," more     \
    "\"nodeTaintsPolicy\":\"Honor\",\"labelSelector\":{\"matchLabels\":{\"app\":\"" app "\"}}}"
#define CONSTRAINTS(list) "\"topologySpreadConstraints\":[" list "]"

/* One that was added without minDomains, or with, stays so. */
static void what_is_made_again_has_the_form_that_it_had(void **state) {
    struct fixture *f = *state;
    admit(f, HARD("zone", ",\"minDomains\":3"), POD(OURS, CONSTRAINTS(ON("zone", "old", ""))));
    assert_int_equal(f->result, ADMISSION_PATCHED);
    assert_int_equal(f->tally.fates[SPREAD_RENEWED], 1);
    has(f, "minDomains", false);
    has(f, "\"app\":\"old\"", false);
    admit(f, HARD("zone", ",\"minDomains\":3"),
          POD(OURS, CONSTRAINTS(ON("zone", "old", "\"minDomains\":3,"))));
    assert_int_equal(f->tally.fates[SPREAD_RENEWED], 1);
    has(f, "\"minDomains\":3", true);
    admit(f, HARD("zone", ",\"minDomains\":3"),
          POD(OURS, CONSTRAINTS(ON("zone", "old", "\"minDomains\":2,"))));
    assert_int_equal(f->tally.fates[SPREAD_OWN], 1); /* not as the policy would have it */
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
}

/* The policy's own constraints contradict each other: that is no change of the pod's terms. */
static void what_the_policys_other_keys_say_changes_nothing(void **state) {
    static const char both[] = HARD("zone", "") "," HARD("rack", "");
    struct fixture *f = *state;
    know_nodes(f, "a,+rack=1 x o");
    admit(f, both, POD(WEB, ""));
    assert_int_equal(f->tally.fates[SPREAD_CONTRADICTED], 1);
    admit(f, both, POD(OURS, CONSTRAINTS(ON("zone", "web", "") "," ON("rack", "web", ""))));
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    assert_int_equal(f->tally.fates[SPREAD_OWN], 2);
}

/* Whose constraint it is must be known from managedFields: no word of f:spec is none, and a key
 * that cannot be read may be any. */
static void what_may_be_the_users_stays(void **state) {
#define MANAGED(fields) WEB ",\"managedFields\":[{\"fieldsV1\":{" fields "}}]"
#define ITEM(key) MANAGED("\"f:spec\":{\"f:topologySpreadConstraints\":{\".\":{},\"" key "\":{}}}")
    struct fixture *f = *state;
#define OLD CONSTRAINTS(ON("zone", "old", ""))
    admit(f, HARD("zone", ""), POD(OURS, OLD));
    assert_int_equal(f->result, ADMISSION_PATCHED);
    admit(f, HARD("zone", ""), POD(MANAGED("\"f:metadata\":{}"), OLD));
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    admit(f, HARD("zone", ""), POD(ITEM("k:{\\\"topologyKey\\\":\\\"rack\\\"}"), OLD));
    assert_int_equal(f->result, ADMISSION_PATCHED);
    admit(f, HARD("zone", ""), POD(ITEM("k:{\\\"topologyKey\\\":\\\"zone\\\"}"), OLD));
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    admit(f, HARD("zone", ""), POD(ITEM("k:{\\\"topologyKey\\\":\\\"\\\"}"), OLD));
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    admit(f, HARD("zone", ""), POD(ITEM("k:{\\\"whenUnsatisfiable\\\":\\\"x\\\"}"), OLD));
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
    admit(f, HARD("zone", ""), POD(ITEM("v:1"), OLD));
    assert_int_equal(f->result, ADMISSION_UNCHANGED);
}

/* ---- what is counted ---- */

/* The result would be refused: nothing was injected, and what is left out is left out. */
static void what_comes_to_nothing_is_not_counted(void **state) {
    struct fixture *f = *state;
    know_nodes(f, "a x");
    admit(f, HARD("zone", "") "," HARD("nowhere", ""), POD(WEB, ""));
    assert_int_equal(f->result, ADMISSION_PATCHED);
    assert_int_equal(f->tally.fates[SPREAD_INJECTED], 1);
    assert_int_equal(f->tally.fates[SPREAD_NO_NODE_HAS_KEY], 1);
    admit(f, HARD("zone", "") "," HARD("nowhere", ""),
          POD("\"labels\":{\"app\":\"no value\"}", ""));
    assert_int_equal(f->result, ADMISSION_FAILED);
    assert_int_equal(f->tally.fates[SPREAD_INJECTED], 0);
    assert_int_equal(f->tally.fates[SPREAD_NO_NODE_HAS_KEY], 1);
}

/* upstream: podtopologyspread/plugin.go: systemDefaultConstraints. A pod with a constraint loses
 * them; they are kept where every node has their key, and a pod that was seen before its node makes
 * none. */
static void defaults_are_kept_where_all_known_nodes_have_the_key(void **state) {
    struct fixture *f = *state;
    know_nodes(f, "a x");
    admit(f, HARD("zone", ""), POD(WEB, ""));
    has(f, "kubernetes.io/hostname", true);
    cluster_pods(&f->c, "ghost:foo");
    admit(f, HARD("zone", ""), POD(WEB, ""));
    has(f, "kubernetes.io/hostname", true);
    cluster_nodes(&f->c, "y,-kubernetes.io/hostname");
    admit(f, HARD("zone", ""), POD(WEB, ""));
    has(f, "kubernetes.io/hostname", false);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(min_domains_is_written_as_it_is_given),
        TEST(so_much_is_written_and_no_more),
        TEST(what_is_made_again_has_the_form_that_it_had),
        TEST(what_the_policys_other_keys_say_changes_nothing),
        TEST(what_may_be_the_users_stays),
        TEST(what_comes_to_nothing_is_not_counted),
        TEST(defaults_are_kept_where_all_known_nodes_have_the_key),
    };
    return cmocka_run_group_tests_name("spread_inject", tests, NULL, NULL);
}
