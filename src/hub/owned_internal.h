/*
 * The steps of a look at a Placement; only files of this folder include it. All return 0 or -errno
 * with a sentence in looking.err.
 */
#pragma once

#include "hub/owned.h"

enum owned_doubt {
    DOUBT_NONE,
    DOUBT_WAIT,   /* nothing may be written before the last write is seen */
    DOUBT_OBJECT, /* only the object of the last write */
};

struct looking {
    struct owned *o;
    const struct owned_question *q;
    struct arena *arena;
    struct owned_answer *ret;
    struct err *err;

    struct placement placement;
    struct fleet_placement_state state;
    bool disabled, marked; /* OCM's annotation is "true"; we have set it */
    struct ocm_policy_terms policy;
    struct ocm_decision d;
    const struct fleet_decision *existing;
    uint32_t slots;
    enum owned_doubt doubt;

    uint8_t *fits; /* [slots]: passes all filters */
    /* By term, of what is there, once it was asked for. */
    bool has_skew;
    int64_t skew_now[PLACEMENT_TERMS];
    bool no_memory; /* for a skew: the look fails */
    /* What is decided, at last or for the time being. */
    const uint32_t *target;
    uint32_t target_count;
    bool is_final; /* it is what was decided */
    const struct ocm_group *groups;
    uint32_t group_count;
};

/* ---- owned_target.c ---- */

/* Sets target and groups. */
int owned_choose(struct looking *x) MUST_CHECK;
/* For struct layout_progress: its ctx is the look. */
bool owned_holds(void *ctx, const uint8_t *selected);
bool owned_has_hard_terms(const struct looking *x);

/* ---- owned_write.c ---- */

void owned_write_annotations(struct looking *x, bool disable);
/* Nothing, if the status is right. */
int owned_write_status(struct looking *x, const struct status_wanted *wanted) MUST_CHECK;
/* `doubtful`: what the object surely holds by now, if its last write is in doubt; NULL: it is not.
 */
int owned_write_decision(struct looking *x, const struct layout_write *write,
                         const struct layout_doubt *doubtful) MUST_CHECK;

/* Names with a NUL behind each. */
void owned_put_name(struct strbuf *names, struct str name);
