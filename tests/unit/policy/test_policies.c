/* Policies from files and of an API server: read, read again, refused, replaced. */
#include "policy/policies.h"

#include "base/file.h"
#include "base/limits.h"
#include "unit/unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct fixture {
    char folder[64];
    const char *paths[1];
    struct policy_source *source;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.folder = "/tmp/evenkeel-policies-XXXXXX"};
    assert_non_null(mkdtemp(f.folder));
    f.paths[0] = f.folder;
    assert_int_equal(policy_source_new(f.paths, 1, &f.source, NULL), 0);
    *state = &f;
    return 0;
}

static const char *path_of(const struct fixture *f, const char *name) {
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", f->folder, name); /* fits */
    return path;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    policy_source_free(f->source);
    for (char name[] = "a.yaml"; name[0] <= 'c'; name[0]++)
        (void)unlink(path_of(f, name)); /* most are not there */
    return rmdir(f->folder);
}

static void write_file(const struct fixture *f, const char *name, const char *text) {
    assert_int_equal(file_write_atomic(path_of(f, name), str_of(text), 0600, NULL), 0);
}

/* "web:0 api:0": names and whether they work, in order. */
static void has(struct fixture *f, const char *wanted) {
    struct strbuf got = {0};
    uint32_t count;
    struct policies *held = policies_hold(f->source);
    const struct policy *items = policies_items(held, &count);
    for (uint32_t i = 0; i < count; i++)
        strbuf_appendf(&got, "%s%.*s%s", i > 0 ? " " : "", STR_ARG(items[i].name),
                       str_empty(items[i].problem) ? "" : "!");
    assert_str(strbuf_str(&got), wanted);
    strbuf_done(&got);
    policies_release(held);
}

static void load(struct fixture *f) {
    struct err err;
    if (policy_source_load(f->source, &err) != 0)
        fail_msg("%s", err.text);
    assert_false(policy_source_changed(f->source));
}

#define HEAD "apiVersion: evenkeel.io/v1alpha1\nkind: TopologyPolicy\n"
#define SPREAD "pods: {spread: [{topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}"
#define NEVER ", match: {exclude: {objectSelector: {}}}"
#define POLICY(name, more) HEAD "metadata: {name: " name "}\nspec: {" SPREAD more "}\n"

static void a_folder_is_read_in_order_of_priority(void **state) {
    struct fixture *f = *state;
    has(f, "");
    load(f); /* an empty folder has no policies */
    has(f, "");
    write_file(f, "a.yaml", POLICY("web", "") "---\n" POLICY("api", ", priority: -1"));
    write_file(f, "b.yaml", POLICY("db", ", priority: 1") "---\n" POLICY("none", NEVER));
    assert_true(policy_source_changed(f->source));
    load(f);
    has(f, "db none! web api");
}

static void lists_as_kubectl_prints_them(void **state) {
    struct fixture *f = *state;
    write_file(
        f, "a.yaml",
        "apiVersion: v1\nkind: List\nmetadata: {}\nitems:\n- apiVersion: evenkeel.io/v1alpha1\n"
        "  kind: TopologyPolicy\n  metadata: {name: a}\n  spec: {" SPREAD "}\n"
        "---\napiVersion: evenkeel.io/v1alpha1\nkind: TopologyPolicyList\nitems:\n"
        "- {metadata: {name: b}, spec: {" SPREAD "}}\n"
        "- "
        "{metadata: {name: c}, spec: {" SPREAD "}}\n");
    load(f);
    has(f, "a b c");
}

static void a_bad_file_changes_nothing(void **state) {
    struct fixture *f = *state;
    static const char *const cases[][2] = {
        {HEAD "metadata: {name: x}\nspec: {pods: {spreads: []}}\n",
         "policy.spec.pods.spreads: unknown field"},
        {POLICY("x", "") "---\n" POLICY("x", ""), "a second policy with the name 'x'"},
        {"apiVersion: v1\nkind: Pod\n", "apiVersion is 'v1'; expected 'evenkeel.io/v1alpha1'"},
        {"apiVersion: evenkeel.io/v1alpha1\nkind: Policy\n", "kind is 'Policy'; expected Topology"},
        {"apiVersion: evenkeel.io/v1\nkind: TopologyPolicy\n", "apiVersion is 'evenkeel.io/v1'"},
        {"kind: List\nitems: [{metadata: {name: x}, spec: {" SPREAD "}}]\n", "kind is ''"},
        {"a: [\n", "b.yaml': line"},
        {"{\"kind\": TopologyPolicy}\n", "expected a value"},
        {"[]\n", "kind is ''"},
        {"", "b.yaml': no object in it"},
    };
    write_file(f, "a.yaml", POLICY("web", ""));
    load(f);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct err err = {0};
        write_file(f, "b.yaml", cases[i][0]);
        assert_true(policy_source_load(f->source, &err) < 0);
        assert_contains(err.text, "policy file '");
        assert_contains(err.text, cases[i][1]);
        has(f, "web");
        assert_false(policy_source_changed(f->source)); /* said once */
    }
    assert_int_equal(unlink(path_of(f, "b.yaml")), 0);
    assert_true(policy_source_changed(f->source));
    load(f);
}

