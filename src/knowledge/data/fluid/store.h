/*
 * The objects that tell where a pod's data is, as far as Fluid's rules need them: found by kind,
 * namespace and name in constant time.
 *
 * The store is fed with decoded JSON objects, from files or from watches, and keeps of each only
 * the fields that are read (fluid_store_put() below), in documents of its own. It knows no sources
 * and no locks: its owner guards it, and what fluid_store_get() returns is borrowed until the next
 * put, remove or end of a listing.
 *
 * Claims are most of what there is in a cluster, and few of them are a dataset's. Of the others it
 * is kept that they exist; they share one empty document.
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
    FLUID_RUNTIMES, /* the number of runtime kinds; no object is of this kind */
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

/* Of a StatefulSet: where its pods may run, as the nodeSelectorTerms that Fluid would make of it
 * for a runtime's status.cacheAffinity: those of the pod template, each with the template's node
 * selector. An array; absent when the template says nothing. */
#define FLUID_WORKER_TERMS "workerTerms"

/* Of a pod that keeps bytes of a dataset, which its label FLUID_LABEL_DATASET names as
 * fluid_label_key() does with the prefix "": the number that its name ends with; absent when a
 * controller that is no StatefulSet made it. */
#define FLUID_ORDINAL "ordinal"

struct fluid_store;

/* NULL when out of memory; free takes NULL. */
struct fluid_store *fluid_store_new(void);
void fluid_store_free(struct fluid_store *s);

/* Its row in the table of watched kinds. */
const struct watched_kind *fluid_kind_row(enum fluid_kind kind);
/* "Dataset", "AlluxioRuntime"; "persistentvolumeclaims" and the like in a sentence. Static. */
const char *fluid_kind_name(enum fluid_kind kind);
/* Which kind objects of this type are, by group (any version) and kind. False: none of these. */
bool fluid_kind_of(struct object_type type, enum fluid_kind *ret);

/*
 * Takes over what an object says, in place of what was known under its kind, namespace and name
 * ("default" when it has no namespace). `object` stays the caller's. Kept are name, namespace, uid
 * and
 *   PersistentVolumeClaim   the labels that begin with "fluid.io/"
 *   Dataset                 status: phase, conditions, runtimes, ufsTotal, cacheStates.cached
 *   the runtimes            fuse node selector, replicas of workers, status.cacheAffinity
 *   StatefulSet             replicas, FLUID_WORKER_TERMS
 *   Pod                     deletionTimestamp, nodeName, FLUID_LABEL_DATASET, FLUID_ORDINAL. One
 * that keeps no bytes on any node is not kept, or not any more: without FLUID_LABEL_DATASET, not
 * bound, or finished 0, -ENOTSUP (a kind that the store does not know: nothing happened), -EINVAL
 * (no name), -EFBIG (LIMIT_FLUID_OBJECT, LIMIT_FLUID_BYTES) or -ENOMEM; then what was known before
 * stays.
 */
int fluid_store_put(struct fluid_store *s, const cJSON *object, struct err *err) MUST_CHECK;
/* The same for an object whose kind the caller knows: items of lists do not say it. */
int fluid_store_put_as(struct fluid_store *s, enum fluid_kind kind, const cJSON *object,
                       struct err *err) MUST_CHECK;
/* Forgets an object; one that is not there is no error. */
void fluid_store_remove(struct fluid_store *s, struct fluid_key key);
/* The records of a kind, for listings (base/pool.h): fluid_store_put_as() shows what it keeps, and
 * fluid_store_drop() is for those that are gone. Borrowed. */
struct pool *fluid_store_records(struct fluid_store *s, enum fluid_kind kind);
void fluid_store_drop(struct fluid_store *s, enum fluid_kind kind, uint32_t id);
/* What is not in `s` is looked up in `behind` from then on, which is borrowed and changed by others
 * only while nobody reads `s`. */
void fluid_store_set_behind(struct fluid_store *s, const struct fluid_store *behind);
/* The document, or NULL. */
const cJSON *fluid_store_get(const struct fluid_store *s, struct fluid_key key);
/* Is called with documents until it returns false. The store stays as it is meanwhile. */
typedef bool fluid_visit_fn(void *ctx, const cJSON *doc);
/* The pods that keep bytes of a dataset; `dataset` is the value of their label. In time of these.
 */
void fluid_store_each_worker(const struct fluid_store *s, const char *namespace,
                             const char *dataset, fluid_visit_fn *visit, void *ctx);
/* All objects of a kind. None of a store behind this one. */
void fluid_store_each(const struct fluid_store *s, enum fluid_kind kind, fluid_visit_fn *visit,
                      void *ctx);
/* How many objects there are. */
size_t fluid_store_count(const struct fluid_store *s);
