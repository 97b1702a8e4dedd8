/*
 * Twice the input, twice the work: for every list that a user controls, input of n and of 2 n items
 * is made, up to what an API server takes, and the handler may do 2.2 times as much for each
 * doubling. Work is counted (growth/work.h), not timed, so the test says the same on every machine.
 */
#include "data/fluid/leaving.h"
#include "growth/estimates.h"
#include "growth/fleet.h"
#include "growth/growth.h"
#include "growth/hub.h"
#include "growth/karmada.h"
#include "growth/kept.h"
#include "growth/work.h"
#include "unit/handlers/torture.h"

#include "base/log.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
    BODY_BYTES = 3 << 20, /* what an API server takes */
    MUCH = 2200,          /* thousandths that a doubling may cost */
    TRIFLE = 100000,      /* work that is not looked at: what is constant outweighs the list */
};

/* ---- bodies ---- */

#define META_BEGIN "{\"metadata\":{\"name\":\"web\",\"namespace\":\"default\","
#define LABELS "\"labels\":{\"foo\":\"\",\"fuse.serverful.fluid.io/inject\":\"true\"}"
#define POD META_BEGIN LABELS "},\"spec\":{"
#define VOLUME "\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"ds\"}}]"
#define AFFINITY "\"affinity\":{\"nodeAffinity\":{"
#define REQUIRED "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":["
#define PREFERRED "\"preferredDuringSchedulingIgnoredDuringExecution\":["
#define SOFT_ON(key)                                                                               \
    "{\"maxSkew\":1,\"topologyKey\":\"" key "\",\"whenUnsatisfiable\":\"ScheduleAnyway\","         \
    "\"labelSelector\":{\"matchLabels\":{\"foo\":\"\"}}}"

