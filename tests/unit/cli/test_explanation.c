/* Answers of /explain as tables: what the guide does not show, and answers that are none. */
#include "cli/explanation.h"

#include "unit/cli/printing.h"

#include <errno.h>
#include <stdio.h>

static const struct subject nameless; /* nothing was asked about by name */

static int print(struct printing *f, struct str json, const struct subject *subject) {
    struct answer a;
    strbuf_clear(&f->out);
    int r = answer_read(&a, json, &f->arena, &f->err);
    if (r != 0)
        return r;
    explanation_print(a.root, subject, &f->out);
    return answer_check(&a, &f->out, &f->err);
}

static void prints(struct printing *f, const char *json, const char *want) {
    if (print(f, str_of(json), &nameless) != 0)
        fail_msg("%s", f->err.text);
    assert_str(strbuf_str(&f->out), want);
}

static void lists(struct printing *f, const char *json, const char *want) {
    strbuf_clear(&f->out);
    if (answer_print(str_of(json), explanation_print_list, NULL, &f->out, &f->err) != 0)
        fail_msg("%s", f->err.text);
    assert_str(strbuf_str(&f->out), want);
}

#define REPLICA "\"replica\":{\"name\":\"r\",\"version\":\"1\"}"
#define HEAD(verb, result)                                                                         \
    "\"verb\":\"" verb "\",\"result\":\"" result "\",\"time\":\"T\",\"tookMicroseconds\":7,"       \
    "\"dataAgeMilliseconds\":3,\"namespace\":\"n\""

#define BOUND                                                                                      \
    "{\"number\":4," HEAD("bind", "not bound") ",\"name\":\"p\",\"message\":\"no\","               \
                                               "\"node\":\"a\"}"
#define PREFERRED                                                                                  \
    "{\"number\":5," HEAD("prioritize", "answered") ",\"name\":\"p\",\"candidates\":9,"            \
                                                    "\"preferred\":3,\"scores\":[]}"
#define PREEMPTED                                                                                  \
    "{\"number\":3," HEAD("preempt", "answered") ",\"name\":\"p\",\"candidates\":2,\"passed\":1,"  \
                                                 "\"dropped\":[{\"verdict\":\"Unschedulable\","    \
                                                 "\"reason\":\"full\",\"nodes\":1,\"names\":["     \
                                                 "\"b\"]}]}"
#define ADMITTED                                                                                   \
    "{\"number\":2," HEAD("admit", "failed") ",\"generateName\":\"p-\",\"dryRun\":true,\"notes\":" \
                                             "[],\"warnings\":[\"w\"],\"patch\":[],\"cut\":true}"

/* Several replicas, of which one is silent; the pod is Pending, and the first decision was about
 * its predecessor. */
static void a_pending_pod(void **state) {
    struct printing *f = *state;
    static const struct subject web = {.kind = {"Pod", 3}, .namespace = {"n", 1}, .name = {"p", 1}};
    static const char json[] =
        "{\"cause\":{\"kind\":\"Taint\",\"text\":\"Pending: \\u001b[1mtaint\"},"
        "\"state\":{\"uid\":\"u2\",\"podScheduled\":{\"status\":\"False\",\"reason\":\"R\","
        "\"message\":\"m\",\"since\":\"S\"}},"
        "\"now\":{" REPLICA ",\"decisions\":[],\"notJudged\":\"volumes\"},"
        "\"podFrom\":\"https://api\"," REPLICA
        ",\"replicas\":[{\"server\":\"http://a\",\"answered\":true},"
        "{\"server\":\"http://b\",\"answered\":false,\"error\":\"refused\"}],"
        "\"decisions\":[{\"replica\":\"http://a\",\"number\":1," HEAD(
            "filter",
            "answered") ",\"name\":\"p\",\"uid\":\"u1\",\"dataAges\":{\"nodes\":5,\"pods\":1},"
                        "\"candidates\":2,\"knownNodes\":5,\"passed\":2,"
                        "\"patch\":[{\"path\":\"/spec\",\"valueBytes\":2000}]}]}";
    if (print(f, str_of(json), &web) != 0)
        fail_msg("%s", f->err.text);
    assert_str(strbuf_str(&f->out),
               "pod n/p: Pending: ?[1mtaint\n"
               "PodScheduled is False since S, R: m\n"
               "the pod as https://api has it\n"
               "1 of 2 replicas answered; decisions of the others are missing\n"
               "no answer from http://b: refused\n"
               "\n"
               "pod n/p, by replica r (evenkeel 1)\n"
               "\n"
               "#1 of http://a filter: answered, T, in 7 us, nodes heard 5 ms before, pods heard 1 "
               "ms before\n"
               "2 of 2 nodes passed\n"
               "3 other nodes were not offered by kube-scheduler\n"
               "\n"
               "PATCHED  WITH\n"
               "/spec    (2000 bytes, which were not kept)\n"
               "This was about another pod of the same name.\n"
               "\n"
               "judged now, as a what-if: by replica r (evenkeel 1)\n"
               "\n"
               "not judged: volumes\n");
}

