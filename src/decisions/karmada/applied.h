/*
 * Makes the annotation APPLIED_PLACEMENT_ANNOTATION: the placement with which a binding was last
 * scheduled, as Go's encoding/json writes it. Also decides whether spec.placement has changed
 * since. upstream: karmada v1.18.1 pkg/scheduler scheduler.go and helper.go placementChanged().
 *
 * Placements are JSON texts. Members unknown to v1.18.1 do not count. Memory and steps are the
 * arena's; new strings are in it. Functions return 0, -EINVAL (a text is no placement), -E2BIG or
 * -ENOMEM.
 */
#pragma once

#include "base/arena.h"

/* Writes spec.placement as the scheduler writes it into the annotation, with the CRD's defaults. */
int karmada_placement_marshal(struct str placement, struct arena *arena, struct str *ret,
                              struct err *err) MUST_CHECK;
/* Writes a policy's placement as the API server stores it: with the defaults of the CRD and of
 * Karmada's webhook. upstream: pkg/webhook/propagationpolicy mutating.go. */
int karmada_placement_store(struct str placement, struct arena *arena, struct str *ret,
                            struct err *err) MUST_CHECK;

/*
 * Does spec.placement differ from the applied one in clusterAffinity, clusterTolerations,
 * spreadConstraints, replicaScheduling, or in the term `observed` of clusterAffinities? An empty
 * list differs from a missing one, as in Go's reflect.DeepEqual(). *ret is true without an applied
 * placement, and false if the applied text is no placement.
 */
int karmada_placement_changed(struct str placement, struct str applied, struct str observed,
                              struct arena *arena, bool *ret, struct err *err) MUST_CHECK;
