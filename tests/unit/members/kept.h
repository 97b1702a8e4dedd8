/* A member's store that is given objects one by one, as an informer gives them. */
#pragma once

#include "members/store.h"

#include "unit/unit.h"

/* Of objects and questions; new for each test. */
extern struct arena kept_arena;

/* The state is the struct informer. */
int kept_setup(void **state);
int kept_teardown(void **state);

/* An object of a kind, as a row of member_store has it; its JSON must be good. 0, or what the store
 * says. */
int kept_try(struct informer *i, uint32_t kind, const char *json, struct err *err);
/* The same; the store must take it. */
void kept_give(struct informer *i, uint32_t kind, const char *json);
void kept_take(struct informer *i, uint32_t kind, const char *namespace, const char *name);
