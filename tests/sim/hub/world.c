#include "sim/hub/world.h"

#include "sim/hub/strand.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MINUTE_MS = 60000,
    /* Longer than anything waits: a back-off, a Lease, a minute's moves. */
    QUIET_MS = 75000,
    REST_MINUTES = 720, /* refused clusters are tried again after ever longer times */
    STILL_MS = 35000,   /* longer than a move waits, and a lost write is in doubt */
    STILL_TRIES = 1200,
    STORM_MS = 40000,
    CROWD_MS = 5000,
    MOST_STEPS = 20000000,
};

/* ---- saying so ---- */

void world_fail(struct world *w, const char *fmt, ...) {
    va_list args;
    if (w->failed)
        return;
    w->failed = true;
    va_start(args, fmt);
    (void)vsnprintf(w->failure, sizeof w->failure, fmt, args);
    va_end(args);
}

void world_trace(struct world *w, const char *fmt, ...) {
    char *line = w->trace[w->traced++ % TRACE_LINES];
    va_list args;
    const int n = snprintf(line, TRACE_BYTES, "%12.3f ", (double)world_now(w) / 1000);
    va_start(args, fmt);
    (void)vsnprintf(line + n, (size_t)(TRACE_BYTES - n), fmt, args);
    va_end(args);
    for (const char *p = line; *p != '\0'; p++)
        w->digest = (w->digest ^ (uint8_t)*p) * 0x100000001b3u;
    if (w->verbose)
        (void)fprintf(stderr, "%s\n", line);
}

void happen(struct world *w, enum happening what) {
    w->happened[what]++;
}

/* ---- what is due next ---- */

enum actor { NOBODY, CALLS_ACT, OCM_ACTS, COLLECTOR_ACTS, CROWD_ACTS, REPLICA_ACTS };

static void offer(int64_t at_ms, enum actor actor, int64_t *next_ms, enum actor *next) {
    if (at_ms < *next_ms) {
        *next_ms = at_ms;
        *next = actor;
    }
}

static int64_t find_next(struct world *w, enum actor *ret) {
    int64_t next_ms = INT64_MAX;
    *ret = NOBODY;
    offer(calls_at_ms(), CALLS_ACT, &next_ms, ret);
    offer(w->ocm_ms, OCM_ACTS, &next_ms, ret);
    offer(w->collect_ms, COLLECTOR_ACTS, &next_ms, ret);
    offer(w->crowd_ms, CROWD_ACTS, &next_ms, ret);
    for (int i = 0; i < REPLICAS; i++)
        offer(w->replicas[i] != NULL ? replica_at_ms(w->replicas[i]) : w->revive_ms[i],
              REPLICA_ACTS + i, &next_ms, ret);
    return next_ms;
}

static void act_replica(struct world *w, unsigned i) {
    if (w->replicas[i] != NULL) {
        replica_step(w->replicas[i]);
        return;
    }
    w->replicas[i] = replica_new(w, i);
    world_trace(w, "%u: begins", i);
}

static void note_leader(struct world *w) {
    for (unsigned i = 0; i < REPLICAS; i++)
        if (w->replicas[i] != NULL && i + 1 != w->leader && replica_leads(w->replicas[i])) {
            w->leader = i + 1;
            w->led_since_ms = world_now(w);
            happen(w, LEADER_CHANGED);
            world_trace(w, "%u: leads", i);
        }
}

static void step(struct world *w, enum actor actor, int64_t at_ms) {
    if (at_ms > w->clock.at_ms)
        w->clock.at_ms = at_ms;
    if (++w->steps > MOST_STEPS)
        world_fail(w, "there is no end of steps");
    if (actor == CALLS_ACT)
        calls_step(w);
    else if (actor == OCM_ACTS)
        ocm_step(w);
    else if (actor == COLLECTOR_ACTS)
        collect_step(w);
    else if (actor == CROWD_ACTS)
        crowd_step(w);
    else
        act_replica(w, actor - REPLICA_ACTS);
    note_leader(w);
}

static void play_until(struct world *w, int64_t until_ms) {
    enum actor actor;
    for (int64_t at_ms; !w->failed && (at_ms = find_next(w, &actor)) <= until_ms;)
        step(w, actor, at_ms);
    if (!w->failed && until_ms > w->clock.at_ms)
        w->clock.at_ms = until_ms;
}

static void play_for(struct world *w, int64_t ms) {
    play_until(w, world_now(w) + ms);
}

/* ---- processes ---- */

