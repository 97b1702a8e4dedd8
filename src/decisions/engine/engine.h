/*
 * The engine decides which candidates a pod may use, and how good each is, by the cache's present
 * data.
 *
 * It is a table of algorithms; each algorithm is a file that fills a struct algorithm. Some
 * algorithms score: spread, ordered_spread, locality. The others filter: they are the filters of
 * kube-scheduler, in its order, except those that need devices or limits of volumes. The engine
 * opens a view of the cache, runs every algorithm that applies to the pod, and combines the
 * results: a candidate passes the filter when all algorithms let it pass; its priority comes from
 * the weighted sum of their normalised scores (engine/priority.h). Every verdict carries a reason,
 * so explaining costs nothing.
 *
 * Threads: any number of calls at once. Only data in the request's arena outlives the call.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "cache/cache.h"
#include "model/object.h"
#include "model/pod_claims.h"

enum {
    ENGINE_MAX_NORMALIZED = 100,
    ENGINE_MAX_PRIORITY = 10, /* upstream: extender/v1 MaxExtenderPriority */
    ENGINE_MAX_ORDERED_TERMS = 8,
    ENGINE_ALGORITHMS = 3,
    ENGINE_IN_TREE = 7, /* score plugins of kube-scheduler's default profile */
};

/* One rule of ordered spread: selects pods, and has constraints in order of importance. */
struct ordered_rule {
    struct str name;
    const struct str *namespaces; /* empty: all namespaces */
    uint32_t namespace_count;
    struct selector pods; /* selects the rule's pods; a namespace's pods are a group to spread */
    const struct str *match_label_keys; /* the pod's values of these labels narrow the group */
    uint32_t match_label_key_count;
    const struct spread_constraint *terms; /* selector unused; at most ENGINE_MAX_ORDERED_TERMS */
    uint32_t term_count;
    /* The rule is scored instead of the pod's soft constraints, and like them: a node that lacks a
     * soft term's key is not counted, and scores worst. */
    bool all_keys;
};

/* The weight of a dataset's bytes that are in the node's domain of this label, but not in its
 * domain of an earlier tier. Domains of an earlier tier should lie within those of a later tier.
 * The domains of kubernetes.io/hostname are the nodes, with or without that label. */
struct locality_tier {
    struct str topology_key;
    int32_t weight; /* 1..100; only their ratios count */
};
enum { ENGINE_DEFAULT_TIERS = 3 };
/* The host 100, its zone 25, its region 10. */
extern const struct locality_tier engine_default_tiers[ENGINE_DEFAULT_TIERS];

/* Filters, a bit each. kube-scheduler asks an extender only about nodes that passed its own
 * plugins, so an extender judges spread alone. */
enum {
    FILTER_NODE_UNSCHEDULABLE = 1 << 0,
    FILTER_NODE_NAME = 1 << 1,
    FILTER_TAINT_TOLERATION = 1 << 2,
    FILTER_NODE_AFFINITY = 1 << 3,
    FILTER_NODE_PORTS = 1 << 4,
    FILTER_NODE_RESOURCES_FIT = 1 << 5,
    FILTER_POD_TOPOLOGY_SPREAD = 1 << 6,
    FILTER_INTER_POD_AFFINITY = 1 << 7,
    FILTER_ORDERED_SPREAD = 1 << 8,
    FILTER_VOLUME_BINDING = 1 << 9,
    FILTER_VOLUME_ZONE = 1 << 10,
    FILTERS_OF_EXTENDER = FILTER_POD_TOPOLOGY_SPREAD | FILTER_ORDERED_SPREAD,
    FILTERS_ALL = (1 << 11) - 1,
};
/* Returns the bits of a filter by its name in kube-scheduler; 0 for an unknown name. Ordered rules
 * are judged together with PodTopologySpread. */
