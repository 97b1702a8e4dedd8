/*
 * Candidates, and what they have in common: where pods, Placements or replicas may be placed, and
 * the domains that they are spread over. Nodes of a cluster fill it, and so do clusters of a fleet;
 * this folder knows neither.
 *
 * A candidate has a name, labels and taints, and a dense *slot* number. A label key becomes a
 * *column* of domain ids on first use. A *feasibility* is (node affinity, tolerations) -> which
 * candidates they allow, made on first use and kept right by every change of a candidate. Columns
 * and feasibilities are bounded; the least recently used one makes room, unless the open view has
 * asked for it.
 *
 * Threads: there is no lock here. Its owner has one: what is under "Writing", and an exclusive
 * view, need it for writing, any other view needs it for reading. A shared view that misses a
 * column or a feasibility answers -EAGAIN: open an exclusive one and ask again, which builds it.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/intern.h"
#include "model/affinity.h"
#include "model/labels.h"
#include "model/taint.h"

#include <stdbool.h>
#include <stdint.h>

#define TOPOLOGY_NONE UINT32_MAX

struct topology;

/* Borrowed by the call that takes it. Labels are sorted by key, keys are unique. */
struct candidate {
    struct str name;
    struct labels labels;
    const struct taint *taints;
    uint32_t taint_count;
};

struct topology_options {
    struct intern *strings; /* borrowed: the owner may keep strings of its own there */
    uint32_t max_columns;   /* 0: LIMIT_COLUMNS; any limit is correct, and a small one only slow */
    uint32_t max_feasibilities; /* 0: LIMIT_FEASIBILITIES */
    /* What the owner keeps per slot. Both may be NULL. */
    void *owner;
    /* Slots below `cap` are about to be used: makes room for them. 0 or -ENOMEM. */
    int (*grow)(void *owner, uint32_t cap);
    /* The slot will be used for another name. */
    void (*freed)(void *owner, uint32_t slot);
};

int topology_new(const struct topology_options *options, struct topology **ret,
                 struct err *err) MUST_CHECK;
void topology_free(struct topology *t);

/* ---- Writing ---- */

/* Adds or replaces a candidate. 0 or -ENOMEM (it is as it was before). */
int topology_apply(struct topology *t, const struct candidate *candidate) MUST_CHECK;
/* Forgets one by name; an unknown one is ignored. */
void topology_remove(struct topology *t, struct str name);
/* A full listing: what is not applied between begin and end is forgotten at the end. One that is
 * given up is simply begun again. */
void topology_sync_begin(struct topology *t);
void topology_sync_end(struct topology *t);

/*
 * A slot exists while its candidate is known or something holds it: pods may arrive before their
 * node, and stay after it. topology_slot_make() finds or makes the slot of a name (TOPOLOGY_NONE:
 * no memory); topology_settle() then frees it if neither came to be.
 */
uint32_t topology_slot_make(struct topology *t, struct str name);
void topology_hold(struct topology *t, uint32_t slot);
/* Without topology_settle(), which the caller owes. */
void topology_unhold(struct topology *t, uint32_t slot);
void topology_settle(struct topology *t, uint32_t slot);

/* ---- Reading, without a view ---- */

/* The slot of a name, known or held; TOPOLOGY_NONE: there is none. */
uint32_t topology_slot(const struct topology *t, struct str name);
bool topology_is_known(const struct topology *t, uint32_t slot);
/* Slots are below this number; some may be empty. */
uint32_t topology_slots(const struct topology *t);
/* Slots that per-slot arrays need room for. */
uint32_t topology_cap(const struct topology *t);
/* Changes when a slot that had a candidate may get another. */
uint64_t topology_slot_epoch(const struct topology *t);
/* The slot's name, and the value of one of its labels ("" and false without it). Borrowed while the
 * lock is held. */
struct str topology_name(const struct topology *t, uint32_t slot);
bool topology_label(const struct topology *t, uint32_t slot, struct str key, struct str *ret_value);

/* A copy of what is known of the candidate in a slot, in the arena. 0 or -ENOMEM. */
int topology_describe(const struct topology *t, uint32_t slot, struct arena *arena,
                      struct candidate *ret) MUST_CHECK;

struct topology_stats {
    uint32_t candidates; /* known ones */
    uint32_t columns, feasibilities;
};
struct topology_stats topology_stats(const struct topology *t);

/* ---- Views ---- */

struct topology_view {
    struct topology *topology;
    bool exclusive;
    uint64_t tick;     /* what this view uses is stamped with it; no other view has the same */
    struct strbuf key; /* scratch */
};

/* The owner's lock is held as `exclusive` says, until the view is closed. What a view has asked for
 * stays valid until then. */
void topology_view_open(struct topology *t, bool exclusive, struct topology_view *ret);
void topology_view_close(struct topology_view *v);

/* The slot of a known candidate, or TOPOLOGY_NONE. */
uint32_t topology_find(const struct topology_view *v, struct str name);
/* The same for a list, which is quicker than one by one. */
void topology_find_all(const struct topology_view *v, const struct str *names, uint32_t count,
                       uint32_t *ret_slots);

/* Per slot: its domain under a topology key; TOPOLOGY_NONE where there is no such label (or no
 * candidate). */
struct topology_column {
    const uint32_t *domain_of; /* [topology_slots()] */
    uint32_t domains;          /* domain ids are < domains; some may be unused */
    uint32_t empty;            /* the domain of the label value "", or TOPOLOGY_NONE */
    uint32_t id;               /* the topology's */
};
/* 0, -EAGAIN (shared view) or -ENOMEM. */
int topology_column(struct topology_view *v, struct str key, struct topology_column *ret);
/* The label value that a domain of the column stands for, "" for one that is unused. Borrowed while
 * the view is open. */
struct str topology_value(const struct topology_view *v, const struct topology_column *column,
                          uint32_t domain);

/* Per slot flags; a slot without a candidate has none. */
enum {
    CANDIDATE_KNOWN = 1,
    CANDIDATE_AFFINITY = 2, /* nodeSelector and required node affinity hold */
    CANDIDATE_TAINTS = 4,   /* every NoSchedule and NoExecute taint is tolerated */
    CANDIDATE_AVOIDED = 8,  /* a PreferNoSchedule taint is not */
};
/* 0, -EAGAIN (shared view) or -ENOMEM. */
int topology_feasibility(struct topology_view *v, const struct node_affinity *affinity,
                         struct tolerations tolerations, const uint8_t **ret_flags);

/*
 * Where in a topology the candidates with a label are: the values of `key` on them, each once,
 * sorted. Copies, in the arena. Walks all candidates and their labels, and makes no column: there
 * may be as many labels as there are datasets. 0, -E2BIG (more than LIMIT_PLACES values) or
 * -ENOMEM.
 */
int topology_places(const struct topology_view *v, struct label label, struct str key,
                    struct arena *arena, struct str **ret, uint32_t *ret_count) MUST_CHECK;
