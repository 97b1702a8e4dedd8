/*
 * Kinds of controllers that are read by name: one table, from which follow what may be in a chain
 * (owners/chain.h) and which rights are asked for (check/permissions.h). Evenkeel reads only the
 * scale subresource of other kinds, if they have one and the rights are granted.
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
    bool selects; /* it has a scale subresource that says what it selects */
};

enum { OWNER_KINDS = 16 };
extern const struct owner_kind owner_kinds[OWNER_KINDS];

/* NULL: it is not in the table. */
const struct owner_kind *owner_kind_of(struct object_type type);
