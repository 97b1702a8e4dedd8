/*
 * Candidates, where pods, Placements or replicas may be placed, and the domains that they are
 * spread over. Candidates are the nodes of a cluster, or the clusters of a fleet; this folder does
 * not know which.
 *
 * A candidate has a name, labels and taints, and a dense *slot* number. A label key becomes a
 * *column* of domain ids on first use. A *feasibility* maps (node affinity, tolerations) to the
 * candidates that they allow. It is made on first use, and updated by every change of a candidate.
 *
 * A view builds missing parts for itself; when it is closed, the owner publishes them under the
 * write lock, for the next question. A part is not published if candidates changed meanwhile, if it
 * is too large, or if there is no room: the next question then builds it again. Kept parts are
 * bounded in number and bytes, with a share for each namespace (base/lru.h).
 *
 * Threads: the owner has a lock. Functions under "Writing", and topology_publish(), need it for
 * writing; a view needs it for reading.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/pool.h"
#include "base/steps.h"
#include "model/affinity.h"
#include "model/labels.h"
#include "model/taint.h"
#include "topology/prefix_tree.h"

#include <stdbool.h>
#include <stdint.h>

#define TOPOLOGY_NONE UINT32_MAX

struct topology;

/* Borrowed during the call that gets the candidate. Labels are sorted by key, keys are unique. */
struct candidate {
    struct str name;
    struct labels labels;
    const struct taint *taints;
    uint32_t taint_count;
};

struct topology_options {
    struct intern *strings; /* borrowed: the owner may keep strings of its own there */
    uint32_t max_columns;   /* 0: LIMIT_COLUMNS; any limit is correct, and a small one only slow */
    uint32_t max_feasibilities;                                       /* 0: LIMIT_FEASIBILITIES */
    uint64_t max_column_bytes, max_feasibility_bytes, max_tree_bytes; /* 0: no limit */
    uint64_t max_update_steps; /* for a change of one candidate; 0: LIMIT_UPDATE_STEPS */
    /* The owner's data per slot. Both functions may be NULL. */
    void *owner;
    /* Slots below `cap` are about to be used: makes room for them. Returns 0 or -ENOMEM. */
    int (*grow)(void *owner, uint32_t cap);
    /* The slot will be used for another name. */
    void (*freed)(void *owner, uint32_t slot);
};

int topology_new(const struct topology_options *options, struct topology **ret,
                 struct err *err) MUST_CHECK;
void topology_free(struct topology *t);

/* ---- Writing ---- */

/* Adds or replaces a candidate. Returns 0 or -ENOMEM (nothing is changed). */
int topology_apply(struct topology *t, const struct candidate *candidate) MUST_CHECK;
/* Forgets a candidate by name; ignores an unknown name. */
void topology_remove(struct topology *t, struct str name);
/* Forgets the candidate in a slot. */
void topology_drop(struct topology *t, uint32_t slot);
/* Returns the pool of the candidates' records, for listings of candidates (base/pool.h); ids are
 * slots. topology_apply() marks a record as shown; topology_drop() removes a candidate that a
 * listing did not show. Borrowed. */
struct pool *topology_records(struct topology *t);

/*
 * A slot exists while its candidate is known or something holds it: pods may arrive before their
 * node, and stay after it. topology_slot_make() finds or makes the slot of a name (TOPOLOGY_NONE:
 * no memory); topology_settle() then frees the slot if its candidate is not known and nothing holds
 * it.
 */
uint32_t topology_slot_make(struct topology *t, struct str name);
void topology_hold(struct topology *t, uint32_t slot);
/* The caller must call topology_settle() later. */
void topology_unhold(struct topology *t, uint32_t slot);
void topology_settle(struct topology *t, uint32_t slot);

/* ---- Reading, without a view ---- */

/* Returns the slot of a name, known or held, or TOPOLOGY_NONE. */
uint32_t topology_slot(const struct topology *t, struct str name);
bool topology_is_known(const struct topology *t, uint32_t slot);
/* Slots are below this number; some may be empty. */
uint32_t topology_slots(const struct topology *t);
/* Returns the number of slots for which every per-slot array needs room. */
uint32_t topology_cap(const struct topology *t);
/* Returns a number that changes when a slot that had a candidate may be given to another
 * candidate. */
uint64_t topology_slot_epoch(const struct topology *t);
/* Return the slot's name, and the value of one of its labels ("" and false without it). Borrowed
 * while the lock is held. */
struct str topology_name(const struct topology *t, uint32_t slot);
bool topology_label(const struct topology *t, uint32_t slot, struct str key, struct str *ret_value);

/* Gets at most `max` of the slot's labels whose keys begin with `prefix`, sorted by key. Returns
 * the number of all such labels. Borrowed while the lock is held. */
uint32_t topology_labels_of(const struct topology *t, uint32_t slot, struct str prefix,
                            struct label *ret, uint32_t max);

/* Copies the candidate in a slot into the arena. Returns 0 or -ENOMEM. */
int topology_describe(const struct topology *t, uint32_t slot, struct arena *arena,
                      struct candidate *ret) MUST_CHECK;

/* Returns a number that grows when a candidate's labels or taints change, or a candidate comes
 * or goes. */
uint64_t topology_changes(const struct topology *t);

struct topology_stats {
    uint32_t candidates; /* number of known candidates */
    uint32_t columns, feasibilities, trees;
    uint64_t column_bytes, feasibility_bytes, tree_bytes;
    uint64_t columns_refused, feasibilities_refused, trees_refused; /* number built but not kept */
};
struct topology_stats topology_stats(const struct topology *t);
/* Returns the bytes of the candidates, without strings and without kept parts of views. */
uint64_t topology_kept_bytes(const struct topology *t);
/* Forgets some of the parts that no view has used since that tick; the next call forgets more. */
void topology_forget(struct topology *t, uint64_t tick);
/* Returns the tick of the last opened view. */
uint64_t topology_tick(const struct topology *t);
/* Returns the steps of all changes so far, which measure the writers' work without a clock. */
uint64_t topology_work(const struct topology *t);