static const struct list lists[] = {
    {"labels", META_BEGIN "\"labels\":{\"fuse.serverful.fluid.io/inject\":\"true\",",
     "}},\"spec\":{" VOLUME "}}", "\"k%06u\":\"v\"", ","},
    {"labels backwards", META_BEGIN "\"labels\":{", ",\"foo\":\"\"}},\"spec\":{" VOLUME "}}",
     "\"k-%X\":\"v\"", ","},
    {"one label again and again", META_BEGIN "\"labels\":{",
     ",\"fuse.serverful.fluid.io/inject\":\"true\"}},\"spec\":{" VOLUME "}}", "\"k\":\"%u\"", ","},
    {"annotations", META_BEGIN LABELS ",\"annotations\":{", "}},\"spec\":{" VOLUME "}}",
     "\"k%06u\":\"v\"", ","},
    {"datasets in use", META_BEGIN LABELS ",\"annotations\":{\"fluid.io/datasets-in-use\":\"",
     "\"}},\"spec\":{" VOLUME "}}", "d%u", ","},
    {"owner references", META_BEGIN LABELS ",\"ownerReferences\":[", "]},\"spec\":{" VOLUME "}}",
     "{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"r%u\",\"uid\":\"u\"}", ","},
    {"controllers", META_BEGIN LABELS ",\"ownerReferences\":[", "]},\"spec\":{" VOLUME "}}",
     "{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"r%u\",\"controller\":true}",
     ","},
    {"node selector", POD VOLUME ",\"nodeSelector\":{", "}}}", "\"k%06u\":\"v\"", ","},
    {"tolerations", POD VOLUME ",\"tolerations\":[", "]}}",
     "{\"key\":\"k%u\",\"operator\":\"Exists\"}", ","},
    {"constraints", POD VOLUME ",\"topologySpreadConstraints\":[", "]}}", SOFT_ON("k%u"), ","},
    {"hard constraints", POD VOLUME ",\"topologySpreadConstraints\":[", "]}}",
     "{\"maxSkew\":1,\"topologyKey\":\"k%u\",\"whenUnsatisfiable\":\"DoNotSchedule\","
     "\"labelSelector\":{\"matchLabels\":{\"foo\":\"\"}}}",
     ","},
    {"constraints with a group each", POD VOLUME ",\"topologySpreadConstraints\":[", "]}}",
     "{\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"ScheduleAnyway\","
     "\"labelSelector\":{\"matchExpressions\":[{\"key\":\"foo\",\"operator\":\"NotIn\","
     "\"values\":[\"%u\"]}]}}",
     ","},
    {"constraints on a policy's key", POD VOLUME ",\"topologySpreadConstraints\":[", "]}}",
     "{\"maxSkew\":%u1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"ScheduleAnyway\","
     "\"labelSelector\":{\"matchLabels\":{\"foo\":\"\"}}}",
     ","},
    {"values of a constraint",
     POD VOLUME ",\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"rack\","
                "\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{\"matchExpressions\":["
                "{\"key\":\"foo\",\"operator\":\"NotIn\",\"values\":[",
     "]}]}}]}}", "\"v%u\"", ","},
    {"requirements of a constraint",
     POD VOLUME ",\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"rack\","
                "\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{\"matchExpressions\":[",
     "]}}]}}", "{\"key\":\"k%u\",\"operator\":\"Exists\"}", ","},
    {"labels of a constraint",
     POD VOLUME ",\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"rack\","
                "\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{\"matchLabels\":{",
     "}}}]}}", "\"k%06u\":\"v\"", ","},
    {"keys of a constraint",
     POD VOLUME ",\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"rack\","
                "\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{},\"matchLabelKeys\":[",
     "]}]}}", "\"k%u\"", ","},
    {"terms on other pods",
     POD VOLUME ",\"affinity\":{\"podAffinity\":{"
                "\"requiredDuringSchedulingIgnoredDuringExecution\":[",
     "]}}}}", "{\"topologyKey\":\"k%u\",\"labelSelector\":{\"matchLabels\":{\"foo\":\"\"}}}", ","},
    {"equal terms on other pods",
     POD VOLUME ",\"affinity\":{\"podAffinity\":{"
                "\"requiredDuringSchedulingIgnoredDuringExecution\":[",
     "]}}}}", "{\"topologyKey\":\"rack\",\"labelSelector\":{\"matchLabels\":{\"foo\":\"%u\"}}}",
     ","},
    {"values of a term away from other pods",
     POD VOLUME ",\"affinity\":{\"podAntiAffinity\":{"
                "\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"topologyKey\":\"rack\","
                "\"labelSelector\":{\"matchExpressions\":[{\"key\":\"foo\",\"operator\":\"NotIn\","
                "\"values\":[",
     "]}]}}]}}}}", "\"v%u\"", ","},
    {"required terms", POD VOLUME "," AFFINITY REQUIRED, "]}}}}}",
     "{\"matchExpressions\":[{\"key\":\"k%u\",\"operator\":\"In\",\"values\":[\"v\"]}]}", ","},
    {"equal required terms", POD VOLUME "," AFFINITY REQUIRED, "]}}}}}",
     "{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"Exists\"}],\"n\":%u}", ","},
    {"terms that name nodes", POD VOLUME "," AFFINITY REQUIRED, "]}}}}}",
     "{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n%u\"]}]}",
     ","},
    {"empty terms",
     POD VOLUME "," AFFINITY REQUIRED "{\"matchExpressions\":[{\"key\":\"zone\","
                "\"operator\":\"Exists\"}]},",
     "]}}}}}", "{\"n\":%u}", ","},
    {"requirements of a term", POD VOLUME "," AFFINITY REQUIRED "{\"matchExpressions\":[",
     "]}]}}}}}", "{\"key\":\"k%u\",\"operator\":\"DoesNotExist\"}", ","},
    {"values of a requirement",
     POD VOLUME "," AFFINITY REQUIRED
                "{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"NotIn\",\"values\":[",
     "]}]}]}}}}}", "\"v%u\"", ","},
    {"preferences", POD VOLUME "," AFFINITY PREFERRED, "]}}}}",
     "{\"weight\":5,\"preference\":{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\","
     "\"values\":[\"z%u\"]}]}}",
     ","},
    {"values of a preference",
     POD VOLUME "," AFFINITY PREFERRED "{\"weight\":5,\"preference\":{\"matchExpressions\":[{"
                "\"key\":\"zone\",\"operator\":\"In\",\"values\":[",
     "]}]}}]}}}}", "\"v%u\"", ","},
    {"volumes", POD "\"volumes\":[", "]}}", "{\"name\":\"v%u\",\"emptyDir\":{}}", ","},
    {"volumes of one claim", POD "\"volumes\":[", "]}}",
     "{\"name\":\"v%u\",\"persistentVolumeClaim\":{\"claimName\":\"ds\"}}", ","},
    {"claims", POD "\"volumes\":[", "]}}",
     "{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"c%u\"}}", ","},
    {"mounts", POD VOLUME ",\"containers\":[{\"name\":\"c\",\"volumeMounts\":[", "]}]}}",
     "{\"name\":\"v\",\"mountPath\":\"/%u\"}", ","},
    {"containers with mounts", POD VOLUME ",\"containers\":[", "]}}",
     "{\"name\":\"c%u\",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/d\"}]}", ","},
    {"init containers with mounts", POD VOLUME ",\"initContainers\":[", "]}}",
     "{\"name\":\"c%u\",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/d\"}]}", ","},
    {"sidecars with requests", POD VOLUME ",\"initContainers\":[", "]}}",
     "{\"name\":\"c%u\",\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{\"cpu\":\"1m\"}}"
     "}",
     ","},
    {"containers with a resource each", POD VOLUME ",\"containers\":[", "]}}",
     "{\"name\":\"c\",\"resources\":{\"requests\":{\"example.com/r%u\":\"1\"}}}", ","},
    {"resources of a container", POD VOLUME ",\"containers\":[{\"resources\":{\"requests\":{",
     "}}}]}}", "\"example.com/r%u\":\"1\"", ","},
    {"ports of the host", POD VOLUME ",\"containers\":[{\"name\":\"c\",\"ports\":[", "]}]}}",
     "{\"containerPort\":1,\"hostPort\":%u}", ","},
    {"members that nobody knows", POD VOLUME ",", "}}", "\"m%u\":{\"a\":[1,2,{}]}", ","},
    {"volumes and mounts",
     POD "\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"ds\"}}],"
         "\"containers\":[{\"volumeMounts\":[",
     "]}]}}", "{\"name\":\"v%u\",\"mountPath\":\"/d\"}", ","},
};
enum { LISTS = sizeof lists / sizeof lists[0] };

