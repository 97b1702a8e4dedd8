/*
 * Kubernetes objects, decoded from JSON of `kubectl get -o json`, of watches or of the scheduler:
 * only the parts that spreading needs. Unknown fields and kinds are skipped.
 *
 * Decoded objects own nothing: strings and arrays live in the text or the reader's arena.
 */
#pragma once

#include "base/json_reader.h"
#include "model/affinity.h"
#include "model/kinds.h"
#include "model/labels.h"
#include "model/pod_affinity.h"
#include "model/resources.h"
#include "model/selector.h"
#include "model/taint.h"
#include "model/topology.h"

struct object_meta {
    struct str name, namespace, uid;
    struct labels labels;
    bool terminating; /* deletionTimestamp is set */
    struct str controller_kind, controller_name, controller_api,
        controller_uid; /* ownerReference with controller: true */
    struct str version; /* resourceVersion */
    struct str created; /* creationTimestamp, as it is written; "": not set */
};

/* A node from which a worker of a dataset is being removed, so that the worker's bytes will be
 * gone. */
struct leaving_node {
    struct str node, worker; /* the worker's pod */
    int64_t replicas;        /* the runtime's number of replicas, too small to keep this worker; -1:
                                the runtime is being deleted */
};

/* A dataset that a pod mounts, and the labels that show where its bytes are. */
struct mounted_dataset {
    struct str namespace, id;             /* the namespace of its worker pods, and the value of
                                             their label fluid.io/dataset */
    struct str worker_label, quota_label; /* labels of nodes: the first shows that a worker is on
                                             the node, the second how many bytes the worker may keep
                                             */
    int64_t size, cached;                 /* number of all bytes, and of cached bytes; -1: not known
                                           */
    const struct leaving_node *leaving;   /* each node at most once */
    uint32_t leaving_count;
};

struct pod {
    struct object_meta meta;
    struct str node_name;         /* empty: not bound */
    bool finished;                /* phase Succeeded or Failed: spreading ignores such a pod */
    struct pod_requests requests; /* with POD_RUNNING the requests of a running pod, otherwise those
                                     of the spec */
    struct pod_affinity beside, apart; /* podAffinity and podAntiAffinity */
    struct node_affinity affinity;
    struct tolerations tolerations;
    struct str scheduler; /* schedulerName; empty: not given */
    bool has_gates;       /* it has schedulingGates; the gates and the constraints are not read with
                             POD_RUNNING */
    bool gated;           /* some of its schedulingGates are Kueue's */
    bool waits_hard;      /* with POD_RUNNING: no node yet, no schedulingGates, and it has a hard
                             spread constraint or a claim */
    const struct spread_constraint *constraints;
    uint32_t constraint_count;
    struct str *images; /* images of the pod's containers and volumes, by the names that runtimes
                           use; with POD_SCORED */
    uint32_t image_count, image_cap;
    uint32_t containers;      /* number of containers and initContainers */
    const struct str *claims; /* PersistentVolumeClaims of its volumes; also with POD_RUNNING */
    uint32_t claim_count;
    bool makes_claims; /* further claims are made for it: ephemeral volumes; with POD_RUNNING too */
    const struct mounted_dataset *datasets; /* not decoded from the pod: see data/fluid/mounted.h */
    uint32_t dataset_count;
};

/* A name of an image on a node; an image with several names has several entries. */
struct node_image {
    struct str name;
    int64_t size; /* bytes */
};

struct node {
    struct object_meta meta;
    const struct taint *taints;
    uint32_t taint_count;
    bool unschedulable;           /* cordoned */
    struct resources allocatable; /* with "pods"; empty: the node's status has no amounts */
    const struct node_image *images;
    uint32_t image_count;
};

/* Service, ReplicationController, ReplicaSet or StatefulSet: its selector of pods, for default
 * constraints. */
struct workload {
    struct object_meta meta;
    struct label_selector selector; /* a selector that is a map becomes matchLabels */
};

struct object {
    enum object_kind kind;
    union {
        struct object_meta meta; /* the first member of every kind */
        struct pod pod;
        struct node node;
        struct workload workload;
    };
};

enum pod_detail {
    POD_RUNNING, /* the needed parts of a running pod: meta, nodeName, phase, requests, podAffinity
                    and podAntiAffinity, required node affinity, tolerations, schedulerName and
                    claims */
    POD_WHOLE,   /* everything that an extender or a webhook needs; no preferences */
    POD_SCORED,  /* everything */
};

/* Reads the next object, which must have a name. Skips an object of kind OBJECT_OTHER. */
void object_read(struct json_reader *r, enum object_kind kind, enum pod_detail detail,
                 struct object *ret);
/* Read an object of one kind, also without a name. */
void pod_decode(struct json_reader *r, enum pod_detail detail, struct pod *ret);
/* Changes a pod without a uid as an API server changes a new pod, as far as kube-scheduler sees the
 * change. (Since 1.34 the API server merges matchLabelKeys of spread constraints, too;
 * kube-scheduler does so itself.) 0 or -ENOMEM. */
int pod_as_stored(struct pod *pod, struct arena *arena) MUST_CHECK;
void node_decode(struct json_reader *r, struct node *ret);
void workload_decode(struct json_reader *r, enum object_kind kind, struct workload *ret);
void meta_decode(struct json_reader *r, struct object_meta *ret);
/* The same, and the annotations, without a limit on the length of their values. */
void meta_decode_annotated(struct json_reader *r, struct object_meta *ret,
                           struct labels *ret_annotations);

/* As json_finish(), for an object from a user or an API server. -EFBIG: this object needs more
 * memory than the reader's arena may take; the error names the object as far as it was read.
 * -ENOMEM: the machine has no memory, so later objects would fail, too. */
int object_finish(struct json_reader *r, const struct object_meta *meta,
                  struct err *err) MUST_CHECK;
/* The same for an object that is only a part of the reader's text: as json_check(). */
int object_check(const struct json_reader *r, const struct object_meta *meta,
                 struct err *err) MUST_CHECK;

/* As object_read(), for a text that is one object of this kind; the text's own `kind` is ignored
 * (items of a list have none). 0, -EINVAL with path and byte, -EFBIG or -ENOMEM. Strings: text or
 * arena. */
int object_decode(struct str json, enum object_kind kind, enum pod_detail detail,
                  struct arena *arena, struct object *ret, struct err *err) MUST_CHECK;

/* Reads only name, namespace and uid of an object of any kind, so that an invalid field elsewhere
 * does not matter. 0, -EINVAL (no JSON, or no name), -EFBIG or -ENOMEM. */
int object_key_decode(struct str json, struct arena *arena, struct object_meta *ret,
                      struct err *err) MUST_CHECK;

/*
 * Calls `read` for every object of a document: a single object, or a List (`kubectl get` of several
 * kinds, or a NodeList whose items carry no kind), with lists within lists. The object comes next
 * in `r`, and `read` must read or skip it. Items without a kind have the kind and group of their
 * list. `arena` is reset after each object. Reading stops at the first error, from `read` or from
 * the reader (with path and byte).
 */
typedef int object_read_fn(void *ctx, struct object_type type, struct json_reader *r,
                           struct err *err);
int objects_walk(struct str json, struct arena *arena, object_read_fn *read, void *ctx,
                 struct err *err) MUST_CHECK;

/* The same for the kinds that the cache knows, decoded; `object` is valid during the call only. */
typedef int object_visit_fn(void *ctx, const struct object *object, struct err *err);
int objects_read(struct str json, enum pod_detail detail, struct arena *arena,
                 object_visit_fn *visit, void *ctx, struct err *err) MUST_CHECK;
