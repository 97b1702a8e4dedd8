/*
 * For tests of a fleet: its contents without a lock, filled object by object, as the informer fills
 * them.
 */
#pragma once

#include "fleet/internal.h"
#include "unit/unit.h"

struct fleet_builder {
    struct fleet_contents *c;
    struct arena arena; /* memory of the present call */
    struct fleet_view view;
};

void fleet_builder_open(struct fleet_builder *b);
void fleet_builder_close(struct fleet_builder *b);

/* Applies an object of this kind: its JSON, with ' instead of ". */
void fleet_give(struct fleet_builder *b, enum fleet_kind kind, const char *json);
/* The same as fleet_give(), but may fail: returns 0 or -errno. */
int fleet_try(struct fleet_builder *b, enum fleet_kind kind, const char *json);
/* Removes an object; `namespace` is NULL if the kind has no namespace. */
void fleet_drop(struct fleet_builder *b, enum fleet_kind kind, const char *namespace,
                const char *name);
/* Returns a view of the present contents, valid until the next change. */
const struct fleet_view *fleet_look(struct fleet_builder *b);
/* Returns the slot of a name, which must have one. */
uint32_t fleet_slot(struct fleet_builder *b, const char *name);
/* Fails the test unless the fleet is empty: no record, slot or string is left. */
void fleet_is_empty(struct fleet_builder *b);
