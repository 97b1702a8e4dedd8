/*
 * Makes the kept part of a Placement's JSON, without blanks: apiVersion, kind, identity, labels and
 * annotations of metadata, and spec. Annotations that repeat the whole object are left out.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "model/ocm.h"

/*
 * Makes the outline of a Placement that is too large to keep: an object of the same form with its
 * identity, labels, the annotations that choose the mode or switch OCM off, and the first spread
 * term. The outline is enough to decide if the Placement, or a policy that selects it, needs
 * Evenkeel. The caller frees *ret. Returns 0 or -ENOMEM.
 */
int placement_outline(const struct placement *p, struct str *ret) MUST_CHECK;
/* Returns all labels of the Placement; no labels if they are longer than LIMIT_PLACEMENT_OUTLINE
 * together. */
struct labels placement_outline_labels(const struct placement *p);
/* Makes a status with only the conditions; "" if there is no condition. Sets *ret_cut if the
 * conditions are longer than LIMIT_PLACEMENT_OUTLINE; then *ret is empty. The caller frees *ret.
 * Returns 0 or -ENOMEM. */
int placement_conditions_text(struct str status, struct str *ret, bool *ret_cut) MUST_CHECK;

/* Makes the kept part of `json`, which must be well-formed. The caller frees *ret, which is never
 * empty. Returns 0, -ENOMEM, or -E2BIG if it would be longer than LIMIT_PLACEMENT_TEXT; finding
 * that out takes no memory. */
int placement_text(struct str json, struct str *ret) MUST_CHECK;
/* Would the text of placement_text() be too long? Accepts any `json`, well-formed or not. */
bool placement_text_is_long(struct str json);
/* Makes the status without blanks ("" and NULL: no status). The caller frees *ret. Returns 0 or
 * -ENOMEM. */
int placement_status_text(struct str json, struct str *ret) MUST_CHECK;
