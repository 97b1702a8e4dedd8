/*
 * What estimates of a member cluster take of a core, as Karmada's estimators are asked.
 *
 *     estimate NODES PODS [CALLS]
 *
 * By resource models that count so many nodes, by the nodes and pods themselves, and sets of a
 * JobManager (1 cpu, 2Gi) and three TaskManagers (3 cpu, 10Gi) on the nodes. Prints one JSON
 * object: the answers, and p50 of CALLS (51) of each in microseconds of the thread's CPU.
 */
#include "base/limits.h"
#include "bench/number.h"
#include "estimator/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 51, CALLS_MAX = 100000, NODES_MAX = 100000, PODS_MAX = 10000000, GRADES = 9 };

struct member {
    struct arena arena;
    struct karmada_cluster cluster; /* of the same nodes, by models */
    struct intern strings;
    struct topology *topology;
    struct topology_view view;
    struct estimator_nodes nodes;
};

struct question {
    struct estimator_question replicas, sets;
};

static int64_t cpu_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* cannot fail on Linux */
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int compare_times(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* ---- the member ---- */

static void read_json(struct arena *arena, const char *text,
                      void (*decode)(struct json_reader *r, void *into), void *into) {
    struct json_reader r;
    struct err err;
    json_reader_init(&r, str_of(text), arena, "bench");
    decode(&r, into);
    if (json_finish(&r, &err) != 0) {
        (void)fprintf(stderr, "estimate: %s\n", err.text);
        exit(1);
    }
}

static void decode_cluster(struct json_reader *r, void *into) {
    karmada_cluster_decode(r, into);
}

static void decode_node(struct json_reader *r, void *into) {
    node_decode(r, into);
}

static void decode_pod(struct json_reader *r, void *into) {
    karmada_pod_decode(r, into);
}

static char *text(struct arena *arena, const char *fmt, ...) PRINTF_LIKE(2, 3);
static char *text(struct arena *arena, const char *fmt, ...) {
    char buffer[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(buffer, sizeof buffer, fmt, args);
    va_end(args);
    return arena_cstr(arena, str_of(buffer));
}

/* Karmada's default models, and all nodes in the grade of 16 to 32 cores. */
static void make_cluster(struct member *m, int64_t nodes) {
    struct strbuf json = {0};
    strbuf_append_str(&json, STR("{\"metadata\":{\"name\":\"m\"},\"spec\":{\"resourceModels\":["));
    for (int g = 0; g < GRADES; g++)
        strbuf_appendf(&json,
                       "%s{\"grade\":%d,\"ranges\":[{\"name\":\"cpu\",\"min\":\"%d\"},{\"name\":"
                       "\"memory\",\"min\":\"%dGi\"}]}",
                       g > 0 ? "," : "", g, g > 0 ? 1 << (g - 1) : 0, g > 0 ? 4 << (g - 1) : 0);
    strbuf_appendf(
        &json,
        "]},\"status\":{\"resourceSummary\":{\"allocatable\":{\"cpu\":\"1M\",\"memory\":"
        "\"1Pi\",\"pods\":\"10M\"},\"allocatableModelings\":[{\"grade\":5,\"count\":%lld}"
        "]}}}",
        (long long)nodes);
    strbuf_append(&json, "", 1);
    read_json(&m->arena, arena_cstr(&m->arena, str_of(json.p)), decode_cluster, &m->cluster);
    strbuf_done(&json);
}

static int make_nodes(struct member *m, uint32_t node_count, uint32_t pod_count, struct err *err) {
    struct node *nodes = arena_array(&m->arena, node_count, sizeof *nodes);
    struct karmada_pod *pods = arena_array(&m->arena, pod_count, sizeof *pods);
    if (nodes == NULL || pods == NULL)
        return err_set(err, -1, "no memory");
    for (uint32_t i = 0; i < node_count; i++)
        read_json(&m->arena,
                  text(&m->arena,
                       "{\"metadata\":{\"name\":\"n%u\",\"labels\":{\"zone\":\"z%u\"}},\"status\":{"
                       "\"allocatable\":{\"cpu\":\"32\",\"memory\":\"256Gi\",\"pods\":\"110\"}}}",
                       i, i % 3),
                  decode_node, &nodes[i]);
    for (uint32_t i = 0; i < pod_count; i++)
        read_json(
            &m->arena,
            text(&m->arena,
                 "{\"metadata\":{\"name\":\"p%u\",\"namespace\":\"d\"},\"spec\":{\"nodeName\":"
                 "\"n%u\",\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"500m\","
                 "\"memory\":\"1Gi\"}}}]}}",
                 i, i % node_count),
            decode_pod, &pods[i]);
    int r = topology_new(&(struct topology_options){.strings = &m->strings}, &m->topology, err);
    if (r == 0)
        r = estimator_nodes_make(m->topology, nodes, node_count, pods, pod_count, &m->arena,
                                 &m->nodes);
    return r;
}

static void decode_components(struct json_reader *r, void *into) {
    struct {
        const struct component *items;
        uint32_t count;
    } *list = into;
    list->items = components_decode(r, &list->count);
}

static void decode_requirements(struct json_reader *r, void *into) {
    replica_requirements_decode(r, into);
}

static int make_question(struct arena *arena, struct question *ret) {
    static struct replica_requirements requirements;
    static const struct replica_requirements none;
    static struct {
        const struct component *items;
        uint32_t count;
    } components;
    read_json(arena, "{\"resourceRequest\":{\"cpu\":\"1\",\"memory\":\"2Gi\"}}",
              decode_requirements, &requirements);
    read_json(arena,
              "[{\"name\":\"jm\",\"replicas\":1,\"replicaRequirements\":{\"resourceRequest\":{"
              "\"cpu\":\"1\",\"memory\":\"2Gi\"}}},{\"name\":\"tm\",\"replicas\":3,"
              "\"replicaRequirements\":{\"resourceRequest\":{\"cpu\":\"3\",\"memory\":\"10Gi\"}}}]",
              decode_components, &components);
    int r = estimator_question_init(&ret->replicas, &requirements, NULL, 0, arena);
    return r == 0 ? estimator_question_init(&ret->sets, &none, components.items, components.count,
                                            arena)
                  : r;
}

/* ---- measuring ---- */

enum what { BY_MODELS, BY_NODES, SETS, ALL };

static int ask(struct member *m, const struct question *q, enum what what, struct arena *arena,
               int64_t *ret) {
    struct general_estimate general;
    if (what == BY_NODES)
        return estimator_nodes_replicas(&m->nodes, &m->view, &q->replicas, arena, ret);
    if (what == SETS)
        return estimator_nodes_sets(&m->nodes, &m->view, &q->sets, arena, ret);
    const int r = estimator_general_replicas(&m->cluster, &q->replicas, arena, &general);
    *ret = r == 0 ? general.replicas : 0;
    return r;
}

static int measure(struct member *m, const struct question *q, enum what what, int64_t calls,
                   int64_t *ret_answer, double *ret_us) {
    CLEANUP(arena_done) struct arena arena;
    int64_t *ns = calloc((size_t)calls, sizeof *ns);
    int r = ns != NULL ? 0 : -1;
    arena_init(&arena, LIMIT_STATE_BYTES);
    for (int64_t i = 0; r == 0 && i < calls; i++) {
        arena_reset(&arena);
        const int64_t began = cpu_ns();
        r = ask(m, q, what, &arena, ret_answer);
        ns[i] = cpu_ns() - began;
    }
    if (r == 0) {
        qsort(ns, (size_t)calls, sizeof *ns, compare_times);
        const int64_t half = calls / 2;
        *ret_us = (double)ns[half] / 1000;
    }
    free(ns);
    return r;
}

int main(int argc, char **argv) {
    static const char *const names[ALL] = {"models", "nodes", "sets"};
    struct member m = {.topology = NULL};
    struct question q;
    struct err err = {.text = "no memory"};
    int64_t nodes, pods, calls = CALLS;
    if (argc < 3 || argc > 4 || !number_in(argv[1], 1, NODES_MAX, &nodes) ||
        !number_in(argv[2], 0, PODS_MAX, &pods) ||
        (argc == 4 && !number_in(argv[3], 1, CALLS_MAX, &calls))) {
        (void)fprintf(stderr, "usage: estimate NODES PODS [CALLS]\n");
        return 2;
    }
    arena_init(&m.arena, (size_t)16 << 30);
    make_cluster(&m, nodes);
    int r = make_nodes(&m, (uint32_t)nodes, (uint32_t)pods, &err);
    if (r == 0)
        r = make_question(&m.arena, &q);
    if (r == 0) {
        topology_view_open(m.topology, &m.view);
        printf("{\"node_count\":%lld", (long long)nodes);
        for (int what = 0; r == 0 && what < ALL; what++) {
            int64_t answer;
            double us;
            r = measure(&m, &q, what, calls, &answer, &us);
            if (r == 0)
                printf(",\"%s\":%lld,\"%s_us\":%.1f", names[what], (long long)answer, names[what],
                       us);
        }
        printf("}\n");
        topology_view_close(&m.view);
    }
    topology_free(m.topology);
    intern_done(&m.strings);
    arena_done(&m.arena);
    if (r != 0)
        (void)fprintf(stderr, "estimate: %s\n", err.text);
    return r == 0 ? 0 : 1;
}
