/*
 * EvenkeelConfiguration (evenkeel.io/v1alpha1): the one configuration file, and the flags that
 * override it.
 *
 * Every setting is a row of a typed table (config/fields.h). The table decodes and checks YAML and
 * flags; the help text and the tables of docs/configuration.md are made from it.
 *
 * Strict: an unknown or repeated key, a wrong type or a value out of range is an error that names
 * file, line and key.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/log.h"
#include "config/fields.h"
#include "data/fluid/plugin.h"
#include "engine/engine.h"
#include "extender/service.h"
#include "http/http.h"
#include "karmada/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The source of a listener's certificate. */
enum certificates_mode { CERTIFICATES_FILES, CERTIFICATES_SECRET, CERTIFICATES_SELF_SIGNED };

struct configuration_certificates {
    enum certificates_mode mode;
    const char *secret, *namespace; /* namespace NULL: the kubeconfig's, or the pod's */
    const struct str *hosts;        /* the names and addresses that clients use for the listener */
    size_t host_count;
    /* for the webhook only */
    const char *const *configurations; /* MutatingWebhookConfigurations */
    size_t configuration_count;
    const char *const *validating; /* ValidatingWebhookConfigurations */
    size_t validating_count;
    /* for the extender only, with CERTIFICATES_SELF_SIGNED */
    const char *client_secret, *client_name; /* kube-scheduler's */
    uint32_t client_days;
};

struct configuration_server {
    const char *kubeconfig; /* NULL: no kubeconfig is given */
    const char *context;    /* NULL: the kubeconfig's current context */
    bool in_cluster;        /* use the service account */
    int64_t stale_after_ms; /* after this time without news from the server its objects count as
                               stale */
};

/* Selects who decides a Placement: the values of the annotation placements.evenkeel.io/mode. */
enum ocm_mode {
    OCM_OWNER,  /* Evenkeel decides, and writes the PlacementDecisions */
    OCM_SCORES, /* OCM decides by scores that Evenkeel writes */
    OCM_OFF,    /* OCM decides alone */
};

/* A setting of former versions. Files and command lines may still have it: it is ignored with a
 * warning, because an upgrade must not stop a daemon. Its flag takes a value. */
struct configuration_removed {
    const char *path, *flag; /* as in struct field; flag NULL: it had no flag */
    const char *instead;     /* the present rule, for people: "there is a thread for each CPU" */
};
enum { CONFIGURATION_REMOVED_MAX = 32 };

struct configuration {
    struct arena arena; /* owns everything below */
    /* The line of each removed setting in the file; 0: the file does not have it. */
    uint32_t removed_lines[CONFIGURATION_REMOVED_MAX];
    bool removed_flags[CONFIGURATION_REMOVED_MAX]; /* true: the command line has the removed setting
                                                    */
    field_set lists_begun;                         /* rows of lists that got an item from a flag */

    struct { /* extender: the HTTPS listener that kube-scheduler calls */
        const char *listen;
        struct http_limits limits;
        struct http_tls_options tls;
        struct configuration_certificates certificates;
        const char *const *fleet_subjects; /* may ask about fleets; empty: all callers may */
        size_t fleet_subject_count;
        bool insecure; /* everyone may call, over plain HTTP without a certificate: only for tests
                          by hand */
        bool bind;     /* serve the verb bind */
    } extender;

    struct {                /* webhook: the HTTPS listener that API servers call */
        const char *listen; /* "0" or "": off */
        struct http_limits limits;
        struct http_tls_options tls;
        struct configuration_certificates certificates;
        bool pods;               /* review pods; otherwise only objects of a hub */
        bool annotate;           /* changed pods get an annotation that names policy and plugins */
        struct {                 /* fluid: how Fluid's plugins treat pods with datasets */
            const char *profile; /* path of a file; NULL: the settings of Fluid's chart */
            enum fluid_compat compat;
            bool scale_in;
            bool watch;      /* watch Fluid's objects, if the source is an API server */
            int64_t read_ms; /* a review waits so long for an object that the watch does not have
                                yet; 0: it does not wait */
            bool read_for_anyone; /* reads also for callers without a verified certificate */
        } fluid;
    } webhook;

    struct {                      /* data: work beside reviews */
        bool label_leaving_nodes; /* see controllers/leaving_nodes.h */
    } data;

    struct {
        bool clusters; /* also read the clusters of a fleet; see configuration_keeps_fleet() */
    } fleet;

