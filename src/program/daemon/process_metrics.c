#include "daemon/process_metrics.h"

#include "base/cpu_lack.h"
#include "base/file.h"
#include "base/metrics.h"
#include "base/version.h"
#include "http/http.h"

#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- the cache ---- */

static struct cache *watched;

/* Reads a number of struct cache_stats; `ctx` points to the number's offset in it. */
static double read_cache(void *ctx) {
    const size_t *offset = ctx;
    struct cache_stats stats = cache_stats(watched);
    return *(const uint32_t *)((const char *)&stats + *offset);
}

/* Reads a number of struct cache_load; `ctx` points to the number's offset in it. */
static double read_load(void *ctx) {
    const size_t *offset = ctx;
    struct cache_load load = cache_load(watched);
    return (double)*(const uint64_t *)(const void *)((const char *)&load + *offset);
}

static double read_write_seconds(void *ctx) {
    (void)ctx;
    return (double)cache_load(watched).write_ns / 1e9;
}

static double read_ready(void *ctx) {
    (void)ctx;
    return cache_ready(watched);
}

#define CACHE_GAUGE(member, text)                                                                  \
    {                                                                                              \
        .name = "evenkeel_cache_" #member, .help = (text), .labels = "", .kind = METRIC_GAUGE,     \
        .read = read_cache, .ctx = &(size_t) {                                                     \
            offsetof(struct cache_stats, member)                                                   \
        }                                                                                          \
    }

#define LOAD(metric_name, metric_kind, metric_labels, member, text)                                \
    {                                                                                              \
        .name = "evenkeel_cache_" metric_name, .help = (text), .labels = (metric_labels),          \
        .kind = (metric_kind), .read = read_load, .ctx = &(size_t) {                               \
            offsetof(struct cache_load, member)                                                    \
        }                                                                                          \
    }
#define KEPT_BYTES                                                                                 \
    "Memory of the values that are kept for the next question, of labels of pods, or of all "      \
    "objects, by kind."
#define BYTES(member) LOAD("bytes", METRIC_GAUGE, "kind=\"" #member "\"", member.bytes, KEPT_BYTES)
#define REFUSED(member)                                                                            \
    LOAD("not_kept_total", METRIC_COUNTER, "kind=\"" #member "\"", member.refused,                 \
         "Values that were built for one question and not kept: too large, or no room could be "   \
         "made.")

static struct metric gauges[] = {
    CACHE_GAUGE(nodes, "Nodes known."),
    CACHE_GAUGE(pods, "Bound pods that have not finished."),
    CACHE_GAUGE(classes, "Groups of pods with equal namespace, labels and liveness."),
    CACHE_GAUGE(counters, "Selectors whose pods are counted per node."),
    CACHE_GAUGE(columns, "Topology keys in use."),
    CACHE_GAUGE(feasibilities, "Distinct node affinities and tolerations remembered."),
    CACHE_GAUGE(trees, "Lists of topology keys whose tree of domains is remembered."),
    CACHE_GAUGE(reservations, "Pods counted before their binding was seen."),
    CACHE_GAUGE(workloads, "Services and controllers known for default constraints."),
    CACHE_GAUGE(namespaces, "Namespaces known."),
    CACHE_GAUGE(flights,
                "Pods of answered filter calls that are not bound yet, or whose binding has no "
                "known outcome."),
    CACHE_GAUGE(assumed,
                "Pods of answered prioritize calls that the watch of pods has not shown yet."),
    CACHE_GAUGE(pods_without_labels, "Live pods whose labels found no room to be kept."),
    BYTES(counters),
    BYTES(columns),
    BYTES(feasibilities),
    BYTES(trees),
    LOAD("bytes", METRIC_GAUGE, "kind=\"labels\"", label_bytes, KEPT_BYTES),
    LOAD("bytes", METRIC_GAUGE, "kind=\"objects\"", object_bytes, KEPT_BYTES),
    REFUSED(counters),
    REFUSED(columns),
    REFUSED(feasibilities),
    REFUSED(trees),
    LOAD("write_steps_max", METRIC_GAUGE, "", write_steps,
         "The most steps that a writer has done while nobody could read."),
    {.name = "evenkeel_cache_write_seconds_max",
     .help = "The longest time that a writer has kept readers waiting.",
     .labels = "",
     .kind = METRIC_GAUGE,
     .read = read_write_seconds},
    {.name = "evenkeel_cache_ready",
     .help = "1 once the cluster state has been read.",
     .labels = "",
     .kind = METRIC_GAUGE,
     .read = read_ready},
};

/* ---- the process ---- */

