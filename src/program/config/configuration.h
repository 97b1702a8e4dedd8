/*
 * EvenkeelConfiguration (evenkeel.io/v1alpha1): the one configuration file, and the flags that
 * override it.
 *
 * Every setting is a row of a typed table (config/fields.h). YAML and flags are decoded and checked
 * by it; the help text and the tables of docs/configuration.md are made from it.
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

/* Where the certificate of a listener comes from. */
enum certificates_mode { CERTIFICATES_FILES, CERTIFICATES_SECRET, CERTIFICATES_SELF_SIGNED };

struct configuration_certificates {
    enum certificates_mode mode;
    const char *secret, *namespace; /* namespace NULL: the kubeconfig's, or the pod's */
    const struct str *hosts;        /* the names and addresses by which it is called */
    size_t host_count;
    /* the webhook's */
    const char *const *configurations; /* MutatingWebhookConfigurations */
    size_t configuration_count;
    const char *const *validating; /* ValidatingWebhookConfigurations */
    size_t validating_count;
    /* the extender's, with CERTIFICATES_SELF_SIGNED */
    const char *client_secret, *client_name; /* kube-scheduler's */
    uint32_t client_days;
};

struct configuration_server {
    const char *kubeconfig; /* NULL: none */
    const char *context;    /* NULL: its current one */
    bool in_cluster;        /* use the service account */
    int64_t stale_after_ms; /* silence after which what it said is not relied on any more */
};

/* Whose decision a Placement gets: the values of the annotation placements.evenkeel.io/mode. */
enum ocm_mode {
    OCM_OWNER,  /* Evenkeel's: it writes the PlacementDecisions */
    OCM_SCORES, /* OCM's, by scores that Evenkeel writes */
    OCM_OFF,    /* OCM's */
};

/* A setting of former versions. Files and command lines that still have it are read as if it were
 * not there, with a warning: an upgrade must not stop a daemon. Its flag takes a value. */
struct configuration_removed {
    const char *path, *flag; /* as in struct field; flag NULL: there was none */
    const char *instead;     /* what holds now, for people: "a thread for each CPU answers" */
};
enum { CONFIGURATION_REMOVED_MAX = 32 };

struct configuration {
    struct arena arena; /* owns everything below */
    /* Where the file has each removed setting: its line; 0: nowhere. */
    uint32_t removed_lines[CONFIGURATION_REMOVED_MAX];
    bool removed_flags[CONFIGURATION_REMOVED_MAX]; /* the command line has it */
    field_set lists_begun; /* the rows of lists to which a flag has added an item */

