/*
 * A pod of a member cluster, as Karmada's accurate estimator counts it: for each resource, the sum
 * of the containers' rounded requests, but at least the largest request of an init container; plus
 * the overhead. Unlike in struct pod, restartable init containers, requests of the whole pod and
 * resizes do not count. upstream: karmada pkg/util resource.go AddPodRequest() (v1.18.1).
 *
 * Decoded objects own nothing: strings and arrays live in the text or the reader's arena.
 */
#pragma once

#include "model/object.h"

struct karmada_pod {
    struct object_meta meta;
    struct str node_name;      /* empty: not bound */
    bool finished;             /* phase Succeeded or Failed */
    struct resources requests; /* also of "pods", which a container may request; only amounts above
                                  0 */
    int64_t beyond;            /* usually 0. If the containers name more than LIMIT_RESOURCES
                                  resources besides cpu, memory, ephemeral-storage and pods, the pod
                                  may request up to this amount more of each resource but these four
                                  */
    bool unschedulable;        /* condition PodScheduled is False, reason Unschedulable */
    bool has_transition;
    int64_t transition_ms; /* lastTransitionTime of that condition, since 1970 */
};
void karmada_pod_decode(struct json_reader *r, struct karmada_pod *ret);

/* Reads the spec of a pod template, and returns the requests of a replica: as for a pod, but for a
 * resource without a request, the container's limit counts. *ret_beyond is as `beyond` above.
 * upstream: AddPodTemplateRequest(). */
struct resources karmada_template_requests_decode(struct json_reader *r, int64_t *ret_beyond);