    struct {                /* ocm: decides Placements of Open Cluster Management, at the hub */
        bool enabled;       /* includes fleet.clusters */
        enum ocm_mode mode; /* for Placements that have terms but no mode in their annotation */
        bool scores;        /* mode Scores is allowed; it writes AddOnPlacementScores */
        uint32_t writes_per_second, writes_in_flight; /* limits of the writes to the hub */
        int64_t settle_after_ms;                      /* a voluntary move waits this long */
        uint32_t moves_per_minute;                    /* voluntary moves per Placement; 0: none */
        uint32_t shards;                              /* number of shards of scores */
        int64_t refused_after_ms, retry_refused_ms;   /* for clusters that OCM does not select */
    } ocm;

    struct {                          /* karmada: how bindings are scheduled */
        struct karmada_options words; /* without plugins, which are below */
        uint32_t search_budget;
        const char *const *plugins; /* empty: Karmada's default plugins */
        size_t plugin_count;
    } karmada;

    struct {                /* karmada.estimators: how to find and ask Karmada's estimators */
        bool accurate;      /* ask them; otherwise only the status of clusters counts */
        int64_t timeout_ms; /* time for all estimators together */
        const char *service_prefix, *service_namespace; /* used to find their Services */
        uint32_t port;
        const char *const *addresses; /* in the form of estimators/discovery.h */
        size_t address_count;
        bool disable_in_pull_mode;
        const char *cert_file, *key_file, *ca_file; /* NULL: no file */
        bool insecure_skip_verify;
    } karmada_estimators;

    struct configuration_server karmada_server; /* Karmada's API server: karmada.kubeconfig etc. */
    const char *karmada_cluster_namespace;      /* of the Secrets that Clusters name */

    struct {                /* estimator: the gRPC listener that karmada-scheduler calls */
        const char *listen; /* "0" or "": off */
        struct http_tls_options tls;
        const char *const *members; /* in the form of members/members.h */
        size_t member_count;
        bool from_karmada;        /* adds the Clusters of Karmada's API server */
        bool services;            /* write Services for karmada-scheduler to Karmada */
        const char *service_host; /* HOST or HOST:PORT that the Services lead to */
        bool unready_is_error;    /* an unsynced member gives an error; otherwise -1 */
        uint32_t member_bytes;    /* memory for the objects of one member */
        /* upstream: gates ResourceQuotaEstimate and SchedulingOvercommitProtection */
        bool resource_quota;        /* ResourceQuotas of a namespace limit an answer */
        bool overcommit_protection; /* assumed workloads of a request take room */
    } estimator;

    struct {                      /* policies: TopologyPolicies */
        const char *const *paths; /* files or folders */
        size_t path_count;
        bool watch; /* use the API server's policies, too, if it is the source */
    } policies;

    struct {                      /* ops: health, metrics and explanations, plain HTTP */
        const char *listen;       /* "0" or "": off */
        const char *probe_listen; /* address for health alone; "0" or "": off */
    } ops;

    struct {                /* metrics */
        uint32_t workloads; /* number of workloads with a series of their own; 0: no workload */
    } metrics;

    struct {                           /* events */
        int64_t uneven_after_ms;       /* workloads uneven for so long get Events; 0: never */
        const char *const *namespaces; /* no Events about other namespaces; empty: all */
        size_t namespace_count;
    } events;

    struct {                    /* explain: decisions, which the ops listener explains */
        uint32_t decisions;     /* number of decisions that are kept; 0: no decisions */
        const char *token_file; /* file with the token of remote callers; NULL: they are refused */
    } explain;

    struct {                      /* state: files with the output of kubectl */
        const char *const *paths; /* files or folders */
        size_t path_count;
        int64_t poll_ms; /* time between two checks for changes */
    } state;

    struct configuration_server kubernetes; /* a live API server instead of files */
    struct configuration_server hub;        /* hub of a fleet; not set: `kubernetes` is the hub */

    struct { /* leaderElection: one of several replicas leads */
        bool enabled;
        const char *name,
            *namespace;      /* its Lease; namespace NULL: the kubeconfig's, or the pod's */
        int64_t duration_ms; /* the other times follow from it: see kube/election/lease.h */
    } leader_election;

    struct engine_options engine;

    struct {
        uint32_t max_counters;
        uint64_t max_bytes;
    } cache;

    struct {
        enum reservation_mode mode;
        int64_t ttl_ms, settle_ms;
        bool assume; /* for soft constraints, in every mode */
    } reservations;

    struct {
        int64_t delay_ms; /* accepts new connections for so long after SIGTERM */
        int64_t drain_ms; /* cuts off requests that still run so long after that */
    } shutdown;

    struct {
        enum log_level level;
        enum log_format format;
    } log;
};

/* Does the address turn the listener on? "0" and "" turn it off. */
bool configuration_listens(const char *address);

/* Sets every default. */
void configuration_init(struct configuration *c);
void configuration_done(struct configuration *c);