/* Without the pod itself the answer begins with the reason, and with the age of the data. */
static void a_pod_that_was_not_read(void **state) {
    struct printing *f = *state;
    static const struct subject web = {.kind = {"Pod", 3}, .namespace = {"n", 1}, .name = {"p", 1}};
    static const char json[] =
        "{\"podNotRead\":\"https://api: it does not answer\",\"replica\":{\"name\":\"r\","
        "\"version\":\"1\",\"dataAgeMilliseconds\":187000},\"decisions\":[" BOUND "]}";
    if (print(f, str_of(json), &web) != 0)
        fail_msg("%s", f->err.text);
    assert_true(
        str_has_prefix(strbuf_str(&f->out),
                       STR("pod n/p: the pod itself was not read: https://api: it does not answer\n"
                           "the data of replica r is 187000 ms old\n"
                           "\n"
                           "pod n/p, by replica r (evenkeel 1)\n")));
}

/* Datasets, and how near a node is to them. */
static void locality(void **state) {
    struct printing *f = *state;
    prints(
        f,
        "{" REPLICA ",\"decisions\":[{" HEAD(
            "prioritize",
            "answered") ",\"name\":\"p\",\"datasets\":[{\"namespace\":\"n\",\"dataset\":\"n-hot\","
                        "\"size\":4294967296,\"cached\":1073741824,\"percent\":100,\"nodes\":2,"
                        "\"heldBy\":"
                        "[{\"node\":\"a\",\"bytes\":1073741824},{\"node\":\"b\"}]}],"
                        "\"leaving\":[{\"node\":\"c\",\"dataset\":\"n-hot\",\"reason\":"
                        "\"worker 'w-1' goes\"}],"
                        "\"scores\":[{\"node\":\"a\",\"priority\":10,\"locality\":{\"raw\":250,"
                        "\"normalized\":100},\"data\":[{\"dataset\":\"n-hot\",\"tier\":\"node\","
                        "\"raw\":250}]},{\"node\":\"c\",\"priority\":0,\"locality\":{\"raw\":0,"
                        "\"normalized\":0},\"data\":[{\"dataset\":\"n-hot\",\"tier\":\"none\","
                        "\"raw\":0,\"leaving\":\"worker 'w-1' goes\"}]}"
                        "]}]}",
        "pod n/p, by replica r (evenkeel 1)\n"
        "\n"
        "prioritize: answered, T, in 7 us, from data 3 ms old\n"
        "\n"
        "DATASET    SIZE  CACHED  WEIGHT  NODES  THE FIRST HOLD\n"
        "n-hot    4096Mi  1024Mi   100 %      2  a 1024Mi, b\n"
        "\n"
        "LEFT NODE  BY DATASET  BECAUSE\n"
        "c          n-hot       worker 'w-1' goes\n"
        "\n"
        "BEST NODES  PRIORITY  OF 100 BY ALGORITHM\n"
        "a                 10  locality 100 (raw 250); n-hot: node (raw 250)\n"
        "c                  0  locality 0 (raw 0); n-hot: none (raw 0), worker 'w-1' goes\n");
}

