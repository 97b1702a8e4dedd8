/*
 * Kinds of controllers that are read by name: one table, which defines the kinds in a chain
 * (owners/chain.h) and the rights to check (check/permissions.h). Evenkeel reads only the scale
 * subresource of other kinds, if they have one and the rights are granted.
 */
#pragma once

#include "model/kinds.h"

#include <stdbool.h>

enum owner_role {
    OWNER_OF_PODS, /* nothing follows from it for units */
    OWNER_BETWEEN, /* one of Kubernetes' own, through which units are made */
    OWNER_OF_UNITS,
};

struct owner_kind {
    struct str group, kind, plural;
    enum owner_role role;
    bool selects; /* it has a scale subresource with a selector */
};

enum { OWNER_KINDS = 16 };
extern const struct owner_kind owner_kinds[OWNER_KINDS];

/* Returns NULL if the type is not in the table. */
const struct owner_kind *owner_kind_of(struct object_type type);
