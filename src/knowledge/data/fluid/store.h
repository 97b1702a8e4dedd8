/*
 * The objects that Fluid's rules need to find a pod's data: found by kind, namespace and name in
 * constant time.
 *
 * The owner puts decoded JSON objects into the store, from files or from watches. The store keeps
 * only the fields that are read (see fluid_store_put()), in documents of its own. It has no sources
 * and no locks: its owner guards it, and the result of fluid_store_get() is borrowed until the next
 * put, remove or end of a listing.
 *
 * Most objects are claims, and few claims belong to a dataset. The store keeps only the names of
 * the other claims; these share one empty document.
 */
#pragma once

#include "base/pool.h"
#include "data/fluid/doc.h"
#include "model/kinds.h"

#include <stddef.h>

enum fluid_kind {
    /* the runtimes come first: their order is that of the table in resolve.c */
    FLUID_ALLUXIO,
    FLUID_JINDO,
    FLUID_JUICEFS,
    FLUID_THIN,
    FLUID_EFC,
    FLUID_VINEYARD,
    FLUID_CACHE,
    FLUID_RUNTIMES, /* the number of runtime kinds; no object has this kind */
    FLUID_DATASET = FLUID_RUNTIMES,
    FLUID_CLAIM, /* PersistentVolumeClaim */
    FLUID_STATEFUL_SET,
    FLUID_WORKER, /* Pod with the label FLUID_LABEL_DATASET */
    FLUID_KINDS,
};

struct fluid_key {
    enum fluid_kind kind;
    const char *namespace, *name;
};

/* Member of a StatefulSet: the nodeSelectorTerms that Fluid would write into a runtime's
 * status.cacheAffinity. They are the terms of the pod template, each with the template's node
 * selector added. An array; absent if the template has neither. */
#define FLUID_WORKER_TERMS "workerTerms"

/* Member of a pod that keeps bytes of a dataset (its label FLUID_LABEL_DATASET has the value of
 * fluid_label_key() with prefix ""): the number at the end of its name; absent if its controller
 * is not a StatefulSet. */
#define FLUID_ORDINAL "ordinal"

struct fluid_store;

/* Returns NULL if out of memory; free takes NULL. */
struct fluid_store *fluid_store_new(void);
void fluid_store_free(struct fluid_store *s);

/* Returns the kind's row in the table of watched kinds. */
const struct watched_kind *fluid_kind_row(enum fluid_kind kind);
/* Returns the kind's name in sentences: "Dataset", "AlluxioRuntime". Static. */
const char *fluid_kind_name(enum fluid_kind kind);
/* Finds the kind for a type, by group (any version) and kind. Returns false for other types. */
bool fluid_kind_of(struct object_type type, enum fluid_kind *ret);

/*
 * Keeps an object, and replaces the object of the same kind, namespace ("default" if it has no
 * namespace) and name. The caller still owns `object`. The store keeps name, namespace, uid and
 *   PersistentVolumeClaim   the labels that begin with "fluid.io/"
 *   Dataset                 status: phase, conditions, runtimes, ufsTotal, cacheStates.cached
 *   the runtimes            fuse node selector, replicas of workers, status.cacheAffinity
 *   StatefulSet             replicas, FLUID_WORKER_TERMS
 *   Pod                     deletionTimestamp, nodeName, FLUID_LABEL_DATASET, FLUID_ORDINAL
 * A pod without FLUID_LABEL_DATASET, without a node, or finished, keeps no bytes: it is removed.
 * Returns 0, -ENOTSUP (another kind), -EINVAL (no name), -EFBIG (LIMIT_FLUID_OBJECT,
 * LIMIT_FLUID_BYTES) or -ENOMEM; an error changes nothing.
 */
int fluid_store_put(struct fluid_store *s, const cJSON *object, struct err *err) MUST_CHECK;
/* The same for an object whose kind the caller knows: items of lists have no kind. */
int fluid_store_put_as(struct fluid_store *s, enum fluid_kind kind, const cJSON *object,
                       struct err *err) MUST_CHECK;
/* Removes an object; it is no error if the object is missing. */
void fluid_store_remove(struct fluid_store *s, struct fluid_key key);
/* Returns the records of a kind, for listings (base/pool.h); borrowed. fluid_store_put_as() calls
 * pool_show() on kept objects, and fluid_store_drop() removes objects that are gone. */
struct pool *fluid_store_records(struct fluid_store *s, enum fluid_kind kind);
void fluid_store_drop(struct fluid_store *s, enum fluid_kind kind, uint32_t id);
/* From now on, looks up in `behind` the objects that `s` does not have. `behind` is borrowed, and
 * must not change while `s` is read. */
void fluid_store_set_behind(struct fluid_store *s, const struct fluid_store *behind);
/* Returns the document, or NULL. */
const cJSON *fluid_store_get(const struct fluid_store *s, struct fluid_key key);
/* A visitor: it is called for each document until it returns false. It must not change the store.
 */
typedef bool fluid_visit_fn(void *ctx, const cJSON *doc);
/* Visits the pods that keep bytes of a dataset; `dataset` is the value of their label. The time
 * depends only on the number of these pods. */
void fluid_store_each_worker(const struct fluid_store *s, const char *namespace,
                             const char *dataset, fluid_visit_fn *visit, void *ctx);
/* Visits all objects of a kind, but not those of a store behind this one. */
void fluid_store_each(const struct fluid_store *s, enum fluid_kind kind, fluid_visit_fn *visit,
                      void *ctx);
/* Returns the number of objects. */
size_t fluid_store_count(const struct fluid_store *s);
