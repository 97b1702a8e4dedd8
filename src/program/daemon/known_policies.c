#include "daemon/known_policies.h"

#include "admission/pods/require.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/metrics.h"
#include "controllers/policy_status.h"
#include "policy/policies.h"
#include "policy/store.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct known_policies {
    struct policy_source *source;
    struct informer *watch; /* watch and controller are NULL if there is no watch */
    struct policy_status_controller *controller;
    struct event_recorder *events; /* borrowed */
    bool has_files, counted;
    _Atomic uint64_t said; /* hash of the last log line of report() */
};

#define NONE_SAID hash_mix(0, 1) /* the hash for no policies, which are not logged at first */

/* ---- metrics ---- */

static struct metric reads[] = {
#define READS(result)                                                                              \
    {                                                                                              \
        .name = "evenkeel_policy_reads_total", .help = "Readings of the policy files, by result.", \
        .labels = "result=\"" result "\"", .kind = METRIC_COUNTER                                  \
    }
    READS("good"),
    READS("bad"),
};

static struct metric policies[] = {
#define POLICIES(works)                                                                            \
    {                                                                                              \
        .name = "evenkeel_policies",                                                               \
        .help = "TopologyPolicies that are known, and whether they can work.",                     \
        .labels = "works=\"" works "\"", .kind = METRIC_GAUGE                                      \
    }
    POLICIES("yes"),
    POLICIES("no"),
};

/* The policies whose condition Effective is False for one reason. */
struct ineffective {
    enum policy_reason reason;
    struct policy_source *policies; /* borrowed while the metric is registered */
    uint32_t count;                 /* number of policies in the present reading */
    struct metric metric;
    char labels[48];
};
static struct ineffective ineffective[POLICY_REASONS]; /* [reason]; some items are not used */

/* Counts policies that do harm: policies that only audit, and policies that other policies shadow,
 * do not count. A condition of an earlier generation is not about the present policy. */
static bool count_ineffective(void *ctx, const struct policy *policy,
                              const struct policy_status *status, struct policy_note *note) {
    struct ineffective *of = ctx;
    const struct policy_condition_status *effective = &status->conditions[POLICY_EFFECTIVE];
    (void)note;
    of->count += policy->mode != POLICY_AUDIT && effective->observed == status->generation &&
                 str_eq(effective->status, STR("False")) &&
                 str_eq(effective->reason, str_of(policy_reasons[of->reason].name)) &&
                 !str_eq(status->conditions[POLICY_SHADOWED].status, STR("True"));
    return true;
}

/* Counts by the conditions that the API server has: the leader writes them, and every replica
 * reports them. */
static double read_ineffective(void *ctx) {
    struct ineffective *of = ctx;
    of->count = 0;
    policy_live_each(of->policies, count_ineffective, of);
    return of->count;
}

static bool makes_ineffective(const struct policy_reason_row *reason) {
    return strcmp(reason->type, "Effective") == 0 && strcmp(reason->status, "False") == 0;
}

static void register_ineffective(struct policy_source *source) {
    for (int i = 0; i < POLICY_REASONS; i++) {
        struct ineffective *of = &ineffective[i];
        if (!makes_ineffective(&policy_reasons[i]))
            continue;
        (void)snprintf(of->labels, sizeof of->labels, "reason=\"%s\"", policy_reasons[i].name);
        of->reason = (enum policy_reason)i;
        of->policies = source;
        of->metric = (struct metric){
            .name = "evenkeel_policies_ineffective",
            .help = "Enforced TopologyPolicies of the API server with the condition Effective "
                    "False, by its reason.",
            .labels = of->labels,
            .kind = METRIC_GAUGE,
            .read = read_ineffective,
            .ctx = of};
        metric_register(&of->metric);
    }
}

static void unregister_ineffective(void) {
    for (int i = 0; i < POLICY_REASONS; i++)
        if (makes_ineffective(&policy_reasons[i]))
            metric_unregister(&ineffective[i].metric);
}

static void each_metric(void (*what)(struct metric *)) {
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++)
        what(&reads[i]);
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++)
        what(&policies[i]);
}

/* ---- reading ---- */

/* Reports the policies in force, and those that cannot work: as metrics, and in the log if the line
 * differs from the last one. On any thread. */
