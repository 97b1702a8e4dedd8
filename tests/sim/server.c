#include "sim/server.h"

#include "sim/sim.h"
#include "sim/watch.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST_REVISION = 1000, CATCH_UP_MS = 200 };

/* ---- versions ---- */

/* Multiplying by this (modulo 2^64) and by its inverse undo each other. */
#define SHUFFLE 0x9e3779b97f4a7c15u
#define UNSHUFFLE 0xf1de83e19937733du
/* Beyond what a double holds exactly. */
#define HUGE_OFFSET 9007199254740993u

void server_version(const struct server *server, uint64_t revision, struct strbuf *out) {
    unsigned long long number = revision;
    switch (server->traits.version_form) {
    case VERSION_HUGE:
        strbuf_appendf(out, "%llu", number + HUGE_OFFSET);
        break;
    case VERSION_AWKWARD: /* what must be escaped: in JSON, in a URL, in both */
        strbuf_appendf(out, "v&\"%llu\\ +%%41/\303\251=?#<x>", number);
        break;
    case VERSION_SHUFFLED:
        strbuf_appendf(out, "%016llx", number * SHUFFLE);
        break;
    default:
        strbuf_appendf(out, "%llu", number);
    }
}

/* Reads the number and proves it by writing it again. */
bool server_revision(const struct server *server, struct str version, uint64_t *ret) {
    char text[64];
    unsigned long long number = 0;
    if (version.n == 0 || version.n >= sizeof text)
        return false;
    memcpy(text, version.p, version.n);
    text[version.n] = '\0';
    switch (server->traits.version_form) {
    case VERSION_HUGE:
        number = strtoull(text, NULL, 10) - HUGE_OFFSET;
        break;
    case VERSION_AWKWARD:
        number = version.n > 3 ? strtoull(text + 3, NULL, 10) : 0;
        break;
    case VERSION_SHUFFLED:
        number = strtoull(text, NULL, 16) * UNSHUFFLE;
        break;
    default:
        number = strtoull(text, NULL, 10);
    }
    struct strbuf again = {.max = 4096};
    server_version(server, number, &again);
    bool same = str_eq(strbuf_str(&again), version);
    strbuf_done(&again);
    *ret = number;
    return same;
}

/* ---- history ---- */

static void record(struct server *server, const struct change *change) {
    if (server->count == server->cap) {
        server->cap = server->cap == 0 ? 256 : server->cap * 2;
        server->history = realloc(server->history, server->cap * sizeof *server->history);
        if (server->history == NULL)
            abort();
    }
    server->history[server->count++] = *change;
}

void server_state(const struct server *server, enum object_kind kind, uint64_t revision,
                  struct thing ret[SIM_SLOTS]) {
    memcpy(ret, server->things[kind], sizeof server->things[kind]);
    for (uint32_t i = server->count; i > 0 && server->history[i - 1].revision > revision; i--)
        if (server->history[i - 1].kind == kind)
            ret[server->history[i - 1].slot] = server->history[i - 1].before;
}

void server_compact(struct server *server, uint64_t revision) {
    if (revision > server->compacted)
        server->compacted = revision;
}

void server_restore(struct sim *s, uint64_t revision) {
    struct server *server = &s->server;
    while (server->count > 0 && server->history[server->count - 1].revision > revision) {
        const struct change *last = &server->history[--server->count];
        server->things[last->kind][last->slot] = last->before;
    }
    server->revision = server->restored = revision;
    server->epoch++;
    for (uint32_t i = 0; i < SIM_REPLICAS; i++)
        server->replicas[i] = (struct replica){
            .applied = server->count, .revision = revision, .catch_up_ms = INT64_MAX};
}

/* ---- changes ---- */