/* Returns the number at index `place` of "SIZE RESIDENT ...", converted from pages to bytes. */
static double read_memory(int place) {
    struct strbuf statm = {0};
    int64_t pages = 0;
    if (file_read("/proc/self/statm", 4096, &statm, NULL) == 0) {
        struct str rest = strbuf_str(&statm);
        size_t end;
        while ((end = str_find(rest, ' ')) != SIZE_MAX && place-- > 0)
            rest = (struct str){rest.p + end + 1, rest.n - end - 1};
        (void)str_to_i64((struct str){rest.p, end < rest.n ? end : 0}, &pages); /* or 0 */
    }
    strbuf_done(&statm);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double read_resident(void *ctx) {
    (void)ctx;
    return read_memory(1);
}

static double read_virtual(void *ctx) {
    (void)ctx;
    return read_memory(0);
}

static double read_cpu(void *ctx) {
    (void)ctx;
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage); /* cannot fail with these arguments */
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double read_throttled(void *ctx) {
    (void)ctx;
    return (double)cpu_lack_read().throttled_us / 1e6;
}

static double read_waited(void *ctx) {
    (void)ctx;
    return (double)cpu_lack_read().waited_us / 1e6;
}

static double read_fds(void *ctx) {
    (void)ctx;
    DIR *fds = opendir("/proc/self/fd");
    int count = -1; /* without the one that opendir uses */
    if (fds == NULL)
        return 0;
    for (const struct dirent *entry; (entry = readdir(fds)) != NULL;) /* NOLINT: our own fds */
        count += entry->d_name[0] != '.';
    (void)closedir(fds); /* it was only read */
    return count;
}

static double read_max_fds(void *ctx) {
    struct rlimit limit;
    (void)ctx;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (double)limit.rlim_cur : 0;
}

static double read_oldest_handler(void *ctx) {
    const char *verb;
    int64_t ms;
    (void)ctx;
    return http_oldest_handler(&verb, &ms) ? (double)ms / 1e3 : 0;
}

static char build_labels[96];

static struct metric process[] = {
    {.name = "process_resident_memory_bytes",
     .help = "Resident memory size in bytes.",
     .labels = "",
     .kind = METRIC_GAUGE,
     .read = read_resident},
    {.name = "process_cpu_seconds_total",
     .help = "User and system CPU time in seconds.",
     .labels = "",
     .kind = METRIC_COUNTER,
     .read = read_cpu},
    {.name = "process_open_fds",
     .help = "Open file descriptors.",
     .labels = "",
     .kind = METRIC_GAUGE,
     .read = read_fds},
    {.name = "process_max_fds",
     .help = "Maximum number of open file descriptors.",
     .labels = "",
     .kind = METRIC_GAUGE,
     .read = read_max_fds},
    {.name = "process_virtual_memory_bytes",
     .help = "Virtual memory size in bytes.",
     .labels = "",
     .kind = METRIC_GAUGE,
     .read = read_virtual},
    {.name = "evenkeel_oldest_handler_seconds",
     .help = "How long the oldest of the running handlers has been running; 0: none runs.",
     .labels = "",
     .kind = METRIC_GAUGE,
     .read = read_oldest_handler},
    {.name = "evenkeel_build_info",
     .help = "Always 1; the labels say what runs.",
     .labels = build_labels,
     .kind = METRIC_GAUGE,
     .value = 1},
};
static struct metric start_time = {.name = "process_start_time_seconds",
                                   .help = "Start time since the Unix epoch in seconds.",
                                   .labels = "",
                                   .kind = METRIC_GAUGE};

/* This metric is registered only if the kernel reports the number. */
static struct metric throttled = {
    .name = "evenkeel_cpu_throttled_seconds_total",
    .help = "Time in which this container was kept from running by its CPU limit, added up over "
            "processors.",
    .labels = "",
    .kind = METRIC_COUNTER,
    .read = read_throttled};
static struct metric waited = {
    .name = "evenkeel_cpu_waiting_seconds_total",
    .help = "Time in which a thread of this container was ready to run and had no processor.",
    .labels = "",
    .kind = METRIC_COUNTER,
    .read = read_waited};

/* ---- state files ---- */

#define STATE_READ(result)                                                                         \
    {                                                                                              \
        .name = "evenkeel_state_reads_total", .help = "Readings of the state files, by result.",   \
        .labels = "result=\"" result "\"", .kind = METRIC_COUNTER                                  \
    }
static struct metric state_reads[] = {STATE_READ("success"), STATE_READ("error")};
static struct metric state_time = {
    .name = "evenkeel_state_last_success_timestamp_seconds",
    .help = "When the state files were last read without error, since the Unix epoch.",
    .labels = "",
    .kind = METRIC_GAUGE};

void process_metrics_state_read(bool good) {
    metric_add(&state_reads[good ? 0 : 1], 1);
    if (good)
        metric_set(&state_time, time(NULL));
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

void process_metrics_start(struct cache *cache) {
    watched = cache;
    (void)snprintf(build_labels, sizeof build_labels, "version=\"%s\",commit=\"%s\"",
                   EVENKEEL_VERSION, version_commit()); /* both are short */
    metric_set(&start_time, time(NULL));
    for (size_t i = 0; i < COUNT(gauges); i++)
        metric_register(&gauges[i]);
    for (size_t i = 0; i < COUNT(state_reads); i++)
        metric_register(&state_reads[i]);
    metric_register(&state_time);
    metric_register(&start_time);
    for (size_t i = 0; i < COUNT(process); i++)
        metric_register(&process[i]);
    const struct cpu_lack lack = cpu_lack_read();
    if (lack.throttled_us >= 0)
        metric_register(&throttled);
    if (lack.waited_us >= 0)
        metric_register(&waited);
}

void process_metrics_stop(void) {
    for (size_t i = 0; i < COUNT(gauges); i++)
        metric_unregister(&gauges[i]);
    for (size_t i = 0; i < COUNT(state_reads); i++)
        metric_unregister(&state_reads[i]);
    metric_unregister(&state_time);
    metric_unregister(&start_time);
    for (size_t i = 0; i < COUNT(process); i++)
        metric_unregister(&process[i]);
    metric_unregister(&throttled);
    metric_unregister(&waited);
    watched = NULL;
}
