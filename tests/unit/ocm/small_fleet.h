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
    uint32_t slots[SMALL_FLEET]; /* by name, once it is open */
    /* by slot; what the question says of them */
    int64_t sums[SMALL_FLEET];
    uint8_t members[SMALL_FLEET];
    uint32_t others[SMALL_FLEET];
};

void small_fleet_init(struct small_fleet *f);
/* One more cluster; labels by key, claims among them as the topology has them. Returns its slot. */
uint32_t small_fleet_add(struct small_fleet *f, const char *name, const struct label *labels,
                         uint32_t count);
/* After the last of them. */
void small_fleet_open(struct small_fleet *f);
/* Everything can be begun anew. */
void small_fleet_close(struct small_fleet *f);

/* A question about all clusters of it, with neither terms nor number. */
struct plan_question small_fleet_question(const struct small_fleet *f);
struct plan small_fleet_plan(struct small_fleet *f, const struct plan_question *q);
/* "c1 c5" */
void small_fleet_names(const struct small_fleet *f, const uint32_t *slots, uint32_t count,
                       struct strbuf *out);
