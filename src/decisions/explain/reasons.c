#include "explain/reasons.h"

#include <stddef.h>

/* The first row whose text is the beginning of the reason counts. upstream:
 * pkg/scheduler/framework/plugins, the ErrReason constants of each plugin; volumebinding/binder.go.
 */
static const struct reason_meaning meanings[] = {
    {"node(s) were unschedulable", "Cordoned", "cordoned", false},
    {"node(s) had untolerated taint", "Taint", "with a taint that the pod does not tolerate",
     false},
    {"node(s) had taints that the pod didn't tolerate", "Taint",
     "with a taint that the pod does not tolerate", false},
    {"node(s) didn't match Pod's node affinity/selector", "NodeSelector",
     "not matching the pod's nodeSelector or node affinity", false},
    {"node(s) didn't satisfy plugin(s) [NodeAffinity]", "NodeSelector",
     "not named by the pod's node affinity", false},
    {"pod affinity terms conflict", "NodeSelector", "the pod's node affinity names no node", false},
    {"node(s) didn't match scheduler-enforced node affinity", "NodeSelector",
     "not matching the addedAffinity of kube-scheduler's configuration", false},
    {"node(s) didn't match the requested node name", "NodeName", "not the pod's nodeName", false},
    {"node(s) didn't match pod affinity rules", "PodAffinity",
     "without a pod beside it that the pod's podAffinity requires", false},
    {"node(s) didn't match pod anti-affinity rules", "PodAntiAffinity",
     "with a pod beside it that the pod's podAntiAffinity excludes", false},
    {"node(s) didn't satisfy existing pods anti-affinity rules", "PodAntiAffinity",
     "with a pod beside it whose podAntiAffinity excludes this pod", false},
    {"node(s) didn't match pod topology spread constraints (missing required label)",
     "SpreadKeyMissing", "without the topologyKey of a spread constraint", false},
    {"node(s) didn't match pod topology spread constraints", "TopologySpread",
     "in a domain that is full by topologySpreadConstraints", false},
    {"node(s) didn't have free ports for the requested pod ports", "HostPort",
     "with the pod's hostPort in use", false},
    {"Too many pods", "Resources", "with as many pods as it may have", false},
    {"Insufficient ", "Resources", NULL, false},
    {"node(s) didn't find available persistent volumes to bind", "Volume",
     "without a PersistentVolume for the pod's claims", false},
    {"node(s) didn't match PersistentVolume's node affinity", "Volume",
     "out of reach of the pod's PersistentVolume", false},
    {"node(s) had volume node affinity conflict", "Volume",
     "out of reach of the pod's PersistentVolume", false},
    {"node(s) had no available volume zone", "Volume",
     "not in the zone of the pod's PersistentVolume", false},
    {"node(s) did not have enough free storage", "Volume", "without enough free storage", false},
    {"node(s) exceed max volume count", "Volume", "with as many volumes as it may have", false},
    {"node(s) had no available disk", "Volume", "with the pod's disk in use", false},
    {"node(s) unavailable due to", "Volume", NULL, false},
    {"pod has unbound immediate PersistentVolumeClaims", "UnboundClaim", NULL, false},
    {"persistentvolumeclaim ", "ClaimMissing", NULL, false},
    {"over maxSkew on ", "SpreadRule", NULL, true},
    {"no label ", "SpreadKeyMissing", NULL, true},
    {"waiting for pods in flight on ", "PodsInFlight", NULL, true},
    {"node is not in the cache yet", "NodeUnknown", "not yet seen by Evenkeel", true},
};

static const struct reason_meaning other = {"", "Other", NULL, false};
/* The reason of an ordered rule has the same beginning, but ends in " (ordered)". */
static const struct reason_meaning flat_spread = {"over maxSkew on ", "TopologySpread", NULL, true};

const struct reason_meaning *reason_meaning(struct str reason) {
    if (str_has_prefix(reason, str_of(flat_spread.text)) &&
        !str_has_suffix(reason, STR(" (ordered)")))
        return &flat_spread;
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (str_has_prefix(reason, str_of(meanings[i].text)))
            return &meanings[i];
    return &other;
}

struct str reason_words(struct str reason) {
    const struct reason_meaning *meaning = reason_meaning(reason);
    return meaning->words != NULL ? str_of(meaning->words) : reason;
}
