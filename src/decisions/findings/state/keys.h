/*
 * The keys of labels that the candidates of a topology have: for findings about constraints, terms
 * and selectors.
 *
 * Threads: as the view.
 */
#pragma once

#include "findings/findings.h"
#include "model/selector.h"
#include "topology/topology.h"

/* The values of a key on the known candidates. */
struct key_use {
    uint32_t domains; /* 0: no candidate has the key; 1; 2: several */
    struct str value; /* of one candidate; borrowed while the view is open */
};
/* Returns 0, -E2BIG (the view's steps are spent) or -ENOMEM. */
int key_use_find(struct topology_view *v, struct str key, struct key_use *ret) MUST_CHECK;

/* Returns the label key of some candidate that is nearest to `key`, in the arena; "": none is near.
 * Looks at a few candidates: mostly all have the same keys. */
struct str key_near(const struct topology_view *v, struct str key, struct arena *arena);

/* Adds a finding about a key that no candidate has. `spoiled`: what follows, such as "the
 * constraint spreads nothing"; `candidates`: "node" or "cluster". */
void findings_add_unknown_key(const struct topology_view *v, struct str key, struct str path,
                              const char *candidates, const char *spoiled, struct findings *f);

/* Sets *ret to the first label that the selector needs and no candidate has; "": every label is
 * known. Returns as key_use_find(). */
int key_missing(struct topology_view *v, const struct label_selector *s,
                struct str *ret) MUST_CHECK;
/* Adds the finding that this empties an answer about clusters. */
void findings_add_unknown_label(const struct topology_view *v, struct str key, struct str path,
                                struct findings *f);
