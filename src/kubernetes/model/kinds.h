/*
 * The kinds of Kubernetes objects that Evenkeel lists and watches: one const table. It gives the
 * paths, the queries of watches, the names in logs and metrics, the kind of an object in a state
 * file, and the permissions of `evenkeel check cluster`.
 */
#pragma once

#include "base/str.h"

/* The kinds that the cache's decoders know. */
enum object_kind {
    OBJECT_OTHER,
    OBJECT_NODE,
    OBJECT_POD,
    OBJECT_NAMESPACE,
    OBJECT_SERVICE,
    OBJECT_REPLICATION_CONTROLLER,
    OBJECT_REPLICA_SET,
    OBJECT_STATEFUL_SET,
};
enum { OBJECT_KINDS = OBJECT_STATEFUL_SET + 1 };

/* Returns the group of an apiVersion: "apps" of "apps/v1", "" of "v1". */
struct str api_group(struct str api_version);
/* The type that an object, or its list, states. */
struct object_type {
    struct str group; /* .p NULL: not stated; "": the core group */
    struct str kind;  /* "": not stated */
};
struct object_type object_type_of(struct str api_version, struct str kind);

/* The rows of the table, for the rooms that decode the objects. */
enum kind_row {
    KIND_NODE,
    KIND_POD,
    KIND_NAMESPACE,
    KIND_SERVICE,
    KIND_REPLICATION_CONTROLLER,
    KIND_REPLICA_SET,
    KIND_STATEFUL_SET,
    KIND_TOPOLOGY_POLICY,
    KIND_CLAIM,
    KIND_BOUND_CLAIM, /* claims once more, for the volumes that they are bound to */
    KIND_VOLUME,
    KIND_STORAGE_CLASS,
    KIND_RUNTIME_WORKERS, /* StatefulSets once more, for the pods that keep a dataset's bytes */
    KIND_WORKER_POD,      /* Pods once more: the pods that keep a dataset's bytes */
    KIND_ALLUXIO_RUNTIME,
    KIND_JINDO_RUNTIME,
    KIND_JUICEFS_RUNTIME,
    KIND_THIN_RUNTIME,
    KIND_EFC_RUNTIME,
    KIND_VINEYARD_RUNTIME,
    KIND_CACHE_RUNTIME,
    KIND_DATASET,
    KIND_MANAGED_CLUSTER,
    KIND_MANAGED_CLUSTER_SET,
    KIND_MANAGED_CLUSTER_SET_BINDING,
    KIND_PLACEMENT,
    KIND_PLACEMENT_DECISION,
    KIND_ADD_ON_PLACEMENT_SCORE,
    KIND_FLEET_NAMESPACE,  /* Namespaces once more, of the hub */
    KIND_PLACEMENT_POLICY, /* TopologyPolicies once more, of the hub */
    KIND_KARMADA_CLUSTER,
    KIND_DEPLOYMENT,
    KIND_RESOURCE_QUOTA,
    KIND_ROWS,
};

/* The roles of API servers. */
enum server_role {
    SERVER_CLUSTER, /* the cluster whose pods Evenkeel places */
    SERVER_HUB,     /* the hub of a fleet, if it is another API server (config/servers.h) */
    SERVER_KARMADA, /* Karmada's API server, if it is another one */
    SERVER_ROLES,
};

/* The feature that needs a kind; without the feature the kind is not watched. */
enum kind_need {
    KIND_FOR_ALL,      /* every feature for pods */
    KIND_FOR_DEFAULTS, /* default constraints, which take the selectors of workloads */
    KIND_FOR_POLICIES, /* policies for pods */
    KIND_FOR_VOLUMES,  /* volumes that pods' claims are bound to */
    KIND_FOR_DATA,
    KIND_FOR_FLEET,      /* the clusters of a fleet */
    KIND_FOR_PLACEMENTS, /* decisions of Placements */
    KIND_FOR_PLACEMENT_POLICIES,
    KIND_FOR_MEMBERS, /* Karmada's clusters */
    KIND_OF_MEMBERS,  /* objects of estimated clusters (members/store.h), at their API servers */
};

struct kind_permission {
    const char *verbs; /* separated by spaces; NULL: none */
    bool vital;        /* without the permission, `check cluster` reports an error; otherwise a
                          warning */
    const char *why;   /* the end of this error or warning */
};

enum { KIND_PERMISSIONS = 2 };

struct watched_kind {
    const char *group, *version, *kind;
    const char *resource; /* the plural, as in paths and permissions */
    const char *query;    /* query of the kind's listing, escaped; NULL: no query */
    const char *name;     /* name in logs and metrics; NULL: the resource's name */
    bool optional;        /* an API server may not know the kind */
    uint32_t most;        /* the most objects of a listing; 0: LIMIT_LISTED */
    enum kind_need need;
    enum server_role server; /* the API server that has the objects */
    enum object_kind object; /* the cache's name of the kind; OBJECT_OTHER: the cache does not keep
                                it */
    struct kind_permission permissions[KIND_PERMISSIONS]; /* that `check cluster` asks for */
};

extern const struct watched_kind watched_kinds[KIND_ROWS];

/* Is `name` the kind of the row, such as "Pod"? The first letter rules out most other kinds. */
static inline bool kind_is_named(const struct watched_kind *row, struct str name) {
    return name.n > 0 && name.p[0] == row->kind[0] && str_eq(name, str_of(row->kind));
}

/* Does an object of this type belong to the row? A type without a group matches by its kind alone.
 */
bool kind_is(const struct watched_kind *row, struct object_type type);
/* Returns the first row with an object's group (any version) and kind; NULL if there is no such
 * row, for example for a Service of another group. */
const struct watched_kind *watched_kind_find(struct object_type type);
/* Returns the cache's kind for an object's type; OBJECT_OTHER if the cache has none. */
enum object_kind object_kind_of(struct object_type type);

/* Returns the row of a kind that the cache knows; `kind` must not be OBJECT_OTHER. */
const struct watched_kind *object_kind_row(enum object_kind kind);
/* Returns the kind's name in logs and metrics, different for every row. Static. */
const char *kind_name(const struct watched_kind *kind);

/* Enough bytes for the path of every row. */
enum { KIND_PATH_SIZE = 80 };
/* Sets *ret to the path of all objects of a kind: "/apis/apps/v1/statefulsets". */
void kind_path(const struct watched_kind *kind, char ret[static KIND_PATH_SIZE]);
/* Appends the path of one object: "/apis/apps/v1/namespaces/SCOPE/statefulsets/NAME". `scope` is
 * the object's namespace; NULL: the object has no namespace. `scope` and `name` must be segments of
 * a path (kube/client/path.h). */
void kind_object_path(const struct watched_kind *kind, const char *scope, const char *name,
                      struct strbuf *out);
