/* Why a pod is Pending. Messages are as kube-scheduler v1.36.3 wrote them into the condition on a
 * real cluster (tests/e2e/kube/pending_test.go stages each), or as FitError.Error would. */
#include "explain/pending.h"

#include "unit/unit.h"

#include <stdio.h>

#define POD(spec, status)                                                                          \
    "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"web\","                                      \
    "\"creationTimestamp\":\"2026-01-02T03:04:05Z\"},\"spec\":{" spec "},\"status\":{" status "}}"
#define SAID(message)                                                                              \
    POD("", "\"phase\":\"Pending\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},"      \
            "{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\","        \
            "\"message\":\"" message "\"}]")

static const struct row {
    const char *pod, *kind, *text;
} rows[] = {
    {POD("\"nodeName\":\"a\"", "\"phase\":\"Running\""), "Scheduled", "on node a, phase Running"},
    {POD("", "\"phase\":\"Failed\""), "Ended", "phase Failed"},
    {POD("\"schedulingGates\":[{\"name\":\"g1\"},{\"name\":\"g2\"}]",
         "\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\","
         "\"reason\":\"SchedulingGated\",\"message\":\"Scheduling is blocked\"}]"),
     "SchedulingGates",
     "Pending: held by its schedulingGates g1, g2: no scheduler tries it before they are removed"},
    {POD("\"schedulerName\":\"mine\"", "\"phase\":\"Pending\""), "NotTried",
     "Pending: no scheduler has tried it since it was created at 2026-01-02T03:04:05Z: it waits "
     "for schedulerName mine, which may not exist, not run or be busy"},
    {POD("", "\"nominatedNodeName\":\"n\""), "Nominated",
     "Pending: nominated for node n, where it waits until the pods that are evicted for it have "
     "ended (preemption)"},
    {POD("", "\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":"
             "\"SchedulerError\",\"message\":\"extender: connection refused\"}]"),
     "SchedulerError",
     "Pending: kube-scheduler's last attempt failed: extender: connection refused"},
    {SAID("0/6 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable, 1 Too many "
          "pods. preemption: 0/6 nodes are available: 6 Preemption is not helpful for "
          "scheduling."),
     "Cordoned",
     "Pending: of 6 nodes 3 cordoned, 2 Insufficient cpu, 1 with as many pods as it may have"},
    {SAID("0/2 nodes are available: 2 over maxSkew on topology.kubernetes.io/zone (ordered). no "
          "new claims to deallocate, preemption: 0/2 nodes are available: 2 No preemption "
          "victims found for incoming pod."),
     "SpreadRule", "Pending: of 2 nodes 2 over maxSkew on topology.kubernetes.io/zone (ordered)"},
    {SAID("0/6 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"),
     "UnboundClaim", "Pending: pod has unbound immediate PersistentVolumeClaims"},
    {SAID("0/6 nodes are available: persistentvolumeclaim \\\"none\\\" not found. not found"),
     "ClaimMissing", "Pending: persistentvolumeclaim \"none\" not found"},
    /* what nobody has written yet */
    {SAID(""), "Other", "Pending: "},
    {SAID("0/ nodes are available:"), "Other", "Pending: 0/ nodes are available:"},
    {SAID("0/9999999999999999999 nodes are available: 3 strange"), "Other",
     "Pending: 0/9999999999999999999 nodes are available: 3 strange"},
    {SAID("3 "), "Other", "Pending: 3"},
    {SAID("0/3 nodes are available: 99999999999999999999 strange"), "Other",
     "Pending: 99999999999999999999 strange"},
};

static const char *say(const char *json, struct arena *arena, struct strbuf *out,
                       struct pending_question *q) {
    static struct pod_state state;
    static struct pod pod;
    struct err err;
    if (pod_state_decode(str_of(json), arena, &state, &err) != 0)
        fail_msg("%s", err.text);
    q->state = &state;
    q->pod = &pod;
    return pending_say(q, out);
}

static void every_kind(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena arena;
        struct strbuf text = {0};
        struct pending_question q = {0};
        arena_init(&arena, 1 << 20);
        const char *kind = say(rows[i].pod, &arena, &text, &q);
        assert_str(strbuf_str(&text), rows[i].text);
        assert_string_equal(kind, rows[i].kind);
        strbuf_done(&text);
        arena_done(&arena);
    }
}

/* Fluid makes the claim of a dataset when the dataset is bound: nothing else is the cause then. Of
 * a pod that lacks something else it is not. */
static void a_dataset_that_is_not_ready(void **unused) {
    static const char *const pods[] = {
        SAID("0/6 nodes are available: persistentvolumeclaim \\\"hot\\\" not found. not found"),
        SAID("0/6 nodes are available: 6 Insufficient cpu.")};
    static const char *const texts[] = {
        "Pending: dataset hot, which it mounts, is not ready (phase NotBound): "
        "persistentvolumeclaim \"hot\" not found",
        "Pending: of 6 nodes 6 Insufficient cpu"};
    (void)unused;
    for (size_t i = 0; i < 2; i++) {
        struct arena arena;
        struct strbuf text = {0};
        struct pending_question q = {.unready_dataset = STR("hot"),
                                     .unready_phase = STR("NotBound")};
        arena_init(&arena, 1 << 20);
        assert_string_equal(say(pods[i], &arena, &text, &q), i == 0 ? "Dataset" : "Resources");
        assert_str(strbuf_str(&text), texts[i]);
        strbuf_done(&text);
        arena_done(&arena);
    }
}

/* More reasons and longer texts than there is room for: the buffer is full, and nothing else
 * happens. */
static void too_much(void **unused) {
    struct strbuf message = {0}, text;
    char bytes[100];
    struct arena arena;
    struct pending_question q = {0};
    (void)unused;
    for (int i = 0; i < 2000; i++)
        strbuf_appendf(&message, "%s%d reason number %d", i > 0 ? ", " : "", i + 1, i);
    struct strbuf json = {0};
    static const char frame[] = SAID("0/9 nodes are available: @.");
    const char *at = strchr(frame, '@');
    strbuf_append_str(&json, (struct str){frame, (size_t)(at - frame)});
    strbuf_append_str(&json, strbuf_str(&message));
    strbuf_append_str(&json, str_of(at + 1));
    strbuf_append_char(&json, '\0');
    arena_init(&arena, 1 << 20);
    text = (struct strbuf){.p = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    (void)say(json.p, &arena, &text, &q);
    assert_true(text.n <= sizeof bytes);
    struct strbuf all = {0};
    (void)say(json.p, &arena, &all, &q);
    assert_str(strbuf_str(&all),
               "Pending: of 9 nodes 2000 reason number 1999, 1999 reason number 1998, 1998 reason "
               "number 1997, 1997 reason number 1996 and 12 more reasons");
    strbuf_done(&all);
    strbuf_done(&message);
    strbuf_done(&json);
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind),
        cmocka_unit_test(a_dataset_that_is_not_ready),
        cmocka_unit_test(too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