uint32_t engine_filters_named(struct str name);
/* Appends the names of the filters in kube-scheduler's order, with `between` between them. */
void engine_filters_put(uint32_t wanted, const char *between, struct strbuf *out);
/* Is it the name of a filter that judges claims? */
bool filter_is_of_volumes(const char *name);
/* Inputs that a filter lacked. */
struct filter_unknown {
    uint32_t terms;     /* with FILTER_INTER_POD_AFFINITY: number of pods with too long terms */
    bool resources;     /* with FILTER_NODE_RESOURCES_FIT: no node reports its resources */
    const char *claims; /* with FILTER_VOLUME_BINDING or FILTER_VOLUME_ZONE: why the pod's claims
                           are not judged; NULL: they are judged. Static */
    struct str configuration; /* parts of kube-scheduler's configuration that the caller did not
                                 read, separated by commas; at most LIMIT_NOT_READ bytes */
};
/* Appends kube-scheduler's default filters that a filter with these bits did not run: "a, b". */
void engine_put_not_judged(uint32_t wanted, const struct filter_unknown *unknown,
                           struct strbuf *out);

/* Extended resources that NodeResourcesFit does not check: by name, or by the part of the name
 * before the slash. Both lists are sorted. upstream: NodeResourcesFitArgs ignoredResources and
 * ignoredResourceGroups. */
struct ignored_resources {
    const struct str *names, *groups;
    uint32_t name_count, group_count;
};

struct engine_options {
    uint32_t filters; /* FILTER_*; 0: FILTERS_OF_EXTENDER */
    /* Node affinity required and preferred for every pod, beside its own, or NULL. upstream:
     * NodeAffinityArgs addedAffinity. */
    const struct node_affinity *added_affinity;
    struct ignored_resources ignored_resources;
    /* The pod's claims, for FILTER_VOLUME_BINDING and FILTER_VOLUME_ZONE; NULL: not known. */
    const struct pod_claims *claims;
    /* Constraints for pods that carry none. upstream: PodTopologySpreadArgs defaultingType. */
    bool system_defaults; /* true: hostname 3 and zone 5, soft; false: the list below */
    const struct spread_constraint *default_constraints;
    uint32_t default_constraint_count;
    /* true: the selector {} counts every pod of the namespace; false: no pod, as in
     * kube-scheduler 1.27 to 1.37. */
    bool empty_selector_counts_all;
    /* Pods in flight (cache_expect()) count, for hard constraints, wherever they may land. */
    bool count_flights;
    /* Scores prefer some of the best nodes to the others, so that the pod's place is predictable
     * (engine/choice.h). */
    bool choose;
    /* Also computes the scores of kube-scheduler's own plugins; the pod is decoded with POD_SCORED.
     */
    bool in_tree;
    /* Filter reports the domains of each hard constraint (applied_constraint.reports), and scores
     * report the datasets that locality used. */
    bool reports;
    /* A node without reported resources has none, even if no node in the cache reports any: an
     * earlier node did. */
    bool resources_are_known;
    const struct ordered_rule *ordered_rules; /* the first that fits a pod is used */
    uint32_t ordered_rule_count;
    const struct ordered_rule *policy_rule; /* a policy's rule, used if none of `ordered_rules`
                                               fits the pod; or NULL */
    uint32_t max_priority;                  /* up to PRIORITY_STEPS_MAX; 0: ENGINE_MAX_PRIORITY */
    uint64_t max_steps;                /* the most steps of one call under the cache's lock; 0: by
                                          LIMIT_ENGINE_STEPS* */
    const struct locality_tier *tiers; /* tiers of locality's scores, from near to far */
    uint32_t tier_count;               /* at most LIMIT_POLICY_TERMS; 0: engine_default_tiers */
    /* Weights of the scores; an algorithm with weight 0 does not score. */
    uint32_t spread_weight, ordered_weight, locality_weight;
};

enum { ENGINE_SYSTEM_DEFAULTS = 2 };
/* upstream: podtopologyspread/plugin.go systemDefaultConstraints. They are soft. */
extern const struct spread_constraint engine_system_defaults[ENGINE_SYSTEM_DEFAULTS];