/* A problem. Its texts are only valid during the call of configuration_problem_fn. */
struct configuration_problem {
    uint32_t line;      /* line in the file; 0: the problem belongs to no line */
    const char *path;   /* "extender.maxPriority"; "" for the whole file */
    const char *text;   /* the mistake: "5000 is not between 10 and 100" */
    const char *advice; /* how to mend it, or "" */
    bool is_key;        /* the key is wrong, not the value: "unknown key" */
    bool harmless;      /* the setting is read as if it were not there: a warning */
    bool missing;       /* the file is valid, but serving needs more, perhaps from flags */
};
typedef void configuration_problem_fn(void *ctx, const struct configuration_problem *problem);

/*
 * Reads a YAML (or JSON) file over the present settings. Returns 0 or -errno; err names file, line
 * and key of the first problem. After a failure the configuration can only be freed.
 */
int configuration_read(struct configuration *c, const char *path, struct err *err) MUST_CHECK;
/* Does the same, but calls `found` with every problem in the file (at most 50). If the file cannot
 * be read or is not YAML, the error is only in err. */
int configuration_read_all(struct configuration *c, const char *path,
                           configuration_problem_fn *found, void *ctx, struct err *err) MUST_CHECK;

/*
 * Sets one option from its flag ("extender-listen", value text). A repeated list flag appends; its
 * first use replaces the file's list. -ENOENT: no such flag; -EINVAL: err names the flag.
 */
int configuration_set_flag(struct configuration *c, const char *flag, const char *value,
                           struct err *err) MUST_CHECK;

/* Checks, before serving, rules between settings: a certificate without its key, allowed names of
 * clients that are asked for no certificate, weights that are all 0. Returns 0 or -errno. */
int configuration_check(const struct configuration *c, struct err *err) MUST_CHECK;
/* Does the same, but calls `found` with every problem. */
void configuration_check_all(const struct configuration *c, configuration_problem_fn *found,
                             void *ctx);

/* Would two certificates share one Secret? `home` is the namespace for settings without one; NULL:
 * not known yet. */
bool configuration_secrets_meet(const struct configuration *c, const char *home);
/* Does the webhook review pods? A webhook may review only objects of a hub. */
bool configuration_reviews_pods(const struct configuration *c);
/* Does a listener answer about pods? Otherwise nodes, pods and the objects that belong to them are
 * not read from any API server. */
bool configuration_serves_pods(const struct configuration *c);
/* Is there a listener only for probes? False if its address is that of the ops listener, which
 * answers probes, too. */
bool configuration_probes_apart(const struct configuration *c);
/* Is the estimator on? */
bool configuration_estimates(const struct configuration *c);
/* Is the estimator on, and the cluster of `kubernetes` one of its members? */
bool configuration_estimates_own_cluster(const struct configuration *c);
/* Are the estimators of Karmada's clusters asked? Only if clusters come from state files, and the
 * extender's listener is on. */
bool configuration_asks_estimators(const struct configuration *c);
/* Does the process read the clusters of a fleet? */
bool configuration_keeps_fleet(const struct configuration *c);
/* Are the extender's callers asked for a certificate? */
bool configuration_asks_callers(const struct configuration *c);
/* May a review wait for an object that is read from an API server? */
bool configuration_reads_data(const struct configuration *c);
/* Calls `found` with every listener that accepts anyone, if other machines reach it or it binds
 * pods: the problems are warnings, and serving is possible. */
void configuration_open_doors(const struct configuration *c, configuration_problem_fn *found,
                              void *ctx);

/* Returns the removed setting at `index`; NULL after the last. */
const struct configuration_removed *configuration_removed_at(size_t index);
/* Calls `found` with every removed setting that the file or the command line has: the problems are
 * warnings. */
void configuration_removed_found(const struct configuration *c, configuration_problem_fn *found,
                                 void *ctx);

/* A row of the table, as texts for people. */
struct configuration_option {
    char path[80];         /* "extender.listen", "orderedSpread.rules[].name" */
    const char *flag;      /* "extender-listen", or NULL */
    bool is_switch;        /* the flag needs no value */
    bool is_list;          /* the flag may be repeated */
    bool required;         /* every item of the list must have this member */
    char value_name[48];   /* the name of the flag's value in help: "ADDRESS" */
    char type[80];         /* "address", "duration", "integer", "one of a, b", "list of files" */
    char range[48];        /* "1 to 512", or "" */
    char default_text[48]; /* "10s", or "" without a default */
    const char *help;
};
/* Gets the row at `index`. Returns false after the last. */
bool configuration_option_at(size_t index, struct configuration_option *ret);
