/* The body of a what-if, which pod and policies it has, and what decisions are called by: subjects
 * and the state of a pod. */
#include "explain/question.h"

#include "explain/admission_record.h"
#include "explain/pod_state.h"
#include "unit/unit.h"

#include <errno.h>

struct fixture {
    struct arena arena;
    struct explain_question q;
    struct err err;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){.err = {0}};
    arena_init(&f.arena, 1 << 20);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    arena_done(&f->arena);
    return 0;
}

static void ask(struct fixture *f, const char *body) {
    if (explain_question_decode(str_of(body), &f->arena, &f->q, &f->err) != 0)
        fail_msg("%s", f->err.text);
}

/* ---- questions ---- */

#define POLICY(name, priority)                                                                     \
    "{\"kind\":\"TopologyPolicy\",\"metadata\":{\"name\":\"" name                                  \
    "\"},\"spec\":{\"priority\":" priority                                                         \
    ",\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"                      \
    "\"ScheduleAnyway\"}]}}}"

static void a_pod_alone(void **state) {
    struct fixture *f = *state;
    ask(f, "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\"},\"spec\":{\"schedulerName\":\"s\"}}");
    assert_str(f->q.pod.meta.name, "web");
    assert_str(f->q.pod.meta.namespace, "default");
    assert_str(f->q.pod.scheduler, "s");
    assert_str(f->q.text,
               "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\"},\"spec\":{\"schedulerName\":"
               "\"s\"}}");
    assert_false(f->q.has_nodes || f->q.has_policies || f->q.has_added);
    ask(f, "{\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"shop\"}}");
    assert_str(f->q.pod.meta.namespace, "shop");
}

/* An empty list is one; null is as good as nothing. */
static void members(void **state) {
    struct fixture *f = *state;
    ask(f, "{\"pod\":{},\"nodeNames\":[\"b\",\"a\"],\"policies\":[],\"addedAffinity\":{}}");
    assert_true(f->q.has_nodes && f->q.has_policies && f->q.has_added);
    assert_int_equal(f->q.nodes.count, 2);
    assert_str(f->q.nodes.names[0], "b");
    assert_int_equal(f->q.policies.count, 0);
    ask(f, "{\"nodeNames\":[],\"pod\":{}}");
    assert_true(f->q.has_nodes);
    assert_int_equal(f->q.nodes.count, 0);
    ask(f, "{\"pod\":{},\"nodeNames\":null,\"policies\":null,\"addedAffinity\":null}");
    assert_false(f->q.has_nodes || f->q.has_policies || f->q.has_added);
}

/* The first of them that matches a pod counts: by priority, then by name. */
static void policies_are_sorted(void **state) {
    struct fixture *f = *state;
    ask(f, "{\"pod\":{},\"policies\":[" POLICY("b", "1") "," POLICY("c", "9") "," POLICY("a",
                                                                                         "1") "]}");
    assert_true(f->q.has_policies);
    assert_int_equal(f->q.policies.count, 3);
    assert_str(f->q.policies.items[0].name, "c");
    assert_str(f->q.policies.items[1].name, "a");
    assert_str(f->q.policies.items[2].name, "b");
}