/* Has any algorithm a weight? If none has, all nodes score the same. */
bool engine_weighs(const struct engine_options *options);

/* Returns the rule that spreads the pod, or NULL. */
const struct ordered_rule *engine_ordered_rule(const struct engine_options *options,
                                               const struct object_meta *pod);

enum verdict { VERDICT_PASS, VERDICT_UNSCHEDULABLE, VERDICT_UNRESOLVABLE };
/* kube-scheduler's names of the codes; Pass is its Success. */
extern const char *const verdict_names[];

/* The nodes to judge, in the caller's order; each duplicate is judged, too. */
struct candidates {
    const struct str *names;
    uint32_t count;
};

/* One domain of a hard constraint, with the verdicts of the candidates in it. */
enum { DOMAIN_REFUSALS = 4 };
struct domain_report {
    struct str name; /* the label's value; in a rule the values of earlier terms come before it:
                        "eu/eu-1" */
    int64_t pods;    /* number of pods in the domain that the constraint counts */
    bool counts;  /* false: none of its nodes passes the inclusion policies, so it is no domain */
    bool allowed; /* the constraint lets one more pod in */
    uint32_t nodes, passed; /* candidates */
    struct {
        uint8_t reason; /* index into reason_texts */
        uint32_t nodes;
    } refused[DOMAIN_REFUSALS]; /* the reasons found first; others have no item */
    uint32_t refused_count;
};

/* The number of pods in one domain; only kept if there are few domains. */
enum { DOMAINS_COUNTED = 8 };
struct domain_count {
    struct str name; /* arena */
    int64_t pods;
};

/* A constraint that was applied, perhaps a default one. */
enum constraint_origin { CONSTRAINT_OF_POD, CONSTRAINT_OF_DEFAULTS, CONSTRAINT_OF_RULE };
struct applied_constraint {
    const struct spread_constraint *constraint; /* borrowed from the pod, options or engine */
    enum constraint_origin origin;
    struct str rule;                 /* name of the ordered rule; CONSTRAINT_OF_RULE only */
    const struct selector *selector; /* selects the counted pods; arena */
    int64_t domains, least; /* from spread's filter only: number of domains (0: not reported), and
                               the pods of the emptiest domain, for maxSkew */
    /* The pods of each domain if there are at most DOMAINS_COUNTED domains, even without
     * options.reports; arena. */
    const struct domain_count *counts;
    uint32_t count_count;
    /* With options.reports: the reports of the domains, allowed domains first, then by pods and
     * name. NULL: not reported, or there were too many constraints or too many steps. */
    const struct domain_report *reports;
    uint32_t report_count;
};
/* Must this domain get a pod before other domains may get more? This is so only for the domains
 * with the fewest pods, and for no domain while there are fewer domains than minDomains: then the
 * minimum is 0. True if the number of domains is not reported. */
static inline bool domain_is_awaited(const struct applied_constraint *a,
                                     const struct domain_report *d) {
    return a->domains == 0 ||
           (d->counts && d->pods <= a->least && a->domains >= a->constraint->min_domains);
}

struct filter_result {
    uint8_t *verdicts; /* enum verdict, per candidate; arena */
    uint8_t *reasons;  /* index into reason_texts; 0 is "", only for nodes that pass */
    const struct str *reason_texts;
    const char *const *reason_filters; /* by the same index: kube-scheduler's name of the filter
                                          that refuses; "" if it has none */
    uint32_t reason_count;
    const struct applied_constraint *applied; /* arena */
    uint32_t applied_count;
    bool skipped;   /* no algorithm applied: all candidates pass */
    uint32_t known; /* number of nodes in the cache, candidates or not */
    struct filter_unknown unknown;
    const struct pod_claims *claims; /* the judged claims, borrowed from the options; NULL: none */
};

