/*
 * Findings about a pod's affinity: terms that an API server or kube-scheduler refuses.
 *
 * Pure; the arena's steps bound the work.
 */
#pragma once

#include "findings/findings.h"
#include "model/object.h"

/* Finds requirements, keys, weights and lists that are refused, in nodeAffinity, podAffinity and
 * podAntiAffinity; preferences if the pod was decoded with them. `spec` is the path of the pod's
 * spec. upstream: kubernetes pkg/apis/core/validation validateAffinity (v1.36). Two mistakes are
 * accepted by an API server but refused by kube-scheduler: Gt or Lt with a number that does not
 * parse, and values of a preference that are no label values. */
void findings_of_affinity(const struct pod *pod, struct str spec, struct findings *f);
