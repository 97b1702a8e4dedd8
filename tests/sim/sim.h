/*
 * One simulated world: a server, the real kube source with the real cache behind it, and the model
 * of what the cache must hold. Everything follows from the seed.
 *
 *     main.c      options, seeds, the table at the end
 *     sim.c       the loop: what is due next happens, and the clock jumps there
 *     things.c    objects and their JSON
 *     server.c    the store with its history, and the watch caches in front of it
 *     faults.c    what goes wrong, and when
 *     answer.c    what the server says to a request;  list.c, stream.c: its lists and watches
 *     watch.c     stands in for kube/watch/watch.c: plays answers to the reflector, in virtual time
 *     oracle.c    what the reflector must tell the sink, and what it must ask next
 *     model.c     what the cache must hold
 *     check.c     holds the cache against the model, and the model against the server
 *
 * Nothing here runs on more than one thread. A check that fails calls sim_fail(), which keeps the
 * first failure; the seed then ends.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"
#include "base/random.h"
#include "cache/cache.h"
#include "sim/faults.h"
#include "sim/model.h"
#include "sim/server.h"

enum { TRACE_STEPS = 50, TRACE_BYTES = 240 };

struct kube_watch;
struct kube_source;

struct sim {
    uint64_t seed, random, steps;
    bool failed, verbose;
    char failure[600];
    char trace[TRACE_STEPS][TRACE_BYTES];
    uint64_t traced;

    struct clock_fake clock;
    struct server server;
    struct faults faults;
    struct cache *cache;
    struct kube_source *source;
    struct kube_watch *watches[OBJECT_KINDS]; /* NULL: not watched */
    struct model model;
};

/* Runs one seed for about `steps` steps. Returns false if it failed; s->failure has the reason,
 * s->trace the last steps. Sets *ret_virtual_ms to the virtual time that passed. */
bool sim_run(struct sim *s, uint64_t seed, uint64_t steps, struct coverage *coverage,
             int64_t *ret_virtual_ms);

void sim_fail(struct sim *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
void sim_trace(struct sim *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

static inline int64_t sim_now(const struct sim *s) {
    return s->clock.at_ms;
}

static inline uint64_t sim_below(struct sim *s, uint64_t n) {
    return random_below(&s->random, n);
}

/* Returns a random number from `from` to `to`, both included. */
static inline int64_t sim_between(struct sim *s, int64_t from, int64_t to) {
    return from + (int64_t)random_below(&s->random, (uint64_t)(to - from) + 1);
}

static inline bool sim_chance(struct sim *s, uint32_t per_mille) {
    return random_below(&s->random, 1000) < per_mille;
}