static void every_verb(void **state) {
    struct printing *f = *state;
    prints(f, "{" REPLICA ",\"decisions\":[" ADMITTED "," PREEMPTED "," BOUND "]}",
           "pod n/p, by replica r (evenkeel 1)\n"
           "\n"
           "#2 admit: failed, T, in 7 us, from data 3 ms old, a dry run, of which only a part was "
           "kept\n"
           "as a pod of p-*, before it had its name\n"
           "\n"
           "WARNINGS\n"
           "w\n"
           "\n"
           "#3 preempt: answered, T, in 7 us, from data 3 ms old\n"
           "1 of 2 nodes passed\n"
           "\n"
           "DROPPED  VERDICT        REASON  NODES\n"
           "      1  Unschedulable  full    b\n"
           "\n"
           "#4 bind: not bound, T, in 7 us, from data 3 ms old\n"
           "no\n"
           "to node a\n");
    lists(f, "{" REPLICA ",\"decisions\":[" BOUND "," PREEMPTED "," ADMITTED "]}",
          "NUMBER  TIME  VERB     OBJECT  NODES   RESULT     MESSAGE\n"
          "     4  T     bind     n/p     a       not bound  no\n"
          "     3  T     preempt  n/p     1 of 2  answered\n"
          "     2  T     admit    n/p-*   -       failed\n");
}

#define ABOUT(kind, namespace)                                                                     \
    "{\"number\":1,\"verb\":\"decide\",\"result\":\"answered\",\"time\":\"T\","                    \
    "\"tookMicroseconds\":7,"                                                                      \
    "\"dataAgeMilliseconds\":3," kind namespace "\"name\":\"web\"}"
#define PLACEMENT ABOUT("\"group\":\"example.com\",\"kind\":\"Placement\",", "\"namespace\":\"n\",")

static void every_kind(void **state) {
    struct printing *f = *state;
    prints(f, "{" REPLICA ",\"decisions\":[" PLACEMENT "]}",
           "placement.example.com n/web, by replica r (evenkeel 1)\n"
           "\n"
           "#1 decide: answered, T, in 7 us, from data 3 ms old\n");
    lists(f,
          "{" REPLICA ",\"decisions\":[" PLACEMENT "," ABOUT("\"kind\":\"Node\",", "") "," ABOUT(
              "\"kind\":\"Pod\",", "\"namespace\":\"n\",") "]}",
          "NUMBER  TIME  VERB    OBJECT                       NODES  RESULT    MESSAGE\n"
          "     1  T     decide  placement.example.com n/web  -      answered\n"
          "     1  T     decide  node web                     -      answered\n"
          "     1  T     decide  n/web                        -      answered\n");
}

static void where_a_pod_is_assumed(void **state) {
    prints(*state, "{" REPLICA ",\"decisions\":[" PREFERRED "]}",
           "pod n/p, by replica r (evenkeel 1)\n"
           "\n"
           "#5 prioritize: answered, T, in 7 us, from data 3 ms old\n"
           "9 nodes scored\n"
           "3 of the best nodes preferred, all in one domain: the pod counts there until it is "
           "seen\n");
}

#define CONSTRAINT(from, when)                                                                     \
    "{\"from\":\"" from "\",\"topologyKey\":\"k\",\"whenUnsatisfiable\":\"" when "\",\"maxSkew\":" \
    "1}"
#define FULL(verdict)                                                                              \
    "\"dropped\":[{\"verdict\":\"" verdict "\",\"reason\":\"full\",\"nodes\":1,\"names\":[\"b\"]}" \
    "]"