/* A dataset that locality used: the places of its bytes, and the nearest tier of each candidate. */
enum { DATASET_HOLDERS = 10 };
struct dataset_report {
    const struct mounted_dataset *dataset; /* the pod's */
    double weight;                         /* its share of all datasets; 0 to 1 */
    uint32_t nodes;                        /* number of nodes that hold bytes of the dataset */
    struct {
        struct str node;        /* arena */
        int64_t bytes;          /* estimated; -1: the cached bytes are unknown */
    } holders[DATASET_HOLDERS]; /* the first holders, in the order of the nodes */
    uint32_t holder_count;
    const struct str *tier_names; /* "node", "zone", "region" or the key; at last "none" */
    uint8_t *tiers; /* per candidate: the nearest tier that has bytes, index into tier_names */
    double *points; /* per candidate: the dataset's part of its raw score */
    /* Per candidate: the worker that is leaving the node, or NULL. NULL if no candidate has such a
     * worker. */
    const struct leaving_node **leaving;
};

/* One algorithm's scores. */
struct score_column {
    const char *algorithm; /* "spread", "ordered_spread", "locality" */
    int64_t *raw;          /* per candidate; the algorithm's own scale */
    int64_t *normalized;   /* 0..ENGINE_MAX_NORMALIZED, higher is better */
};

/* The scores of one of kube-scheduler's own plugins. */
struct in_tree_column {
    const char *plugin;
    uint32_t weight; /* the plugin's weight in kube-scheduler's default profile */
    int64_t *scores; /* 0..ENGINE_MAX_NORMALIZED, per candidate */
};

struct score_result {
    struct score_column columns[ENGINE_ALGORITHMS]; /* scores of the algorithms that did not skip */
    uint32_t column_count;
    int32_t *priorities; /* 0..options.max_priority, per candidate; all 0 when every algorithm
                            skipped; arena */
    const struct applied_constraint *applied; /* arena */
    uint32_t applied_count;
    /* With options.reports: the first LIMIT_EXPLAINED_DATASETS datasets of the pod. */
    const struct dataset_report *datasets;
    uint32_t dataset_count;
    struct cache_nodes chosen; /* with options.choose: the nodes that the pod is sent to; arena */
    uint32_t preferred; /* number of chosen candidates: only these have the highest priority */
    /* With options.in_tree: the plugins that apply to the pod; and in `totals` per candidate the
     * weighted sum of their scores and of the extender's priority, at weight 1. Otherwise `totals`
     * is NULL. */
    struct in_tree_column in_tree[ENGINE_IN_TREE];
    uint32_t in_tree_count;
    int64_t *totals;
};

/* One candidate of a preemption: a node and its victims. */
struct preemption {
    struct str node;
    const struct object_meta *victims;
    uint32_t victim_count;
};

/*
 * Filter and score the candidates. Return 0, -EINVAL if the pod itself cannot be judged (err names
 * the field), -E2BIG if the call takes more steps than it may take while writers wait, -ENODATA if
 * it would count pods whose labels are not kept (cache_counter_of()), or -ENOMEM. A candidate that
 * the cache does not know is Unschedulable if any hard constraint applies to the pod, and its score
 * is 0.
 */
int engine_filter(const struct engine_options *options, struct cache *cache, const struct pod *pod,
                  const struct candidates *candidates, struct arena *arena,
                  struct filter_result *ret, struct err *err) MUST_CHECK;
int engine_score(const struct engine_options *options, struct cache *cache, const struct pod *pod,
                 const struct candidates *candidates, struct arena *arena, struct score_result *ret,
                 struct err *err) MUST_CHECK;

/* Sets ret_fits[i]: would the pod pass the filter on the node of preemptions[i] without its
 * victims? Victims that are not in the cache, or are terminating, change nothing. */
int engine_preempt(const struct engine_options *options, struct cache *cache, const struct pod *pod,
                   const struct preemption *preemptions, uint32_t count, struct arena *arena,
                   bool **ret_fits, struct err *err) MUST_CHECK;
