/*
 * What is behind the API: a store with a history, as etcd has one, and two API servers in front of
 * it whose watch caches may lag behind.
 *
 * Revisions are numbers here and opaque text outside: server_version() writes one in the way of
 * this seed, which need not look like a number. The history can be compacted (what is older cannot
 * be asked for) and it can be lost: after a restore from a backup the same revisions come again for
 * other changes.
 */
#pragma once

#include "sim/things.h"

struct sim;

enum { SIM_REPLICAS = 2 };

struct change {
    uint64_t revision;
    enum object_kind kind;
    uint32_t slot;
    struct thing before, after;
};

/* How this seed's server behaves, faults apart. */
enum watch_list_support { WATCH_LIST_KNOWN, WATCH_LIST_REFUSED, WATCH_LIST_IGNORED };
enum version_form { VERSION_DECIMAL, VERSION_HUGE, VERSION_AWKWARD, VERSION_SHUFFLED, VERSIONS };
struct traits {
    enum watch_list_support watch_list;
    enum version_form version_form;
    bool pages_any;        /* pages a list even when resourceVersion=0 is asked for */
    uint32_t page_objects; /* of a page at most, whatever limit says */
    int64_t bookmark_ms;   /* between two of them; 0: none */
    int64_t watch_longest_ms;
    int64_t answer_ms;      /* until it answers, at most */
    int64_t change_ms;      /* between changes, on average */
    bool crlf, odd_members; /* of all its lines and objects */
};

struct replica {
    uint32_t applied; /* changes of the history */
    uint64_t revision;
    int64_t catch_up_ms; /* INT64_MAX: nothing to catch up with */
    int64_t stuck_until_ms;
};

struct server {
    struct traits traits;
    struct thing things[OBJECT_KINDS][SIM_SLOTS]; /* as of `revision` */
    uint64_t revision, compacted, restored;       /* the last: that of the backup it came from */
    uint32_t epoch;                               /* histories lost so far */
    uint32_t incarnations;
    struct change *history; /* owned */
    uint32_t count, cap;
    struct replica replicas[SIM_REPLICAS];
    int64_t next_change_ms;
    int64_t down_until_ms;
    bool quiet; /* nothing changes */
};

void server_init(struct sim *s);
void server_done(struct server *server);

/* When server_step() has something to do. */
int64_t server_next_ms(const struct server *server);
void server_step(struct sim *s);

/* Changes one object, and tells the replicas to catch up in a moment. */
void server_change(struct sim *s);
/* Brings a replica, by its number, up to date at once; its watches hear of it. */
void server_catch_up(struct sim *s, uint32_t number);
/* Everything older than `revision` cannot be had any more. */
void server_compact(struct server *server, uint64_t revision);
/* Back to what was at `revision`, which is not compacted; all that came later never happened. */
void server_restore(struct sim *s, uint64_t revision);

/* The things of a kind as of a revision that is not compacted. */
void server_state(const struct server *server, enum object_kind kind, uint64_t revision,
                  struct thing ret[SIM_SLOTS]);

/* A revision as text; and back: false if it is none that the server ever wrote. */
void server_version(const struct server *server, uint64_t revision, struct strbuf *out);
bool server_revision(const struct server *server, struct str version, uint64_t *ret);
