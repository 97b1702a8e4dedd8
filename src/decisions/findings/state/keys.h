/*
 * The keys of labels that the candidates of a topology have: for findings about constraints, terms
 * and selectors.
 *
 * Threads: as for the view.
 */
#pragma once

#include "findings/findings.h"
#include "model/selector.h"
#include "topology/topology.h"

/* The values of a key on the known candidates. */
struct key_use {
    uint32_t domains; /* number of values: 0: no candidate has the key; 1; 2: two or more */
    struct str value; /* the value of one candidate; borrowed while the view is open */
};
/* Returns 0, -E2BIG (the view's steps are spent) or -ENOMEM. */
int key_use_find(struct topology_view *v, struct str key, struct key_use *ret) MUST_CHECK;

/* Returns the candidates' label key that is nearest to `key`, in the arena; "": no key is near.
 * Looks at a few candidates: usually all have the same keys. */
struct str key_near(const struct topology_view *v, struct str key, struct arena *arena);

/* Adds a finding about a key that no candidate has. `spoiled` is the effect, for instance "the
 * constraint spreads nothing"; `candidates` is "node" or "cluster". */
void findings_add_unknown_key(const struct topology_view *v, struct str key, struct str path,
                              const char *candidates, const char *spoiled, struct findings *f);

/* Sets *ret to the first label that the selector needs and no candidate has; "": every label is
 * known. Fails like key_use_find(). */
int key_missing(struct topology_view *v, const struct label_selector *s,
                struct str *ret) MUST_CHECK;
/* Adds the finding that this unknown label makes an answer about clusters empty. */
void findings_add_unknown_label(const struct topology_view *v, struct str key, struct str path,
                                struct findings *f);
