/*
 * Decides a Placement's clusters as Open Cluster Management (OCM) does, step by step; with spread
 * terms, rounds (ocm/plan.h) replace OCM's own selection.
 *
 *     sets -> Predicate -> TaintToleration -> prioritizers -> selection -> decision groups
 *
 * Pure: a view, a Placement and a time in, a decision out. Reads no clock and writes nothing.
 * upstream: open-cluster-management.io/ocm v1.2.0, pkg/placement (controllers/scheduling, plugins,
 * helpers). Without terms the results are upstream's; texts of conditions are upstream's, too.
 *
 * Differences from upstream, where its result cannot be known or is random:
 *   - CEL expressions are not evaluated; a predicate's CEL part is taken as true (cel_unknown).
 *   - If several misconfigurations of one kind exist, upstream reports the first in the random
 *     order of a Go map; here it is the first as written.
 *
 * Per-slot arrays are [topology_slots()] long. An item is only set if its cluster reached the step:
 * `verdicts` for available clusters, `sums` and scores for clusters that pass OCM's own filters.
 *
 * Everything in a decision is in the arena or borrowed from the question and the view: it is valid
 * as long as all three. Threads: a decision belongs to the view's thread; two threads may decide at
 * the same time through two views.
 */
#pragma once

#include "fleet/fleet.h"
#include "ocm/plan.h"

/* ---- the question ---- */

/* The value of the annotation PLACEMENT_MODE_ANNOTATION. */
enum placement_mode {
    PLACEMENT_UNSET, /* not given, or an unknown word */
    PLACEMENT_SCORES,
    PLACEMENT_OWNER,
    PLACEMENT_OFF,
};

/* The terms in force for a Placement: its own terms; if it has no terms, the terms of a policy; in
 * mode Off no terms. Borrowed from the Placement and the policy. All code that spreads Placements
 * uses this struct. */
struct ocm_terms {
    const struct placement_term *items;
    uint32_t count;
    struct str policy; /* name of the policy with the terms; "": they are the Placement's own */
    enum placement_mode mode;
    struct str unknown_mode; /* an unknown word in the annotation; .p NULL: no unknown word */
    struct str warning;      /* the policy's warning, if policies were read; else "" */
};
void ocm_terms_find(const struct placement *placement, const struct ocm_policy_terms *policy,
                    struct ocm_terms *ret);
/* Returns the warning for an unknown word, in the arena. */
struct str ocm_unknown_mode_text(struct str word, struct arena *arena);

/* Returns why the selector of the spread group does not parse; "" if it parses or is not given. The
 * text is in the arena, which has failed if there was no memory. */
struct str ocm_group_invalid(const struct placement *placement, struct arena *arena);
/* Returns the warning that two terms have the same key; "" if no two terms have. The text is in the
 * arena. */
struct str ocm_key_twice(const struct ocm_terms *terms, struct arena *arena);

struct ocm_question {
    const struct placement *placement;
    struct ocm_policy_terms policy;
    int64_t now_ms; /* milliseconds since 1970; compared with validUntil and tolerationSeconds */
    bool with_rounds, with_domains; /* plan.rounds and plan.domains are wanted */
    /* Selects no new cluster in a domain that is above a hard term because of kept clusters. So
     * today's decisions can change into the answer step by step, without a step above a hard
     * term. */
    bool reachable;
    /* By slot, 1: the cluster counts as a member for the terms; NULL: the clusters in
     * PlacementDecisions are members. */
    const uint8_t *members;
    /* If `has_names`, only these clusters take part, and others are not available. */
    bool has_names;
    const struct str *names; /* names in any order; a name may be repeated */
    uint32_t name_count;
    const uint8_t *without; /* by slot: 1: the cluster is not available; NULL: all are 0 */
};

/* ---- the answer ---- */

enum ocm_outcome {
    OCM_DECIDED,
    /* upstream's status Misconfigured: no decision is left, and a condition has the reason. (If
     * only the groups have problems, the outcome is OCM_DECIDED, with group_problem.) */
    OCM_MISCONFIGURED,
    /* upstream's status Error: no decision is left either */
    OCM_ERROR,
    /* A ManagedClusterSet's selector does not compile. Upstream gives up before it schedules:
     * decisions and conditions stay as they are. */
    OCM_UNTOUCHED,
};

enum ocm_verdict {
    OCM_PASS,
    OCM_PREDICATE,
    OCM_TAINT_TOLERATION,
    OCM_TOPOLOGY_KEY, /* passes OCM's filters, but lacks the key of a hard term */
    OCM_VERDICTS
};
extern const struct str ocm_verdict_names[OCM_VERDICTS];

