/*
 * Finds the limits that a pod's claims set for its nodes: the volumes of bound claims, and the
 * volumes that claims may get that still wait for a node. upstream: volumebinding/binder.go,
 * GetPodVolumeClaims and findMatchingVolumes; volumezone/volume_zone.go, getPVbyPod.
 *
 * State files often lack volumes. A missing claim, volume or class counts only if other objects of
 * its kind are known; otherwise claims are not judged, and the reason is in the result. Claims are
 * not judged either if a claim has neither a status nor a volume: every API server writes a status.
 *
 * Threads: any.
 */
#pragma once

#include "informer/informer.h"
#include "model/object.h"
#include "model/pod_claims.h"

/* `volumes` NULL: claims are not judged. Takes steps of the arena. Returns 0 or -ENOMEM; without
 * steps, claims are not judged. */
int pod_claims_read(struct informer *volumes, const struct pod *pod, struct arena *arena,
                    const struct pod_claims **ret) MUST_CHECK;

/* Appends the places where volumes of the claims are or can be created, for claims that are limited
 * to places: "claim 'data' is bound to ...; claim 'log' waits for ...". Names only a few claims;
 * appends nothing if no claim is limited. */
void pod_claims_say(const struct pod_claims *claims, struct strbuf *out);
/* Appends "claim 'data' is bound to volume 'pv-1', which needs a node with
 * topology.kubernetes.io/zone in (a)". */
void bound_claim_say(const struct bound_claim *claim, struct strbuf *out);