static void trouble_replica(struct world *w) {
    const unsigned i = (unsigned)world_below(w, REPLICAS);
    if (w->replicas[i] == NULL)
        return;
    if (world_chance(w, 500)) {
        replica_pause(w->replicas[i], world_now(w) + world_between(w, 100, 60000));
        world_trace(w, "%u: is paused", i);
        happen(w, REPLICA_PAUSED);
        return;
    }
    replica_free(w->replicas[i]);
    w->replicas[i] = NULL;
    w->leader = w->leader == i + 1 ? 0 : w->leader;
    w->revive_ms[i] = world_now(w) + world_between(w, 0, 30000);
    world_trace(w, "%u: is killed", i);
    happen(w, REPLICA_KILLED);
}

static void heal_all(struct world *w) {
    w->hostility = 0;
    ocm_heal(w);
    for (unsigned i = 0; i < REPLICAS; i++) {
        if (w->replicas[i] != NULL)
            replica_pause(w->replicas[i], INT64_MIN);
        else
            w->revive_ms[i] = world_now(w);
    }
}

/* ---- rounds ---- */

/* Is there anything that time alone brings: an answer of OCM's that is waited for, a refused
 * cluster that is tried again soon, an item of no Placement that was not found yet? */
static const char *what_comes(struct world *w) {
    char text[80];
    uint8_t *flags = check_new_flags(w);
    const struct replica *r = w->leader > 0 ? w->replicas[w->leader - 1] : NULL;
    const char *what = r == NULL                     ? "a leader"
                       : replica_asks(r)             ? "an answer of OCM's"
                       : items_dead(w, text) != NULL ? "the end of an item"
                                                     : NULL;
    for (unsigned i = 0; i < w->wish_count && what == NULL; i++)
        if (replica_left_out(r, &w->wishes[i], flags) < world_now(w) + MINUTE_MS)
            what = "a refused cluster's time";
    free(flags);
    return what;
}

static bool is_settled(struct world *w) {
    int64_t since_ms = w->last_write_ms;
    since_ms = since_ms > w->scores_end_ms ? since_ms : w->scores_end_ms;
    bool settled = world_now(w) - since_ms >= QUIET_MS && actors_are_idle(w);
    for (unsigned i = 0; i < REPLICAS; i++)
        settled = settled && w->replicas[i] != NULL && replica_is_idle(w->replicas[i]);
    return settled && !calls_under_way() && what_comes(w) == NULL;
}

/* Nothing goes wrong any more: all must come to rest, and stay so. */
static void come_to_rest(struct world *w) {
    const int64_t until_ms = world_now(w) + REST_MINUTES * MINUTE_MS;
    crowd_work(w, false);
    w->last_write_ms = world_now(w);
    while (!w->failed && !is_settled(w)) {
        if (world_now(w) > until_ms)
            world_fail(w, "it does not come to rest, and waits for %s", what_comes(w));
        play_for(w, 1000);
    }
    if (!w->failed)
        check_quiet(w);
    const int64_t last_ms = w->last_write_ms;
    for (int i = 0; i < 5 && !w->failed; i++) {
        changes_beat(w);
        play_for(w, 3000);
    }
    if (!w->failed && w->last_write_ms != last_ms)
        world_fail(w, "something was written while nothing changed");
}

static bool has_leader(const struct world *w) {
    const struct replica *r = w->leader > 0 ? w->replicas[w->leader - 1] : NULL;
    return r != NULL && !replica_is_paused(r) && replica_leads(r) &&
           world_now(w) - w->led_since_ms >= STILL_MS;
}

/* Is everything known that has happened, and has nothing been on its way for a while, though
 * somebody leads? */
static bool is_still(const struct world *w) {
    bool still = has_leader(w) && !calls_under_way() && world_now(w) - w->last_write_ms >= STILL_MS;
    for (unsigned i = 0; i < REPLICAS; i++)
        still = still && (w->replicas[i] == NULL || replica_is_idle(w->replicas[i]));
    return still;
}

/* Many changes, while much goes wrong. */
static void play_changes(struct world *w) {
    const uint64_t changes = 1 + world_below(w, 12);
    for (uint64_t i = 0; i < changes && !w->failed; i++) {
        changes_step(w);
        if (world_chance(w, 100))
            trouble_replica(w);
        play_for(w, world_chance(w, 300) ? 0 : world_between(w, 0, 8000));
    }
}

/* After that one more change, or none, while much goes wrong still: clusters that stay must be in
 * some object all the while. */
