/*
 * Finds what a pod's claims say about its nodes: the volumes that they are bound to, and for
 * claims that wait for a node the volumes that they may get. upstream: volumebinding/binder.go,
 * GetPodVolumeClaims and findMatchingVolumes; volumezone/volume_zone.go, getPVbyPod.
 *
 * State files often lack volumes. A claim, volume or class that is missing counts only if others of
 * its kind are known; otherwise claims are not judged, and the reason is in the result. Nor are
 * they if a claim has neither a status nor a volume: every API server writes a status.
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

/* Appends where the volumes of the claims are or can be made, for those that are not anywhere:
 * "claim 'data' is bound to ...; claim 'log' waits for ...". At most a few; nothing if none is
 * limited. */
void pod_claims_say(const struct pod_claims *claims, struct strbuf *out);
/* Appends "claim 'data' is bound to volume 'pv-1', which needs a node with
 * topology.kubernetes.io/zone in (a)". */
void bound_claim_say(const struct bound_claim *claim, struct strbuf *out);
