/*
 * A process: the real informer, planner, writer and elector, on a client and watches that are
 * played here. (Listing and watching itself is simulated beside: tests/sim.)
 */
#include "hub/planner_internal.h"
#include "kube/election/elector.h"
#include "kube/watch/watch.h"
#include "kube/write/writer.h"
#include "sim/hub/strand.h"
#include "sim/hub/world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TIMERS = 16,
    SETTLES_MS = 60000, /* a move to a cluster that is tried again may wait for so long */
};

struct kube_watch {
    struct replica *replica;
    enum fleet_kind kind;
    struct reflector_sink sink;
    bool listed, expired;
    uint32_t seen;         /* of the store's log */
    uint64_t seen_version; /* what has happened until then is known */
    int64_t at_ms;
    uint64_t events;
};

struct started_timer {
    struct kube_timer *timer;
    int64_t at_ms;
};

struct replica {
    struct world *world;
    unsigned number;
    struct kube_client client;
    struct fleet *fleet;
    struct elector *elector;
    struct writer *writer;
    struct placement_decisions *controller;
    struct strand *planner;
    const struct planner *plans;
    struct kube_watch watches[FLEET_KINDS];
    struct started_timer timers[TIMERS];
    int64_t paused_until_ms;
    bool planned; /* since something was delivered */
};

static struct world *current; /* for what has no ctx */

/* It has seen all there is. */
static bool has_seen_all(const struct replica *r) {
    for (uint32_t k = 0; k < FLEET_KINDS; k++)
        if (!r->watches[k].listed || r->watches[k].expired ||
            r->watches[k].seen != r->world->store.kinds[k].log_count)
            return false;
    return true;
}

/* ---- timers ---- */

static void timer_cancel(struct kube_client *client, struct kube_timer *timer) {
    struct replica *r = client->replica;
    for (unsigned i = 0; i < TIMERS; i++)
        if (r->timers[i].timer == timer)
            r->timers[i].timer = NULL;
}

static void timer_start(struct kube_client *client, struct kube_timer *timer, int64_t delay_ms) {
    struct replica *r = client->replica;
    unsigned i = 0;
    timer_cancel(client, timer);
    while (i < TIMERS && r->timers[i].timer != NULL)
        i++;
    if (i == TIMERS)
        abort();
    r->timers[i] = (struct started_timer){timer, world_now(r->world) + delay_ms};
}

static void run_now(struct kube_client *client, void (*fn)(void *ctx), void *ctx) {
    (void)client;
    fn(ctx);
}

static int64_t wall_us(void) {
    return (current->wall_ms + world_now(current)) * 1000;
}

static int64_t server_us(struct kube_client *client) {
    (void)client;
    return wall_us();
}

static const struct kube_io played_io = {calls_start, calls_cancel, timer_start, timer_cancel,
                                         run_now,     wall_us,      server_us};

/* ---- watches: in the place of kube/watch/watch.c ---- */

static struct replica *starting; /* whose watches are started */

int kube_watch_start(struct kube_client *client, struct clock *clock,
                     const struct reflector_options *options, struct kube_watch **ret,
                     struct err *err) {
    static const char *const resources[FLEET_KINDS] = {[FLEET_CLUSTERS] = "/managedclusters",
                                                       [FLEET_SETS] = "/managedclustersets",
                                                       [FLEET_BINDINGS] =
                                                           "/managedclustersetbindings",
                                                       [FLEET_PLACEMENTS] = "/placements",
                                                       [FLEET_DECISIONS] = "/placementdecisions",
                                                       [FLEET_SCORES] = "/addonplacementscores",
                                                       [FLEET_NAMESPACES] = "/namespaces"};
    (void)client;
    (void)clock;
    for (uint32_t k = 0; k < FLEET_KINDS; k++)
        if (str_has_suffix(str_of(options->path), str_of(resources[k]))) {
            starting->watches[k] = (struct kube_watch){
                .replica = starting,
                .kind = k,
                .sink = options->sink,
                .at_ms = world_now(starting->world) + world_between(starting->world, 1, 50)};
            *ret = &starting->watches[k];
            return 0;
        }
    return err_set(err, -EINVAL, "nobody plays %s", options->path);
}

void kube_watch_free(struct kube_watch *w) {
    (void)w; /* the replica's */
}

