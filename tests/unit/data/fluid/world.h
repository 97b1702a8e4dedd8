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
    struct str document;                   /* the last pod, as it came out; arena */
    cJSON *pod;                            /* the same */
    char text[4096];                       /* what world_affinity() said last */
};

void world_init(struct world *w);
void world_done(struct world *w);

/* A document; fails the test when it is none. Owned by the caller, or the arena's. */
cJSON *world_document(const char *json);
struct str world_text(struct world *w, const char *json);
void world_put(struct world *w, const char *json);
/* A bound dataset of this name in namespace "default" with its claim and runtime: `spec` and
 * `status` are members of the AlluxioRuntime's, "" for none. */
void world_dataset(struct world *w, const char *name, const char *spec, const char *status);

/* A pod as a webhook reads it. */
struct world_pod {
    struct str text;
    struct pod pod;
    struct pod_details details;
    bool is_placed;
};
/* Fails the test when it is none. `text` is borrowed. */
void world_read(struct str text, struct arena *arena, struct world_pod *ret);
/* The pod with what the plugins want, by the code that patches it. Arena. */
struct str world_edit(const struct world_pod *pod, const struct fluid_edits *edits,
                      struct arena *arena);

/* Sends a pod of namespace "default" through fluid_mutate(). The outcome and the pod are kept until
 * the next. */
void world_mutate(struct world *w, const char *pod);
/* The same once more with what came out. */
void world_mutate_again(struct world *w);
const char *world_affinity(struct world *w);

/* Any nodeAffinity as text, and that of a pod; NULL: it has none. */
void world_describe(const cJSON *node_affinity, char *ret, size_t size);
const cJSON *world_node_affinity(const cJSON *pod);

#define WORLD_REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define WORLD_PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"
