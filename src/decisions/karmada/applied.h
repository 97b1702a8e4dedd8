/*
 * The annotation APPLIED_PLACEMENT_ANNOTATION: the placement that a binding was last
 * scheduled by, as Go's encoding/json writes it, and whether it has changed since. upstream:
 * karmada v1.18.1 pkg/scheduler scheduler.go and helper.go placementChanged().
 *
 * Placements are JSON texts. Members that v1.18.1 does not know do not count. Memory and steps are
 * the arena's; strings that are made are in it. 0, -EINVAL (a text is no placement), -E2BIG or
 * -ENOMEM.
 */
#pragma once

#include "base/arena.h"

/* Writes spec.placement as the scheduler would into the annotation, with the CRD's defaults. */
int karmada_placement_marshal(struct str placement, struct arena *arena, struct str *ret,
                              struct err *err) MUST_CHECK;

/*
 * Does spec.placement differ from what was applied, in what counts: clusterAffinity,
 * clusterTolerations, spreadConstraints, replicaScheduling and, of clusterAffinities, the term of
 * the name `observed`? An empty list is not the same as none, as Go's reflect.DeepEqual() has it.
 * Nothing applied: yes; an applied text that is no placement: no.
 */
int karmada_placement_changed(struct str placement, struct str applied, struct str observed,
                              struct arena *arena, bool *ret, struct err *err) MUST_CHECK;
