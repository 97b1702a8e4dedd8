/*
 * The requests of a pod and the capacity of a node: amounts of resources, and ports of the host.
 * upstream: component-helpers resource PodRequests(), and scheduler/framework Resource.
 */
#pragma once

#include "base/json_reader.h"
#include "base/limits.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* cpu in thousandths, everything else in whole units; both rounded away from zero. */
struct resource {
    struct str name;
    int64_t amount;
};

/* Is it a resource that every node has: cpu, memory, ephemeral-storage or pods? */
bool resource_is_native(struct str name);
/* Does kube-scheduler look at requests for this resource? It ignores other resources, such as
 * "storage", a name without a domain, and "pods". upstream: scheduler/util IsScalarResourceName(),
 * and the three native ones. */
bool resource_is_scheduled(struct str name);
/* Does the resource have a domain that is not one of Kubernetes' own? upstream: apis/core/v1/helper
 * IsExtendedResourceName(). */
bool resource_is_extended(struct str name);

struct resources {
    const struct resource *items; /* sorted by name, names unique */
    uint32_t count;
};

struct host_port {
    struct str ip;       /* "0.0.0.0": all addresses of the host */
    struct str protocol; /* never empty */
    int32_t port;        /* above 0 */
};

/* Compares by port, then protocol, then address. */
int host_port_cmp(const struct host_port *a, const struct host_port *b);

enum { FILLED_CPU, FILLED_MEMORY, FILLED };

struct pod_requests {
    struct resources resources;
    /* cpu and memory for scoring, with a default for each container that requests none.
     * upstream: scheduler/util DefaultMilliCPURequest, DefaultMemoryRequest. */
    int64_t filled[FILLED];
    const struct host_port *ports; /* sorted by host_port_cmp() */
    uint32_t port_count;
};

/* Reads status.allocatable of a node: the scheduled resources, and "pods". */
struct resources allocatable_decode(struct json_reader *r);

/* Quantities by name, exact until they are summed up: sorted by name, names unique. */
struct amounts {
    struct amount *items;
    uint32_t count, cap;
    uint32_t others; /* part of `count`: all but cpu, memory, ephemeral-storage and pods */
};
/* The most resources of one list: cpu, memory, ephemeral-storage and pods, for which there is
 * always room, and LIMIT_RESOURCES other resources. */
enum { RESOURCES_MOST = LIMIT_RESOURCES + 4 };

/*
 * A pod's requests while the pod is decoded; all zero before. The two functions return false for a
 * member without requests; the caller must then read the member. Resources beyond RESOURCES_MOST
 * are skipped: no node has so many, and kube-scheduler compares resources itself. Extended
 * resources of amount 0 are not stored, because they have no effect (upstream: fitsRequest()).
 */
struct requests_decoder {
    struct container *containers, *init_containers;
    struct container_status *statuses, *init_statuses;
    uint32_t container_count, init_container_count, status_count, init_status_count;
    struct amounts level, overhead; /* spec.resources.requests, spec.overhead */
    struct amounts level_actuated, level_allocated;
    bool level_reported;   /* status.resources is there */
    struct str conditions; /* JSON of status.conditions, as in the text */
};
bool requests_decode_spec(struct json_reader *r, struct str key, struct requests_decoder *d);
bool requests_decode_status(struct json_reader *r, struct str key, struct requests_decoder *d);

/* Return the number of containers, initContainers included, and the image of a container as
 * written. */
uint32_t requests_containers(const struct requests_decoder *d);
struct str requests_image(const struct requests_decoder *d, uint32_t container);

/*
 * Sums the requests, in the reader's arena. For a pod on a node (`placed`): the largest of its
 * wanted, allocated and actuated requests, as in kube-scheduler's snapshot. For a pod that waits
 * for a node: the requests of its spec.
 */
void requests_finish(struct json_reader *r, const struct requests_decoder *d, bool placed,
                     struct pod_requests *ret);
