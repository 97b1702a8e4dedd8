/*
 * Findings about the kind and the apiVersion of a pod or a workload: a kind, or a version of a
 * kind, that no API server has.
 *
 * Only groups of Kubernetes itself are judged: a group with a dot may belong to a CRD, which may
 * define any kind.
 *
 * Pure; the arena's steps bound the work.
 */
#pragma once

#include "findings/findings.h"

/* Adds at most one finding about the object: OldVersion if its version has ended, or Invalid if no
 * API server has its kind in its apiVersion. An object without an apiVersion has a finding only if
 * its kind is misspelt. */
void findings_of_kind(struct str json, struct findings *f);

/* Returns the kind of Kubernetes itself that a misspelt kind of a pod or a workload is nearest to.
 * NULL: none is near, the kind is right, or a CRD may define it. Static. */
const char *pod_kind_near(struct str version, struct str kind, struct steps *steps);
