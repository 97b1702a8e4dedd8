/*
 * Which datasets a pod mounts: from its volumes to PersistentVolumeClaims, from those to Datasets,
 * from those to their runtimes. The rules are those of Fluid's webhook (CollectRuntimeInfosFromPVCs
 * and GetRuntimeInfo); only the order is ours: by claim name, where upstream's is random.
 *
 * - Only spec.volumes[*].persistentVolumeClaim counts, mounted by a container or not; generic
 *   ephemeral volumes do not.
 * - A claim is a dataset's when it has a label whose key begins with "fluid.io/s-" (whatever its
 *   value) or the label fluid.io/managed-by or (deprecated) fluid.io/wrapped-by, whose value is the
 *   dataset's name then; else the claim's name is.
 * - The dataset must be bound: any phase but "" and "NotBound". Pod annotation
 *   FLUID_SKIP_PRECHECK: "true" skips this.
 * - The runtime has the dataset's namespace and name, and the kind that status.runtimes[0].type
 *   says.
 *
 * A referenced dataset (virtual, in the pod's namespace; its claim's labels name the physical one)
 * resolves to the virtual one and its ThinRuntime, as upstream does, and `physical` says whose
 * worker labels the nodes carry.
 */
#pragma once

#include "base/arena.h"
#include "data/fluid/store.h"

/* What labels are named after. */
struct fluid_identity {
    const char *namespace, *name, *uid; /* uid "" when unknown */
};

struct fluid_dataset {
    const char *claim; /* the key that pod labels name it by */
    struct fluid_identity self;
    struct fluid_identity physical; /* the same, unless it is a reference */
    enum fluid_kind runtime;        /* of `self` */
    bool unlabelled; /* no node carries the label of its workers: a ThinRuntime writes none */
    const cJSON *fuse_selector; /* object of strings; NULL or not empty */
    const cJSON
        *cache_terms; /* nodeSelectorTerms of status.cacheAffinity's required part; or NULL */
};

struct fluid_datasets {
    struct fluid_dataset *items; /* arena */
    size_t count;
};

/* What was not in the store. The owner can read these from the API server, put them there and try
 * again, once: a chain of claim, dataset and runtime is found out one by one. */
struct fluid_missing {
    struct fluid_key keys[16]; /* the first of them; strings are the store's or the arena's */
    size_t count;
};

struct fluid_query {
    const struct fluid_store *store;
    const struct str *claims; /* of the pod's volumes; some may be there twice */
    uint32_t claim_count;
    const char *namespace; /* the pod's */
    bool unbound_too;      /* a dataset need not be bound */
    /* Where a runtime does not say what binds its workers, as EFC's never does: look at their
     * StatefulSet, <name>-worker. Upstream does not. */
    bool from_workers;
    struct fluid_missing *missing; /* filled when something is not in the store; may be NULL */
};

/*
 * Resolves every claim of a pod. Strings and documents in `ret` are borrowed from the store, or the
 * arena's.
 *
 * 0; -ENOENT (something is not in the store: the sentence names it, `missing` lists it), -EAGAIN (a
 * dataset is not bound), -EINVAL (no runtime, or of a type that is not known) or -ENOMEM.
 */
int fluid_resolve(const struct fluid_query *query, struct arena *arena, struct fluid_datasets *ret,
                  struct err *err) MUST_CHECK;

/* How many workers the dataset's runtime is to have; where it does not say, its StatefulSet, if
 * that is known. -1: it is not known. */
int64_t fluid_wanted_workers(const struct fluid_store *store, const struct fluid_identity *dataset);

/*
 * The key of a label that Fluid names after a dataset: prefix (FLUID_LABEL_COMMON, ...) + namespace
 * "-" name while that is shorter than 63 bytes, prefix included; prefix + uid otherwise; without a
 * uid the long form, which the API server refuses. NULL when the arena failed.
 */
const char *fluid_label_key(const char *prefix, const struct fluid_identity *id,
                            struct arena *arena);
/* Is it short enough for the API server? */
bool fluid_label_fits(const char *key);
