/*
 * Finds the datasets that a pod mounts: from its volumes to PersistentVolumeClaims, to Datasets, to
 * their runtimes. The rules are those of Fluid's webhook (CollectRuntimeInfosFromPVCs and
 * GetRuntimeInfo), except for the order: by claim name, while upstream's is random.
 *
 * - Only spec.volumes[*].persistentVolumeClaim counts, mounted by a container or not; generic
 *   ephemeral volumes do not.
 * - A claim belongs to a dataset if it has a label with a key that begins with "fluid.io/s-" (any
 * value), or the label fluid.io/managed-by or (deprecated) fluid.io/wrapped-by. The value of either
 * of the last two labels is the dataset's name; without both labels, the claim's name is the
 * dataset's name.
 * - The dataset must be bound: its phase is not "" or "NotBound". Pod annotation
 *   FLUID_SKIP_PRECHECK: "true" skips this.
 * - The runtime has the dataset's namespace and name, and the kind of status.runtimes[0].type.
 *
 * A reference (a virtual dataset in the pod's namespace; the labels of its claim name the physical
 * dataset) resolves to the virtual dataset and its ThinRuntime, as in upstream. Nodes have the
 * worker labels of `physical`.
 */
#pragma once

#include "base/arena.h"
#include "data/fluid/store.h"

/* The parts of a dataset from which the keys of its labels are made. */
struct fluid_identity {
    const char *namespace, *name, *uid; /* uid "" when unknown */
};

struct fluid_dataset {
    const char *claim; /* pod labels use this name for the dataset */
    struct fluid_identity self;
    struct fluid_identity physical; /* equal to `self`, except for a reference */
    enum fluid_kind runtime;        /* kind of the runtime of `self` */
    bool unlabelled; /* no node has the label of its workers: a ThinRuntime writes none */
    const cJSON *fuse_selector; /* an object of strings that is not empty; or NULL */
    const cJSON
        *cache_terms; /* nodeSelectorTerms of status.cacheAffinity's required part; or NULL */
};

struct fluid_datasets {
    struct fluid_dataset *items; /* arena */
    size_t count;
};

/* Objects that the store does not have. The store's owner can read them from the API server, put
 * them into the store and try again; each try finds the next object of the chain claim, dataset,
 * runtime. */
struct fluid_missing {
    struct fluid_key keys[16]; /* the first 16; strings belong to the store or the arena */
    size_t count;
};

struct fluid_query {
    const struct fluid_store *store;
    const struct str *claims; /* claims of the pod's volumes; a claim may be repeated */
    uint32_t claim_count;
    const char *namespace; /* the pod's namespace */
    bool unbound_too;      /* also accept datasets that are not bound */
    /* For an EFCRuntime, which never has status.cacheAffinity: read the node affinity of its
     * workers' StatefulSet, <name>-worker. Upstream does not read it. */
    bool from_workers;
    struct fluid_missing *missing; /* gets the objects that the store does not have; or NULL */
};

/*
 * Resolves every claim of a pod. Strings and documents in `ret` are borrowed from the store, or in
 * the arena.
 *
 * Returns 0; -ENOENT (the store lacks an object: the sentence and `missing` name it), -EAGAIN
 * (a dataset is not bound), -EINVAL (no runtime, or a runtime of an unknown type) or -ENOMEM.
 */
int fluid_resolve(const struct fluid_query *query, struct arena *arena, struct fluid_datasets *ret,
                  struct err *err) MUST_CHECK;

/* Returns the number of workers in the dataset's runtime, or else in its StatefulSet; -1 if neither
 * is known. */
int64_t fluid_wanted_workers(const struct fluid_store *store, const struct fluid_identity *dataset);

/*
 * Returns the key of a label that Fluid names after a dataset: prefix (FLUID_LABEL_COMMON, ...) +
 * namespace "-" name if this is shorter than 63 bytes, prefix included; otherwise prefix + uid. If
 * the uid is unknown, returns the long form, which the API server refuses. NULL: the arena failed.
 */
const char *fluid_label_key(const char *prefix, const struct fluid_identity *id,
                            struct arena *arena);
/* Is the key short enough for the API server? */
bool fluid_label_fits(const char *key);
