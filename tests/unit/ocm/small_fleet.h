/* A fleet of a few clusters, and a plan for it. */
#pragma once

#include "ocm/plan.h"

#include "unit/unit.h"

enum { SMALL_FLEET = 32 };

struct small_fleet {
    struct arena arena;
    struct intern strings;
    struct topology *topology;
    struct topology_view view;
    struct steps steps;
    uint32_t count;
    uint32_t slots[SMALL_FLEET]; /* slots in the order of names; set when the fleet is open */
    /* the question's values for each slot */
    int64_t sums[SMALL_FLEET];
    uint8_t members[SMALL_FLEET];
    uint32_t others[SMALL_FLEET];
};

void small_fleet_init(struct small_fleet *f);
/* Adds a cluster. Its labels are sorted by key and include its claims, as in the topology. Returns
 * its slot. */
uint32_t small_fleet_add(struct small_fleet *f, const char *name, const struct label *labels,
                         uint32_t count);
/* Call it after adding the last cluster. */
void small_fleet_open(struct small_fleet *f);
/* Closes the fleet; it can be filled again. */
void small_fleet_close(struct small_fleet *f);

/* Returns a question about all clusters of the fleet, without terms and without a number of
 * clusters. */
struct plan_question small_fleet_question(const struct small_fleet *f);
struct plan small_fleet_plan(struct small_fleet *f, const struct plan_question *q);
/* "c1 c5" */
void small_fleet_names(const struct small_fleet *f, const uint32_t *slots, uint32_t count,
                       struct strbuf *out);
