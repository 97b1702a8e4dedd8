#include "sim/sim.h"

#include "cache/kube_source.h"
#include "sim/check.h"
#include "sim/watch.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MINUTE_MS = 60000,
    /* A connection that is silent without our seeing it, the longest wait that is heeded, the
     * longest back-off, and some requests. */
    RECOVERY_MS = (180 + 120 + 60 + 60) * 1000,
    /* A server that takes a watch-list for a watch: found out when that ends. */
    IGNORANCE_MS = 1200 * 1000,
    CHAOS_STEPS = 500,
    HOSTILE_MS = 60000,
    FRESH_MS = 2000,
    MOST_BYTES = 300 << 20, /* of one world */
    /* What may stay: malloc keeps freed blocks at hand and counts them as used. A leak adds up from
     * seed to seed. */
    SPARE_BYTES = 1 << 20,
};

void sim_fail(struct sim *s, const char *fmt, ...) {
    va_list args;
    if (s->failed)
        return;
    s->failed = true;
    va_start(args, fmt);
    (void)vsnprintf(s->failure, sizeof s->failure, fmt, args);
    va_end(args);
}

void sim_trace(struct sim *s, const char *fmt, ...) {
    char *line = s->trace[s->traced++ % TRACE_STEPS];
    va_list args;
    int n = snprintf(line, TRACE_BYTES, "%12.3f ", (double)sim_now(s) / 1000);
    va_start(args, fmt);
    (void)vsnprintf(line + n, (size_t)(TRACE_BYTES - n), fmt, args);
    va_end(args);
    if (s->verbose)
        (void)fprintf(stderr, "%s\n", line);
}

/* ---- the loop ---- */

/* What is due next, and when. */
static int64_t next_ms(const struct sim *s, struct kube_watch **ret_watch) {
    int64_t next = server_next_ms(&s->server);
    *ret_watch = NULL;
    if (s->faults.next_ms < next)
        next = s->faults.next_ms;
    for (uint32_t kind = 0; kind < OBJECT_KINDS; kind++)
        if (s->watches[kind] != NULL && s->watches[kind]->at_ms < next) {
            next = s->watches[kind]->at_ms;
            *ret_watch = s->watches[kind];
        }
    return next;
}

static void step(struct sim *s) {
    struct kube_watch *w;
    int64_t at_ms = next_ms(s, &w);
    s->steps++;
    if (at_ms > s->clock.at_ms)
        s->clock.at_ms = at_ms;
    if (w != NULL)
        watch_step(w);
    else if (s->faults.next_ms <= at_ms)
        faults_step(s);
    else
        server_step(s);
    if (s->steps % 64 == 0)
        check_age(s);
}

static void play_steps(struct sim *s, uint64_t steps) {
    for (uint64_t i = 0; i < steps && !s->failed; i++)
        step(s);
}

static void play_for(struct sim *s, int64_t ms) {
    struct kube_watch *w;
    int64_t until_ms = sim_now(s) + ms;
    while (!s->failed && next_ms(s, &w) <= until_ms)
        step(s);
    if (!s->failed)
        s->clock.at_ms = until_ms;
}

static bool is_hearing(const struct kube_watch *w) {
    return w == NULL || (w->state == WATCH_READING && w->answer.request.watch);
}

/* A watch that ended as watches do, a listing after that, and a server that is slow to answer
 * either are nobody's fault: goes on until all watches are open. */
static void play_until_open(struct sim *s) {
    int64_t until_ms = sim_now(s) + RECOVERY_MS;
    struct kube_watch *w;
    for (bool waits = true; waits && !s->failed && next_ms(s, &w) <= until_ms;) {
        waits = false;
        for (uint32_t kind = 0; kind < OBJECT_KINDS; kind++)
            waits |= !is_hearing(s->watches[kind]);
        if (waits)
            step(s);
    }
}

/* Of the faults before: no API server has one so large. */
static bool has_oversized(const struct sim *s) {
    for (uint32_t slot = 0; slot < thing_slots(OBJECT_SERVICE); slot++)
        if (s->server.things[OBJECT_SERVICE][slot].bulk == BULK_OVERSIZED)
            return true;
    return false;
}

