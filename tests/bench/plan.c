/*
 * Measures the CPU time of a plan: selecting the clusters of a Placement with two terms, region and
 * then zone, in fleets of 5,000 and 50,000 clusters. Prints one JSON array.
 *
 *     plan
 *
 * Columns and the tree of domains are there, as in a daemon after the first question; filters and
 * prioritizers are not part of it. Sums are those of three prioritizers, and as many clusters as
 * are wanted are members already. p50 of many calls, CPU time of the thread.
 */
#include "ocm/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REGIONS = 10, CALLS = 101, MIDDLE = CALLS / 2 };

struct fleet {
    struct intern strings;
    struct topology *topology;
    uint32_t count;
    uint32_t *candidates; /* by name */
    int64_t *sums;
    uint8_t *members;
};

struct plan_case {
    uint32_t clusters, zones, number;
    int32_t weight;
};

static const struct plan_case cases[] = {
    {5000, 30, 50, 0},    {5000, 30, 2500, 0}, {5000, 220, 50, 0},  {5000, 220, 2500, 0},
    {5000, 220, 2500, 2}, {50000, 220, 50, 0}, {50000, 220, 50, 2}, {50000, 50000, 50000, 0},
};

static int64_t cpu_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* cannot fail on Linux */
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

__attribute__((format(printf, 2, 3))) static struct str text(struct arena *arena,
                                                             const char *format, ...) {
    char buffer[100];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(buffer, sizeof buffer, format, args); /* short enough */
    va_end(args);
    return arena_str(arena, str_of(buffer));
}

/* The next number of a sequence that is always the same. */
static uint32_t next_number(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Names rise with i, so candidates are by name. */
static int put_cluster(struct fleet *f, uint32_t i, const struct plan_case *c, uint64_t *random,
                       struct arena *arena) {
    const uint32_t zone = next_number(random) % c->zones;
    const struct label labels[] = {{STR("cloud"), text(arena, "cloud-%u", zone % 3)},
                                   {STR("region"), text(arena, "region-%u", zone % REGIONS)},
                                   {STR("zone"), text(arena, "zone-%u", zone)}};
    const struct candidate candidate = {.name = text(arena, "cluster-%06u", i),
                                        .labels = {labels, 3}};
    const int r = topology_apply(f->topology, &candidate);
    if (r != 0)
        return r;
    const uint32_t slot = topology_slot(f->topology, candidate.name);
    f->candidates[i] = slot;
    for (uint32_t p = 0; p < 3; p++)
        f->sums[slot] += (int64_t)(next_number(random) % 201) - 100;
    f->members[slot] = next_number(random) % c->clusters < c->number;
    return 0;
}

static int fill(struct fleet *f, const struct plan_case *c, struct err *err) {
    CLEANUP(arena_done) struct arena arena;
    uint64_t random = 1;
    f->count = c->clusters;
    f->candidates = calloc(f->count, sizeof *f->candidates);
    f->sums = calloc(f->count, sizeof *f->sums);
    f->members = calloc(f->count, sizeof *f->members);
    if (f->candidates == NULL || f->sums == NULL || f->members == NULL)
        return -1;
    int r = topology_new(&(struct topology_options){.strings = &f->strings}, &f->topology, err);
    arena_init(&arena, 1 << 20);
    for (uint32_t i = 0; r == 0 && i < f->count; i++, arena_reset(&arena))
        r = put_cluster(f, i, c, &random, &arena);
    return r;
}

static void done(struct fleet *f) {
    topology_free(f->topology);
    intern_done(&f->strings);
    free(f->candidates);
    free(f->sums);
    free(f->members);
}

static int ask(struct fleet *f, const struct plan_case *c, struct arena *arena, int64_t *ret_ns,
               uint32_t *ret_selected) {
    static const struct placement_term terms[] = {
        {.key = {"region", 6}, .max_skew = 1},
        {.key = {"zone", 4}, .max_skew = 1, .hard = true},
    };
    const struct plan_question q = {.terms = terms,
                                    .term_count = 2,
                                    .candidates = f->candidates,
                                    .candidate_count = f->count,
                                    .sums = f->sums,
                                    .members = f->members,
                                    .has_number = true,
                                    .number = c->number,
                                    .weight = c->weight};
    struct topology_view view;
    struct plan plan;
    arena_reset(arena);
    topology_view_open(f->topology, &view);
    const int64_t began = cpu_ns();
    const int r = ocm_plan(&view, &q, arena, &plan);
    *ret_ns = cpu_ns() - began;
    while (topology_publish(&view))
        ;
    topology_view_close(&view);
    if (r == 0)
        *ret_selected = plan.selected_count;
    return r;
}

static int compare_times(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int measure(const struct plan_case *c, bool first, struct err *err) {
    struct fleet f = {.count = 0};
    CLEANUP(arena_done) struct arena arena;
    int64_t ns[CALLS], cold;
    uint32_t selected = 0;
    arena_init(&arena, 256u << 20);
    int r = fill(&f, c, err);
    if (r == 0)
        r = ask(&f, c, &arena, &cold, &selected);
    for (uint32_t i = 0; r == 0 && i < CALLS; i++)
        r = ask(&f, c, &arena, &ns[i], &selected);
    done(&f);
    if (r != 0)
        return r;
    qsort(ns, CALLS, sizeof *ns, compare_times);
    printf("%s{\"clusters\":%u,\"leaves\":%u,\"number\":%u,\"weight\":%d,\"selected\":%u,"
           "\"p50_us\":%.1f,\"cold_us\":%.1f}",
           first ? "[" : ",\n ", c->clusters, c->zones, c->number, c->weight, selected,
           (double)ns[MIDDLE] / 1000, (double)cold / 1000);
    return 0;
}

int main(void) {
    struct err err = {.text = "no memory"};
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof cases / sizeof cases[0]; i++)
        r = measure(&cases[i], i == 0, &err);
    if (r != 0) {
        (void)fprintf(stderr, "plan: failed: %d, %s\n", r, err.text);
        return 1;
    }
    printf("]\n");
    return 0;
}
