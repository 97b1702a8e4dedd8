/*
 * The part of a Placement's JSON that is kept, without blanks: apiVersion, kind, of metadata what
 * identifies it, labels and annotations, and spec. Annotations that repeat the whole object are
 * left out.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

/* `json` has been decoded before. *ret is the caller's to free(), and never empty. 0 or -ENOMEM. */
int placement_text(struct str json, struct str *ret) MUST_CHECK;
/* Its status, without blanks; "" and NULL if it has none. Likewise. */
int placement_status_text(struct str json, struct str *ret) MUST_CHECK;
