/* What a planner keeps; only files of this folder include it. */
#pragma once

#include "base/hashmap.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/pool.h"
#include "base/turns.h"
#include "hub/denied_objects.h"
#include "hub/planner.h"
#include "hub/score_sweep.h"

/* How a Placement counts. */
struct planner_counts {
    bool owned, scored, own_terms, skewed;
    uint32_t waiting, refused;
};

struct planner_metrics {
    struct metric placements[2][2]; /* by mode, and whether terms are the Placement's own */
    struct metric plans[3];         /* decided, kept, failed */
    struct metric duration;
    struct metric moves[MOVED_REASONS];
    struct metric waiting, skewed, refused;
    char labels[4 + 3 + MOVED_REASONS][48];
};
void planner_metrics_start(struct planner_metrics *m);
void planner_metrics_stop(struct planner_metrics *m);
void planner_metrics_replace(struct planner_metrics *m, const struct planner_counts *before,
                             const struct planner_counts *now);
void planner_metrics_look(struct planner_metrics *m, const struct owned_answer *a,
                          int64_t duration_ns);

/* ---- records: planner_records.c ---- */

/* What the writer has done with a write, until the planner's thread looks. */
struct planner_news {
    bool taken, ended;
    struct owned_write write; /* that was taken, without path and body */
    int64_t taken_ms, ended_ms;
    enum write_end end;
    int status;
};

struct planner_record {
    uint32_t id;
    struct strbuf name; /* "NAMESPACE/NAME"; "/": the sweep of scores, which is no Placement */
    struct turn dirty;  /* waits there until it is planned */
    bool offered;       /* it is in the list of what is to be written, by `next` */
    bool urgent;        /* it is on its way from clusters that do not fit any more */
    bool planned;       /* it was looked at */
    uint32_t next;
    uint32_t failures;          /* of its last looks, in a row */
    uint64_t takes;             /* counted */
    struct owned_write pending; /* to be taken */
    struct planner_news news;
    bool has_key;
    struct injected_key key; /* of its items: planner_scored() finds it by that */
    bool has_noted_key;      /* the one in its annotation, whose items are in use as well */
    struct injected_key noted_key;
    struct strbuf waits; /* "CLUSTER/RESOURCE" of an AddOnPlacementScore that it wants to write, or
                            has written and not seen; others that wait for the same are behind the
                            first, which is indexed */
    uint32_t next_waiting; /* POOL_NONE: none */
    uint64_t written;      /* the version of that object that its last write is about: a hash; 0: it
                              has none under way or to be seen */
    bool under_way;        /* a write of it has not ended: it stays, and takes no other */
    uint32_t next_joined;  /* the next whose item is in the same write; POOL_NONE: none */
    /* The thread's. */
    struct owned owned;
    struct planner_counts counts;
    int64_t wake_ms; /* INT64_MAX: it does not wait for a time */
};

struct planner {
    struct planner_options options;
    pthread_t thread;
    struct mutex mutex; /* guards what is below */
    struct condition wake;
    bool stopping, leads, restart, all_dirty;
    struct pool records;                      /* records are freed by the thread alone */
    struct hashmap index, by_key, by_waiting; /* of records */
    struct turns dirty;                       /* by namespace: to be planned */
    uint32_t first_ready, last_ready;         /* to be written; POOL_NONE */
    struct denied_objects denied;
    int64_t again_ms; /* when all are marked again, because there was no memory; INT64_MAX: not */
    /* The thread's. */
    struct arena arena;
    struct policies *held;
    int64_t next_wake_ms, slowest_ms, answered_ms;
    int64_t rest_until_ms; /* until then those who have lost a turn are not planned */
    struct score_sweep sweep;
    struct planner_metrics metrics;
};

/* Of a Placement. */
struct planner_key {
    struct str namespace, name;
};
struct planner_key planner_key_of(struct str text);

static inline struct planner_record *planner_record(const struct planner *p, uint32_t id) {
    return pool_at(&p->records, id);
}

/* The mutex is held for all of these. */

/* POOL_NONE: there is none. */
uint32_t planner_find(const struct planner *p, struct planner_key key);
/* It is to be written, and was not before. */
void planner_offer(struct planner *p, uint32_t id);
/* The first that is; POOL_NONE: none is. */
uint32_t planner_take_offer(struct planner *p);
/* Whose turn it is to be planned; POOL_NONE: nobody's. */
uint32_t planner_take_dirty(struct planner *p);
void planner_mark(struct planner *p, uint32_t id);
/* One that is not known is made. */
void planner_mark_name(struct planner *p, struct planner_key key);
/* Makes the sweep look at all scores, when it is its turn. */
void planner_mark_sweep(struct planner *p);
void planner_drop(struct planner *p, uint32_t id);
/* Takes what is to be written of this Placement, and for an AddOnPlacementScore what all others
 * want of it: planner_take.c. */
void planner_take_write(struct planner *p, uint32_t id, const struct fleet_view *v,
                        struct write *ret);
/* Tells it and those that have joined its last write how that has ended. */
void planner_end_write(struct planner *p, uint32_t id, const struct write_result *result);
/* The first that waits for this object; the others follow by next_waiting. POOL_NONE: nobody. */
uint32_t planner_first_waiting(const struct planner *p, struct str object);
void planner_mark_waiting(struct planner *p, struct str object);
/* Under which key planner_scored() finds it, and which object it waits for ("": none). */
void planner_set_key(struct planner *p, uint32_t id, const struct injected_key *key,
                     const struct injected_key *noted);
void planner_set_waits(struct planner *p, uint32_t id, struct str object);
