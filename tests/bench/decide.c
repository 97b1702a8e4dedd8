/*
 * What a whole decision takes of a core: sets, filters, prioritizers, rounds, groups and conditions
 * of one Placement, on the fleet of a state file.
 *
 *     decide STATE PLACEMENT [CALLS]
 *
 * Prints one JSON object: clusters, how many are selected, p50 and p99 of CALLS (201) in
 * microseconds of the thread's CPU, and of the first call, which builds columns and orders.
 */
#include "ocm/decide.h"
#include "base/clock.h"
#include "base/limits.h"
#include "bench/number.h"
#include "clusters/question.h"
#include "clusters/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 201, CALLS_MAX = 100000 };

static int64_t cpu_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* cannot fail on Linux */
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* As whoever asks for a decision alone: nothing is rendered. */
static int decide_once(struct fleet *fleet, const struct placement *placement, int64_t now_ms,
                       struct arena *arena, uint32_t *ret_selected, int64_t *ret_ns,
                       struct err *err) {
    const struct ocm_question question = {.placement = placement, .now_ms = now_ms};
    struct fleet_view view;
    struct ocm_decision decision;
    arena_reset(arena);
    const int64_t began = cpu_ns();
    fleet_view_open(fleet, &view);
    const int r = ocm_decide(&view, &question, arena, &decision, err);
    if (r == 0)
        *ret_selected = decision.plan.selected_count;
    fleet_view_close(&view);
    *ret_ns = cpu_ns() - began;
    return r;
}

static int compare_times(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int measure(struct fleet *fleet, const struct placement *placement, int64_t calls,
                   struct err *err) {
    CLEANUP(arena_done) struct arena arena;
    const int64_t now_ms = clock_real()->now_ms(clock_real());
    int64_t *ns = calloc((size_t)calls, sizeof *ns), first;
    uint32_t selected = 0;
    arena_init(&arena, LIMIT_STATE_BYTES);
    int r = ns != NULL ? decide_once(fleet, placement, now_ms, &arena, &selected, &first, err) : -1;
    for (int64_t i = 0; r == 0 && i < calls; i++)
        r = decide_once(fleet, placement, now_ms, &arena, &selected, &ns[i], err);
    if (r == 0) {
        const int64_t half = calls / 2, most = calls * 99 / 100;
        qsort(ns, (size_t)calls, sizeof *ns, compare_times);
        printf("{\"clusters\":%u,\"selected\":%u,\"p50_us\":%.1f,\"p99_us\":%.1f,"
               "\"first_us\":%.1f}\n",
               fleet_stats(fleet).clusters, selected, (double)ns[half] / 1000,
               (double)ns[most] / 1000, (double)first / 1000);
    }
    free(ns);
    return r;
}

int main(int argc, char **argv) {
    CLEANUP(arena_done) struct arena arena;
    struct clusters_state state = {.fleet = NULL};
    struct placement placement;
    struct document document;
    struct err err = {.text = "no memory"};
    int64_t calls = CALLS;
    if (argc < 3 || argc > 4 || (argc == 4 && !number_in(argv[3], 1, CALLS_MAX, &calls))) {
        (void)fprintf(stderr, "usage: decide STATE PLACEMENT [CALLS]\n");
        return 2;
    }
    arena_init(&arena, LIMIT_STATE_OBJECT_ARENA);
    int r = document_read_only(argv[2], &placement_documents, &arena, &document, &err);
    if (r == 0)
        r = clusters_placement_read(&document, &arena, &placement, &err);
    if (r == 0)
        r = clusters_state_load((const char *const *)&argv[1], 1, NULL, 0, &state, &err);
    if (r == 0)
        r = measure(state.fleet, &placement, calls, &err);
    clusters_state_done(&state);
    if (r != 0)
        (void)fprintf(stderr, "decide: %s\n", err.text);
    return r == 0 ? 0 : 1;
}
