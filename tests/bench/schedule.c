/*
 * What scheduling a binding of Karmada's takes of a core: filters, scores, groups, selection and
 * division, on the clusters of a state file.
 *
 *     schedule STATE BINDING [CALLS]
 *
 * Prints one JSON object: clusters, how many the binding is given, p50 and p99 of CALLS (201) in
 * microseconds of the thread's CPU.
 */
#include "karmada/schedule.h"
#include "base/limits.h"
#include "bench/number.h"
#include "clusters/state.h"
#include "fleet/karmada.h"
#include "whatif/binding_subjects.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 201, CALLS_MAX = 100000 };

static int64_t cpu_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* cannot fail on Linux */
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int compare_times(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* As a scheduler would that keeps its clusters: the view is part of it, nothing is rendered. */
static int schedule_once(struct informer *karmada, const struct binding *binding,
                         struct arena *arena, struct karmada_decision *ret, int64_t *ret_ns,
                         struct err *err) {
    struct karmada_question question = {
        .spec = &binding->spec, .status = &binding->status, .options = &karmada_defaults};
    struct karmada_view view;
    arena_reset(arena);
    const int64_t began = cpu_ns();
    karmada_view_open(karmada, &view);
    int r = karmada_view_clusters(&view, arena, &question.clusters, &question.cluster_count);
    if (r == 0)
        r = karmada_schedule(&question, arena, ret, err);
    karmada_view_close(&view);
    *ret_ns = cpu_ns() - began;
    return r;
}

static int measure(struct informer *karmada, const struct binding *binding, int64_t calls,
                   struct err *err) {
    CLEANUP(arena_done) struct arena arena;
    int64_t *ns = calloc((size_t)calls, sizeof *ns), first;
    struct karmada_decision d;
    arena_init(&arena, LIMIT_STATE_BYTES);
    int r = ns != NULL ? schedule_once(karmada, binding, &arena, &d, &first, err) : -1;
    for (int64_t i = 0; r == 0 && i < calls; i++)
        r = schedule_once(karmada, binding, &arena, &d, &ns[i], err);
    if (r == 0) {
        const int64_t half = calls / 2, most = calls * 99 / 100;
        qsort(ns, (size_t)calls, sizeof *ns, compare_times);
        printf("{\"passed\":%u,\"given\":%u,\"error\":\"%.*s\",\"p50_us\":%.1f,\"p99_us\":%.1f}\n",
               d.filtered.count, d.assignment.count, STR_ARG(d.error), (double)ns[half] / 1000,
               (double)ns[most] / 1000);
    }
    free(ns);
    return r;
}

int main(int argc, char **argv) {
    CLEANUP(arena_done) struct arena arena;
    struct clusters_state state = {.fleet = NULL};
    struct binding_subject *subjects = NULL;
    struct err err = {.text = "no memory"};
    uint32_t count;
    int64_t calls = CALLS;
    if (argc < 3 || argc > 4 || (argc == 4 && !number_in(argv[3], 1, CALLS_MAX, &calls))) {
        (void)fprintf(stderr, "usage: schedule STATE BINDING [CALLS]\n");
        return 2;
    }
    arena_init(&arena, LIMIT_STATE_OBJECT_ARENA);
    const struct binding_sources sources = {.paths = (const char *const *)&argv[2],
                                            .path_count = 1};
    int r = binding_subjects_read(&sources, &arena, &subjects, &count, &err);
    if (r == 0)
        r = clusters_state_load((const char *const *)&argv[1], 1, NULL, 0, &state, &err);
    if (r == 0)
        r = measure(state.karmada, &subjects[0].binding, calls, &err);
    clusters_state_done(&state);
    if (r != 0)
        (void)fprintf(stderr, "schedule: %s\n", err.text);
    return r == 0 ? 0 : 1;
}