/* Whoever waits for a preemption should know when none will come. */
static void what_only_we_know(void **state) {
    struct printing *f = *state;
    static const char note[] =
        "\nkube-scheduler evicts no pod to make room under a constraint of defaults or of a rule, "
        "unless kube-scheduler's configuration has the same constraint.\n";
    static const struct {
        const char *decision;
        bool noted;
    } rows[] = {
        {HEAD("filter", "answered") ",\"constraints\":[" CONSTRAINT(
             "rule", "DoNotSchedule") "]," FULL("Unschedulable"),
         true},
        {HEAD("filter", "answered") ",\"constraints\":[" CONSTRAINT(
             "pod", "DoNotSchedule") "," CONSTRAINT("defaults",
                                                    "DoNotSchedule") "]," FULL("Unschedulable"),
         true},
        {HEAD("filter", "answered") ",\"constraints\":[" CONSTRAINT(
             "pod", "DoNotSchedule") "]," FULL("Unschedulable"),
         false},
        {HEAD("filter", "answered") ",\"constraints\":[" CONSTRAINT(
             "rule", "ScheduleAnyway") "]," FULL("Unschedulable"),
         false},
        {HEAD("filter", "answered") ",\"constraints\":[" CONSTRAINT(
             "rule", "DoNotSchedule") "]," FULL("UnschedulableAndUnresolvable"),
         false},
        {HEAD("filter", "answered") ",\"constraints\":[" CONSTRAINT("rule", "DoNotSchedule") "]",
         false},
        {HEAD("preempt", "answered") "," FULL("Unschedulable"), false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char json[1000];
        (void)snprintf(json, sizeof json, "{" REPLICA ",\"decisions\":[{%s}]}",
                       rows[i].decision); /* fits */
        if (print(f, str_of(json), &nameless) != 0)
            fail_msg("%s", f->err.text);
        if (str_has_suffix(strbuf_str(&f->out), str_of(note)) != rows[i].noted)
            fail_msg("%s:\n%.*s", rows[i].decision, (int)f->out.n, f->out.p);
    }
}

/* A newer server may say more; an older one less. */
static void other_members(void **state) {
    struct printing *f = *state;
    prints(f,
           "{\"future\":[1],\"decisions\":[{\"future\":{},\"scores\":[{\"node\":\"a\","
           "\"priority\":3,\"future\":1,\"tea\":{\"raw\":-1,\"normalized\":50,\"future\":[]}}],"
           "\"constraints\":[{\"rule\":\"r\",\"from\":\"rule\",\"maxSkew\":2,\"future\":1}]}]}",
           "pod , by replica  (evenkeel )\n"
           "\n"
           ": , , in 0 us, from data 0 ms old\n"
           "\n"
           "CONSTRAINT OF  TOPOLOGY KEY  WHEN UNSATISFIABLE  MAX SKEW  MIN DOMAINS  DOMAINS  "
           "FEWEST PODS  COUNTS\n"
           "rule r                                                  2            -        -  "
           "          -\n"
           "\n"
           "BEST NODES  PRIORITY  OF 100 BY ALGORITHM\n"
           "a                  3  tea 50 (raw -1)\n");
    prints(f, "{}", "by replica  (evenkeel )\n");
    prints(f, "{\"notJudged\":\"limits and capacity of volumes, devices\"}",
           "by replica  (evenkeel )\n\nnot judged: limits and capacity of volumes, devices\n");
}

/* Texts of others cannot end a line or move a terminal's cursor. */
static void control_characters(void **state) {
    struct printing *f = *state;
    prints(f,
           "{" REPLICA ",\"decisions\":[{" HEAD(
               "bind", "\\u001b[2J") ",\"name\":\"p\\nq\","
                                     "\"message\":\"a\\u007f\",\"warnings\":[\"\\u001bc\"]}]}",
           "pod n/p?q, by replica r (evenkeel 1)\n"
           "\n"
           "bind: ?[2J, T, in 7 us, from data 3 ms old\n"
           "a?\n"
           "\n"
           "WARNINGS\n"
           "?c\n");
}

static void answers_that_are_none(void **state) {
    struct printing *f = *state;
    static const char *const bad[] = {"",
                                      "[]",
                                      "{\"decisions\":3}",
                                      "{\"decisions\":[{\"verb\":1}]}",
                                      "{\"decisions\":[{\"dropped\":{}}]}",
                                      "{\"decisions\":[{\"scores\":[3]}]}",
                                      "{\"decisions\":[{\"notes\":[\"x\"]}]}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        f->err = (struct err){0};
        assert_int_equal(print(f, str_of(bad[i]), &nameless), -EINVAL);
        assert_contains(f->err.text, "answer");
    }
}

static void out_of_memory(void **state) {
    struct printing *f = *state;
    const struct str json = STR("{" REPLICA ",\"decisions\":[" PREEMPTED "]}");
    int refused = 0;
    for (size_t bytes = 1; bytes < 32 << 10; bytes += 100) {
        arena_done(&f->arena);
        arena_init(&f->arena, bytes);
        int r = print(f, json, &nameless);
        assert_true(r == 0 || r == -ENOMEM);
        refused += r != 0;
    }
    assert_in_range(refused, 1, 300);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, printing_setup, printing_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_verb),
        TEST(a_pending_pod),
        TEST(a_pod_that_was_not_read),
        TEST(locality),
        TEST(every_kind),
        TEST(where_a_pod_is_assumed),
        TEST(what_only_we_know),
        TEST(other_members),
        TEST(control_characters),
        TEST(answers_that_are_none),
        TEST(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
