/* What has been read of controllers and their kinds: see owners/owners.h. */
#pragma once

#include "owners/owners.h"

/* Of a kind, of which `namespace` and `name` of the reference say nothing: its plural if it has a
 * scale subresource. Of a controller: its selector, or the API group of who stands behind it.
 * Empty: there is none. */
enum owner_what { OWNER_KIND, OWNER_SELECTOR, OWNER_UNIT };
#define OWNER_UNREAD STR("?") /* in the place of that group: it could not be read */

/* False: it is not known. Copies into the arena, which may fail. */
bool owners_recall(struct owners *o, enum owner_what what, const struct owner_ref *ref,
                   struct arena *arena, struct str *ret);
/* For so long. Forgets older things to make room, or remembers nothing. */
void owners_remember(struct owners *o, enum owner_what what, const struct owner_ref *ref,
                     struct str text, int64_t for_ms);
