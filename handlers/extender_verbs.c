#include "handlers/extender_verbs.h"

#include "handlers/extender.h"

const struct extender_verb extender_verbs[EXTENDER_VERBS] = {
    [EXTENDER_FILTER] = {.name = "filter",
                         .path = EXTENDER_PATH "/filter",
                         .field = "filterVerb",
                         .about = "which of these nodes may hold the pod",
                         .handle = extender_filter},
    [EXTENDER_PRIORITIZE] = {.name = "prioritize",
                             .path = EXTENDER_PATH "/prioritize",
                             .field = "prioritizeVerb",
                             .about = "how good each of them is",
                             .handle = extender_prioritize},
    [EXTENDER_COMPLEMENT] = {.name = "complement",
                             .path = EXTENDER_PATH "/complement",
                             .field = "prioritizeVerb",
                             .about = "the same beside kube-scheduler's own PodTopologySpread",
                             .handle = extender_complement},
    [EXTENDER_PREEMPT] = {.name = "preempt",
                          .path = EXTENDER_PATH "/preempt",
                          .field = "preemptVerb",
                          .about = "whether evicting these pods makes room",
                          .handle = extender_preempt},
    [EXTENDER_BIND] = {.name = "bind",
                       .path = EXTENDER_PATH "/bind",
                       .field = "bindVerb",
                       .about = "to bind the pod to the chosen node",
                       .handle = extender_bind},
};