static enum object_kind random_kind(struct sim *s) {
    static const enum object_kind often[] = {
        OBJECT_POD,         OBJECT_POD,          OBJECT_POD,     OBJECT_POD,
        OBJECT_POD,         OBJECT_POD,          OBJECT_NODE,    OBJECT_NODE,
        OBJECT_NAMESPACE,   OBJECT_SERVICE,      OBJECT_SERVICE, OBJECT_REPLICATION_CONTROLLER,
        OBJECT_REPLICA_SET, OBJECT_STATEFUL_SET,
    };
    return often[sim_below(s, sizeof often / sizeof often[0])];
}

static void random_labels(struct sim *s, struct thing *thing) {
    for (uint32_t key = 0; key < SIM_LABELS; key++)
        thing->labels[key] = (int8_t)sim_between(s, -1, SIM_LABEL_VALUES - 1);
}

/* Ten nodes for eight slots: some pods are bound to nodes that never exist. */
static uint8_t random_node(struct sim *s) {
    return (uint8_t)sim_below(s, thing_slots(OBJECT_NODE) + 2);
}

static void create(struct sim *s, struct thing *thing) {
    *thing = (struct thing){.exists = true,
                            .node = sim_chance(s, 500) ? random_node(s) : SIM_NO_NODE,
                            .tainted = sim_chance(s, 300),
                            .selector = (uint8_t)sim_below(s, SIM_SELECTORS),
                            .incarnation = ++s->server.incarnations};
    random_labels(s, thing);
}

static void modify_pod(struct sim *s, struct thing *thing) {
    if (thing->node == SIM_NO_NODE)
        thing->node = random_node(s);
    else if (sim_chance(s, 400))
        random_labels(s, thing);
    else if (sim_chance(s, 300))
        thing->terminating = true;
    else if (thing->phase == PHASE_PENDING)
        thing->phase = PHASE_RUNNING;
    else if (thing->phase == PHASE_RUNNING && sim_chance(s, 500))
        thing->phase = sim_chance(s, 500) ? PHASE_SUCCEEDED : PHASE_FAILED;
}

static void modify(struct sim *s, enum object_kind kind, struct thing *thing) {
    if (kind == OBJECT_POD) {
        modify_pod(s, thing);
        return;
    }
    if (sim_chance(s, 700))
        random_labels(s, thing);
    if (sim_chance(s, 300))
        thing->tainted = !thing->tainted;
    if (sim_chance(s, 500))
        thing->selector = (uint8_t)sim_below(s, SIM_SELECTORS);
}

static void random_bulk(struct sim *s, enum object_kind kind, struct thing *thing) {
    thing->bulk = BULK_ORDINARY;
    if (fault_happens(s, FAULT_LARGE, 300)) {
        thing->bulk = BULK_LARGE;
        fault_hit(s, FAULT_LARGE);
    } else if (kind == OBJECT_SERVICE && fault_happens(s, FAULT_OVERSIZED, 1500)) {
        thing->bulk = BULK_OVERSIZED;
        fault_hit(s, FAULT_OVERSIZED);
    } else if (fault_happens(s, FAULT_LABELLED, 3000)) {
        thing->bulk = BULK_LABELLED;
        fault_hit(s, FAULT_LABELLED);
    } else if (fault_happens(s, FAULT_REFUSED_OBJECT, 40000)) {
        thing->bulk = BULK_REFUSED;
        fault_hit(s, FAULT_REFUSED_OBJECT);
    }
}

void server_change(struct sim *s) {
    struct server *server = &s->server;
    enum object_kind kind = random_kind(s);
    uint32_t slot = (uint32_t)sim_below(s, thing_slots(kind));
    struct thing *thing = &server->things[kind][slot];
    struct change change = {.kind = kind, .slot = slot, .before = *thing};
    if (!thing->exists)
        create(s, thing);
    else if (sim_chance(s, thing->phase >= PHASE_SUCCEEDED ? 700 : 200))
        thing->exists = false;
    else
        modify(s, kind, thing);
    if (thing->exists)
        random_bulk(s, kind, thing);
    /* other resources use up revisions, too */
    server->revision += sim_chance(s, 500) ? 1 : (uint64_t)sim_between(s, 1, 5);
    thing->revision = change.revision = server->revision;
    change.after = *thing;
    record(server, &change);
    sim_trace(s, "server: %s %u %s at %llu", thing_resource(kind), slot,
              !change.before.exists ? "created"
              : thing->exists       ? "changed"
                                    : "deleted",
              (unsigned long long)server->revision);
    for (uint32_t i = 0; i < SIM_REPLICAS; i++)
        if (server->replicas[i].catch_up_ms == INT64_MAX)
            server->replicas[i].catch_up_ms = sim_now(s) + sim_between(s, 1, CATCH_UP_MS);
}

