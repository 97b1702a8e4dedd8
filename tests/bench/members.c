/*
 * What a member cluster takes: memory for what is known of it, and a core's time for a question,
 * from the message's content to the answer, without gRPC.
 *
 *     make_state 5000 100000 >state.json
 *     members state.json [CALLS]
 *
 * Asked are replicas of 1 cpu and 2Gi for any node; the same for nodes that nobody has asked for
 * before, each time others; the same right after a pod has come or gone; and sets of a JobManager
 * (1 cpu, 2Gi) and three TaskManagers (3 cpu, 10Gi). Prints one JSON object: bytes as the store
 * counts them and as malloc does, and of each question the last answer, and p50 and p99 of CALLS
 * (501) in microseconds of the thread's CPU.
 */
#include "base/limits.h"
#include "bench/number.h"
#include "members/store.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 501, CALLS_MAX = 100000, PODS = 1 /* row of the store */ };

enum what { ANY_NODE, NEW_NODES, AFTER_EVENT, SETS, WHATS };
static const char *const names[WHATS] = {"any_node", "new_nodes", "after_event", "sets"};

struct question {
    struct replica_requirements requirements;
    const struct component *components; /* of sets */
    uint32_t component_count;
};

static int64_t cpu_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* cannot fail on Linux */
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* That malloc has given out, large pieces too. */
static size_t heap_bytes(void) {
    const struct mallinfo2 all = mallinfo2();
    return all.uordblks + all.hblkhd;
}

