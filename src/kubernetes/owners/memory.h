/* Remembers facts about controllers and their kinds: see owners/owners.h. */
#pragma once

#include "owners/owners.h"

/* Remembered facts: a kind's plural, if the kind has a scale subresource (`namespace` and `name` of
 * the reference are ignored); a controller's selector; the API group of the maker of a controller's
 * unit. An empty text: the fact does not exist. */
enum owner_what { OWNER_KIND, OWNER_SELECTOR, OWNER_UNIT };
#define OWNER_UNREAD STR("?") /* value that marks a group that could not be read */

/* Recalls a fact. Returns false if the fact is not known. Copies the fact into the arena, which may
 * fail. */
bool owners_recall(struct owners *o, enum owner_what what, const struct owner_ref *ref,
                   struct arena *arena, struct str *ret);
/* Remembers a fact for `for_ms`. Forgets older facts to make room, or remembers nothing. */
void owners_remember(struct owners *o, enum owner_what what, const struct owner_ref *ref,
                     struct str text, int64_t for_ms);
