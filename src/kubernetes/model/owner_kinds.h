/*
 * A table of the kinds of controllers whose objects Evenkeel reads: it defines the kinds in a chain
 * (owners/chain.h) and the rights to check (check/permissions.h). For other kinds Evenkeel reads
 * only the scale subresource, if the kind has one and the rights are granted.
 */
#pragma once

#include "model/kinds.h"

#include <stdbool.h>

enum owner_role {
    OWNER_OF_PODS, /* the kind has no part in units (model/pod_units.h) */
    OWNER_BETWEEN, /* a kind of Kubernetes itself, through which another controller makes units */
    OWNER_OF_UNITS,
};

struct owner_kind {
    struct str group, kind, plural;
    enum owner_role role;
    bool selects; /* the kind has a scale subresource with a selector */
};

enum { OWNER_KINDS = 16 };
extern const struct owner_kind owner_kinds[OWNER_KINDS];

/* Returns the row of the type; NULL if the type is not in the table. */
const struct owner_kind *owner_kind_of(struct object_type type);
