/*
 * The registry is one linked list in rendering order: series of one name are neighbours, so HELP
 * and TYPE are written where the name changes. Registering is linear in the number of series (a few
 * hundred), and done once for each series.
 *
 * A histogram keeps one counter per bucket and adds them up when rendered: an update touches one
 * bucket and the sum. A scrape during an update may see the new bucket with the old sum; _count is
 * computed from the buckets, so _count and the buckets always agree.
 */
#include "base/metrics.h"

#include "base/mutex.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

static const struct {
    int64_t ns;
    const char *seconds;
} bounds[METRIC_BUCKETS] = {
    {500000, "0.0005"},  {1000000, "0.001"},  {2000000, "0.002"}, {5000000, "0.005"},
    {10000000, "0.01"},  {25000000, "0.025"}, {50000000, "0.05"}, {100000000, "0.1"},
    {250000000, "0.25"}, {500000000, "0.5"},  {1000000000, "1"},  {2500000000, "2.5"},
    {5000000000, "5"},   {10000000000, "10"},
};

static struct {
    struct mutex mutex;
    struct metric *first; /* guarded by mutex, and so is every `next` */
} registry = {.mutex = MUTEX_INITIALIZER};

void metric_register(struct metric *m) {
    mutex_lock(&registry.mutex);
    struct metric **at = &registry.first, **same_name_end = NULL;
    for (; *at != NULL; at = &(*at)->next) {
        assert(*at != m);
        if (strcmp((*at)->name, m->name) == 0) {
            assert((*at)->kind == m->kind);
            same_name_end = &(*at)->next;
        }
    }
    if (same_name_end != NULL)
        at = same_name_end;
    m->next = *at;
    *at = m;
    mutex_unlock(&registry.mutex);
}

void metric_unregister(struct metric *m) {
    mutex_lock(&registry.mutex);
    for (struct metric **at = &registry.first; *at != NULL; at = &(*at)->next)
        if (*at == m) {
            *at = m->next;
            m->next = NULL;
            break;
        }
    mutex_unlock(&registry.mutex);
}

void metrics_reset(void) {
    mutex_lock(&registry.mutex);
    while (registry.first != NULL) {
        struct metric *m = registry.first;
        registry.first = m->next;
        m->next = NULL;
    }
    mutex_unlock(&registry.mutex);
}

void metric_add(struct metric *m, int64_t n) {
    (void)atomic_fetch_add_explicit(&m->value, n, memory_order_relaxed);
}

void metric_set(struct metric *m, int64_t value) {
    atomic_store_explicit(&m->value, value, memory_order_relaxed);
}

void metric_observe_ns(struct metric *m, int64_t duration_ns) {
    if (duration_ns < 0)
        duration_ns = 0;
    size_t bucket = 0;
    while (bucket < METRIC_BUCKETS && duration_ns > bounds[bucket].ns)
        bucket++;
    (void)atomic_fetch_add_explicit(&m->buckets[bucket], 1, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&m->sum_ns, (uint64_t)duration_ns, memory_order_relaxed);
}

/* Returns the series that stores the numbers. */
static const struct metric *measured(const struct metric *m) {
    return m->same_as != NULL ? m->same_as : m;
}

static double current_value(const struct metric *named) {
    const struct metric *m = measured(named);
    if (m->read != NULL)
        return m->read(m->ctx);
    return (double)atomic_load_explicit(&m->value, memory_order_relaxed);
}

static bool is_empty(const struct metric *m) {
    uint64_t count = 0;
    for (size_t i = 0; i <= METRIC_BUCKETS; i++)
        count += atomic_load_explicit(&m->buckets[i], memory_order_relaxed);
    return count == 0;
}

static void render_histogram(const struct metric *m, struct strbuf *out) {
    const struct metric *from = measured(m);
    if (m->hide_zero && is_empty(from))
        return;
    const char *comma = m->labels[0] != '\0' ? "," : "";
    uint64_t count = 0;
    for (size_t i = 0; i <= METRIC_BUCKETS; i++) {
        count += atomic_load_explicit(&from->buckets[i], memory_order_relaxed);
        strbuf_appendf(out, "%s_bucket{%s%sle=\"%s\"} %" PRIu64 "\n", m->name, m->labels, comma,
                       i < METRIC_BUCKETS ? bounds[i].seconds : "+Inf", count);
    }
    const char *open = m->labels[0] != '\0' ? "{" : "", *close = m->labels[0] != '\0' ? "}" : "";
    double sum = (double)atomic_load_explicit(&from->sum_ns, memory_order_relaxed) / 1e9;
    strbuf_appendf(out, "%s_sum%s%s%s %.9g\n", m->name, open, m->labels, close, sum);
    strbuf_appendf(out, "%s_count%s%s%s %" PRIu64 "\n", m->name, open, m->labels, close, count);
}

static void render_series(const struct metric *m, struct strbuf *out) {
    if (m->kind == METRIC_HISTOGRAM) {
        render_histogram(m, out);
        return;
    }
    double value = current_value(m);
    if (m->hide_zero && value == 0)
        return;
    const char *open = m->labels[0] != '\0' ? "{" : "", *close = m->labels[0] != '\0' ? "}" : "";
    strbuf_appendf(out, "%s%s%s%s %.15g\n", m->name, open, m->labels, close, value);
}

void metrics_render(struct strbuf *out) {
    static const char *const kinds[] = {"counter", "gauge", "histogram"};
    const char *name = "";
    mutex_lock(&registry.mutex);
    for (const struct metric *m = registry.first; m != NULL; m = m->next) {
        if (strcmp(name, m->name) != 0)
            strbuf_appendf(out, "# HELP %s %s\n# TYPE %s %s\n", m->name, m->help, m->name,
                           kinds[m->kind]);
        name = m->name;
        render_series(m, out);
    }
    mutex_unlock(&registry.mutex);
}
