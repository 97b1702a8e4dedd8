/*
 * Taints and tolerations. upstream: component-helpers scheduling/corev1 and core/v1
 * Toleration.ToleratesTaint.
 */
#pragma once

#include "base/json_reader.h"
#include "base/steps.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct taint {
    struct str key, value, effect;
};

struct toleration {
    struct str key, op, value, effect;
    bool has_seconds; /* tolerationSeconds was read; matching does not need it */
};

struct tolerations {
    const struct toleration *items;
    uint32_t count;
};

/* The taint of a cordoned node. upstream: core/v1 TaintNodeUnschedulable */
extern const struct taint cordon_taint;
/* Tolerations of taints that Kubernetes itself puts on nodes and takes away. upstream: k8s.io/api
 * core/v1 well_known_taints.go, k8s.io/cloud-provider/api. */
enum { PASSING_TAINTS = 10 };
extern const struct toleration passing_taint_tolerations[PASSING_TAINTS];
/* Tolerations that the DaemonSet controller adds to its pods; the last one only to pods in the
 * network of the host. upstream: pkg/controller/daemon/util AddOrUpdateDaemonPodTolerations */
enum { DAEMON_TOLERATIONS = 7 };
extern const struct toleration daemon_tolerations[DAEMON_TOLERATIONS];

/* Read an array or null. */
const struct taint *taints_decode(struct json_reader *r, uint32_t *ret_count);
struct tolerations tolerations_decode(struct json_reader *r);

/* Appends "key=value:effect", or "key:effect" without a value. upstream: core/v1 Taint.ToString */
void taint_print(const struct taint *taint, struct strbuf *out);

bool toleration_tolerates(const struct toleration *toleration, const struct taint *taint);

/* Is every taint that keeps pods off (NoSchedule, NoExecute; not PreferNoSchedule) tolerated? */
bool taints_tolerated(const struct taint *taints, uint32_t count, struct tolerations tolerations);
/* Is there a PreferNoSchedule taint that is not tolerated? */
bool taints_avoided(const struct taint *taints, uint32_t count, struct tolerations tolerations);

/* Appends bytes that are equal exactly for equal tolerations. */
void tolerations_key(struct tolerations tolerations, struct strbuf *out);
/* Returns the most steps to match one taint, and the approximate bytes of a copy. */
struct cost tolerations_cost(struct tolerations tolerations);
/* Copies the tolerations and their strings into the arena. On failure arena_failed(). */
struct tolerations tolerations_copy(struct tolerations from, struct arena *arena);