static void who_holds_a_set_keeps_it(void **state) {
    struct fixture *f = *state;
    uint32_t count;
    write_file(f, "a.yaml", POLICY("old", ""));
    load(f);
    struct policies *held = policies_hold(f->source);
    write_file(f, "a.yaml", POLICY("new", ""));
    load(f);
    assert_str(policies_items(held, &count)[0].name, "old");
    assert_int_equal(count, 1);
    policies_release(held);
    has(f, "new");
}

static _Atomic bool over;

/* Whatever is replaced meanwhile, a held set is one of the two, and whole. */
static void *hold_and_look(void *ctx) {
    struct policy_source *source = ctx;
    uint64_t wrong = 0;
    while (!over) {
        uint32_t count;
        struct policies *held = policies_hold(source);
        const struct policy *items = policies_items(held, &count);
        wrong += count != 1 ||
                 (!str_eq(items[0].name, STR("one")) && !str_eq(items[0].name, STR("other")));
        policies_release(held);
    }
    return (void *)(uintptr_t)wrong;
}

static void sets_are_replaced_under_those_who_work(void **state) {
    struct fixture *f = *state;
    pthread_t readers[2];
    void *wrong;
    write_file(f, "a.yaml", POLICY("one", ""));
    load(f);
    over = false;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, hold_and_look, f->source), 0);
    for (int i = 0; i < 50; i++) {
        write_file(f, "a.yaml", i % 2 == 0 ? POLICY("other", "") : POLICY("one", ""));
        assert_int_equal(policy_source_load(f->source, NULL), 0);
    }
    over = true;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(readers[i], &wrong), 0);
        assert_null(wrong);
    }
}

static void a_path_that_goes_is_noticed(void **state) {
    struct fixture *f = *state;
    struct policy_source *source;
    struct err err;
    char path[128];
    (void)snprintf(path, sizeof path, "%s", path_of(f, "a.yaml")); /* fits */
    const char *const paths[] = {path};
    assert_int_equal(policy_source_new(paths, 1, &source, NULL), 0);
    assert_int_equal(policy_source_load(source, &err), -ENOENT);
    assert_contains(err.text, "cannot read policy '");
    assert_false(policy_source_changed(source));
    write_file(f, "a.yaml", POLICY("web", ""));
    assert_true(policy_source_changed(source));
    assert_int_equal(policy_source_load(source, &err), 0);
    assert_int_equal(unlink(path), 0);
    assert_true(policy_source_changed(source));
    assert_int_equal(policy_source_load(source, &err), -ENOENT);
    assert_false(policy_source_changed(source)); /* said once */
    policy_source_free(source);
}

static void no_paths_are_no_policies(void **state) {
    struct fixture *f = *state;
    policy_source_free(f->source);
    assert_int_equal(policy_source_new(NULL, 0, &f->source, NULL), 0);
    load(f);
    has(f, "");
}

/* ---- of an API server ---- */

#define LIVE(name, more)                                                                           \
    "{\"apiVersion\":\"evenkeel.io/"                                                               \
    "v1alpha1\",\"kind\":\"TopologyPolicy\",\"metadata\":{\"name\":\"" name                        \
    "\",\"generation\":1,\"managedFields\":[{}]},\"spec\":{\"pods\":{\"spread\":[{"                \
    "\"topologyKey\":\"zone\","                                                                    \
    "\"whenUnsatisfiable\":\"ScheduleAnyway\"}]}" more "},\"status\":{}}"
#define PRIORITY(n) ",\"priority\":" #n

