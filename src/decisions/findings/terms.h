/*
 * Findings about terms that users write into pods, Placements and bindings alike, and about a pod's
 * own terms. No state is needed, so the webhook can give them as warnings.
 *
 * Pure; the arena's steps bound the work.
 */
#pragma once

#include "findings/findings.h"
#include "model/object.h"

enum toleration_rules { TOLERATIONS_OF_PODS, TOLERATIONS_OF_PLACEMENTS, TOLERATIONS_OF_BINDINGS };

/* Finds operators and effects that no toleration has. In pods, also finds keys, values and
 * combinations that an API server refuses; it accepts these in Placements and bindings. `path` is
 * the path of the list. upstream: kubernetes pkg/apis/core/validation ValidateTolerations (v1.36);
 * the CRD of OCM's Placement (v1.2.0); karmada pkg/util/validation validateClusterTolerations
 * (v1.18.1). */
void findings_of_tolerations(struct tolerations tolerations, enum toleration_rules rules,
                             struct str path, struct findings *f);

/* Reports an object with the apiVersion `old`, and the version to write instead. `effect` ends the
 * sentence: "read as v1beta1". */
void findings_of_version(struct str json, const char *old, const char *write, const char *effect,
                         struct findings *f);

/* Finds constraints that do not count the pod itself, and values and tolerations that an API server
 * would refuse. `spec` is the path of the pod's spec: "spec", "spec.template.spec". upstream:
 * kubernetes pkg/apis/core/validation validateTopologySpreadConstraints (v1.36). */
void findings_of_pod(const struct pod *pod, struct str spec, struct findings *f);
