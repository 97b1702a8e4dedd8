/* A member's store that receives objects one by one, as an informer passes them. */
#pragma once

#include "members/store.h"

#include "unit/unit.h"

/* Memory of objects and questions; new for each test. */
extern struct arena kept_arena;

/* *state is a struct informer. */
int kept_setup(void **state);
int kept_teardown(void **state);

/* Applies an object; `kind` is the index of its row in member_store. Its JSON must be valid.
 * Returns the store's result. */
int kept_try(struct informer *i, uint32_t kind, const char *json, struct err *err);
/* The same as kept_try(); the store must accept the object. */
void kept_give(struct informer *i, uint32_t kind, const char *json);
void kept_take(struct informer *i, uint32_t kind, const char *namespace, const char *name);
