/*
 * EvenkeelConfiguration (evenkeel.io/v1alpha1): the one configuration file, and the flags that
 * override it.
 *
 * Every setting is one row of a typed table (config/fields.h), from which it is decoded and
 * checked, be it YAML or a flag, and from which come the help text and the tables of
 * docs/configuration.md.
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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the webhook's certificate comes from. */
enum certificates_mode { CERTIFICATES_FILES, CERTIFICATES_SECRET, CERTIFICATES_SELF_SIGNED };

struct configuration_certificates {
    enum certificates_mode mode;
    const char *secret, *namespace; /* namespace NULL: the kubeconfig's, or the pod's */
    const struct str *hosts;        /* names the webhook is called by */
    size_t host_count;
    const char *const *configurations; /* MutatingWebhookConfigurations */
    size_t configuration_count;
};

struct configuration {
    struct arena arena;    /* owns everything below */
    field_set lists_begun; /* rows of lists that a flag has begun to fill */

    struct { /* extender: the HTTPS listener that kube-scheduler calls */
        const char *listen;
        unsigned threads; /* 0: one per CPU */
        struct http_limits limits;
        struct http_tls_options tls;
        bool insecure; /* serve plain HTTP: only for trying things out */
    } extender;

    struct {                /* webhook: the HTTPS listener that API servers call */
        const char *listen; /* "0" or "": off */
        unsigned threads;   /* 0: one per CPU */
        struct http_limits limits;
        struct http_tls_options tls;
        struct configuration_certificates certificates;
        bool annotate;           /* pods say by what they were changed */
        struct {                 /* fluid: how Fluid's plugins go about pods with datasets */
            const char *profile; /* file; NULL: what Fluid's chart sets */
            enum fluid_compat compat;
            bool scale_in;
            int64_t plugin_budget_ms;
            bool watch;      /* Fluid's objects, when the source is an API server */
            int64_t read_ms; /* what a review waits for objects that no watch has brought; 0: not */
        } fluid;
    } webhook;

    struct {
        bool clusters; /* those of a fleet are kept, too */
    } fleet;

    struct {                      /* policies: TopologyPolicies */
        const char *const *paths; /* files or folders */
        size_t path_count;
        bool watch; /* those of the API server, too, when it is the source */
    } policies;

    struct {                /* ops: health, metrics and explanations, plain HTTP */
        const char *listen; /* "0" or "": off */
    } ops;

    struct {                    /* explain: decisions, told on the ops listener */
        uint32_t decisions;     /* kept; 0: none */
        const char *token_file; /* for callers on other machines; NULL: they are refused */
    } explain;

    struct {                      /* state: what kubectl printed */
        const char *const *paths; /* files or folders */
        size_t path_count;
        int64_t poll_ms; /* how often they are looked at for changes */
    } state;

    struct {                    /* kubernetes: a live API server instead of files */
        const char *kubeconfig; /* NULL: none */
        const char *context;    /* NULL: its current one */
        bool in_cluster;        /* use the service account */
        int64_t stale_after_ms; /* silence after which answers are "no opinion" */
    } kubernetes;

    struct { /* leaderElection: of several replicas, one is ready */
        bool enabled;
        const char *name,
            *namespace; /* of the Lease; namespace NULL: the kubeconfig's, or the pod's */
        int64_t duration_ms, renew_deadline_ms, retry_ms;
    } leader_election;

    struct engine_options engine;

    struct {
        uint32_t max_counters, max_feasibilities;
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

/* Is a listener with this address wanted? "0" and nothing turn it off. */
bool configuration_listens(const char *address);

/* Defaults only. */
void configuration_init(struct configuration *c);
void configuration_done(struct configuration *c);

/* One thing that is wrong. Texts are valid during the call that hands it over. */
struct configuration_problem {
    uint32_t line;      /* in the file; 0: of no line */
    const char *path;   /* "extender.threads", "" for the whole */
    const char *text;   /* what is wrong: "5000 is not between 0 and 1024" */
    const char *advice; /* what to do, or "" */
    bool is_key;        /* it is the key that is wrong: "unknown key" */
    bool missing;       /* fine as far as it goes, but serving needs more, perhaps from flags */
};
typedef void configuration_problem_fn(void *ctx, const struct configuration_problem *problem);

/*
 * Reads a YAML (or JSON) file over what is there. 0 or -errno; err names file, line and key of the
 * first problem. After a failure the contents are of no use.
 */
int configuration_read(struct configuration *c, const char *path, struct err *err) MUST_CHECK;
/* The same, and tells `found` of every problem in the file (at most 50). A file that cannot be read
 * or is not YAML is only told through err. */
int configuration_read_all(struct configuration *c, const char *path,
                           configuration_problem_fn *found, void *ctx, struct err *err) MUST_CHECK;

/*
 * Sets one option from its flag ("extender-listen", value text). Repeated list flags append; the
 * first one replaces what the file said. -ENOENT: no such flag; -EINVAL: err names the flag.
 */
int configuration_set_flag(struct configuration *c, const char *flag, const char *value,
                           struct err *err) MUST_CHECK;

/* What only shows when everything is known, for those who are about to serve: certificate and key
 * that belong together, client certificates that would not be asked for, weights that are all 0. */
int configuration_check(const struct configuration *c, struct err *err) MUST_CHECK;
/* The same, all of them. */
void configuration_check_all(const struct configuration *c, configuration_problem_fn *found,
                             void *ctx);

/* One table row as people see it. */
struct configuration_option {
    char path[80];         /* "extender.listen", "orderedSpread.rules[].name" */
    const char *flag;      /* "extender-listen", or NULL */
    bool is_switch;        /* the flag needs no value */
    bool is_list;          /* the flag may be repeated */
    bool required;         /* of the items of a list */
    char value_name[48];   /* what help calls the flag's value: "ADDRESS" */
    char type[80];         /* "address", "duration", "integer", "one of a, b", "list of files" */
    char range[48];        /* "1 to 512", or "" */
    char default_text[48]; /* "10s", or "" when there is none */
    const char *help;
};
/* The rows in order; false when there is none at `index`. */
bool configuration_option_at(size_t index, struct configuration_option *ret);
