/*
 * Writes the metrics of a report. Users choose the label values of these metrics. So the metrics
 * are not registered (base/metrics.h), but are written from the report, up to a limit.
 */
#include "evenness/latest.h"

#include "base/limits.h"
#include "model/topology.h"

#include <stdlib.h>

/* upstream: Prometheus text format: three characters of a label value are escaped. */
static void put_value(struct str value, struct strbuf *out) {
    for (size_t i = 0; i < value.n; i++) {
        char c = value.p[i];
        if (c == '\\' || c == '"')
            strbuf_append_char(out, '\\');
        strbuf_append_str(out, c == '\n' ? STR("\\n") : (struct str){&value.p[i], 1});
    }
}

static void put_label(const char *before, struct str value, struct strbuf *out) {
    strbuf_appendf(out, "%s", before);
    put_value(value, out);
    strbuf_append_char(out, '"');
}

static void put_totals(const struct evenness_report *r, struct strbuf *out) {
    strbuf_appendf(out,
                   "# HELP evenkeel_workloads Workloads, by how even they are over the domains "
                   "of a topology key.\n# TYPE evenkeel_workloads gauge\n");
    for (uint32_t k = 0; k < r->key_count; k++)
        for (int state = 0; state < EVENNESS_STATES; state++) {
            put_label("evenkeel_workloads{topology_key=\"", r->keys[k].name, out);
            put_label(",state=\"", str_of(evenness_state_names[state]), out);
            strbuf_appendf(out, "} %u\n", r->keys[k].totals[state]);
        }
    strbuf_appendf(out,
                   "# HELP evenkeel_workload_pods_not_measured Live pods of workloads beyond the "
                   "number that is measured.\n"
                   "# TYPE evenkeel_workload_pods_not_measured gauge\n"
                   "evenkeel_workload_pods_not_measured %u\n",
                   r->not_measured);
}

/* ---- the worst ---- */

struct candidate_series {
    uint32_t key, number;
};

static bool is_hostname(const struct evenness_report *r, uint32_t key) {
    return str_eq(r->keys[key].name, TOPOLOGY_KEY_HOSTNAME);
}

static uint32_t gap(const struct evenness_result *result) {
    return result->skew > result->best ? result->skew - result->best : 0;
}

/* Orders uneven workloads first, and failure domains before single nodes; then by the possible
 * improvement. */
static bool is_worse(const struct evenness_report *r, struct candidate_series a,
                     struct candidate_series b) {
    const struct evenness_result *x = &r->keys[a.key].results[a.number],
                                 *y = &r->keys[b.key].results[b.number];
    bool uneven = x->state == EVENNESS_UNEVEN;
    if (uneven != (y->state == EVENNESS_UNEVEN))
        return uneven;
    if (is_hostname(r, a.key) != is_hostname(r, b.key))
        return is_hostname(r, b.key);
    if (gap(x) != gap(y))
        return gap(x) > gap(y);
    return x->skew > y->skew;
}

/* If workloads of several kinds have one name, only the worst is written: two series with the same
 * labels would make the whole scrape invalid. There is a bit for each key and each first workload
 * of a name; it is set if a workload of the name is written. */
struct written {
    uint64_t *bits; /* owned; [keys][words] */
    size_t words;
};

static uint64_t *bit_of(const struct evenness_report *r, const struct written *written,
                        struct candidate_series series, uint64_t *ret) {
    const struct evenness_workload *w = &r->workloads[series.number];
    uint32_t first = evenness_find(r, w->namespace, w->name, STR(""));
    *ret = UINT64_C(1) << (first % 64);
    return &written->bits[series.key * written->words + first / 64];
}

static bool has_series(const struct evenness_report *r, const struct written *written,
                       struct candidate_series series) {
    uint64_t bit;
    return r->keys[series.key].results[series.number].state != EVENNESS_UNKNOWN &&
           (*bit_of(r, written, series, &bit) & bit) == 0;
}

static void put_series(const struct evenness_report *r, struct candidate_series series,
                       struct strbuf *out) {
    const struct evenness_workload *w = &r->workloads[series.number];
    put_label("evenkeel_workload_skew{namespace=\"", w->namespace, out);
    put_label(",workload=\"", w->name, out);
    put_label(",topology_key=\"", r->keys[series.key].name, out);
    strbuf_appendf(out, "} %u\n", r->keys[series.key].results[series.number].skew);
}

/* Finds the next workload of a key that can be written. */
static bool next_of(const struct evenness_report *r, const struct written *written, uint32_t key,
                    uint32_t *at, struct candidate_series *ret) {
    const struct evenness_key *k = &r->keys[key];
    for (; *at < r->workload_count; (*at)++) {
        *ret = (struct candidate_series){key, k->worst[*at]};
        if (has_series(r, written, *ret))
            return true;
    }
    return false;
}

void evenness_metrics_render(const struct evenness_report *r, uint32_t max, struct strbuf *out) {
    uint32_t at[LIMIT_EVENNESS_KEYS] = {0};
    struct written written = {.words = (size_t)r->workload_count / 64 + 1};
    put_totals(r, out);
    written.bits = max == 0 ? NULL : calloc((size_t)r->key_count + 1, written.words * 8);
    if (written.bits == NULL)
        return; /* also without memory: the totals are written already */
    strbuf_appendf(out, "# HELP evenkeel_workload_skew The most pods that a workload has in a "
                        "domain where they may run, minus the fewest; for the worst workloads.\n"
                        "# TYPE evenkeel_workload_skew gauge\n");
    for (uint32_t count = 0; count < max; count++) {
        struct candidate_series worst = {UINT32_MAX, 0}, next;
        for (uint32_t k = 0; k < r->key_count; k++)
            if (next_of(r, &written, k, &at[k], &next) &&
                (worst.key == UINT32_MAX || is_worse(r, next, worst)))
                worst = next;
        if (worst.key == UINT32_MAX)
            break;
        uint64_t bit, *bits = bit_of(r, &written, worst, &bit);
        *bits |= bit;
        put_series(r, worst, out);
    }
    free(written.bits);
}