    struct { /* extender: the HTTPS listener that kube-scheduler calls */
        const char *listen;
        struct http_limits limits;
        struct http_tls_options tls;
        struct configuration_certificates certificates;
        const char *const *fleet_subjects; /* who may ask about fleets; none: who may call */
        size_t fleet_subject_count;
        bool insecure; /* everyone may call, over plain HTTP without a certificate: only for trying
                          things out */
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
            const char *profile; /* file; NULL: what Fluid's chart sets */
            enum fluid_compat compat;
            bool scale_in;
            bool watch;      /* watch Fluid's objects, if the source is an API server */
            int64_t read_ms; /* how long a review waits for objects that no watch has brought yet;
                                0: not */
            bool read_for_anyone; /* these are read for callers without a verified certificate, too
                                   */
        } fluid;
    } webhook;

    struct {                      /* data: what is done beside reviews */
        bool label_leaving_nodes; /* see controllers/leaving_nodes.h */
    } data;

    struct {
        bool clusters; /* keep the clusters of a fleet, too; see configuration_keeps_fleet() */
    } fleet;

    struct {                /* ocm: decides Placements of Open Cluster Management, at the hub */
        bool enabled;       /* includes fleet.clusters */
        enum ocm_mode mode; /* of Placements with terms whose annotation names none */
        bool scores;        /* there is mode Scores, which writes AddOnPlacementScores */
        uint32_t writes_per_second, writes_in_flight; /* at the hub */
        int64_t settle_after_ms;                      /* a voluntary move waits for so long */
        uint32_t moves_per_minute;                    /* voluntary ones of one Placement; 0: none */
        uint32_t shards;                              /* of scores */
        int64_t refused_after_ms, retry_refused_ms;   /* of clusters that OCM does not select */
    } ocm;

    struct {                          /* karmada: how bindings are scheduled */
        struct karmada_options words; /* but for plugins, which stand below */
        uint32_t search_budget;
        const char *const *plugins; /* none: as Karmada's */
        size_t plugin_count;
    } karmada;

    struct {                /* karmada.estimators: where the estimators of Karmada's clusters are */
        bool accurate;      /* they are asked; otherwise the clusters' status alone counts */
        int64_t timeout_ms; /* of all of them together */
        const char *service_prefix, *service_namespace; /* of their Services */
        uint32_t port;
        const char *const *addresses; /* as estimators/discovery.h reads them */
        size_t address_count;
        bool disable_in_pull_mode;
        const char *cert_file, *key_file, *ca_file; /* NULL: none */
        bool insecure_skip_verify;
    } karmada_estimators;

    struct configuration_server karmada_server; /* karmada.kubeconfig and what stands beside it */
    const char *karmada_cluster_namespace;      /* where Karmada keeps Secrets of Clusters */

    struct {                /* estimator: the gRPC listener that karmada-scheduler calls */
        const char *listen; /* "0" or "": off */
        struct http_tls_options tls;
        const char *const *members; /* as members/members.h reads them */
        size_t member_count;
        bool from_karmada;        /* and those that Karmada's API server has */
        bool services;            /* write Services by which karmada-scheduler finds it there */
        const char *service_host; /* HOST or HOST:PORT that they lead to */
        bool unready_is_error;    /* a member that is not synced; otherwise it answers -1 */
        uint32_t member_bytes;    /* that are kept of a member */
        /* upstream: gates ResourceQuotaEstimate and SchedulingOvercommitProtection */
        bool resource_quota;        /* ResourceQuotas of a namespace limit an answer */
        bool overcommit_protection; /* assumed workloads of a request take room */
    } estimator;

    struct {                      /* policies: TopologyPolicies */
        const char *const *paths; /* files or folders */
        size_t path_count;
        bool watch; /* use the API server's, too, if it is the source */
    } policies;

    struct {                      /* ops: health, metrics and explanations, plain HTTP */
        const char *listen;       /* "0" or "": off */
        const char *probe_listen; /* health alone, likewise */
    } ops;

    struct {                /* metrics */
        uint32_t workloads; /* how many have a series of their own; 0: none */
    } metrics;

    struct {                           /* events */
        int64_t uneven_after_ms;       /* of a workload before an Event says so; 0: none does */
        const char *const *namespaces; /* whose workloads such Events are about; none: of all */
        size_t namespace_count;
    } events;

    struct {                    /* explain: decisions, which the ops listener explains */
        uint32_t decisions;     /* how many are kept; 0: none */
        const char *token_file; /* for callers on other machines; NULL: they are refused */
    } explain;

    struct {                      /* state: files with the output of kubectl */
        const char *const *paths; /* files or folders */
        size_t path_count;
        int64_t poll_ms; /* how often they are checked for changes */
    } state;

    struct configuration_server kubernetes; /* a live API server instead of files */
    struct configuration_server hub;        /* of a fleet; not set: kubernetes is the hub */

    struct { /* leaderElection: of several replicas, one is ready */
        bool enabled;
        const char *name,
            *namespace;      /* of the Lease; namespace NULL: the kubeconfig's, or the pod's */
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
        bool assume; /* for soft constraints, whatever the mode */
    } reservations;

    struct {
        int64_t delay_ms; /* from SIGTERM until no new connection is accepted */
        int64_t drain_ms; /* then, until requests under way are cut off */
    } shutdown;

    struct {
        enum log_level level;
        enum log_format format;
    } log;
};

/* Does the address turn a listener on? "0" and "" turn it off. */
bool configuration_listens(const char *address);

/* Sets every default. */
void configuration_init(struct configuration *c);
void configuration_done(struct configuration *c);