/* Two lists of a pod that are compared with each other. */
static const struct {
    struct list first, second;
} pairs[] = {
    {{"keys and requirements of a constraint",
      POD VOLUME ",\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"rack\","
                 "\"whenUnsatisfiable\":\"DoNotSchedule\",\"matchLabelKeys\":[",
      "],\"labelSelector\":{\"matchExpressions\":[", "\"k%X\"", ","},
     {"", "", "]}}]}}", "{\"key\":\"r%u\",\"operator\":\"Exists\"}", ","}},
};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

void append_items(struct strbuf *out, const struct list *list, uint32_t n) {
    enum { MANY = 0x10000000 };
    bool falls = strstr(list->item, "%X") != NULL;
    for (uint32_t i = 0; i < n; i++) {
        char text[512];
        if (i > 0)
            strbuf_appendf(out, "%s", list->between);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        const uint32_t number = falls ? MANY - i : i;
        (void)snprintf(text, sizeof text, list->item, number, number); /* fits */
#pragma GCC diagnostic pop
        strbuf_append_str(out, str_of(text));
    }
}

/* ---- asking ---- */

struct verb {
    const char *name;
    enum torture_verb as;
    size_t body_bytes;
    const char *before, *after; /* around the pod, or the list */
    const char *path;           /* of the request; NULL: the handler does not ask */
};

#define REVIEW(operation)                                                                          \
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":"   \
    "\"1\",\"operation\":\"" operation                                                             \
    "\",\"namespace\":\"default\",\"resource\":{\"group\":\"\","                                   \
    "\"version\":\"v1\",\"resource\":\"pods\"},\"userInfo\":{\"username\":\"ann\"},"