void kube_watch_stats(struct kube_watch *w, struct reflector_stats *ret) {
    *ret =
        (struct reflector_stats){.synced = w->listed,
                                 .known = w->listed,
                                 .heard_ms = w->listed ? world_now(w->replica->world) : INT64_MIN,
                                 .events = w->events};
}

static void tell(struct kube_watch *watch, bool gone, const char *json) {
    struct err err = {0};
    const struct reflector_sink *sink = &watch->sink;
    const int r = gone ? sink->remove(sink->ctx, str_of(json), &err)
                       : sink->apply(sink->ctx, str_of(json), &err);
    if (r != 0)
        world_fail(watch->replica->world, "an object was not taken: %s", err.text);
    watch->events++;
}

/* `limit`: given up after so many objects. */
static void list(struct kube_watch *watch, uint32_t limit) {
    struct store_kind *k = &watch->replica->world->store.kinds[watch->kind];
    watch->sink.sync_begin(watch->sink.ctx);
    for (uint32_t i = 0; i < k->count && i < limit; i++) {
        char *json = cJSON_PrintUnformatted(k->objects[i]);
        tell(watch, false, json);
        free(json);
    }
    if (limit < k->count)
        return;
    watch->sink.sync_end(watch->sink.ctx);
    watch->listed = true;
    watch->expired = false;
    watch->seen = k->log_count;
    watch->seen_version = watch->replica->world->store.version;
}

static void deliver(struct kube_watch *watch) {
    const struct store_kind *k = &watch->replica->world->store.kinds[watch->kind];
    const uint32_t most = 1 + (uint32_t)world_below(watch->replica->world, 8);
    for (uint32_t i = 0; i < most && watch->seen < k->log_count; i++) {
        const struct change *change = &k->log[watch->seen++];
        tell(watch, change->gone, change->json);
        watch->seen_version = change->version;
    }
    if (watch->seen == k->log_count)
        watch->seen_version = watch->replica->world->store.version;
}

static void watch_step(struct kube_watch *watch) {
    struct replica *r = watch->replica;
    struct world *w = r->world;
    const bool bad = w->hostility > 0;
    r->planned = false;
    watch->at_ms = world_now(w) + world_between(w, 0, bad ? 60 : 5);
    if (!watch->listed || watch->expired) {
        const uint32_t count = w->store.kinds[watch->kind].count;
        const bool gives_up = bad && count > 0 && world_chance(w, 200);
        if (gives_up)
            happen(w, LISTING_GIVEN_UP);
        list(watch, gives_up ? (uint32_t)world_below(w, count) : UINT32_MAX);
        return;
    }
    if (bad && world_chance(w, 10)) {
        happen(w, WATCH_EXPIRED);
        watch->expired = true;
        return;
    }
    if (bad && world_chance(w, 15)) {
        happen(w, WATCH_LAGS);
        watch->at_ms = world_now(w) + world_between(w, 100, 15000);
        return;
    }
    deliver(watch);
}

void replica_lag(struct replica *r) {
    const int64_t until_ms = world_now(r->world) + world_between(r->world, 100, 15000);
    for (uint32_t k = 0; k < FLEET_KINDS; k++)
        r->watches[k].at_ms = until_ms;
    happen(r->world, WATCH_LAGS);
}

static bool has_news(const struct kube_watch *watch) {
    return !watch->listed || watch->expired ||
           watch->seen < watch->replica->world->store.kinds[watch->kind].log_count;
}

/* ---- what its planner keeps in mind ---- */

static struct planner *newest_planner;

/* The linker puts it in the place of what it is called after (--wrap). */
int __real_planner_new(const struct planner_options *options, struct planner **ret,
                       struct err *err);
int __wrap_planner_new(const struct planner_options *options, struct planner **ret,
                       struct err *err);

int __wrap_planner_new(const struct planner_options *options, struct planner **ret,
                       struct err *err) {
    int r = __real_planner_new(options, ret, err);
    newest_planner = r == 0 ? *ret : NULL;
    return r;
}

static const struct wish *wish_of(const struct world *w, const struct planner_record *r) {
    for (unsigned i = 0; i < w->wish_count; i++)
        if (str_eq(planner_key_of(strbuf_str(&r->name)).name, str_of(w->wishes[i].name)))
            return &w->wishes[i];
    return NULL;
}

/* OCM has filled up the Placement with others than one that it refuses, and will say no more; which
 * has been said. */