static int compare_times(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* ---- what is asked ---- */

/* False: the text is no such thing. */
static bool read_question(struct str text, bool sets, struct arena *arena, struct question *ret) {
    struct json_reader r;
    struct err err;
    *ret = (struct question){.components = NULL};
    json_reader_init(&r, text, arena, "bench");
    if (sets)
        ret->components = components_decode(&r, &ret->component_count);
    else
        replica_requirements_decode(&r, &ret->requirements);
    if (json_finish(&r, &err) == 0)
        return true;
    (void)fprintf(stderr, "members: %s\n", err.text);
    return false;
}

static bool make_question(enum what what, int64_t call, struct arena *arena, struct question *ret) {
    char text[512];
    if (what == SETS)
        (void)snprintf(text, sizeof text,
                       "[{\"name\":\"jm\",\"replicas\":1,\"replicaRequirements\":{"
                       "\"resourceRequest\":{\"cpu\":\"1\",\"memory\":\"2Gi\"}}},"
                       "{\"name\":\"tm\",\"replicas\":3,\"replicaRequirements\":{"
                       "\"resourceRequest\":{\"cpu\":\"3\",\"memory\":\"10Gi\"}}}]");
    else if (what == NEW_NODES)
        (void)snprintf(text, sizeof text,
                       "{\"nodeClaim\":{\"hardNodeAffinity\":{\"nodeSelectorTerms\":[{"
                       "\"matchExpressions\":[{\"key\":\"topology.kubernetes.io/zone\",\"operator\""
                       ":\"NotIn\",\"values\":[\"z%lld\"]}]}]}},\"resourceRequest\":{\"cpu\":\"1\","
                       "\"memory\":\"2Gi\"}}",
                       (long long)call);
    else
        (void)snprintf(text, sizeof text,
                       "{\"resourceRequest\":{\"cpu\":\"1\",\"memory\":\"2Gi\"}}");
    return read_question(str_of(arena_cstr(arena, str_of(text))), what == SETS, arena, ret);
}

/* As the service answers it. */
static int answer(struct informer *i, const struct question *q, struct arena *arena, int64_t *ret) {
    struct estimator_question question;
    struct member_view v;
    int r = estimator_question_init(&question, &q->requirements, q->components, q->component_count,
                                    arena);
    if (r == 0)
        r = member_view_open(i, &v);
    if (r != 0)
        return r;
    v.topology.steps = &arena->steps;
    r = q->components != NULL
            ? estimator_nodes_sets(&v.nodes, &v.topology, &question, arena, ret)
            : estimator_nodes_replicas(&v.nodes, &v.topology, &question, arena, ret);
    member_view_close(&v);
    return r;
}

/* ---- events ---- */

/* A pod comes with one call, and goes with the next. */
static int change_a_pod(struct informer *i, int64_t call, struct arena *arena) {
    static const char text[] =
        "{\"metadata\":{\"namespace\":\"bench\",\"name\":\"p\"},\"spec\":{\"nodeName\":\"node-7\","
        "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]},"
        "\"status\":{\"phase\":\"Running\"}}";
    const struct informer_kind *row = &member_store.kinds[PODS];
    struct informer_object object = {.kind = PODS, .json = str_of(text), .arena = arena};
    struct json_reader r;
    struct err err;
    json_reader_init(&r, object.json, arena, "pod");
    row->decode(&r, &object);
    void *contents = informer_write(i);
    const int code =
        call % 2 == 0 ? row->apply(contents, &object, &err) : row->remove(contents, &object, &err);
    informer_write_done(i);
    return code;
}

/* ---- measuring ---- */

static int measure(struct informer *i, enum what what, int64_t calls, int64_t *ns,
                   int64_t *ret_answer) {
    CLEANUP(arena_done) struct arena arena;
    int r = 0;
    arena_init(&arena, LIMIT_GRPC_ARENA);
    for (int64_t call = 0; r == 0 && call < calls; call++) {
        struct question q;
        arena_reset(&arena);
        if (!make_question(what, call, &arena, &q))
            return -1;
        if (what == AFTER_EVENT)
            r = change_a_pod(i, call, &arena);
        const int64_t began = cpu_ns();
        if (r == 0)
            r = answer(i, &q, &arena, ret_answer);
        ns[call] = cpu_ns() - began;
    }
    qsort(ns, (size_t)calls, sizeof *ns, compare_times);
    return r;
}

/* Times are sorted. */
static void print_result(enum what what, int64_t found, const int64_t *ns, int64_t calls) {
    const int64_t half = (calls - 1) / 2, most = (calls - 1) * 99 / 100;
    printf(",\"%s\":{\"answer\":%lld,\"p50_us\":%.1f,\"p99_us\":%.1f}", names[what],
           (long long)found, (double)ns[half] / 1000, (double)ns[most] / 1000);
}

static int measure_all(struct informer *i, int64_t calls) {
    int64_t *ns = calloc((size_t)calls, sizeof *ns), found = 0;
    int r = ns != NULL ? 0 : -1;
    for (int what = 0; r == 0 && what < WHATS; what++) {
        r = measure(i, what, calls, ns, &found);
        if (r == 0)
            print_result((enum what)what, found, ns, calls);
    }
    free(ns);
    return r;
}

int main(int argc, char **argv) {
    struct informer *i = NULL;
    struct err err = {.text = "no memory"};
    int64_t calls = CALLS;
    if (argc < 2 || argc > 3 || (argc == 3 && !number_in(argv[2], 1, CALLS_MAX, &calls))) {
        (void)fprintf(stderr, "usage: members STATE.json [CALLS]\n");
        return 2;
    }
    const char *const path = argv[1];
    const size_t before = heap_bytes();
    int r = informer_new(&member_store, NULL, &i, &err);
    if (r == 0)
        r = informer_load(i, &path, 1, &err);
    if (r == 0) {
        const struct member_stats stats = member_stats(i);
        printf("{\"nodes\":%u,\"pods\":%u,\"requests\":%u,\"kept_bytes\":%llu,\"heap_bytes\":%zu",
               stats.nodes, stats.pods, stats.vectors, (unsigned long long)stats.bytes,
               heap_bytes() - before);
        r = measure_all(i, calls);
        printf("}\n");
    }
    informer_free(i);
    if (r != 0)
        (void)fprintf(stderr, "members: %s\n", err.text);
    return r == 0 ? 0 : 1;
}