static void play_storm(struct world *w) {
    w->counted = false;
    w->hostility = (unsigned)world_between(w, 5, 250);
    crowd_work(w, true);
    play_changes(w);
    crowd_work(w, false);
    for (int i = 0; i < STILL_TRIES && !w->failed && !is_still(w); i++)
        play_for(w, 100);
    check_begin_round(w);
    if (is_still(w) && world_chance(w, 800))
        changes_single(w);
    else
        heal_all(w);
    if (world_chance(w, 300))
        trouble_replica(w);
    play_for(w, world_between(w, 0, STORM_MS));
    heal_all(w);
    come_to_rest(w);
}

/* One change while all is well: what is written is counted. */
static void play_change(struct world *w) {
    w->counted = true;
    w->hostility = 0;
    check_begin_round(w);
    crowd_work(w, true);
    changes_single(w);
    for (unsigned i = 0; i < w->wish_count; i++)
        check_scored_round(w, &w->wishes[i]); /* what somebody has taken is put back */
    if (w->crowd_count > 0)
        play_for(w, CROWD_MS);
    come_to_rest(w);
}

/* Nothing is counted or kept of Placements that are gone. */
static void play_end(struct world *w) {
    w->counted = false;
    check_begin_round(w);
    changes_end_placements(w);
    crowd_end(w);
    come_to_rest(w);
    if (!w->failed)
        check_gone(w);
}

/* ---- life ---- */

static unsigned some_clusters(struct world *w) {
    const unsigned kind = (unsigned)world_below(w, 200);
    if (kind < 160)
        return (unsigned)world_between(w, 5, 40);
    if (kind < 197)
        return (unsigned)world_between(w, 40, 400);
    happen(w, LARGE_FLEET);
    return (unsigned)world_between(w, 1000, MOST_CLUSTERS);
}

/* Of 1000 unlocks; of a seed, by its number. */
static const unsigned seed_pauses[] = {0, 20, 200, 500};

static void begin(struct world *w, unsigned clusters) {
    clock_fake_init(&w->clock, world_between(w, 1, 1000000000));
    strand_use_clock(&w->clock.clock);
    strand_pause_at_unlocks(seed_pauses[w->seed % (sizeof seed_pauses / sizeof seed_pauses[0])],
                            w->seed);
    w->wall_ms = 1800000000000;
    arena_init(&w->arena, 256u << 20);
    w->cluster_count = clusters > 0 ? clusters : some_clusters(w);
    w->clusters = calloc(w->cluster_count, sizeof *w->clusters);
    w->regions = (unsigned)world_between(w, 1, 4);
    w->zones = (unsigned)world_between(w, 1, 4);
    w->wish_count = (unsigned)world_between(w, 2, PLACEMENTS);
    w->by_default = world_chance(w, 200)   ? PLACEMENT_SCORES
                    : world_chance(w, 500) ? PLACEMENT_OWNER
                                           : PLACEMENT_OFF;
    w->moves =
        (struct move_limits){.settle_ms = 10000, .per_minute = world_chance(w, 500) ? 10 : 1000};
    arena_init(&w->taking, 256u << 20);
    if (w->clusters == NULL || fleet_new(&w->truth, NULL) != 0 ||
        fleet_new(&w->ocm.sees, NULL) != 0)
        abort();
    w->store.changed = truth_changed;
    w->store.ctx = w;
    changes_begin(w);
    crowd_begin(w);
    for (unsigned i = 0; i < REPLICAS; i++)
        w->revive_ms[i] = world_now(w) + world_between(w, 0, 5000);
    w->ocm_ms = w->collect_ms = world_now(w);
}

static void done(struct world *w) {
    for (unsigned i = 0; i < REPLICAS; i++)
        replica_free(w->replicas[i]);
    calls_done();
    check_done(w);
    fleet_free(w->truth);
    fleet_free(w->ocm.sees);
    store_done(&w->store);
    arena_done(&w->arena);
    arena_done(&w->taking);
    free(w->clusters);
}

bool world_run(struct world *w, uint64_t seed, unsigned clusters, unsigned rounds,
               uint64_t happened[HAPPENINGS]) {
    const bool verbose = w->verbose;
    *w = (struct world){.seed = seed, .random = seed, .verbose = verbose, .happened = happened};
    begin(w, clusters);
    rounds = w->cluster_count >= 1000 && rounds > 3 ? 3 : rounds;
    w->hostility = 0;
    check_begin_round(w);
    come_to_rest(w);
    for (unsigned i = 0; i < rounds && !w->failed; i++) {
        if (world_chance(w, 400))
            play_change(w);
        else
            play_storm(w);
    }
    if (!w->failed)
        play_end(w);
    done(w);
    return !w->failed;
}
