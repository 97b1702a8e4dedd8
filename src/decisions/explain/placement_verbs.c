/* The answers of /clusters/v1/filter and /clusters/v1/prioritize. */
#include "explain/placement.h"

#include "base/json_writer.h"

#include <errno.h>
#include <stdlib.h>

/* ---- filter ---- */

static void put_failed(const struct ocm_decision *d, struct json_writer *w, struct strbuf *text) {
    uint32_t next = 0; /* index of the next absent cluster: both lists are sorted by name */
    json_key(w, STR("failedClusters"));
    json_begin_object(w);
    for (uint32_t i = 0; i <= d->available_count; i++) {
        const bool end = i == d->available_count;
        const struct str name = end ? STR("") : ocm_cluster_name(d, d->available[i]);
        for (; next < d->absent_count && (end || str_cmp(d->absent[next].name, name) < 0); next++)
            json_put_member(w, d->absent[next].name, ocm_absence_text(d->absent[next].why));
        if (end || !d->filtered || d->verdicts[d->available[i]] == OCM_PASS)
            continue;
        strbuf_clear(text);
        ocm_reason(d, d->available[i], text);
        json_put_member(w, name, strbuf_str(text));
    }
    json_end_object(w);
}

int placement_render_filter(const struct ocm_decision *d, struct arena *arena, struct strbuf *out) {
    struct json_writer w = {.out = out};
    struct strbuf text = {0};
    json_begin_object(&w);
    json_key(&w, STR("clusterNames"));
    json_begin_array(&w);
    for (uint32_t i = 0; d->filtered && i < d->available_count; i++)
        if (d->verdicts[d->available[i]] == OCM_PASS)
            json_put_string(&w, ocm_cluster_name(d, d->available[i]));
    json_end_array(&w);
    put_failed(d, &w, &text);
    json_put_member(&w, STR("error"), d->filtered ? STR("") : ocm_error_text(d, arena));
    json_end_object(&w);
    const bool failed = strbuf_failed(&text) || arena_failed(arena);
    strbuf_done(&text);
    return failed ? -ENOMEM : 0;
}

/* ---- prioritize ---- */

struct ranked {
    int64_t sum;
    uint32_t slot, place; /* place in the order of names */
};

static int best_first(const void *a, const void *b) {
    const struct ranked *left = a, *right = b;
    if (left->sum != right->sum)
        return left->sum > right->sum ? -1 : 1;
    return (left->place > right->place) - (left->place < right->place);
}

/* An add-on score that is listed twice gives two members with the same name and value. */
static void put_by(const struct ocm_decision *d, uint32_t slot, struct json_writer *w) {
    json_key(w, STR("by"));
    json_begin_object(w);
    for (uint32_t i = 0; i < d->prioritizer_count; i++) {
        const struct ocm_scores *p = &d->prioritizers[i];
        if ((p->lacks != NULL && p->lacks[slot] != 0) ||
            (i > 0 && str_eq(p->name, d->prioritizers[i - 1].name)))
            continue;
        json_key(w, p->name);
        json_put_integer(w, p->scores[slot]);
    }
    json_end_object(w);
}

int placement_render_scores(const struct ocm_decision *d, struct arena *arena, struct strbuf *out) {
    struct json_writer w = {.out = out};
    struct ranked *ranked = arena_array(arena, d->available_count, sizeof *ranked);
    uint32_t count = 0;
    if (ranked == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; d->summed && i < d->available_count; i++)
        if (d->verdicts[d->available[i]] == OCM_PASS)
            ranked[count++] = (struct ranked){d->sums[d->available[i]], d->available[i], i};
    qsort(ranked, count, sizeof *ranked, best_first);
    json_begin_object(&w);
    json_key(&w, STR("scores"));
    json_begin_array(&w);
    for (uint32_t i = 0; i < count; i++) {
        json_begin_object(&w);
        json_put_member(&w, STR("cluster"), ocm_cluster_name(d, ranked[i].slot));
        json_key(&w, STR("score"));
        json_put_integer(&w, ranked[i].sum);
        put_by(d, ranked[i].slot, &w);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_put_member(&w, STR("error"), d->summed ? STR("") : ocm_error_text(d, arena));
    json_end_object(&w);
    return arena_failed(arena) ? -ENOMEM : 0;
}
