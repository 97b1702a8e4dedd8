/*
 * The one list of the extender's verbs. The routes, the help of `evenkeel serve`, the metrics of
 * errors and `evenkeel check kube-scheduler-config` all read it, and a test compares the documents
 * with it.
 */
#pragma once

#define EXTENDER_PATH "/extender/v1" /* every verb is a name below it */

/*
 * A verb: its constant; its name, which is also the end of its path, its label in metrics and, as
 * extender_NAME, its handler; its field in kube-scheduler's configuration; the question that
 * kube-scheduler asks with it, for the help.
 *
 * kube-scheduler calls urlPrefix + "/" + the value of that field in an extender's entry. Several
 * verbs may be for one field; `check` advises the first of them.
 */
#define EXTENDER_JUDGING_LIST(VERB)                                                                \
    VERB(FILTER, filter, "filterVerb", "which of these nodes may hold the pod")                    \
    VERB(PRIORITIZE, prioritize, "prioritizeVerb", "how good each of these nodes is")              \
    VERB(COMPLEMENT, complement, "prioritizeVerb",                                                 \
         "the same, for use beside kube-scheduler's own PodTopologySpread")                        \
    VERB(PREEMPT, preempt, "preemptVerb", "whether evicting these pods makes room")
/* Served only if it is configured: it acts with our credentials. */
#define EXTENDER_BINDING_LIST(VERB)                                                                \
    VERB(BIND, bind, "bindVerb", "to bind the pod to the chosen node; only with extender.bind")
#define EXTENDER_VERB_LIST(VERB) EXTENDER_JUDGING_LIST(VERB) EXTENDER_BINDING_LIST(VERB)

#define EXTENDER_CONSTANT(constant, name, field, about) EXTENDER_##constant,
enum { EXTENDER_VERB_LIST(EXTENDER_CONSTANT) EXTENDER_VERBS };
#undef EXTENDER_CONSTANT

struct extender_verb {
    const char *name;  /* "filter" */
    const char *path;  /* "/extender/v1/filter" */
    const char *field; /* "filterVerb" */
    const char *about; /* "which of these nodes may hold the pod" */
};

extern const struct extender_verb extender_verbs[EXTENDER_VERBS];
