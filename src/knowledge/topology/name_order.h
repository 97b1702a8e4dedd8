/*
 * The slots of a topology in the order of their names, byte by byte: lists in answers are by name,
 * and ties are broken by name. Sorting thousands of names takes longer than most questions about
 * them, so the order is kept until a slot is made or freed. The next view that needs it sorts
 * again, and publishes the result like any other part of a view.
 */
#pragma once

#include "topology/topology.h"

/* The order of all slots in use, known and held. Borrowed while the view is open. */
struct topology_order {
    const uint32_t *slots; /* [count]: by name */
    uint32_t count;
    const uint32_t *rank_of; /* [topology_slots()]: index in `slots`; TOPOLOGY_NONE: unused slot */
};

/* Returns 0, -E2BIG (the view's steps are spent) or -ENOMEM. */
int topology_order(struct topology_view *v, struct topology_order *ret) MUST_CHECK;