/* ---- Views ---- */

struct topology_view {
    struct topology *topology;
    uint64_t tick;       /* stamps the parts that this view uses; no other view has the same */
    uint64_t asker;      /* a hash of the namespace whose share holds what this view builds */
    struct steps *steps; /* borrowed; building a part takes steps; NULL: no limit */
    uint32_t built;      /* number of parts built so far */
    struct built_column *columns;  /* lists of the parts that the view has built and owns */
    struct hash_node *column_tree; /* the columns of that list, for a search by key */
    struct built_feasibility *feasibilities;
    struct built_tree *trees;
    struct built_order *order; /* NULL: none was built */
};

/* The owner's lock is held for reading. Results of a view stay valid until the lock is given up. */
void topology_view_open(struct topology *t, struct topology_view *ret);
/* After the view, under the write lock: keeps one of the parts that it has built, if allowed.
 * Returns false if no part is left. */
bool topology_publish(struct topology_view *v);
/* Ends the view, and frees the parts that were not kept. No lock is needed. */
void topology_view_close(struct topology_view *v);

/* Returns the slot of a known candidate, or TOPOLOGY_NONE. */
uint32_t topology_find(const struct topology_view *v, struct str name);
/* Does the same for a list, faster than one by one. */
void topology_find_all(const struct topology_view *v, const struct str *names, uint32_t count,
                       uint32_t *ret_slots);

/* Per slot: its domain under a topology key; TOPOLOGY_NONE without such a label (or without a
 * candidate). */
struct topology_column {
    const uint32_t *domain_of;          /* [topology_slots()] */
    uint32_t domains;                   /* domain ids are < domains; some may be unused */
    uint32_t empty;                     /* the domain of the label value "", or TOPOLOGY_NONE */
    bool everywhere;                    /* every known candidate has the key */
    const struct column_record *record; /* borrowed from the topology */
};
/* Gets the column of a topology key. Returns 0, -E2BIG (the view's steps are spent) or -ENOMEM. */
int topology_column(struct topology_view *v, struct str key, struct topology_column *ret);
/* Is there a known candidate in this domain? */
bool topology_domain_used(const struct topology_column *column, uint32_t domain);
/* Returns the label value of a domain; "" for an unused domain. Borrowed while the view is open. */
struct str topology_value(const struct topology_view *v, const struct topology_column *column,
                          uint32_t domain);

/* The tree of domains under several topology keys, in order; candidates without a key share the
 * domain of its value "". */
enum { TOPOLOGY_TREE_KEYS = 8 };

struct topology_tree {
    const uint32_t *leaf_of; /* [topology_slots()]: the prefix under all keys; PREFIX_NONE where
                                there is no known candidate */
    const uint32_t *parents; /* [count]: the parent of each prefix; PREFIX_NONE for the root, which
                                is first. A parent comes before its children */
    uint32_t count;
};
/* Builds the tree of at most TOPOLOGY_TREE_KEYS columns of the view. The tree is valid as long
 * as the columns. Returns 0, -E2BIG or -ENOMEM. */
int topology_tree(struct topology_view *v, const struct topology_column *columns, uint32_t count,
                  struct topology_tree *ret) MUST_CHECK;

/* Flags per slot; a slot without a candidate has no flag. */
enum {
    CANDIDATE_KNOWN = 1,
    CANDIDATE_AFFINITY = 2, /* nodeSelector and required node affinity hold */
    CANDIDATE_TAINTS = 4,   /* every NoSchedule and NoExecute taint is tolerated */
    CANDIDATE_AVOIDED = 8,  /* a PreferNoSchedule taint is not tolerated */
};
/* A pod's terms: made without a view, because they may be long. Borrows affinity and tolerations.
 */
struct feasibility_question {
    const struct node_affinity *affinity;
    struct tolerations tolerations;
    struct hash128 key;
    uint64_t steps, steps_a_taint; /* steps to match a candidate, and for each of its taints */
    uint64_t bytes;                /* approximate bytes of a copy of the question */
};
/* Returns 0 or -ENOMEM. */
int feasibility_question_init(struct feasibility_question *q, const struct node_affinity *affinity,
                              struct tolerations tolerations) MUST_CHECK;
/* Gets the flags of each slot. Returns 0, -E2BIG (the view's steps are spent) or -ENOMEM. */
int topology_feasible(struct topology_view *v, const struct feasibility_question *q,
                      const uint8_t **ret_flags) MUST_CHECK;
/* Does the same, and gets the flags that all known candidates have. */
int topology_feasible_common(struct topology_view *v, const struct feasibility_question *q,
                             const uint8_t **ret_flags, uint8_t *ret_common) MUST_CHECK;
/* Makes the question and answers it, like topology_feasible(). */
int topology_feasibility(struct topology_view *v, const struct node_affinity *affinity,
                         struct tolerations tolerations, const uint8_t **ret_flags);

/*
 * Gets the places of the candidates with a label: the values of `key` on them, each once, sorted,
 * copied into the arena. Walks all candidates and their labels, and makes no column: there may be
 * as many labels as there are datasets. Returns 0, -E2BIG (more than LIMIT_PLACES values) or
 * -ENOMEM.
 */
int topology_places(const struct topology_view *v, struct label label, struct str key,
                    struct arena *arena, struct str **ret, uint32_t *ret_count) MUST_CHECK;
