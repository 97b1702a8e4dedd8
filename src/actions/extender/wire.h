/*
 * The scheduler extender protocol's bytes: requests decoded, answers encoded. upstream:
 * kube-scheduler extender/v1 types.
 *
 * Wrapper keys are Go field names (Pod, NodeNames, ...) in any letter case; null means absent;
 * unknown members are skipped; a repeated key's last value wins. Embedded Pods and Nodes use
 * ordinary Kubernetes keys. Answers carry whole numbers only and never a null inside
 * NodeNameToMetaVictims, which would make kube-scheduler panic.
 *
 * All decoded strings are in the request's body or arena.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "engine/engine.h"
#include "http/http.h"

#include <stdbool.h>
#include <stdint.h>

/* The request of filter and of prioritize. */
struct extender_args {
    struct str body; /* the whole request */
    struct pod pod;
    struct candidates candidates;
    /* With full Nodes: each candidate's bytes as received. NULL if the request has names. */
    const struct str *nodes;
};

struct extender_victims {
    struct preemption preemption; /* node and victims */
    int64_t pdb_violations;
};

struct extender_preemption_args {
    struct pod pod;
    const struct extender_victims *victims;
    uint32_t count;
};

/* The request of bind. */
struct extender_binding {
    struct str namespace, name, uid, node;
};

/* Returns 0; -EINVAL: err has the mistake and its place; -ENOMEM. */
int extender_args_decode(struct str body, struct arena *arena, struct extender_args *ret,
                         struct err *err) MUST_CHECK;
int extender_preemption_decode(struct str body, struct arena *arena,
                               struct extender_preemption_args *ret, struct err *err) MUST_CHECK;

int extender_binding_decode(struct str body, struct arena *arena, struct extender_binding *ret,
                            struct err *err) MUST_CHECK;

/* Writes the answer into the response. With full Nodes, the nodes that pass are sent as the bytes
 * that came in. `result` NULL is "no opinion": every candidate passes. */
void extender_filter_encode(const struct extender_args *args, const struct filter_result *result,
                            struct arena *arena, struct http_response *response);
void extender_filter_error(const char *message, struct http_response *response);
/* Without an opinion (`result` NULL, or no algorithm gave scores) the list is empty: kube-scheduler
 * then adds nothing to any node, and need not decode thousands of zeros. The list names either all
 * candidates or none: kube-scheduler breaks ties in favour of named nodes. */
void extender_prioritize_encode(const struct extender_args *args, const struct score_result *result,
                                struct http_response *response);
/* `fits` NULL is "no opinion": every candidate stays. */
void extender_preemption_encode(const struct extender_preemption_args *args, const bool *fits,
                                struct http_response *response);
/* Encodes the answer of bind. `error` is "" if the pod is bound. */
void extender_bind_encode(const char *error, struct http_response *response);
/* For verbs whose answer has no member for an error: kube-scheduler takes any status other than 200
 * as an error. */
void extender_refuse(int status, const char *message, struct http_response *response);
