/*
 * For tests of a fleet: contents without a lock, filled object by object as its informer does it.
 */
#pragma once

#include "fleet/internal.h"
#include "unit/unit.h"

struct fleet_builder {
    struct fleet_contents *c;
    struct arena arena; /* of the call under way */
    struct fleet_view view;
};

void fleet_builder_open(struct fleet_builder *b);
void fleet_builder_close(struct fleet_builder *b);

/* Applies an object of that kind: its JSON, with ' in place of ". */
void fleet_give(struct fleet_builder *b, enum fleet_kind kind, const char *json);
/* The same, which may fail; 0 or -errno. */
int fleet_try(struct fleet_builder *b, enum fleet_kind kind, const char *json);
/* Removes it; `namespace` NULL: it has none. */
void fleet_drop(struct fleet_builder *b, enum fleet_kind kind, const char *namespace,
                const char *name);
/* A view of what there is now, until the next change. */
const struct fleet_view *fleet_look(struct fleet_builder *b);
/* The slot of a name that has one. */
uint32_t fleet_slot(struct fleet_builder *b, const char *name);
/* Nothing is left: no record, slot or string. */
void fleet_is_empty(struct fleet_builder *b);
