/* The answers of the verbs filter and prioritize about a binding. */
#include "base/json_writer.h"
#include "explain/binding_order.h"

#include <errno.h>
#include <stdlib.h>

int binding_render_filter(const struct binding_report *report, struct arena *arena,
                          struct strbuf *out, struct err *err) {
    const struct karmada_question *q = report->question;
    const struct karmada_verdict *verdicts = report->outcome->decision.filtered.verdicts;
    struct json_writer w = {.out = out};
    struct binding_order order;
    const int r = binding_order_make(report, arena, &order, err);
    if (r != 0)
        return r;
    json_begin_object(&w);
    json_key(&w, STR("clusterNames"));
    json_begin_array(&w);
    for (uint32_t i = 0; i < q->cluster_count; i++)
        if (verdicts[order.clusters[i]].pass == CLUSTER_PASSES)
            json_put_string(&w, q->clusters[order.clusters[i]]->meta.name);
    json_end_array(&w);
    json_key(&w, STR("failedClusters"));
    json_begin_object(&w);
    for (uint32_t i = 0; i < q->cluster_count; i++)
        if (verdicts[order.clusters[i]].pass != CLUSTER_PASSES)
            json_put_member(&w, q->clusters[order.clusters[i]]->meta.name,
                            verdicts[order.clusters[i]].reason);
    json_end_object(&w);
    json_put_member(&w, STR("error"), STR(""));
    json_end_object(&w);
    return 0;
}

/* A candidate; `rank` is the place of its name in the order of all names. */
struct ranked {
    int64_t score;
    uint32_t rank, at;
};

static int by_score(const void *a, const void *b) {
    const struct ranked *left = a, *right = b;
    if (left->score != right->score)
        return left->score > right->score ? -1 : 1;
    return (left->rank > right->rank) - (left->rank < right->rank);
}

static void put_score(struct json_writer *w, const struct karmada_decision *d, uint32_t at) {
    json_begin_object(w);
    json_put_member(w, STR("cluster"), d->filtered.candidates[at].cluster.name);
    json_key(w, STR("score"));
    json_put_integer(w, d->filtered.candidates[at].score);
    json_key(w, STR("by"));
    json_begin_object(w);
    for (uint32_t plugin = 0; plugin < KARMADA_PLUGINS; plugin++)
        if (d->scores.of[plugin] != NULL) {
            json_key(w, str_of(karmada_plugin_names[plugin]));
            json_put_integer(w, d->scores.of[plugin][at]);
        }
    json_end_object(w);
    json_end_object(w);
}

int binding_render_scores(const struct binding_report *report, struct arena *arena,
                          struct strbuf *out, struct err *err) {
    const struct karmada_decision *d = &report->outcome->decision;
    struct json_writer w = {.out = out};
    struct binding_order order;
    const int r = binding_order_make(report, arena, &order, err);
    if (r != 0)
        return r;
    struct ranked *ranked = arena_array_unset(arena, d->filtered.count, sizeof *ranked);
    if (ranked == NULL)
        return err_set(err, -ENOMEM, "no memory for the answer");
    for (uint32_t i = 0; i < d->filtered.count; i++) {
        const uint32_t at = order.candidates[i];
        ranked[i] = (struct ranked){d->filtered.candidates[at].score, i, at};
    }
    if (d->filtered.count > 1)
        qsort(ranked, d->filtered.count, sizeof *ranked, by_score);
    json_begin_object(&w);
    json_key(&w, STR("scores"));
    json_begin_array(&w);
    for (uint32_t i = 0; i < d->filtered.count; i++)
        put_score(&w, d, ranked[i].at);
    json_end_array(&w);
    json_put_member(&w, STR("error"), STR(""));
    json_end_object(&w);
    return 0;
}