static void apply(struct fixture *f, const char *object) {
    struct err err;
    if (policy_live_apply(f->source, str_of(object), &err) != 0)
        fail_msg("%s", err.text);
}

static void remove_live(struct fixture *f, const char *name) {
    assert_int_equal(policy_live_remove(f->source, str_of(name), NULL), 0);
}

static void end_listing(struct fixture *f) {
    assert_int_equal(policy_live_end(f->source, NULL), 0);
}

static void a_listing_is_in_force_at_its_end(void **state) {
    struct fixture *f = *state;
    policy_live_begin(f->source);
    apply(f, LIVE("b", ""));
    apply(f, LIVE("a", ""));
    has(f, "");
    end_listing(f);
    has(f, "a b");
    apply(f, LIVE("c", PRIORITY(1)));
    has(f, "c a b");
    apply(f, LIVE("b", PRIORITY(2)));
    has(f, "b c a");
    remove_live(f, "c");
    remove_live(f, "c");
    has(f, "b a");
    policy_live_begin(f->source); /* given up, and begun again */
    apply(f, LIVE("d", ""));
    policy_live_begin(f->source);
    apply(f, LIVE("a", ""));
    has(f, "b a");
    end_listing(f);
    has(f, "a");
}

/* What was there before stays, what only such a listing has shown goes, and nothing of it was ever
 * in force. */
static void a_listing_without_end(void **state) {
    struct fixture *f = *state;
    policy_live_begin(f->source);
    apply(f, LIVE("a", ""));
    end_listing(f);
    apply(f, LIVE("b", "")); /* a watch's */
    policy_live_begin(f->source);
    apply(f, LIVE("c", ""));
    policy_live_begin(f->source); /* given up, and begun again */
    apply(f, LIVE("a", PRIORITY(-1)));
    apply(f, LIVE("d", ""));
    apply(f, LIVE("d", PRIORITY(1)));
    policy_live_abort(f->source);
    has(f, "a b");
    policy_live_begin(f->source);
    apply(f, LIVE("e", ""));
    apply(f, LIVE("a", PRIORITY(-1)));
    end_listing(f);
    has(f, "e a");
    policy_live_begin(f->source);
    policy_live_abort(f->source);
    policy_live_begin(f->source);
    apply(f, LIVE("e", ""));
    end_listing(f);
    has(f, "e");
}

static void files_and_the_api_server_together(void **state) {
    struct fixture *f = *state;
    uint32_t count;
    write_file(f, "a.yaml", POLICY("web", ", priority: 5") "---\n" POLICY("file", ""));
    load(f);
    apply(f, LIVE("live", PRIORITY(1)));
    has(f, "web live file");
    apply(f, LIVE("web", ""));
    has(f, "web! live file web"); /* the API server's counts */
    struct policies *held = policies_hold(f->source);
    assert_str(policies_items(held, &count)[0].problem,
               "the API server has a policy of this name, and that policy is used");
    policies_release(held);
    write_file(f, "a.yaml", POLICY("web", ""));
    load(f);
    remove_live(f, "web");
    has(f, "live web");
    write_file(f, "a.yaml", "[");
    assert_true(policy_source_load(f->source, NULL) < 0);
    apply(f, LIVE("more", ""));
    has(f, "live more web"); /* the files' last good state */
}

static void problem_is(struct fixture *f, const char *name, const char *part) {
    uint32_t count;
    struct policies *held = policies_hold(f->source);
    const struct policy *items = policies_items(held, &count);
    assert_int_equal(count, 1);
    assert_str(items[0].name, name);
    char text[ERR_TEXT_SIZE];
    (void)snprintf(text, sizeof text, "%.*s", STR_ARG(items[0].problem)); /* cut is fine */
    assert_contains(text, part);
    policies_release(held);
}

/* A policy that cannot be understood is there, with what is wrong; one without a name is not. */
static void live_policies_that_cannot_work(void **state) {
    struct fixture *f = *state;
    struct err err;
    apply(f, LIVE("x", ""));
    apply(f, LIVE("x", ",\"new\":1"));
    problem_is(f, "x", "policy.spec.new: unknown field");
    apply(f, LIVE("x", ",\"targets\":[]"));
    problem_is(f, "x", "policy.spec.targets: is gone: the settings for pods are in spec.pods");
    apply(f, LIVE("x", ",\"match\":{\"exclude\":{\"objectSelector\":{}}}"));
    problem_is(f, "x", "spec.match.exclude.objectSelector is empty");
    struct strbuf large = {0};
    strbuf_appendf(&large, "{\"metadata\":{\"name\":\"x\",\"annotations\":{\"a\":\"%0*d\"}}}",
                   LIMIT_POLICY_BYTES, 1);
    assert_int_equal(policy_live_apply(f->source, strbuf_str(&large), &err), 0);
    strbuf_done(&large);
    problem_is(f, "x", "larger than 262144 bytes");
    assert_int_equal(policy_live_apply(f->source, STR("{\"metadata\":{}}"), &err), -EINVAL);
    assert_string_equal(err.text, "a policy without a name");
    has(f, "x!");
}