static bool may_differ(const struct world *w, const struct wish *wish) {
    const cJSON *c = check_condition(placement_of(w, wish), "SpreadSatisfied");
    return wish->picky && !(wish->terms & TERM_ZONE_HARD) &&
           strcmp(text_in(c, "reason"), "Outweighed") == 0;
}

bool replica_asks(const struct replica *r) {
    const struct planner *p = r->plans;
    bool asks = false;
    for (POOL_EACH(&p->records, id)) {
        const struct planner_record *record = planner_record(p, id);
        const struct wish *wish = wish_of(r->world, record);
        asks = asks || (record->owned.asks && wish != NULL && wish_is_scored(r->world, wish) &&
                        !may_differ(r->world, wish));
    }
    return asks;
}

bool replica_target(const struct replica *r, const struct wish *wish, uint8_t *ret) {
    const struct planner *p = r->plans;
    bool has = false;
    memset(ret, 0, r->world->cluster_count);
    for (POOL_EACH(&p->records, id)) {
        const struct owned *o = &planner_record(p, id)->owned;
        const struct str names = strbuf_str(&o->target);
        if (wish_of(r->world, planner_record(p, id)) != wish || !o->has_target)
            continue;
        has = true;
        for (size_t at = 0; at < names.n; at += strlen(names.p + at) + 1) {
            const uint32_t c = cluster_number(names.p + at);
            if (c < r->world->cluster_count)
                ret[c] = 1;
        }
    }
    return has;
}

int64_t replica_left_out(const struct replica *r, const struct wish *wish, uint8_t *ret) {
    const struct planner *p = r->plans;
    int64_t next_ms = INT64_MAX;
    memset(ret, 0, r->world->cluster_count);
    for (POOL_EACH(&p->records, id)) {
        const struct planner_record *record = planner_record(p, id);
        const struct owned *o = &record->owned;
        for (uint32_t i = 0; wish_of(r->world, record) == wish && i < o->refused_count; i++) {
            char name[16] = "";
            const struct str of = strbuf_str(&o->refused[i].name);
            memcpy(name, of.p, of.n < sizeof name ? of.n : 0);
            const uint32_t c = cluster_number(name);
            if (c >= r->world->cluster_count)
                continue;
            const int64_t left_ms = o->refused[i].until_ms - world_now(r->world);
            ret[c] = left_ms > 0;
            if (left_ms > -SETTLES_MS && o->refused[i].until_ms < next_ms)
                next_ms = o->refused[i].until_ms;
        }
    }
    return next_ms;
}

const char *replica_keeps(const struct replica *r) {
    const struct planner *p = r->plans;
    const struct planner_metrics *m = &p->metrics;
    const struct {
        const struct metric *gauge;
        const char *name;
    } gauges[] = {{&m->placements[0][0], "a Placement in mode Owner, by a policy"},
                  {&m->placements[0][1], "a Placement in mode Owner"},
                  {&m->placements[1][0], "a Placement in mode Scores, by a policy"},
                  {&m->placements[1][1], "a Placement in mode Scores"},
                  {&m->waiting, "moves that wait"},
                  {&m->skewed, "skewed Placements"},
                  {&m->refused, "refused clusters"}};
    for (unsigned i = 0; i < sizeof gauges / sizeof gauges[0]; i++)
        if (gauges[i].gauge->value != 0)
            return gauges[i].name;
    for (POOL_EACH(&p->records, id))
        if (planner_key_of(strbuf_str(&planner_record(p, id)->name)).name.n > 0)
            return "a record";
    return NULL;
}

/* ---- the process ---- */

static bool is_synced(void *ctx) {
    const struct replica *r = ctx;
    return informer_complete(fleet_informer(r->fleet));
}

