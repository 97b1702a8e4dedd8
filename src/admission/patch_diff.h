/*
 * From an edited copy of a document to a patch: for plugins that edit a tree (cJSON) and know of no
 * patches. What such a tree does to numbers is no change, and is never carried into the document.
 */
#pragma once

#include "admission/patch.h"

/*
 * Adds the operations that turn the patch's document into `edited`, a JSON text: members that are
 * new or have another value, in the order of `edited`, and elements that are new at the end of a
 * list. A list that was changed in another way is replaced as a whole. Members in another order,
 * and numbers that are written differently, are no difference.
 *
 * 0; -EINVAL when a member was taken away or is there twice, or when replacing a list would write
 * numbers anew that may not survive it (anything but integers up to 2^53); -E2BIG for differences
 * deeper than 32 levels; -ENOMEM. After a failure the patch is what it was.
 */
int patch_diff(struct patch *p, struct str edited, struct err *err) MUST_CHECK;
