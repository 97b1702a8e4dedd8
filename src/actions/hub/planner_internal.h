/* The state of a planner; only files of this folder include it. */
#pragma once

#include "base/hashmap.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/pool.h"
#include "base/turns.h"
#include "hub/denied_objects.h"
#include "hub/planner.h"
#include "hub/scored_sweep.h"

/* The share of one Placement in the metrics. */
struct planner_counts {
    bool owned, scored, own_terms, skewed;
    uint32_t waiting, refused;
};

struct planner_metrics {
    struct metric placements[2][2]; /* by mode, and by the source of the terms: a policy, or the
                                       Placement itself */
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

/* Reports of the writer about a write, until the planner's thread reads them. */
struct planner_news {
    bool taken, ended;
    struct owned_write write; /* the write that was taken, without path and body */
    int64_t taken_ms, ended_ms;
    enum write_end end;
    int status;
};

struct planner_record {
    uint32_t id;
    struct strbuf name; /* "NAMESPACE/NAME"; "/": the sweep of scores, which is no Placement */
    struct turn dirty;  /* waits in planner.dirty until it is planned */
    bool offered;       /* is in the list of pending writes, linked by `next` */
    bool urgent;        /* the Placement leaves clusters that no longer fit */
    bool planned;       /* was planned at least once */
    uint32_t next;
    uint32_t failures;          /* failed plans in a row */
    uint64_t takes;             /* writes that were taken */
    struct owned_write pending; /* the write that the writer has not taken yet */
    struct planner_news news;
    bool has_key;
    struct injected_key key; /* key of the Placement's items; planner_scored() finds the record by
                                this key */
    bool has_noted_key;      /* the key in its annotation, whose items are in use, too */
    struct injected_key noted_key;
    struct strbuf waits; /* "CLUSTER/RESOURCE" of an AddOnPlacementScore that the Placement wants to
                            write, or has written and not seen; the index has the first record that
                            waits for it, the others follow */
    uint32_t next_waiting; /* POOL_NONE: none */
    uint64_t written;      /* hash of the object's version from which its last write was made; 0: no
                              write is under way or unseen */
    bool under_way;        /* its write has not ended: keep it, take no other */
    uint32_t next_joined;  /* the next record that shares the write; POOL_NONE: none */
    /* For the thread alone. */
    struct owned owned;
    struct planner_counts counts;
    int64_t wake_ms; /* INT64_MAX: waits for no time */
};

struct planner {
    struct planner_options options;
    pthread_t thread;
    struct mutex mutex; /* guards the members below */
    struct condition wake;
    bool stopping, leads, restart, all_dirty;
    struct pool records;                      /* records are freed by the thread alone */
    struct hashmap index, by_key, by_waiting; /* indexes of records */
    struct turns dirty;                       /* Placements to plan, by namespace */
    uint32_t first_ready, last_ready;         /* list of pending writes; POOL_NONE: it is empty */
    struct denied_objects denied;
    int64_t again_ms; /* when to mark all again after a lack of memory; INT64_MAX: never */
    /* For the thread alone. */
    struct arena arena;
    struct policies *held;
    int64_t next_wake_ms, slowest_ms, answered_ms;
    int64_t rest_until_ms; /* before this time, namespaces that lost a turn are not planned */
    struct score_sweep sweep;
    struct planner_metrics metrics;
};

/* The name of a Placement. */
struct planner_key {
    struct str namespace, name;
};
struct planner_key planner_key_of(struct str text);

static inline struct planner_record *planner_record(const struct planner *p, uint32_t id) {
    return pool_at(&p->records, id);
}

/* Call all of these with the mutex held. */

/* Returns POOL_NONE if the Placement has no record. */
uint32_t planner_find(const struct planner *p, struct planner_key key);
/* Puts a Placement into the list of pending writes; it must not be there. */
void planner_offer(struct planner *p, uint32_t id);
/* Takes the first Placement out of that list; POOL_NONE: the list is empty. */
uint32_t planner_take_offer(struct planner *p);
/* Takes the Placement to plan next; POOL_NONE: none waits. */
uint32_t planner_take_dirty(struct planner *p);
void planner_mark(struct planner *p, uint32_t id);
/* Marks a Placement, and makes its record if needed. */
void planner_mark_name(struct planner *p, struct planner_key key);
/* Makes the sweep look at all scores in its turn. */
void planner_mark_sweep(struct planner *p);
void planner_drop(struct planner *p, uint32_t id);
/* Takes this Placement's write; for an AddOnPlacementScore with the items that all other Placements
 * want in it: planner_take.c. */
void planner_take_write(struct planner *p, uint32_t id, const struct fleet_view *v,
                        struct write *ret);
/* Reports the write's result to the Placement and to those that share the write. */
void planner_end_write(struct planner *p, uint32_t id, const struct write_result *result);
/* Returns the first record that waits for the object, or POOL_NONE; others follow by
 * next_waiting. */
uint32_t planner_first_waiting(const struct planner *p, struct str object);
void planner_mark_waiting(struct planner *p, struct str object);
/* Set the key by which planner_scored() finds the record, and the object for which the record waits
 * ("": none). */
void planner_set_key(struct planner *p, uint32_t id, const struct injected_key *key,
                     const struct injected_key *noted);
void planner_set_waits(struct planner *p, uint32_t id, struct str object);