static void what_is_no_question(void **state) {
    static const char *const bodies[][2] = {
        {"{\"pod\":null}", "expected a Pod"},
        {"null", "expected a Pod, or an object with a pod"},
        {"{\"nodeNames\":[\"a\"]}", "Question.pod: missing"},
        {"{\"pod\":{},\"nodeNames\":[\"a\",7]}", "Question.nodeNames[1]"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        assert_int_equal(explain_question_decode(str_of(bodies[i][0]), &f->arena, &f->q, &f->err),
                         -EINVAL);
        assert_contains(f->err.text, bodies[i][1]);
    }
}

/* ---- the names of a new object ---- */

static void expect_subject(struct fixture *f, const char *namespace, const char *object,
                           const char *const wanted[4]) {
    const struct review review = {.namespace = str_of(namespace), .object = str_of(object)};
    struct admission_subject subject;
    admission_subject_of(&review, &f->arena, &subject);
    assert_str(subject.meta.namespace, wanted[0]);
    assert_str(subject.meta.name, wanted[1]);
    assert_str(subject.generate_name, wanted[2]);
    assert_str(subject.meta.uid, wanted[3]);
}

/* The request's namespace is the one that counts; generateName only where there is no name yet. */
static void new_objects(void **state) {
    struct fixture *f = *state;
    expect_subject(f, "shop",
                   "{\"spec\":{},\"metadata\":{\"generateName\":\"web-\",\"uid\":\"u\"}}",
                   (const char *const[]){"shop", "", "web-", "u"});
    expect_subject(
        f, "shop",
        "{\"metadata\":{\"namespace\":\"own\",\"name\":\"web-1\",\"generateName\":\"web-\"}}",
        (const char *const[]){"shop", "web-1", "", ""});
    expect_subject(f, "", "{\"metadata\":{\"namespace\":\"own\",\"name\":\"web-1\"}}",
                   (const char *const[]){"own", "web-1", "", ""});
    expect_subject(f, "", "{}", (const char *const[]){"", "", "", ""});
}

static void results(void **state) {
    (void)state;
    struct review_answer answer = {.message = STR("because")};
    struct decision_about about = {.result = NULL};
    static const char *const words[] = {[ADMISSION_UNCHANGED] = "unchanged",
                                        [ADMISSION_PATCHED] = "patched",
                                        [ADMISSION_DENIED] = "denied",
                                        [ADMISSION_FAILED] = "failed"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        admission_tell((enum admission)i, &answer, &about);
        assert_string_equal(about.result, words[i]);
        assert_str(about.message, "because");
    }
    review_annotate(&answer, STR("spread"), STR("added"));
    review_annotate(&answer, STR("unchanged"), STR("why not"));
    review_annotate(&answer, STR("policy"), STR("even"));
    admission_tell(ADMISSION_UNCHANGED, &answer, &about);
    assert_str(about.message, "why not");
}

/* ---- subjects ---- */

static void subjects(void **state) {
    (void)state;
    static const struct subject parts = {{"apps", 4}, {"Deployment", 10}, {"shop", 4}, {"web", 3}};
    static const struct {
        struct subject subject;
        const char *text;
    } rows[] = {
        {{{"", 0}, {"Pod", 3}, {"shop", 4}, {"web", 3}}, "pod shop/web"},
        {{{"", 0}, {"Node", 4}, {"", 0}, {"a", 1}}, "node a"},
        {{{"apps", 4}, {"StatefulSet", 11}, {"shop", 4}, {"Web", 3}}, "statefulset.apps shop/Web"},
        {{{"example.com", 11}, {"AZ", 2}, {"", 0}, {"x", 1}}, "az.example.com x"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct strbuf text = {0};
        subject_print(&rows[i].subject, &text);
        assert_str(strbuf_str(&text), rows[i].text);
        strbuf_done(&text);
    }
    assert_int_equal(subject_bytes(&parts), 21);
    for (int part = 0; part < 4; part++) { /* each one makes another subject */
        struct subject other = parts;
        struct str *const all[] = {&other.group, &other.kind, &other.namespace, &other.name};
        *all[part] = STR("x");
        assert_false(subject_eq(&parts, &other));
        assert_false(subject_hash(&parts) == subject_hash(&other));
    }
    struct subject same = parts;
    assert_true(subject_eq(&parts, &same));
    assert_true(subject_hash(&parts) == subject_hash(&same));
}

/* ---- the state of a pod ---- */

static bool is_pending(struct fixture *f, const char *json) {
    struct pod_state s;
    if (pod_state_decode(str_of(json), &f->arena, &s, &f->err) != 0)
        fail_msg("%s", f->err.text);
    return pod_state_is_pending(&s);
}

static void pending_pods(void **state) {
    struct fixture *f = *state;
    assert_true(is_pending(f, "{}"));
    assert_true(is_pending(f, "{\"status\":{\"phase\":\"Pending\"}}"));
    assert_false(is_pending(f, "{\"status\":{\"phase\":\"Running\"}}"));
    assert_false(
        is_pending(f, "{\"spec\":{\"nodeName\":\"a\"},\"status\":{\"phase\":\"Pending\"}}"));
    assert_false(is_pending(f, "{\"metadata\":{\"deletionTimestamp\":\"2026-01-02T03:04:05Z\"},"
                               "\"status\":{\"phase\":\"Pending\"}}"));
}

static void the_condition(void **state) {
    struct fixture *f = *state;
    struct pod_state s;
#define CONDITION(type, text)                                                                      \
    "{\"type\":\"" type "\",\"status\":\"False\",\"message\":\"" text "\"}"
    const struct str json =
        STR("{\"status\":{\"conditions\":[" CONDITION("Ready", "before") "," CONDITION(
            "PodScheduled", "it") "," CONDITION("ContainersReady", "behind") "]}}");
    assert_int_equal(pod_state_decode(json, &f->arena, &s, &f->err), 0);
    assert_str(s.status, "False");
    assert_str(s.message, "it");
    const struct str other = STR("{\"status\":{\"conditions\":[" CONDITION("Ready", "it") "]}}");
    assert_int_equal(pod_state_decode(other, &f->arena, &s, &f->err), 0);
    assert_str(s.status, "");
    assert_str(s.message, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_pod_alone),
        TEST(members),
        TEST(policies_are_sorted),
        TEST(what_is_no_question),
        TEST(new_objects),
        TEST(results),
        TEST(subjects),
        TEST(pending_pods),
        TEST(the_condition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
