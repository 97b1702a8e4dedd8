#include "explain/binding_estimates.h"

#include "base/json_writer.h"
#include "explain/binding_order.h"

enum estimator { BY_SUMMARY, BY_MODELS, BY_ACCURATE, ESTIMATORS };
static const struct str estimator_names[ESTIMATORS] = {
    [BY_SUMMARY] = {"summary", 7}, [BY_MODELS] = {"models", 6}, [BY_ACCURATE] = {"accurate", 8}};

static int64_t estimated(const struct karmada_estimate *e, enum estimator which) {
    const int64_t all[ESTIMATORS] = {e->summary, e->models, e->accurate};
    return all[which];
}

static void put_estimator(const struct karmada_decision *d, const struct binding_order *order,
                          enum estimator which, struct json_writer *w) {
    json_key(w, estimator_names[which]);
    json_begin_object(w);
    for (uint32_t i = 0; i < d->filtered.count; i++) {
        const uint32_t at = order->candidates[i];
        const int64_t replicas = estimated(&d->estimates[at], which);
        json_key(w, d->filtered.candidates[at].cluster.name);
        if (replicas == ESTIMATE_UNKNOWN)
            json_put_null(w);
        else
            json_put_integer(w, replicas);
    }
    json_end_object(w);
}

int binding_render_estimates(const struct binding_report *report, struct arena *arena,
                             struct strbuf *out, struct err *err) {
    const struct karmada_decision *d = &report->outcome->decision;
    struct json_writer w = {.out = out};
    struct binding_order order;
    const int r = binding_order_make(report, arena, &order, err);
    if (r != 0)
        return r;
    json_begin_object(&w);
    json_key(&w, STR("replicas"));
    json_begin_object(&w);
    for (uint32_t i = 0; i < d->filtered.count; i++) {
        const struct karmada_candidate *c = &d->filtered.candidates[order.candidates[i]];
        json_key(&w, c->cluster.name);
        json_put_integer(&w, c->allocatable);
    }
    json_end_object(&w);
    json_key(&w, STR("sets"));
    json_put_null(&w);
    json_key(&w, STR("by"));
    json_begin_object(&w);
    for (int which = 0; which < ESTIMATORS; which++)
        put_estimator(d, &order, which, &w);
    json_end_object(&w);
    json_put_member(&w, STR("error"), d->kind == KARMADA_FIT_ERROR ? d->error : STR(""));
    json_end_object(&w);
    return 0;
}
