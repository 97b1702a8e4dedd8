#include "karmada/schedule.h"

#include <errno.h>

static int out_of_memory(struct err *err) {
    return err_set(err, -ENOMEM, "no memory to schedule a binding");
}

/* Returns the failed step and the error as one text of any length. */
static struct str prefixed(struct str step, struct str error, struct arena *arena) {
    char *text = arena_alloc(arena, step.n + error.n);
    if (text == NULL)
        return (struct str){0};
    memcpy(text, step.p, step.n);
    if (error.n > 0)
        memcpy(text + step.n, error.p, error.n);
    return (struct str){text, step.n + error.n};
}

static int conclude(struct karmada_decision *d, enum karmada_error kind, struct str step,
                    struct str error, struct arena *arena, struct err *err) {
    d->kind = kind;
    d->error = prefixed(step, error, arena);
    return d->error.p == NULL ? out_of_memory(err) : 0;
}

static int conclude_unfit(const struct karmada_question *q, struct karmada_decision *d,
                          struct arena *arena, struct err *err) {
    d->kind = KARMADA_FIT_ERROR;
    d->error = karmada_fit_error(&d->filtered, q->cluster_count, arena);
    if (d->error.p == NULL && !arena_failed(arena))
        return err_set(err, -E2BIG, "more reasons than there is time for");
    return d->error.p == NULL ? out_of_memory(err) : 0;
}

static int find_candidates(const struct karmada_question *q, struct arena *arena,
                           struct karmada_decision *d, struct err *err) {
    struct karmada_estimate *estimates = NULL;
    int r = karmada_filter(q, arena, &d->filtered, err);
    if (r == 0)
        r = karmada_estimate(q, &d->filtered, arena, &estimates, err);
    if (r != 0)
        return r;
    karmada_filter_capacity(q, &d->filtered, estimates);
    d->estimates = estimates;
    return karmada_score(q, &d->filtered, arena, &d->scores, err);
}

static int assign(const struct karmada_question *q, struct arena *arena, struct karmada_decision *d,
                  struct err *err) {
    const uint32_t count = d->selection.count;
    struct karmada_candidate *selected = arena_array_unset(arena, count, sizeof *selected);
    if (selected == NULL)
        return out_of_memory(err);
    for (uint32_t i = 0; i < count; i++)
        selected[i] = d->filtered.candidates[d->selection.clusters[i]];
    return karmada_assign(selected, count, q->spec, q->status,
                          karmada_assign_overflows(q->spec, q->status), q->options, arena,
                          &d->assignment, err);
}

int karmada_schedule(const struct karmada_question *q, struct arena *arena,
                     struct karmada_decision *ret, struct err *err) {
    struct karmada_decision *d = ret;
    *d = (struct karmada_decision){.kind = KARMADA_OK};
    int r = find_candidates(q, arena, d, err);
    if (r != 0 || d->filtered.count == 0)
        return r != 0 ? r : conclude_unfit(q, d, arena, err);
    r = karmada_select(d->filtered.candidates, d->filtered.count, &q->spec->placement,
                       q->spec->replicas, q->options, arena, &d->selection, err);
    if (r != 0)
        return r;
    if (d->selection.kind != KARMADA_OK)
        return conclude(d, d->selection.kind, STR("failed to select clusters: "),
                        d->selection.error, arena, err);
    r = assign(q, arena, d, err);
    if (r != 0 || d->assignment.kind == KARMADA_OK)
        return r;
    d->assignment.count = 0;
    return conclude(d, d->assignment.kind, STR("failed to assign replicas: "), d->assignment.error,
                    arena, err);
}