static bool begin(struct replica *r) {
    struct world *w = r->world;
    char identity[40];
    (void)snprintf(identity, sizeof identity, "replica-%u-%llu", r->number,
                   (unsigned long long)w->steps); /* no two are the same */
    const struct elector_options election = {.client = &r->client,
                                             .clock = &w->clock.clock,
                                             .io = &played_io,
                                             .lease = {.namespace = "evenkeel",
                                                       .name = "evenkeel-ocm",
                                                       .identity = identity,
                                                       .seed = 1 + world_below(w, 1000000)}};
    const struct writer_options writing = {.client = &r->client,
                                           .clock = &w->clock.clock,
                                           .io = &played_io,
                                           .limits = {8, 200, 100, 1 + world_below(w, 1000000)}};
    const struct informer_watch watching = {.client = &r->client, .clock = &w->clock.clock};
    if (fleet_new(&r->fleet, NULL) != 0 || elector_new(&election, &r->elector, NULL) != 0 ||
        writer_new(&writing, &r->writer, NULL) != 0)
        return false;
    const struct placement_decisions_options options = {.fleet = r->fleet,
                                                        .is_synced = is_synced,
                                                        .ctx = r,
                                                        .client = &r->client,
                                                        .writer = r->writer,
                                                        .elector = r->elector,
                                                        .settings = {.mode = w->by_default,
                                                                     .moves = w->moves,
                                                                     .shards = SHARDS,
                                                                     .refused_after_ms = 30000,
                                                                     .refused_ms = 600000},
                                                        .clock = &w->clock.clock,
                                                        .io = &played_io};
    starting = r;
    if (placement_decisions_start(&options, &r->controller, NULL) != 0)
        return false;
    r->planner = strand_take_new();
    r->plans = newest_planner;
    fair_use(w, r->number, r->plans);
    return informer_watch(fleet_informer(r->fleet), &watching, NULL) == 0;
}

struct replica *replica_new(struct world *w, unsigned number) {
    struct replica *r = calloc(1, sizeof *r);
    current = w;
    if (r == NULL)
        abort();
    r->world = w;
    r->number = number;
    r->client = (struct kube_client){w, r, number};
    r->paused_until_ms = INT64_MIN;
    if (!begin(r))
        abort();
    return r;
}

/* Killed: what it has sent goes on, and its Lease is left to expire. */
void replica_free(struct replica *r) {
    if (r == NULL)
        return;
    informer_stop(fleet_informer(r->fleet));
    placement_decisions_free(r->controller);
    writer_free(r->writer);
    elector_free(r->elector);
    fleet_free(r->fleet);
    free(r);
}

void replica_pause(struct replica *r, int64_t until_ms) {
    r->paused_until_ms = until_ms;
}

bool replica_is_paused(const struct replica *r) {
    return world_now(r->world) < r->paused_until_ms;
}

bool replica_leads(const struct replica *r) {
    return elector_leads(r->elector);
}

/* A watch that has nothing to say says so by being quick. */
static uint64_t version_seen(const struct kube_watch *watch) {
    const struct world *w = watch->replica->world;
    const bool all = watch->listed && watch->seen == w->store.kinds[watch->kind].log_count;
    return all ? w->store.version : watch->listed ? watch->seen_version : 0;
}

uint64_t replica_version(const struct replica *r) {
    uint64_t least = r->planned ? UINT64_MAX : 0;
    for (uint32_t k = 0; k < FLEET_KINDS; k++) {
        const uint64_t version = version_seen(&r->watches[k]);
        least = version < least ? version : least;
    }
    return least;
}

bool replica_is_fresh(const struct replica *r) {
    return r->planned && has_seen_all(r);
}

bool replica_is_idle(const struct replica *r) {
    return replica_is_fresh(r) && strand_waits(r->planner);
}

/* What it does next: a timer, a watch or, with neither, its planner. */
struct due {
    int64_t at_ms;
    struct started_timer *timer;
    struct kube_watch *watch;
};

static struct due find_due(struct replica *r) {
    struct due due = {.at_ms = strand_at_ms(r->planner)};
    for (unsigned i = 0; i < TIMERS; i++)
        if (r->timers[i].timer != NULL && r->timers[i].at_ms < due.at_ms)
            due = (struct due){r->timers[i].at_ms, &r->timers[i], NULL};
    for (uint32_t k = 0; k < FLEET_KINDS; k++) {
        struct kube_watch *watch = &r->watches[k];
        if (has_news(watch) && watch->at_ms < due.at_ms)
            due = (struct due){watch->at_ms, NULL, watch};
    }
    return due;
}

int64_t replica_at_ms(struct replica *r) {
    const int64_t at_ms = find_due(r).at_ms;
    return at_ms > r->paused_until_ms ? at_ms : r->paused_until_ms;
}

void replica_step(struct replica *r) {
    const struct due due = find_due(r);
    if (due.watch != NULL) {
        watch_step(due.watch);
    } else if (due.timer != NULL) {
        struct kube_timer *timer = due.timer->timer;
        due.timer->timer = NULL;
        timer->fn(timer->ctx);
    } else {
        strand_run(r->planner);
        r->planned = r->planned || strand_waits(r->planner);
    }
}