static void report(void *ctx) {
    struct known_policies *p = ctx;
    uint32_t count, broken = 0;
    struct policies *held = policies_hold(p->source);
    const struct policy *items = policies_items(held, &count);
    uint64_t said = hash_mix(count, 1);
    for (uint32_t i = 0; i < count; i++) {
        broken += !str_empty(items[i].problem);
        said = hash_mix(hash_mix(said, hash_str(items[i].name)), hash_str(items[i].problem));
    }
    if (p->counted) {
        metric_set(&policies[0], count - broken);
        metric_set(&policies[1], broken);
    }
    if (atomic_exchange(&p->said, said) != said) {
        for (uint32_t i = 0; i < count; i++)
            if (!str_empty(items[i].problem))
                LOG_W("a policy cannot work", LOG_STR("policy", items[i].name),
                      LOG_STR("why", items[i].problem));
        LOG_I("policies read", LOG_INT("policies", count), LOG_INT("broken", broken));
    }
    policies_release(held);
}

static int load(struct known_policies *p, struct err *err) {
    int r = policy_source_load(p->source, err);
    if (p->counted)
        metric_add(&reads[r != 0], 1);
    if (r == 0) {
        if (p->has_files)
            atomic_store(&p->said, 0); /* a new reading is logged even if its result is unchanged */
        report(p);
    }
    return r;
}

void known_policies_reload(struct known_policies *p) {
    struct err err;
    if (p != NULL && load(p, &err) != 0)
        LOG_E("policies refused; those read before stay in force", LOG_ERRTEXT(&err));
}

void known_policies_poll(struct known_policies *p) {
    if (p != NULL && policy_source_changed(p->source))
        known_policies_reload(p);
}

/* ---- life ---- */

static int start_controller(struct known_policies *p, const struct known_policies_options *options,
                            struct err *err) {
    p->events = options->events;
    const struct policy_status_controller_options controller = {.policies = p->source,
                                                                .client = options->client,
                                                                .writer = options->writer,
                                                                .evasions = pod_evasions,
                                                                .events = p->events,
                                                                .cache = options->cache,
                                                                .latest = options->latest,
                                                                .elector = options->elector};
    return policy_status_controller_start(&controller, &p->controller, err);
}

static int start_watch(struct known_policies *p, const struct known_policies_options *options,
                       struct err *err) {
    const struct informer_watch watch = {.client = options->client, .seed = clock_seed()};
    policy_live_on_change(p->source, report, p);
    int r = informer_new(options->store, p->source, &p->watch, err);
    if (r == 0)
        r = informer_watch(p->watch, &watch, err);
    return r == 0 && options->writer != NULL ? start_controller(p, options, err) : r;
}

int known_policies_start(const struct known_policies_options *options, struct known_policies **ret,
                         struct err *err) {
    const struct configuration *c = options->configuration;
    struct known_policies *p = calloc(1, sizeof *p);
    *ret = p;
    if (p == NULL)
        return err_set(err, -ENOMEM, "no memory for policies");
    p->has_files = c->policies.path_count > 0;
    atomic_init(&p->said, NONE_SAID);
    p->counted = options->counted;
    if (p->counted)
        each_metric(metric_register);
    int r = policy_source_new(c->policies.paths, c->policies.path_count, &p->source, err);
    if (r == 0)
        r = load(p, err);
    if (r == 0 && options->client != NULL && c->policies.watch)
        r = start_watch(p, options, err);
    if (r == 0 && p->counted)
        register_ineffective(p->source);
    return r;
}

struct policy_source *known_policies_source(const struct known_policies *p) {
    return p != NULL ? p->source : NULL;
}

struct event_recorder *known_policies_events(const struct known_policies *p) {
    return p != NULL ? p->events : NULL;
}

bool known_policies_listed(const struct known_policies *p) {
    return p == NULL || p->watch == NULL || informer_listed(p->watch);
}

bool known_policies_complete(const struct known_policies *p) {
    return p == NULL || p->watch == NULL || informer_complete(p->watch);
}

void known_policies_stop(struct known_policies *p) {
    if (p == NULL)
        return;
    policy_status_controller_free(p->controller);
    informer_free(p->watch);
    p->events = NULL;
    p->controller = NULL;
    p->watch = NULL;
    if (p->counted) {
        unregister_ineffective();
        each_metric(metric_unregister);
    }
}

void known_policies_free(struct known_policies *p) {
    if (p == NULL)
        return;
    policy_source_free(p->source);
    free(p);
}