/* A problem. Its texts are valid during the call of configuration_problem_fn only. */
struct configuration_problem {
    uint32_t line;      /* in the file; 0: it belongs to no line */
    const char *path;   /* "extender.maxPriority", "" for the whole */
    const char *text;   /* what is wrong: "5000 is not between 10 and 100" */
    const char *advice; /* what to do, or "" */
    bool is_key;        /* the key is wrong, not the value: "unknown key" */
    bool harmless;      /* the setting is read as if it were not there: a warning */
    bool missing;       /* what is there is valid, but serving needs more, perhaps from flags */
};
typedef void configuration_problem_fn(void *ctx, const struct configuration_problem *problem);

/*
 * Reads a YAML (or JSON) file over the present settings. 0 or -errno; err names file, line and key
 * of the first problem. After a failure the configuration can only be freed.
 */
int configuration_read(struct configuration *c, const char *path, struct err *err) MUST_CHECK;
/* The same, but calls `found` with every problem in the file (at most 50). If the file cannot be
 * read or is not YAML, only err says so. */
int configuration_read_all(struct configuration *c, const char *path,
                           configuration_problem_fn *found, void *ctx, struct err *err) MUST_CHECK;

/*
 * Sets one option from its flag ("extender-listen", value text). A repeated list flag appends; its
 * first use replaces the file's list. -ENOENT: there is no such flag; -EINVAL: err names the flag.
 */
int configuration_set_flag(struct configuration *c, const char *flag, const char *value,
                           struct err *err) MUST_CHECK;

/* Checks, before serving, what only shows when all settings are known: a certificate without its
 * key, client certificates that would not be asked for, weights that are all 0. */
int configuration_check(const struct configuration *c, struct err *err) MUST_CHECK;
/* The same, but calls `found` with every problem. */
void configuration_check_all(const struct configuration *c, configuration_problem_fn *found,
                             void *ctx);

/* Would two certificates be written, or served, into one Secret? `home` is the namespace where none
 * is set; NULL: not known yet. */
bool configuration_secrets_meet(const struct configuration *c, const char *home);
/* Are pods reviewed? A webhook may be a hub's alone. */
bool configuration_reviews_pods(const struct configuration *c);
/* Does a listener work for pods? Otherwise no API server is asked for nodes, pods or anything that
 * is known for their sake. */
bool configuration_serves_pods(const struct configuration *c);
/* Is there a listener for probes alone? Not where it is the address of ops, which takes them. */
bool configuration_probes_apart(const struct configuration *c);
/* Is it asked how much fits member clusters? */
bool configuration_estimates(const struct configuration *c);
/* ... and the cluster of `kubernetes` is one of its members? */
bool configuration_estimates_own_cluster(const struct configuration *c);
/* Are the estimators of Karmada's clusters asked? They are where clusters are known, from state
 * files, and somebody may ask about them. */
bool configuration_asks_estimators(const struct configuration *c);
/* Is a fleet kept? */
bool configuration_keeps_fleet(const struct configuration *c);
/* Are the extender's callers asked for a certificate? */
bool configuration_asks_callers(const struct configuration *c);
/* Would reviews have to wait for objects that are read from an API server? */
bool configuration_reads_data(const struct configuration *c);
/* Calls `found` with every door that asks nobody who they are, if other machines reach it or pods
 * are bound there: for warnings, serving is possible. */
void configuration_open_doors(const struct configuration *c, configuration_problem_fn *found,
                              void *ctx);

/* Gets the removed setting at `index`. Returns NULL behind the last. */
const struct configuration_removed *configuration_removed_at(size_t index);
/* Calls `found` with every removed setting that the file or the command line has: for warnings. */
void configuration_removed_found(const struct configuration *c, configuration_problem_fn *found,
                                 void *ctx);

/* A row of the table, as texts for people. */
struct configuration_option {
    char path[80];         /* "extender.listen", "orderedSpread.rules[].name" */
    const char *flag;      /* "extender-listen", or NULL */
    bool is_switch;        /* the flag needs no value */
    bool is_list;          /* the flag may be repeated */
    bool required;         /* every item of the list must have it */
    char value_name[48];   /* the name of the flag's value in help: "ADDRESS" */
    char type[80];         /* "address", "duration", "integer", "one of a, b", "list of files" */
    char range[48];        /* "1 to 512", or "" */
    char default_text[48]; /* "10s", or "" without a default */
    const char *help;
};
/* Gets the row at `index`. Returns false behind the last. */
bool configuration_option_at(size_t index, struct configuration_option *ret);