#define VALIDATE "/webhooks/v1/pods/validate"
#define PLACEMENTS "/webhooks/v1/placements"
#define REVIEW_OF_PLACEMENT                                                                        \
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{"           \
    "\"uid\":\"1\",\"operation\":\"CREATE\",\"namespace\":\"default\",\"resource\":{\"group\":"    \
    "\"cluster.open-cluster-management.io\",\"resource\":\"placements\"},\"object\":"
#define HARD_TERM                                                                                  \
    "\"spreadPolicy\":{\"spreadConstraints\":[{\"topologyKey\":\"zone\",\"topologyKeyType\":"      \
    "\"Label\",\"whenUnsatisfiable\":\"DoNotSchedule\"}]}"
#define NEW_PLACEMENT(members)                                                                     \
    REVIEW_OF_PLACEMENT "{\"metadata\":{\"name\":\"p\"},\"spec\":{" HARD_TERM "," members

static const struct verb verbs[] = {
    {"admit", ADMIT, BODY_BYTES, REVIEW("CREATE") "\"object\":", "}}", NULL},
    {"filter", FILTER, BODY_BYTES, "{\"Pod\":", ",\"NodeNames\":[\"a\",\"b\",\"x\",\"y\"]}", NULL},
    {"prioritize", PRIORITIZE, BODY_BYTES, "{\"Pod\":", ",\"NodeNames\":[\"a\",\"b\",\"x\",\"y\"]}",
     NULL},
    {"preempt", PREEMPT, BODY_BYTES,
     "{\"Pod\":", ",\"NodeNameToMetaVictims\":{\"a\":{\"Pods\":[{\"UID\":\"u0\"}]}}}", NULL},
    {"what if", WHAT_IF, LIMIT_OPS_BODY, "{\"pod\":", ",\"nodeNames\":[\"a\",\"b\",\"x\",\"y\"]}",
     NULL},
    {"validate", ADMIT, BODY_BYTES, REVIEW("CREATE") "\"object\":", "}}", VALIDATE},
    /* an update sends the pod as it was, too */
    {"gates go", ADMIT, BODY_BYTES,
     REVIEW(
         "UPDATE") "\"oldObject\":{\"spec\":{\"schedulingGates\":[{\"name\":\"g\"}]}},\"object\":",
     "}}", VALIDATE},
    {"gates went", ADMIT, BODY_BYTES,
     REVIEW("UPDATE") "\"object\":{\"metadata\":{\"labels\":{\"foo\":\"\"}}},\"oldObject\":", "}}",
     VALIDATE},
};
enum { VERB_COUNT = sizeof verbs / sizeof verbs[0] };

/* Lists that are no part of a pod. */
#define SPREAD_POD                                                                                 \
    "{\"Pod\":" POD "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\","      \
    "\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{\"matchLabels\":{\"foo\":\"\"}}}," \
    "{"                                                                                            \
    "\"maxSkew\":1,\"topologyKey\":\"node\",\"whenUnsatisfiable\":\"ScheduleAnyway\","             \
    "\"labelSelector\":{\"matchLabels\":{\"foo\":\"\"}}}]}},"
static const struct {
    struct verb verb;
    struct list list;
} others[] = {
    {{"filter", FILTER, BODY_BYTES, "", "", NULL},
     {"node names", SPREAD_POD "\"NodeNames\":[", "]}", "\"n%u\"", ","}},
    {{"prioritize", PRIORITIZE, BODY_BYTES, "", "", NULL},
     {"node names", SPREAD_POD "\"NodeNames\":[", "]}", "\"n%u\"", ","}},
    {{"filter", FILTER, BODY_BYTES, "", "", NULL},
     {"one node's name", SPREAD_POD "\"NodeNames\":[\"b\"", "]}", ",\"a\"", ""}},
    {{"prioritize", PRIORITIZE, BODY_BYTES, "", "", NULL},
     {"one node's name", SPREAD_POD "\"NodeNames\":[\"b\"", "]}", ",\"a\"", ""}},
    {{"filter", FILTER, BODY_BYTES, "", "", NULL},
     {"lists of names", SPREAD_POD "\"NodeNames\":[\"a\"]", "}", ",\"NodeNames\":[\"a\"]", ""}},
    {{"filter", FILTER_NODES, BODY_BYTES, "", "", NULL},
     {"nodes", SPREAD_POD "\"Nodes\":{\"items\":[", "]}}", "{\"metadata\":{\"name\":\"n%u\"}}",
      ","}},
    {{"filter", FILTER_NODES, BODY_BYTES, "", "", NULL},
     {"labels of a node",
      SPREAD_POD "\"Nodes\":{\"items\":[{\"metadata\":{\"name\":\"a\",\"labels\":{", "}}}]}}",
      "\"k%u\":\"v\"", ","}},
    {{"preempt", PREEMPT, BODY_BYTES, "", "", NULL},
     {"nodes with victims", SPREAD_POD "\"NodeNameToMetaVictims\":{", "}}",
      "\"n%u\":{\"Pods\":[{\"UID\":\"u\"}]}", ","}},
    {{"preempt", PREEMPT, BODY_BYTES, "", "", NULL},
     {"victims on one node's name", SPREAD_POD "\"NodeNameToMetaVictims\":{", "}}",
      "\"a\":{\"Pods\":[{\"UID\":\"u%u\"}]}", ","}},
    {{"preempt", PREEMPT, BODY_BYTES, "", "", NULL},
     {"victims", SPREAD_POD "\"NodeNameToMetaVictims\":{\"a\":{\"Pods\":[", "]}}}",
      "{\"UID\":\"u%u\"}", ","}},
    {{"what if", WHAT_IF, LIMIT_OPS_BODY, "", "", NULL},
     {"policies", "{\"pod\":" POD VOLUME "}},\"nodeNames\":[\"a\"],\"policies\":[", "]}",
      "{\"metadata\":{\"name\":\"p%u\"},\"spec\":{\"match\":{\"objectSelector\":{\"matchLabels\":{"
      "\"no\":\"\"}}},\"pods\":{"
      "\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\"}]}}}",
      ","}},
    {{"what if", WHAT_IF, LIMIT_OPS_BODY, "", "", NULL},
     {"requirements of a policy",
      "{\"pod\":" POD VOLUME
      "}},\"nodeNames\":[\"a\"],\"policies\":[{\"metadata\":{\"name\":\"p\"},"
      "\"spec\":{\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
      "\"DoNotSchedule\"}]},"
      "\"match\":{\"objectSelector\":{\"matchExpressions\":[",
      "]}}}}]}", "{\"key\":\"k%u\",\"operator\":\"In\",\"values\":[\"a\"]}", ","}},
    {{"what if", WHAT_IF, LIMIT_OPS_BODY, "", "", NULL},
     {"requirements of one key of a policy",
      "{\"pod\":" POD VOLUME
      "}},\"nodeNames\":[\"a\"],\"policies\":[{\"metadata\":{\"name\":\"p\"},"
      "\"spec\":{\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
      "\"DoNotSchedule\"}]},"
      "\"match\":{\"objectSelector\":{\"matchExpressions\":[",
      "]}}}}]}", "{\"key\":\"k\",\"operator\":\"NotIn\",\"values\":[\"a%u\"]}", ","}},
    {{"what if", WHAT_IF, LIMIT_OPS_BODY, "", "", NULL},
     {"values of a policy",
      "{\"pod\":" POD VOLUME
      "}},\"nodeNames\":[\"a\"],\"policies\":[{\"metadata\":{\"name\":\"p\"},"
      "\"spec\":{\"pods\":{\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
      "\"DoNotSchedule\"}]},"
      "\"match\":{\"objectSelector\":{\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"NotIn\","
      "\"values\":["
      "\"v\"]},{\"key\":\"k\",\"operator\":\"In\",\"values\":[",
      "]}]}}}}]}", "\"w%u\"", ","}},
    {{"admit", ADMIT, BODY_BYTES, "", "", NULL},
     {"members of a review",
      "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":"
      "\"1\",\"operation\":\"CREATE\",\"namespace\":\"default\",\"resource\":{\"resource\":"
      "\"pods\"},"
      "\"object\":{}",
      "}}", ",\"object\":{\"n\":%u}", ""}},
    {{"placements", ADMIT, BODY_BYTES, "", "", PLACEMENTS},
     {"predicates", NEW_PLACEMENT("\"predicates\":["), "]}}}}", "{\"x\":%u}", ","}},
    {{"placements", ADMIT, BODY_BYTES, "", "", PLACEMENTS},
     {"expressions",
      NEW_PLACEMENT("\"predicates\":[{\"requiredClusterSelector\":{\"celSelector\":{"
                    "\"celExpressions\":["),
      "]}}}]}}}}", "\"%u == 1\"", ","}},
    {{"placements", ADMIT, BODY_BYTES, "", "", PLACEMENTS},
     {"gates of another",
      NEW_PLACEMENT("\"predicates\":[{\"requiredClusterSelector\":{\"celSelector\":{"
                    "\"celExpressions\":["),
      "]}}}]}}}}",
      "\"managedCluster.scores(\\\"evenkeel-1\\\").exists(s, s.name == \\\"s1-%08x\\\" && "
      "s.value > 0)\"",
      ","}},
    {{"placements", ADMIT, BODY_BYTES, "", "", PLACEMENTS},
     {"prioritizers", NEW_PLACEMENT("\"prioritizerPolicy\":{\"configurations\":["), "]}}}}}",
      "{\"scoreCoordinate\":{\"builtIn\":\"b%u\"}}", ","}},
    {{"placements", ADMIT, BODY_BYTES, "", "", PLACEMENTS},
     {"builtIn Spread", NEW_PLACEMENT("\"prioritizerPolicy\":{\"configurations\":["), "]}}}}}",
      "{\"x\":%u,\"scoreCoordinate\":{\"builtIn\":\"Spread\"}}", ","}},
    {{"placements", ADMIT, BODY_BYTES, "", "", PLACEMENTS},
     {"annotations",
      REVIEW_OF_PLACEMENT "{\"spec\":{" HARD_TERM "},\"metadata\":{\"annotations\":{", "}}}}}",
      "\"k%u\":\"v\"", ","}},
};
enum { OTHERS = sizeof others / sizeof others[0] };

static struct http_response last;

/* Of one request, in a world of its own, so that nothing is remembered. */
static uint64_t work_of(const struct verb *verb, int setting, struct str body) {
    static const struct {
        http_handler_fn *handle;
    } handlers[VERBS] = {[ADMIT] = {webhook_review},         [FILTER] = {extender_filter},
                         [FILTER_NODES] = {extender_filter}, [PRIORITIZE] = {extender_prioritize},
                         [PREEMPT] = {extender_preempt},     [WHAT_IF] = {explain_what_if}};
    struct torture_world w;
    struct arena arena;
    torture_world_open(&w, setting);
    w.called.c.options.max_steps = UINT64_MAX; /* it is the work that is looked at, not its end */
    arena_init(&arena, LIMIT_REQUEST_ARENA);
    strbuf_done(&last.text);
    last = (struct http_response){.text.max = LIMIT_REQUEST_ARENA};
    const struct http_request request = {.method = STR("POST"),
                                         .path = verb->path != NULL ? str_of(verb->path) : STR("/"),
                                         .body = body,
                                         .arena = &arena,
                                         .is_local = true};
    void *ctx = verb->as == ADMIT     ? (void *)&w.webhook
                : verb->as == WHAT_IF ? (void *)&w.explain
                                      : (void *)&w.called.x;
    uint64_t before = work_done();
    handlers[verb->as].handle(ctx, &request, &last);
    uint64_t work = work_done() - before;
    last.pieces = NULL; /* the arena's */
    arena_done(&arena);
    torture_world_close(&w);
    return work;
}

bool grows(const char *list, const char *verb, int setting, uint32_t n, uint64_t before,
           uint64_t now) {
    if (before < TRIFLE || now * 1000 <= before * MUCH)
        return false;
    print_error("%s, %s, setting %d: %u items took %llu steps, %u took %llu: %.2f times\n", verb,
                list, setting, n / 2, (unsigned long long)before, n, (unsigned long long)now,
                (double)now / (double)before);
    return true;
}

bool growth_in_part(void) {
    static unsigned long next;
    const char *part = getenv("PART");
    char *end;
    if (part == NULL || *part == '\0')
        return true;
    const unsigned long nth = strtoul(part, &end, 10);
    const unsigned long of = *end == '/' ? strtoul(end + 1, &end, 10) : 0;
    assert_true(*end == '\0' && nth < of);
    return next++ % of == nth;
}

static double cpu_ms(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* ---- lists of a pod ---- */

/* Doubles the list and, if it is not NULL, `second`, which stands behind it. */
static int double_lists(const struct list *list, const struct list *second, const struct verb *verb,
                        int setting) {
    struct strbuf body = {0};
    uint64_t before = 0;
    int bad = 0;
    const char *only = getenv("GROWTH_ONLY");
    for (uint32_t n = FIRST; only == NULL || strcmp(only, list->name) == 0; n *= 2) {
        strbuf_clear(&body);
        strbuf_append_str(&body, str_of(verb->before));
        strbuf_append_str(&body, str_of(list->before));
        append_items(&body, list, n);
        strbuf_append_str(&body, str_of(list->after));
        if (second != NULL) {
            strbuf_append_str(&body, str_of(second->before));
            append_items(&body, second, n);
            strbuf_append_str(&body, str_of(second->after));
        }
        strbuf_append_str(&body, str_of(verb->after));
        assert_false(strbuf_failed(&body));
        if (body.n > verb->body_bytes)
            break;
        double t = cpu_ms();
        uint64_t now = work_of(verb, setting, strbuf_str(&body));
        t = cpu_ms() - t;
        bad += grows(list->name, verb->name, setting, n, before, now);
        if (getenv("GROWTH_SHOW") != NULL)
            print_message("%-10s %-32s %d %8u %9zu bytes %12llu steps %8.1f ms %d %.100s\n",
                          verb->name, list->name, setting, n, body.n, (unsigned long long)now, t,
                          last.status, last.text.n > 90 ? last.text.p + 90 : "");
        before = now;
    }
    strbuf_done(&body);
    return bad;
}

static int double_list(const struct list *list, const struct verb *verb, int setting) {
    return double_lists(list, NULL, verb, setting);
}

/* In these surroundings (of torture.c), "0123": each digit is one. */
static void double_all(const struct verb *verb, const char *settings) {
    int bad = 0;
    for (size_t i = 0; i < LISTS; i++)
        for (const char *at = settings; *at != '\0'; at++)
            bad += growth_in_part() ? double_list(&lists[i], verb, *at - '0') : 0;
    assert_int_equal(bad, 0);
}

static void reviews(void **state) {
    (void)state;
    double_all(&verbs[0], "0134");
}

static void pairs_of_lists(void **state) {
    int bad = 0;
    (void)state;
    for (size_t i = 0; i < PAIRS; i++)
        bad += growth_in_part() ? double_lists(&pairs[i].first, &pairs[i].second, &verbs[0], 1) : 0;
    assert_int_equal(bad, 0);
}

static void filters(void **state) {
    (void)state;
    double_all(&verbs[1], "1");
}

static void prioritizations(void **state) {
    (void)state;
    double_all(&verbs[2], "3");
}

static void preemptions(void **state) {
    (void)state;
    double_all(&verbs[3], "1");
}

static void what_ifs(void **state) {
    (void)state;
    double_all(&verbs[4], "3");
}

/* With policies whose mode is Enforce all is looked at as with Require. */
static void validations(void **state) {
    (void)state;
    double_all(&verbs[5], "013");
}

static void pods_whose_gates_go(void **state) {
    (void)state;
    double_all(&verbs[6], "13");
    double_all(&verbs[7], "1");
}

static void other_lists(void **state) {
    int bad = 0;
    (void)state;
    for (size_t i = 0; i < OTHERS; i++)
        bad += growth_in_part() ? double_list(&others[i].list, &others[i].verb, 1) : 0;
    assert_int_equal(bad, 0);
}

/* ---- what is beside a pod ---- */

/* Validates a pod of n labels beside n pods of its namespace with a label of their own. */
static uint64_t work_beside(uint32_t n) {
    static const struct list more = {.item = ",\"k%06u\":\"v\"", .between = ""};
    struct cluster c;
    struct policy policy;
    struct json_reader r;
    struct arena arena;
    struct strbuf pod = {0};
    struct patch patch;
    struct review_answer answer;
    cluster_open(&c);
    arena_init(&arena, LIMIT_REQUEST_ARENA);
    cache_write_begin(c.cache);
    cache_sync_begin(c.cache, CACHE_ALL_KINDS);
    cache_sync_end(c.cache, CACHE_ALL_KINDS);
    cache_write_end(c.cache);
    cluster_nodes(&c, "a");
    for (uint32_t i = 0; i < n; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "%u", i); /* fits */
        const struct label labels[] = {{STR("app"), STR("web")}, {STR("me"), str_of(name)}};
        cluster_apply(&c, &(struct object){.kind = OBJECT_POD,
                                           .pod = {.meta = {.namespace = STR("shop"),
                                                            .name = str_of(name),
                                                            .uid = str_of(name),
                                                            .labels = {labels, 2}},
                                                   .node_name = STR("a")}});
    }
    json_reader_init(&r,
                     STR("{\"metadata\":{\"name\":\"p\"},\"spec\":{\"mode\":\"Require\",\"pods\":{"
                         "\"spread\":[{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
                         "\"DoNotSchedule\"}]}}}"),
                     &c.arena, "policy");
    policy_decode(&r, &policy);
    assert_int_equal(json_finish(&r, NULL), 0);
    strbuf_append_str(&pod, STR("{\"metadata\":{\"labels\":{\"app\":\"web\""));
    append_items(&pod, &more, n);
    strbuf_append_str(&pod, STR("}},\"spec\":{}}"));
    const struct pod_options options = {
        .head.policies = &policy, .head.policy_count = 1, .cache = c.cache};
    const struct review review = {.uid = STR("u"),
                                  .resource = STR("pods"),
                                  .operation = STR("CREATE"),
                                  .namespace = STR("shop"),
                                  .user = STR("ann"),
                                  .object = strbuf_str(&pod)};
    uint64_t before = work_done();
    assert_int_equal(admit_object(&validated_pods, &options.head, &review, &arena, &patch, &answer),
                     ADMISSION_DENIED);
    uint64_t work = work_done() - before;
    strbuf_done(&pod);
    arena_done(&arena);
    cluster_close(&c);
    return work;
}

static void pods_beside(void **state) {
    const bool in_part = growth_in_part();
    uint64_t before = 0;
    int bad = 0;
    (void)state;
    for (uint32_t n = FIRST; n <= 16384 && in_part; n *= 2) {
        uint64_t now = work_beside(n);
        bad += grows("labels, and pods beside", "validate", 0, n, before, now);
        if (getenv("GROWTH_SHOW") != NULL)
            print_message("validate   labels, and pods beside %8u %12llu steps\n", n,
                          (unsigned long long)now);
        before = now;
    }
    assert_int_equal(bad, 0);
}

/* Which nodes n workers of a dataset are leaving, half of them: who may create pods decides on n.
 */
static uint64_t work_of_leaving(uint32_t n) {
    const struct fluid_identity dataset = {"default", "d", "u"};
    struct fluid_store *store = fluid_store_new();
    const struct leaving_node *nodes;
    struct arena arena;
    uint32_t count, budget = LIMIT_FLUID_WORKERS;
    assert_non_null(store);
    arena_init(&arena, LIMIT_REQUEST_ARENA);
    for (uint32_t i = 0; i < n; i++) {
        char json[256];
        (void)snprintf(json, sizeof json,
                       "{\"metadata\":{\"name\":\"w-%u\",%s\"labels\":{\"fluid.io/dataset\":"
                       "\"default-d\"}},\"spec\":{\"nodeName\":\"node-%u\"}}",
                       i, i % 2 == 0 ? "\"deletionTimestamp\":\"t\"," : "", i * 7919 % n);
        cJSON *pod = cJSON_Parse(json);
        assert_int_equal(fluid_store_put_as(store, FLUID_WORKER, pod, NULL), 0);
        cJSON_Delete(pod);
    }
    uint64_t before = work_done();
    assert_int_equal(fluid_find_leaving(store, &dataset, &budget, &arena, &nodes, &count), 0);
    uint64_t work = work_done() - before;
    assert_true(count > 0 && budget == LIMIT_FLUID_WORKERS - n);
    arena_done(&arena);
    fluid_store_free(store);
    return work;
}

static void workers_of_a_dataset(void **state) {
    const bool in_part = growth_in_part();
    uint64_t before = 0;
    int bad = 0;
    (void)state;
    for (uint32_t n = FIRST; n <= LIMIT_FLUID_WORKERS && in_part; n *= 2) {
        uint64_t now = work_of_leaving(n);
        bad += grows("workers of a dataset", "prioritize", 0, n, before, now);
        if (getenv("GROWTH_SHOW") != NULL)
            print_message("prioritize workers of a dataset %8u %12llu steps\n", n,
                          (unsigned long long)now);
        before = now;
    }
    assert_int_equal(bad, 0);
}

/* ---- objects of a fleet ---- */

/* Of rows that are numbered: how much more each takes with twice as many items. */
static int check_rows(const char *verb, uint32_t rows, const char *(*name)(uint32_t),
                      uint64_t (*work)(uint32_t, uint32_t)) {
    int bad = 0;
    for (uint32_t list = 0; list < rows; list++) {
        uint64_t before = 0, now;
        const bool in_part = growth_in_part();
        for (uint32_t n = FIRST; in_part && (now = work(list, n)) > 0; n *= 2) {
            bad += grows(name(list), verb, 0, n, before, now);
            if (getenv("GROWTH_SHOW") != NULL)
                print_message("%-10s %-32s %8u %12llu steps\n", verb, name(list), n,
                              (unsigned long long)now);
            before = now;
        }
    }
    return bad;
}

static void fleets(void **state) {
    (void)state;
    assert_int_equal(check_rows("fleet", FLEET_GROWTH_LISTS, fleet_growth_name, fleet_growth_work),
                     0);
}

static void hubs(void **state) {
    (void)state;
    assert_int_equal(check_rows("hub", HUB_GROWTH_LISTS, hub_growth_name, hub_growth_work), 0);
}

static void clusters_of_karmada(void **state) {
    (void)state;
    assert_int_equal(
        check_rows("karmada", KARMADA_GROWTH_LISTS, karmada_growth_name, karmada_growth_work), 0);
}

static void estimates(void **state) {
    (void)state;
    assert_int_equal(check_rows("estimate", ESTIMATES_GROWTH_LISTS, estimates_growth_name,
                                estimates_growth_work),
                     0);
}

/* ---- what is kept of pods, and lists without end ---- */

static void what_is_kept(void **state) {
    int bad = 0;
    (void)state;
    for (uint32_t list = 0; list < KEPT_GROWTH_LISTS; list++) {
        const char *verb = kept_growth_verb(list), *name = kept_growth_name(list);
        uint64_t before = 0, now;
        const bool in_part = growth_in_part();
        for (uint32_t n = FIRST; in_part && (now = kept_growth_work(list, n)) > 0; n *= 2) {
            bad += grows(name, verb, 0, n, before, now);
            if (getenv("GROWTH_SHOW") != NULL)
                print_message("%-10s %-32s %8u %12llu steps\n", verb, name, n,
                              (unsigned long long)now);
            before = now;
        }
    }
    assert_int_equal(bad, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reviews),
        cmocka_unit_test(pairs_of_lists),
        cmocka_unit_test(filters),
        cmocka_unit_test(prioritizations),
        cmocka_unit_test(preemptions),
        cmocka_unit_test(what_ifs),
        cmocka_unit_test(validations),
        cmocka_unit_test(pods_whose_gates_go),
        cmocka_unit_test(other_lists),
        cmocka_unit_test(pods_beside),
        cmocka_unit_test(workers_of_a_dataset),
        cmocka_unit_test(fleets),
        cmocka_unit_test(hubs),
        cmocka_unit_test(clusters_of_karmada),
        cmocka_unit_test(estimates),
        cmocka_unit_test(lines_of_fleets),
        cmocka_unit_test(what_is_kept),
    };
    log_setup(LOG_ERROR, LOG_LOGFMT, STDERR_FILENO); /* warnings are what is tested */
    http_tune_memory(); /* as the daemon does, for the figures of GROWTH_SHOW */
    return cmocka_run_group_tests(tests, torture_open, torture_close);
}