/* Why a cluster of question.names is not available. */
enum ocm_absence {
    OCM_NOT_KNOWN,   /* no ManagedCluster has this name */
    OCM_TERMINATING, /* the cluster is being deleted */
    OCM_NOT_IN_SETS, /* the cluster is in no set that is bound and asked for */
};
struct ocm_absent {
    struct str name;
    enum ocm_absence why;
};

struct ocm_scores {
    struct str name; /* "Balance", "AddOn/<resource>/<score>" */
    int32_t weight;  /* not 0 */
    const int32_t *scores;
    const uint8_t *lacks; /* 1: upstream has no score of the cluster, which counts as 0; NULL: all
                             have scores */
};

struct ocm_group {
    struct str name;
    const uint32_t *slots; /* slots of the group's clusters, sorted by name */
    uint32_t count;
    /* The PlacementDecisions that hold the group: `<placement>-decision-<n>`, from n =
     * first_decision on, with at most OCM_DECISION_CLUSTERS clusters each. An empty group has one
     * PlacementDecision. */
    uint32_t first_decision, decision_count;
};
enum { OCM_DECISION_CLUSTERS = 100 };

enum ocm_status { OCM_FALSE, OCM_TRUE, OCM_UNKNOWN, OCM_STATUSES };
extern const struct str ocm_status_names[OCM_STATUSES];

struct ocm_condition {
    struct str type;
    enum ocm_status status;
    struct str reason, message;
};

/*
 * The reason of the condition SpreadSatisfied: do the selected (or the decided) clusters fulfil the
 * terms? OCM itself does not have this condition. The first reason that fits counts:
 *   Unknown  Misconfigured       nothing was selected, because of a misconfiguration or an error
 *   False    KeyUnknown          none of the clusters that pass OCM's own filters has the key of a
 *                                term
 *   Unknown  NoClusters          numberOfClusters is 0
 *   False    NoClusters          there is no cluster, and the terms are not why
 *   False    Skewed              a term's skew is above its maxSkew
 *   False    TooFewDomains       a parent domain has fewer domains of a term than its minDomains
 *   False    Unscheduled         clusters are left that pass, and hard terms forbid all of them
 *   False    SpreadGroupInvalid  the selector of the spread group does not parse
 *   True     Even                none of these
 */
enum ocm_spread_reason {
    OCM_SPREAD_MISCONFIGURED,
    OCM_SPREAD_KEY_UNKNOWN,
    OCM_SPREAD_NOTHING_ASKED,
    OCM_SPREAD_NO_CLUSTERS,
    OCM_SPREAD_SKEWED,
    OCM_SPREAD_TOO_FEW_DOMAINS,
    OCM_SPREAD_UNSCHEDULED,
    OCM_SPREAD_GROUP_INVALID,
    OCM_SPREAD_EVEN,
    OCM_SPREAD_REASONS
};
/* A format for printf(); its argument is the negative number. */
#define OCM_NEGATIVE_NUMBER                                                                        \
    "numberOfClusters is %d, and a negative one crashes Open Cluster Management's controller"

extern const struct str ocm_spread_reason_names[OCM_SPREAD_REASONS];

/* PlacementMisconfigured, PlacementSatisfied */
enum { CONDITION_MISCONFIGURED, CONDITION_SATISFIED, OCM_CONDITIONS };

struct ocm_spread {
    enum ocm_spread_reason reason;
    struct ocm_condition condition;
};

struct ocm_decision {
    const struct placement *placement;
    struct fleet_view *view;
    enum ocm_outcome outcome;
    struct str plugin, problem; /* the plugin and the problem; only if the outcome is not
                                   OCM_DECIDED */
    struct str group_problem;   /* why decision groups are missing; "": all groups exist */

    /* the available clusters */
    uint32_t binding_count; /* number of valid ManagedClusterSetBindings in the namespace */
    const struct str *sets; /* names of the eligible sets, sorted */
    uint32_t set_count;
    const uint32_t *available; /* slots of the available clusters, sorted by name */
    uint32_t available_count;
    const struct ocm_absent *absent; /* unavailable clusters of question.names; sorted, each once */
    uint32_t absent_count;

    /* the results of filters for the available clusters */
    bool filtered; /* false: filters gave no result: one is misconfigured, or no cluster exists */
    const uint8_t *verdicts;                /* [slot]: enum ocm_verdict */
    const uint32_t *causes;                 /* [slot]: cause of the verdict, for ocm_reason() */
    const struct selector *first_predicate; /* NULL if the Placement has no predicate */
    bool cel_unknown;

