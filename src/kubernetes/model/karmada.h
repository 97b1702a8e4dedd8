/*
 * Objects of Karmada, decoded from JSON. upstream: karmada pkg/apis/cluster/v1alpha1 types.go
 * (v1.18.1).
 *
 * Decoded objects own nothing: strings and arrays live in the text or the reader's arena. Unknown
 * fields are skipped.
 */
#pragma once

#include "model/object.h"
#include "model/quantity.h"

/* An API, represented by a hash of its group, version and kind. Each process draws its own random
 * hash key. */
typedef uint64_t karmada_api;
karmada_api karmada_api_of(struct str group_version, struct str kind);
/* The same for an object's apiVersion, parsed as upstream parses it: "/v1" is "v1", and a text with
 * two slashes has neither group nor version. upstream: apimachinery schema ParseGroupVersion(). */
karmada_api karmada_api_of_object(struct str api_version, struct str kind);

/* Prefix of fields that are topology keys; no label key can have this prefix. */
#define FIELD_PREFIX "spec:"

/* The amounts of a resource in status.resourceSummary. */
enum karmada_amount {
    KARMADA_ALLOCATABLE, /* of the cluster's nodes */
    KARMADA_ALLOCATING,  /* of waiting pods */
    KARMADA_ALLOCATED,   /* of pods on nodes */
    KARMADA_AMOUNTS,
};
struct karmada_resource {
    struct str name;
    __int128 nano[KARMADA_AMOUNTS]; /* 0 if not given */
    uint8_t given;                  /* bits 1 << KARMADA_... of the given amounts */
    enum quantity_format format;    /* the format of `free`, by Kubernetes' rule for a difference */
    int64_t free;                   /* allocatable - allocating - allocated, perhaps below 0: cpu in
                                       thousandths, other resources in whole units, rounded away
                                       from 0 */
};

/* ---- resource models: the sizes of a cluster's nodes ---- */

/* One resource of a grade: every node of the grade has at least `amount` of the resource available.
 */
struct karmada_range {
    struct str name;
    __int128 nano;
    int64_t amount; /* cpu in thousandths, other resources in whole units */
    bool scheduled; /* resource_is_scheduled() */
};
struct karmada_model {
    int64_t grade;
    const struct karmada_range *ranges; /* sorted by name; of duplicates only the last is kept */
    uint32_t range_count;
    uint64_t nodes; /* number of nodes of this grade, from the status; 0 if a later model has the
                       same grade */
};
/* One of status.resourceSummary.allocatableModelings. */
struct karmada_modeling {
    int64_t grade, count;
};
struct karmada_models {
    const struct karmada_model *items; /* spec.resourceModels, in order */
    uint32_t count;
    const uint32_t *by_grade;                 /* [count]: indices of items */
    const struct karmada_modeling *modelings; /* in order */
    uint32_t modeling_count;
    bool negative; /* a modeling's count of nodes is below 0 */
};

/* Parts of a cluster that the access to its API server depends on, beside its name and uid. */
struct karmada_access {
    struct str endpoint;                      /* spec.apiEndpoint; "": none */
    struct str secret_namespace, secret_name; /* spec.secretRef; "": none */
    struct str proxy_url;
    struct str proxy_headers; /* spec.proxyHeader, as a JSON object; "": none */
    bool insecure_skip_tls_verify;
};

struct karmada_cluster {
    struct object_meta meta;
    struct karmada_access access;
    struct str provider, region;
    bool pull;               /* spec.syncMode: Pull */
    const struct str *zones; /* spec.zones; spec.zone if spec.zones is empty */
    uint32_t zone_count;
    struct labels properties; /* the labels; and provider, region and zone, if given, with keys of
                                 FIELD_PREFIX and the field's name. Several zones are one value, in
                                 order, separated by commas */
    const struct taint *taints;
    uint32_t taint_count;
    const karmada_api *apis; /* from status.apiEnablements: sorted, each API once */
    uint32_t api_count;
    bool has_summary;                         /* status.resourceSummary is there */
    const struct karmada_resource *resources; /* by name */
    uint32_t resource_count;
    int64_t free_pods; /* number of free pods by the summary; never below 0 */
    struct karmada_models models;
};
void karmada_cluster_decode(struct json_reader *r, struct karmada_cluster *ret);
/* Returns a copy in one block of *ret_bytes bytes, for free(). The copy has no properties; its meta
 * has only name, uid, labels and terminating. NULL: no memory. */
struct karmada_cluster *karmada_cluster_copy(const struct karmada_cluster *from, size_t *ret_bytes);
/* Does the status list the API? The list may be incomplete. upstream: APIEnablement.Filter(). */
bool karmada_cluster_serves(const struct karmada_cluster *cluster, karmada_api api);

/* A part of karmada_cluster_decode(): reads status.apiEnablements. Errors stay in r. */
void karmada_apis_decode(struct json_reader *r, struct karmada_cluster *ret);

/* Parts of karmada_cluster_decode(): read spec.resourceModels, read the summary's
 * allocatableModelings, and compute the values that need both. Errors stay in r. */
void karmada_models_decode(struct json_reader *r, struct karmada_models *ret);
void karmada_modelings_decode(struct json_reader *r, struct karmada_models *ret);
void karmada_models_finish(struct json_reader *r, struct karmada_models *ret);
