#include "handlers/clusters_estimators.h"

#include "base/metrics.h"
#include "base/mutex.h"
#include "estimator/wire.h"
#include "estimators/estimators.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BYTES = 8 << 20, OBJECT_BYTES = 600 };

/* Outlives the request, because the request's arena must not be touched while the request waits. */
struct asking {
    const struct clusters *clusters;
    const struct clusters_question *question; /* in the request's arena */
    enum binding_verb verb;
    clusters_estimated_fn *go_on;
    struct arena arena; /* has the memory of the members below */
    const struct str *names;
    int64_t *replicas; /* `count` items */
    uint32_t count;
    struct estimators_question asked;

    struct http_deferral *deferral; /* NULL: a thread waits for the answers */
    struct mutex mutex;             /* mutex, wake and is_over serve the waiting thread */
    struct condition wake;
    bool is_over;
};

/* ---- metrics ---- */

static struct metric counted[2]; /* number of answers without and with a known number */

void clusters_estimators_metrics_start(void) {
    for (int known = 0; known < 2; known++) {
        counted[known] =
            (struct metric){.name = "evenkeel_asked_estimators_total",
                            .help = "Answers of the estimators of Karmada's clusters.",
                            .labels = known ? "result=\"known\"" : "result=\"unknown\"",
                            .kind = METRIC_COUNTER};
        metric_register(&counted[known]);
    }
}

void clusters_estimators_metrics_stop(void) {
    for (int known = 0; known < 2; known++)
        metric_unregister(&counted[known]);
}

static void count_answers(const int64_t *answers, uint32_t count) {
    uint32_t known = 0;
    for (uint32_t i = 0; i < count; i++)
        known += answers[i] != ESTIMATE_UNKNOWN;
    metric_add(&counted[true], known);
    metric_add(&counted[false], count - known);
}

static void end_asking(struct asking *a) {
    condition_done(&a->wake);
    mutex_done(&a->mutex);
    arena_done(&a->arena);
    free(a);
}

/* ---- questions ---- */

/* Returns the name that karmada-scheduler gives the object. It is sent as gRPC metadata, so it has
 * only characters that headers may have. */
static struct str object_of(const struct binding_spec *spec, struct arena *arena) {
    const struct str object =
        arena_printf(arena, "kind=%.*s, name=%.*s/%.*s", STR_ARG(spec->resource_kind),
                     STR_ARG(spec->resource_namespace), STR_ARG(spec->resource_name));
    for (size_t i = 0; i < object.n; i++)
        if (object.p[i] < ' ' || object.p[i] > '~')
            return STR("");
    return object.n <= OBJECT_BYTES ? object : STR("");
}

static int prepare(struct asking *a, struct arena *steps, struct err *err) {
    const struct clusters_question *q = a->question;
    const struct clusters *c = a->clusters;
    struct str requirements;
    int r = clusters_to_estimate(c->karmada, q, &c->options, steps, &a->arena, &a->names, &a->count,
                                 err);
    if (r == 0)
        r = wire_requirements_encode(&q->binding.spec.requirements, &a->arena, &requirements, err);
    if (r != 0)
        return r;
    a->replicas = arena_array_unset(&a->arena, a->count, sizeof *a->replicas);
    const struct str object = object_of(&q->binding.spec, &a->arena);
    if (arena_failed(&a->arena))
        return err_set(err, -ENOMEM, "no memory to ask estimators");
    for (uint32_t i = 0; i < a->count; i++)
        a->replicas[i] = ESTIMATE_UNKNOWN;
    a->asked = (struct estimators_question){.requirements = requirements,
                                            .object = object,
                                            .clusters = a->names,
                                            .count = a->count,
                                            .deadline_ms = clock_real()->now_ms(clock_real()) +
                                                           c->estimate_ms};
    return 0;
}

/* Finds the estimators to ask, without using up steps of the question's budget. Returns NULL if no
 * estimator is asked. */
static struct asking *new_asking(const struct clusters *c, const struct clusters_question *q,
                                 enum binding_verb verb, struct arena *arena,
                                 clusters_estimated_fn *go_on) {
    const struct steps before = arena->steps;
    struct asking *a = calloc(1, sizeof *a);
    struct err unsaid; /* not reported: the question is answered without estimators */
    if (a == NULL)
        return NULL;
    *a = (struct asking){.clusters = c, .question = q, .verb = verb, .go_on = go_on};
    arena_init(&a->arena, ARENA_BYTES);
    mutex_init(&a->mutex);
    condition_init(&a->wake);
    const int r = prepare(a, arena, &unsaid);
    arena->steps = before;
    if (r == 0 && a->count > 0)
        return a;
    end_asking(a);
    return NULL;
}

/* ---- answers ---- */

static void finish(struct asking *a, const struct http_request *request,
                   struct http_response *response) {
    const struct accurate_replicas known = {a->names, a->replicas, a->count};
    a->go_on(a->clusters, a->question, a->verb, &known, request, response);
    end_asking(a);
}

static void resumed(void *ctx, const struct http_request *request, struct http_response *response) {
    finish(ctx, request, response);
}

static void dropped(void *ctx) {
    end_asking(ctx);
}

static void resume(struct asking *a) {
    const struct http_continuation next = {resumed, dropped, a};
    http_deferral_resume(a->deferral, &next);
}

static void take_answers(struct asking *a, const int64_t *answers, uint32_t count) {
    memcpy(a->replicas, answers, count * sizeof *answers);
    count_answers(answers, count);
}

static void answered(void *ctx, const int64_t *answers, uint32_t count) {
    take_answers(ctx, answers, count);
    resume(ctx);
}

static void answered_in_place(void *ctx, const int64_t *answers, uint32_t count) {
    struct asking *a = ctx;
    mutex_lock(&a->mutex);
    take_answers(a, answers, count);
    a->is_over = true;
    condition_signal(&a->wake);
    mutex_unlock(&a->mutex);
}

/* Waits for the estimators until they answer, or until their deadline. */
static void wait_for_them(struct asking *a) {
    struct err unsaid;
    if (estimators_ask(a->clusters->estimators, &a->asked, answered_in_place, a, &unsaid) != 0)
        return;
    mutex_lock(&a->mutex);
    while (!a->is_over)
        condition_wait(&a->wake, &a->mutex);
    mutex_unlock(&a->mutex);
}

bool clusters_ask_estimators(const struct clusters *c, const struct clusters_question *q,
                             enum binding_verb verb, const struct http_request *request,
                             struct http_response *response, clusters_estimated_fn *go_on) {
    struct err unsaid;
    struct asking *a = NULL;
    if (c->estimators != NULL && clusters_asks_estimators(verb, &c->options, &q->binding.spec))
        a = new_asking(c, q, verb, request->arena, go_on);
    if (a == NULL)
        return false;
    if (request->is_large) {
        wait_for_them(a);
        finish(a, request, response);
        return true;
    }
    a->deferral = http_defer(request);
    if (a->deferral == NULL) {
        end_asking(a);
        return false;
    }
    /* `a` may be freed when this returns: an answer may have come on another thread */
    if (estimators_ask(c->estimators, &a->asked, answered, a, &unsaid) != 0)
        resume(a);
    return true;
}