static void live_policies_have_a_limit(void **state) {
    struct fixture *f = *state;
    struct err err;
    char object[512];
    policy_live_begin(f->source);
    for (int i = 0; i <= LIMIT_POLICIES; i++) {
        (void)snprintf(object, sizeof object, LIVE("p%d", ""), (i * 7919) % 8191); /* fits */
        int r = policy_live_apply(f->source, str_of(object), &err);
        assert_int_equal(r, i < LIMIT_POLICIES ? 0 : -E2BIG);
    }
    assert_string_equal(err.text, "more than 4096 policies");
    apply(f, LIVE("p0", PRIORITY(1))); /* one that is there can still be changed */
    end_listing(f);
    uint32_t count;
    struct policies *held = policies_hold(f->source);
    const struct policy *items = policies_items(held, &count);
    assert_int_equal(count, LIMIT_POLICIES);
    assert_str(items[0].name, "p0");
    for (uint32_t i = 2; i < count; i++)
        assert_true(str_cmp(items[i - 1].name, items[i].name) < 0);
    policies_release(held);
}

static void who_holds_a_set_keeps_live_policies(void **state) {
    struct fixture *f = *state;
    uint32_t count;
    apply(f, LIVE("old", ""));
    struct policies *held = policies_hold(f->source);
    remove_live(f, "old");
    has(f, "");
    assert_str(policies_items(held, &count)[0].name, "old");
    assert_str(policies_items(held, &count)[0].spread[0].topology_key, "zone");
    policies_release(held);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static bool next_note(void *ctx, const struct policy *policy, const struct policy_status *status,
                      struct policy_note *note) {
    int64_t *sum = ctx;
    (void)policy, (void)status;
    *sum += note->written_ms == INT64_MIN ? 1000 : note->written_ms;
    *sum += 10 * note->unresolved;
    *note = (struct policy_note){1, 1};
    return true;
}

/* Of each name, whatever becomes of the policy, until it is gone. */
static void a_note_stays_with_its_name(void **state) {
    struct fixture *f = *state;
    static const char policy[] =
        "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"pods\":{\"spread\":[{\"topologyKey\":\"zone\","
        "\"whenUnsatisfiable\":\"ScheduleAnyway\"}]}}}";
    static const int64_t want[] = {1000, 11, 11, 1000};
    for (int i = 0; i < 4; i++) {
        int64_t sum = 0;
        if (i == 3)
            assert_int_equal(policy_live_remove(f->source, STR("p"), NULL), 0);
        assert_int_equal(policy_live_apply(f->source, str_of(policy), NULL), 0);
        policy_live_each(f->source, next_note, &sum);
        assert_int_equal(sum, want[i]);
    }
}

static void without_files_none_change(void **state) {
    struct policy_source *source;
    (void)state;
    assert_int_equal(policy_source_new(NULL, 0, &source, NULL), 0);
    assert_false(policy_source_changed(source));
    assert_int_equal(policy_source_load(source, NULL), 0);
    assert_false(policy_source_changed(source));
    policy_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_note_stays_with_its_name, setup, teardown),
        cmocka_unit_test(without_files_none_change),
        TEST(a_folder_is_read_in_order_of_priority),
        TEST(lists_as_kubectl_prints_them),
        TEST(a_bad_file_changes_nothing),
        TEST(who_holds_a_set_keeps_it),
        TEST(sets_are_replaced_under_those_who_work),
        TEST(a_path_that_goes_is_noticed),
        TEST(no_paths_are_no_policies),
        TEST(a_listing_is_in_force_at_its_end),
        TEST(a_listing_without_end),
        TEST(files_and_the_api_server_together),
        TEST(live_policies_that_cannot_work),
        TEST(live_policies_have_a_limit),
        TEST(who_holds_a_set_keeps_live_policies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