/* ---- replicas ---- */

void server_catch_up(struct sim *s, uint32_t number) {
    struct server *server = &s->server;
    struct replica *replica = &server->replicas[number];
    replica->catch_up_ms = INT64_MAX;
    replica->revision = server->revision;
    while (replica->applied < server->count)
        watches_change(s, number, replica->applied++);
}

static void catch_up_or_wait(struct sim *s, uint32_t number) {
    struct replica *replica = &s->server.replicas[number];
    if (sim_now(s) < replica->catch_up_ms)
        return;
    if (sim_now(s) < replica->stuck_until_ms && !s->faults.calm)
        replica->catch_up_ms = replica->stuck_until_ms;
    else
        server_catch_up(s, number);
}

/* ---- life ---- */

static void choose_traits(struct sim *s) {
    static const int64_t changes_ms[] = {500, 3000, 20000, 100000};
    struct traits *traits = &s->server.traits;
    *traits = (struct traits){
        .watch_list = sim_chance(s, 600)   ? WATCH_LIST_KNOWN
                      : sim_chance(s, 900) ? WATCH_LIST_REFUSED
                                           : WATCH_LIST_IGNORED,
        .version_form = (enum version_form)sim_below(s, VERSIONS),
        .pages_any = sim_chance(s, 400),
        .page_objects = (uint32_t)sim_between(s, 2, 30),
        .bookmark_ms = sim_chance(s, 900) ? sim_between(s, 20000, 60000) : 0,
        .watch_longest_ms = sim_chance(s, 800) ? INT64_MAX : sim_between(s, 5000, 100000),
        .answer_ms = sim_chance(s, 900) ? 50 : sim_between(s, 100, 20000),
        .change_ms = changes_ms[sim_below(s, sizeof changes_ms / sizeof changes_ms[0])],
        .crlf = sim_chance(s, 100),
        .odd_members = sim_chance(s, 100),
    };
}

void server_init(struct sim *s) {
    s->server = (struct server){.revision = FIRST_REVISION};
    choose_traits(s);
    for (uint32_t i = 0; i < SIM_REPLICAS; i++)
        s->server.replicas[i] = (struct replica){.catch_up_ms = INT64_MAX};
    uint64_t changes = sim_below(s, 150);
    for (uint64_t i = 0; i < changes; i++)
        server_change(s);
    for (uint32_t i = 0; i < SIM_REPLICAS; i++)
        server_catch_up(s, i);
}

void server_done(struct server *server) {
    free(server->history);
    server->history = NULL;
}

int64_t server_next_ms(const struct server *server) {
    int64_t next = server->quiet ? INT64_MAX : server->next_change_ms;
    for (uint32_t i = 0; i < SIM_REPLICAS; i++)
        if (server->replicas[i].catch_up_ms < next)
            next = server->replicas[i].catch_up_ms;
    return next;
}

void server_step(struct sim *s) {
    struct server *server = &s->server;
    int64_t now_ms = sim_now(s);
    for (uint32_t i = 0; i < SIM_REPLICAS; i++)
        catch_up_or_wait(s, i);
    if (server->quiet || now_ms < server->next_change_ms)
        return;
    uint64_t burst = sim_chance(s, 100) ? 20 : 1;
    for (uint64_t i = 0; i < burst; i++)
        if (now_ms >= server->down_until_ms)
            server_change(s);
    server->next_change_ms =
        now_ms + 1 + (int64_t)sim_below(s, (uint64_t)server->traits.change_ms * 2);
}