/* But those after a silence, which is the server's. */
static uint64_t listings(const struct sim *s) {
    struct reflector_stats stats;
    uint64_t count = -s->faults.coverage->paths[PATH_SILENCE];
    for (uint32_t kind = 0; kind < OBJECT_KINDS; kind++)
        if (s->watches[kind] != NULL) {
            reflector_stats(s->watches[kind]->reflector, &stats);
            count += stats.listings;
        }
    return count;
}

/* One tenant's objects are as hard to take as Kubernetes lets them be, and nothing else is wrong:
 * two seconds after its last change everybody's objects are known. */
static void play_hostile(struct sim *s) {
    if (s->failed || has_oversized(s))
        return;
    play_until_open(s);
    uint64_t before = listings(s);
    faults_hostile(s, true);
    play_for(s, sim_between(s, 1000, HOSTILE_MS));
    faults_hostile(s, false);
    s->server.quiet = true;
    play_until_open(s);
    play_for(s, FRESH_MS);
    if (!s->failed && (int64_t)(listings(s) - before) > 0)
        sim_fail(s, "objects that are hard to take made it list again");
    if (!s->failed) {
        check_everything(s);
        check_truth(s);
    }
    s->server.quiet = false;
}

/* Some chaos; then no fault strikes, and after time enough all must be as on the server. */
static void play_round(struct sim *s) {
    bool ignores = s->server.traits.watch_list == WATCH_LIST_IGNORED;
    faults_calm(s, false);
    play_steps(s, 1 + sim_below(s, 2 * CHAOS_STEPS));
    if (sim_now(s) < s->server.down_until_ms)
        play_for(s, s->server.down_until_ms - sim_now(s));
    if (s->failed)
        return;
    faults_restore_unseen(s);
    faults_calm(s, true);
    if (!s->server.quiet)
        play_for(s, sim_between(s, 0, 2 * MINUTE_MS));
    s->server.quiet = true;
    play_for(s, RECOVERY_MS + (ignores ? IGNORANCE_MS : 0));
    if (s->failed)
        return;
    check_everything(s);
    check_truth(s);
    s->server.quiet = false;
    play_hostile(s);
}

/* ---- life ---- */

static void begin(struct sim *s, struct kube_client *client) {
    const struct cache_options cache_options = {.clock = &s->clock.clock};
    clock_fake_init(&s->clock, sim_between(s, 1, 1000000000));
    server_init(s);
    faults_choose(s);
    struct kube_source_options options = {.clock = &s->clock.clock,
                                          .client = client,
                                          .workloads = sim_chance(s, 700),
                                          .seed = s->seed};
    if (cache_new(&cache_options, &s->cache, NULL) != 0)
        abort();
    options.cache = s->cache;
    if (kube_source_new(&options, &s->source, NULL) != 0)
        abort();
    for (uint32_t kind = OBJECT_NODE; kind < OBJECT_KINDS; kind++)
        s->model.kinds[kind].synced = s->watches[kind] == NULL; /* not watched: empty */
}

static void done(struct sim *s) {
    kube_source_free(s->source);
    cache_free(s->cache);
    server_done(&s->server);
}

static size_t bytes_in_use(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

bool sim_run(struct sim *s, uint64_t seed, uint64_t steps, struct coverage *coverage,
             int64_t *ret_virtual_ms) {
    bool verbose = s->verbose;
    struct kube_client client = {s};
    *s = (struct sim){.seed = seed, .random = seed, .verbose = verbose};
    s->faults.coverage = coverage;
    static size_t before; /* the first world */
    if (before == 0)
        before = bytes_in_use();
    begin(s, &client);
    int64_t from_ms = sim_now(s);
    while (!s->failed && s->steps < steps) {
        play_round(s);
        if (bytes_in_use() > before + MOST_BYTES)
            sim_fail(s, "%zu bytes are in use", bytes_in_use() - before);
    }
    *ret_virtual_ms = sim_now(s) - from_ms;
    done(s);
    if (bytes_in_use() > before + SPARE_BYTES)
        sim_fail(s, "%zu bytes were never freed", bytes_in_use() - before);
    return !s->failed;
}
