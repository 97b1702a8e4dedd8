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
    struct fluid_options options;          /* correct, with `profile`, Fluid's default */
    const struct fluid_locality *locality; /* the locality that is asked for; NULL at first */
    struct fluid_outcome outcome;          /* the outcome for the last pod */
    struct str document;                   /* the last pod after the mutation; arena */
    cJSON *pod;                            /* the same pod, parsed */
    char text[4096];                       /* the last result of world_affinity() */
};

void world_init(struct world *w);
void world_done(struct world *w);

/* Returns a document; fails the test if the text is not JSON. The caller owns a cJSON; a text is in
 * the arena. */
cJSON *world_document(const char *json);
struct str world_text(struct world *w, const char *json);
void world_put(struct world *w, const char *json);
/* Adds a bound dataset with this name in namespace "default", with its claim and runtime. `spec`
 * and `status` are members of the AlluxioRuntime's spec and status; they may be "". */
void world_dataset(struct world *w, const char *name, const char *spec, const char *status);

/* A pod in the form in which a webhook reads it. */
struct world_pod {
    struct str text;
    struct pod pod;
    struct pod_details details;
    bool is_placed;
};
/* Fails the test if the text is not a pod. `text` is borrowed. */
void world_read(struct str text, struct arena *arena, struct world_pod *ret);
/* Returns the pod with the plugins' edits, made by the code that patches pods. In the arena. */
struct str world_edit(const struct world_pod *pod, const struct fluid_edits *edits,
                      struct arena *arena);

/* Sends a pod of namespace "default" through fluid_mutate(). The outcome and the pod are kept until
 * the next call. */
void world_mutate(struct world *w, const char *pod);
/* Sends the mutated pod through fluid_mutate() again. */
void world_mutate_again(struct world *w);
const char *world_affinity(struct world *w);

/* Writes any nodeAffinity as text; returns a pod's nodeAffinity, or NULL. */
void world_describe(const cJSON *node_affinity, char *ret, size_t size);
const cJSON *world_node_affinity(const cJSON *pod);

#define WORLD_REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define WORLD_PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"
