/*
 * A small cluster for the tests of Fluid's plugins, and pods as short texts.
 *
 * Documents are JSON with ' for ". Affinity reads
 *
 *     REQ {a In 1,2 & b Exists} | {F:metadata.name In n1} PREF 100 {zone In z1}; 50 {rack In r}
 *
 * in the document's order; "" when there is none.
 */
#pragma once

#include "data/fluid/mutate.h"

#include "unit/unit.h"

struct world {
    struct arena arena;
    struct fluid_store *store;
    struct fluid_profile profile;
    struct fluid_options options;          /* correct, with `profile`, which is Fluid's default */
    const struct fluid_locality *locality; /* asked for; NULL at first */
    struct fluid_outcome outcome;          /* of the last pod */
    cJSON *pod;                            /* the last one, as it came out */
    char text[4096];                       /* what world_affinity() said last */
};

void world_init(struct world *w);
void world_done(struct world *w);

/* A document; fails the test when it is none. Owned by the caller. */
cJSON *world_document(const char *json);
void world_put(struct world *w, const char *json);
/* A bound dataset of this name in namespace "default" with its claim and runtime: `spec` and
 * `status` are members of the AlluxioRuntime's, "" for none. */
void world_dataset(struct world *w, const char *name, const char *spec, const char *status);

/* As a webhook finds it out: has the pod its place already? */
bool world_is_placed(const cJSON *pod);
/* Sends a pod of namespace "default" through fluid_mutate(). The outcome and the pod are kept until
 * the next. */
void world_mutate(struct world *w, const char *pod);
/* The same once more with what came out. */
void world_mutate_again(struct world *w);
const char *world_affinity(struct world *w);

/* Any nodeAffinity as text. */
void world_describe(const cJSON *node_affinity, char *ret, size_t size);
