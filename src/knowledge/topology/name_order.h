/*
 * The slots of a topology in the order of their names, byte-wise: lists in answers are by name, and
 * ties are broken by name. Sorting thousands of names takes longer than most questions about them,
 * so the order is kept until a slot is made or freed; after that, the next view that asks sorts
 * again, and publishes what it has made as any other part of a view.
 */
#pragma once

#include "topology/topology.h"

/* Of all slots that are in use, of known candidates and of held ones. Borrowed while the view is
 * open. */
struct topology_order {
    const uint32_t *slots; /* [count]: by name */
    uint32_t count;
    const uint32_t *rank_of; /* [topology_slots()]: the place in `slots`; TOPOLOGY_NONE: no slot */
};

/* 0, -E2BIG (the view's steps are spent) or -ENOMEM. */
int topology_order(struct topology_view *v, struct topology_order *ret) MUST_CHECK;
