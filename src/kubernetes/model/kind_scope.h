/*
 * Do the objects of a kind have a namespace? An API server knows the answer, but a file does not
 * contain it. So a table lists the kinds of Kubernetes and of a few of its CRDs.
 *
 * Pure. Threads: none of its own.
 */
#pragma once

#include "base/str.h"

enum kind_scope {
    SCOPE_UNKNOWN, /* a kind of another project */
    SCOPE_NAMESPACED,
    SCOPE_CLUSTER,
};

/* `group` is without a version; "" is the core group. */
enum kind_scope kind_scope_of(struct str group, struct str kind);