    /* the results of prioritizers for the clusters that pass the filters */
    const struct ocm_scores *prioritizers; /* sorted by name */
    uint32_t prioritizer_count;
    bool summed;         /* the prioritizers have given their scores */
    const int64_t *sums; /* [slot]: weighted sum of the cluster's scores */

    /* the selection among the clusters that pass */
    struct str policy; /* name of the policy with the terms; "": they are the Placement's own */
    const struct placement_term *terms;
    uint32_t term_count;
    int32_t spread_weight;   /* weight of `builtIn: Spread`; 0: first mode */
    struct plan plan;        /* selected clusters, unscheduled, skew, domains, rounds */
    const uint32_t *current; /* slots of the clusters in today's decision, sorted by name; also
                                deleted clusters */
    uint32_t current_count;
    const struct str *strangers; /* names in today's decision that no cluster has; sorted, each
                                    once. They count as current, and every decision removes them */
    uint32_t stranger_count;
    const uint32_t *add, *remove; /* changes to today's decision: slots, sorted by name */
    uint32_t add_count, remove_count;
    const uint32_t *selected_by_name; /* [plan.selected_count]: slots, sorted by name */

    const struct ocm_group *groups;
    uint32_t group_count;
    struct ocm_condition conditions[OCM_CONDITIONS]; /* not set with OCM_UNTOUCHED: upstream writes
                                                        no conditions then */
    bool has_spread;                                 /* there are terms */
    struct ocm_spread spread;                        /* how even the selected clusters are */
    const uint32_t *others;   /* [slot]: count in the spread group; NULL: all are 0 */
    struct str group_invalid; /* the reason why the named spread group is not valid; else "" */

    /* The score to publish for OCM: 100 for each selected cluster. The resource is "" if the
     * Placement has no annotation PLACEMENT_INJECTED_ANNOTATION. */
    struct str publish_resource, publish_key;

    bool has_requeue;
    int64_t requeue_ms;         /* time from now until a toleration of a current cluster ends */
    const struct str *warnings; /* sentences about the Placement, then terms, then scores */
    uint32_t warning_count;
};

enum { OCM_PUBLISHED_SCORE = 100 };

/*
 * Decides. Columns and the order of names that it builds stay in the view, which can publish them.
 * arena->steps bounds the work; it also bounds the work for columns if the view has no budget.
 * Returns 0, -E2BIG (a budget is spent) or -ENOMEM, with a sentence.
 */
int ocm_decide(struct fleet_view *view, const struct ocm_question *question, struct arena *arena,
               struct ocm_decision *ret, struct err *err) MUST_CHECK;

/* Finds the clusters in the sets that the Placement may use, also clusters that are being deleted.
 * *ret has [topology_slots()] items; 1: the cluster is in such a set. Budgets and errors are those
 * of ocm_decide(). */
int ocm_find_in_sets(struct fleet_view *view, const struct placement *placement,
                     struct arena *arena, const uint8_t **ret) MUST_CHECK;

/*
 * Computes the condition for other clusters, which a live hub has decided; no slot is repeated.
 * Takes the view's steps: O(clusters x terms) if the clusters are not the selected clusters.
 * Returns 0, -E2BIG or -ENOMEM.
 */
int ocm_spread_judge(const struct ocm_decision *d, const uint32_t *slots, uint32_t count,
                     struct arena *arena, struct ocm_spread *ret) MUST_CHECK;

/* ---- reading it ---- */

struct str ocm_cluster_name(const struct ocm_decision *d, uint32_t slot);

/* Does an available cluster pass OCM's own filters? It may still lack the key of a hard term. */
static inline bool ocm_passes_filters(const struct ocm_decision *d, uint32_t slot) {
    return d->verdicts[slot] == OCM_PASS || d->verdicts[slot] == OCM_TOPOLOGY_KEY;
}

/* Appends the reason why an available cluster does not pass; "" if it passes: "taint
 * key1=value1:NoSelect is not tolerated", "label cloud in (Amazon) does not hold". */
void ocm_reason(const struct ocm_decision *d, uint32_t slot, struct strbuf *out);
struct str ocm_absence_text(enum ocm_absence why);
/* Appends the hard term that would not let a kept cluster in now: "zone=a is above maxSkew 1: a
 * member stays", "no label zone: a member stays". */
void ocm_kept_reason(const struct ocm_decision *d, uint32_t slot, struct arena *arena,
                     struct strbuf *out);

/* Returns the reason why there is no decision: the plugin and the problem, as in upstream's
 * condition; "" for OCM_DECIDED. The text is in the arena or borrowed. */
struct str ocm_error_text(const struct ocm_decision *d, struct arena *arena);
