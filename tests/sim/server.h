/*
 * The simulated server: a store with a history, like etcd, and two API servers in front of it,
 * whose watch caches may be late.
 *
 * Revisions are numbers here and opaque text outside: server_version() writes a revision in the
 * form of this seed, which may not look like a number. The history can be compacted (what is older
 * cannot be asked for) and it can be lost: after a restore from a backup the same revisions come
 * again for other changes.
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

/* The behaviour of this seed's server, without its faults. */
enum watch_list_support { WATCH_LIST_KNOWN, WATCH_LIST_REFUSED, WATCH_LIST_IGNORED };
enum version_form { VERSION_DECIMAL, VERSION_HUGE, VERSION_AWKWARD, VERSION_SHUFFLED, VERSIONS };
struct traits {
    enum watch_list_support watch_list;
    enum version_form version_form;
    bool pages_any;        /* pages a list even when resourceVersion=0 is asked for */
    uint32_t page_objects; /* most objects of a page, even if the request's limit is larger */
    int64_t bookmark_ms;   /* time between two bookmarks; 0: no bookmarks */
    int64_t watch_longest_ms;
    int64_t answer_ms;      /* the longest time until the server answers */
    int64_t change_ms;      /* mean time between two changes */
    bool crlf, odd_members; /* for all lines and objects of the server */
};

struct replica {
    uint32_t applied; /* number of the history's changes that the replica has */
    uint64_t revision;
    int64_t catch_up_ms; /* INT64_MAX: nothing to catch up with */
    int64_t stuck_until_ms;
};

struct server {
    struct traits traits;
    struct thing things[OBJECT_KINDS][SIM_SLOTS]; /* as of `revision` */
    uint64_t revision, compacted,
        restored;   /* restored: the revision of the backup from which the server was restored */
    uint32_t epoch; /* number of lost histories */
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

/* Returns the time when server_step() has something to do. */
int64_t server_next_ms(const struct server *server);
void server_step(struct sim *s);

/* Changes one object, and makes the replicas catch up a moment later. */
void server_change(struct sim *s);
/* Brings the replica with this number up to date at once; its watches get the changes. */
void server_catch_up(struct sim *s, uint32_t number);
/* Makes everything older than `revision` unavailable. */
void server_compact(struct server *server, uint64_t revision);
/* Restores the state at `revision`, which must not be compacted; later changes are lost. */
void server_restore(struct sim *s, uint64_t revision);

/* Returns the things of a kind at a revision that is not compacted. */
void server_state(const struct server *server, enum object_kind kind, uint64_t revision,
                  struct thing ret[SIM_SLOTS]);

/* Convert a revision to text, and back. server_revision() returns false if the server never wrote
 * the text. */
void server_version(const struct server *server, uint64_t revision, struct strbuf *out);
bool server_revision(const struct server *server, struct str version, uint64_t *ret);
