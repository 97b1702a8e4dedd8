/*
 * The part of a Placement's JSON that is kept, without blanks: apiVersion, kind, of metadata what
 * identifies it, labels and annotations, and spec. Annotations that repeat the whole object are
 * left out.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "model/ocm.h"

/*
 * The outline of a Placement that is too large to be kept: an object of the same form with what
 * identifies it, labels, whose it is (mode, the annotations that switch OCM off) and the first of
 * its spread terms, so that whoever decodes it finds whether Evenkeel is asked for anything, by the
 * Placement or by a policy that selects it. Likewise.
 */
int placement_outline(const struct placement *p, struct str *ret) MUST_CHECK;
/* Labels of it: all, or none if they are longer than LIMIT_PLACEMENT_OUTLINE together. */
struct labels placement_outline_labels(const struct placement *p);
/* A status with nothing but its conditions, "" without; *ret_cut: they are longer than
 * LIMIT_PLACEMENT_OUTLINE, and *ret is empty. Likewise. */
int placement_conditions_text(struct str status, struct str *ret, bool *ret_cut) MUST_CHECK;

/* `json` is a good text. *ret is the caller's to free(), and never empty. 0, -ENOMEM, or -E2BIG: it
 * would be longer than LIMIT_PLACEMENT_TEXT, which takes no memory to find out. */
int placement_text(struct str json, struct str *ret) MUST_CHECK;
/* Whatever `json` is. */
bool placement_text_is_long(struct str json);
/* Its status, without blanks; "" and NULL if it has none. Likewise. */
int placement_status_text(struct str json, struct str *ret) MUST_CHECK;
