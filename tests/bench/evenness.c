/*
 * What a report on evenness takes: CPU time of the thread and memory, for a cluster of 5,000 nodes,
 * 150,000 pods and 2,000 workloads, by region, zone and hostname at once. Prints one JSON object.
 *
 *     evenness [NODES PODS WORKLOADS]
 *
 * One workload in four asks for a kind of disk, one in four tolerates a taint, so that pods differ
 * in where they may run. "first" is the report of a cache that has never been asked, "again" the
 * fastest of the next five, with what is rendered of the zones.
 */
#include "evenness/evenness.h"
#include "evenness/render.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { AGAIN = 5, ZONES = 12, ZONES_A_REGION = 3, KINDS = 40 };

static int64_t cpu_us(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* cannot fail on Linux */
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

__attribute__((format(printf, 2, 3))) static struct str text(struct arena *arena,
                                                             const char *format, ...) {
    char buffer[100];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(buffer, sizeof buffer, format, args); /* short enough */
    va_end(args);
    return arena_str(arena, str_of(buffer));
}

static int put_node(struct cache *cache, uint32_t n, struct arena *arena) {
    const struct label labels[] = {
        {STR("disk"), text(arena, "disk-%u", n % (KINDS / 2))},
        {STR("kubernetes.io/hostname"), text(arena, "node-%u", n)},
        {STR("topology.kubernetes.io/region"),
         text(arena, "region-%u", n % ZONES / ZONES_A_REGION)},
        {STR("topology.kubernetes.io/zone"), text(arena, "zone-%u", n % ZONES)}};
    const struct taint taint = {STR("only"), STR("some"), STR("NoSchedule")};
    const struct object node = {
        .kind = OBJECT_NODE,
        .node = {.meta = {.name = text(arena, "node-%u", n), .labels = {labels, 4}},
                 .taints = &taint,
                 .taint_count = n % 50 == 0}};
    return cache_apply(cache, &node);
}

static int put_pod(struct cache *cache, uint32_t p, uint32_t nodes, uint32_t workloads,
                   struct arena *arena) {
    uint32_t w = p % workloads;
    const struct label disk = {STR("disk"), text(arena, "disk-%u", w % (KINDS / 2))},
                       labels[] = {{STR("app"), text(arena, "app-%u", w)},
                                   {STR("pod-template-hash"), STR("6d4cf56db6")}};
    const struct toleration toleration = {.key = STR("only"),
                                          .op = STR("Exists"),
                                          .value = STR(""),
                                          .effect = w % 8 == 1 ? STR("NoSchedule") : STR("")};
    const struct object pod = {
        .kind = OBJECT_POD,
        .pod = {.meta = {.name = text(arena, "pod-%u", p),
                         .namespace = text(arena, "namespace-%u", w % 50),
                         .uid = text(arena, "8f1c64a2-0000-4000-8000-%012u", p),
                         .labels = {labels, 2},
                         .controller_api = STR("apps/v1"),
                         .controller_kind = STR("ReplicaSet"),
                         .controller_name = text(arena, "app-%u-6d4cf56db6", w)},
                .node_name = text(arena, "node-%u", (p * 2654435761u >> 3) % nodes),
                .affinity = {.node_selector = {&disk, w % 4 == 0}},
                .tolerations = {&toleration, w % 4 == 1}}};
    return cache_apply(cache, &pod);
}

static int fill(struct cache *cache, uint32_t nodes, uint32_t pods, uint32_t workloads) {
    CLEANUP(arena_done) struct arena arena;
    int r = 0;
    arena_init(&arena, 1 << 20);
    cache_write_begin(cache);
    for (uint32_t n = 0; r == 0 && n < nodes; n++, arena_reset(&arena))
        r = put_node(cache, n, &arena);
    for (uint32_t p = 0; r == 0 && p < pods; p++, arena_reset(&arena))
        r = put_pod(cache, p, nodes, workloads, &arena);
    cache_write_end(cache);
    return r;
}

struct measured {
    int64_t us, bytes, json_bytes;
    uint32_t workloads;
};

static int measure(struct cache *cache, struct measured *ret, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    struct evenness_report *report = NULL;
    struct str keys[EVENNESS_DEFAULT_KEYS];
    uint32_t count = 0;
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    int64_t began_us = cpu_us();
    int r = evenness_keys_of(cache, keys, &count);
    if (r == 0)
        r = evenness_measure(cache, keys, count, &report, err);
    if (r != 0)
        return r;
    const struct evenness_page page = {1, report->keys[1].worst, report->workload_count, STR(""),
                                       0};
    evenness_render(report, &page, &out);
    *ret =
        (struct measured){cpu_us() - began_us,
                          (int64_t)(mallinfo2().uordblks + mallinfo2().hblkhd - before - out.cap),
                          (int64_t)out.n, report->workload_count};
    evenness_report_free(report);
    return 0;
}

int main(int argc, char **argv) {
    int64_t sizes[3] = {5000, 150000, 2000};
    struct measured first, again = {.us = INT64_MAX}, now;
    struct cache *cache = NULL;
    struct err err;
    for (int i = 0; i < 3 && argc == 4; i++)
        if (!str_to_i64(str_of(argv[i + 1]), &sizes[i]) || sizes[i] < 1 || sizes[i] > 10000000)
            argc = 2;
    if (argc != 1 && argc != 4) {
        (void)fprintf(stderr, "usage: evenness [NODES PODS WORKLOADS]\n");
        return 2;
    }
    int r = cache_new(&(struct cache_options){0}, &cache, &err);
    if (r == 0)
        r = fill(cache, (uint32_t)sizes[0], (uint32_t)sizes[1], (uint32_t)sizes[2]);
    if (r == 0)
        r = measure(cache, &first, &err);
    for (int i = 0; r == 0 && i < AGAIN; i++) {
        r = measure(cache, &now, &err);
        if (r == 0 && now.us < again.us)
            again = now;
    }
    cache_free(cache);
    if (r != 0) {
        (void)fprintf(stderr, "evenness: failed: %d\n", r);
        return 1;
    }
    printf("{\"nodes\":%lld,\"pods\":%lld,\"workloads\":%u,\"first_ms\":%.1f,\"again_ms\":%.1f,"
           "\"report_bytes\":%lld,\"zone_json_bytes\":%lld}\n",
           (long long)sizes[0], (long long)sizes[1], again.workloads, (double)first.us / 1000,
           (double)again.us / 1000, (long long)again.bytes, (long long)again.json_bytes);
    return 0;
}
