#include "daemon/webhook_server.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/metrics.h"
#include "controllers/policy_status.h"
#include "data/watch.h"
#include "handlers/webhook.h"
#include "policy/watch.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct webhook_server {
    struct webhook webhook;
    struct http_route routes[1];
    struct http_listener *listener; /* NULL: not running */
    struct policy_watch *policies;  /* these are NULL where they are not watched */
    struct policy_reporter *reporter;
    _Atomic uint64_t said; /* hash of what report() logged last */
    struct fluid_live *fluid;
    struct fluid_watch *fluid_watch;
};

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

static void each_metric(void (*what)(struct metric *)) {
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++)
        what(&reads[i]);
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++)
        what(&policies[i]);
}

/* ---- policies ---- */

/* What is in force, and what of it cannot work: as metrics, and in the log unless it was the last
 * thing that was said. On any thread. */
static void report(void *ctx) {
    struct webhook_server *w = ctx;
    uint32_t count, broken = 0;
    struct policies *held = policies_hold(w->webhook.policies);
    const struct policy *items = policies_items(held, &count);
    uint64_t said = hash_mix(count, 1);
    for (uint32_t i = 0; i < count; i++) {
        broken += !str_empty(items[i].problem);
        said = hash_mix(hash_mix(said, hash_str(items[i].name)), hash_str(items[i].problem));
    }
    metric_set(&policies[0], count - broken);
    metric_set(&policies[1], broken);
    if (atomic_exchange(&w->said, said) != said) {
        for (uint32_t i = 0; i < count; i++)
            if (!str_empty(items[i].problem))
                LOG_W("a policy cannot work", LOG_STR("policy", items[i].name),
                      LOG_STR("why", items[i].problem));
        LOG_I("policies read", LOG_INT("policies", count), LOG_INT("broken", broken));
    }
    policies_release(held);
}

static int load(struct webhook_server *w, struct err *err) {
    int r = policy_source_load(w->webhook.policies, err);
    metric_add(&reads[r != 0], 1);
    if (r == 0) {
        atomic_store(&w->said, 0); /* files that were read anew are spoken of */
        report(w);
    }
    return r;
}

static int load_fluid(struct webhook_server *w, struct err *err) {
    int r = fluid_source_load(w->webhook.fluid, err);
    if (r == 0 && w->fluid == NULL) {
        struct fluid_set *held = fluid_hold(w->webhook.fluid);
        LOG_I("Fluid's objects read",
              LOG_INT("objects", fluid_store_count(fluid_set_data(held)->store)));
        fluid_release(held);
    }
    return r;
}

static void reload_policies(struct webhook_server *w) {
    struct err err;
    if (load(w, &err) != 0)
        LOG_E("policies refused; those read before stay in force", LOG_ERRTEXT(&err));
}

static void reload_fluid(struct webhook_server *w) {
    struct err err;
    if (w->webhook.fluid != NULL && load_fluid(w, &err) != 0)
        LOG_E("Fluid's objects refused; those read before stay in force", LOG_ERRTEXT(&err));
}

void webhook_server_reload(struct webhook_server *w) {
    if (w == NULL)
        return;
    reload_policies(w);
    reload_fluid(w);
}

void webhook_server_poll(struct webhook_server *w) {
    if (w == NULL)
        return;
    if (policy_source_changed(w->webhook.policies))
        reload_policies(w);
    if (w->webhook.fluid != NULL && fluid_source_changed(w->webhook.fluid))
        reload_fluid(w);
    http_listener_poll_files(w->listener);
}

/* ---- Fluid's objects ---- */

static double count_fluid(void *ctx) {
    return (double)fluid_live_count(ctx);
}

static struct metric fluid_objects = {.name = "evenkeel_fluid_objects",
                                      .help = "Objects that tell where data is, as watched.",
                                      .labels = "",
                                      .kind = METRIC_GAUGE,
                                      .read = count_fluid};

/* Replicas that start together should not ask together. */
static uint64_t jitter_seed(void) {
    return (uint64_t)clock_now_ns() ^ ((uint64_t)getpid() << 32);
}

static int watch_fluid(struct webhook_server *w, const struct configuration *c,
                       struct kube_client *client, struct err *err) {
    int r = fluid_live_new(&w->fluid, err);
    if (r != 0)
        return r;
    w->webhook.client = client;
    w->webhook.read_ms = c->webhook.fluid.read_ms;
    const struct fluid_watch_options options = {.objects = w->fluid,
                                                .client = client,
                                                .seed = jitter_seed(),
                                                .eager = c->webhook.fluid.compat != FLUID_CORRECT};
    fluid_objects.ctx = w->fluid;
    metric_register(&fluid_objects);
    return fluid_watch_start(&options, &w->fluid_watch, err);
}

/* Those of the state files, or of the API server. */
static int open_fluid(struct webhook_server *w, const struct configuration *c,
                      struct kube_client *client, struct err *err) {
    if (client != NULL ? !c->webhook.fluid.watch : c->state.path_count == 0)
        return 0;
    int r = client != NULL ? watch_fluid(w, c, client, err) : 0;
    if (r != 0)
        return r;
    const struct fluid_source_options options = {.paths = c->state.paths,
                                                 .path_count = c->state.path_count,
                                                 .live = w->fluid,
                                                 .profile = c->webhook.fluid.profile,
                                                 .compat = c->webhook.fluid.compat,
                                                 .scale_in = c->webhook.fluid.scale_in,
                                                 .plugin_budget_ms =
                                                     c->webhook.fluid.plugin_budget_ms};
    r = fluid_source_new(&options, &w->webhook.fluid, err);
    return r == 0 ? load_fluid(w, err) : r;
}

/* ---- life ---- */

static int listen_on(struct webhook_server *w, const struct configuration *c, struct err *err) {
    w->routes[0] =
        (struct http_route){"POST", "/webhooks/v1/pods", "pods", webhook_pods, &w->webhook, true};
    struct http_listener_options options = {.name = "webhook",
                                            .address = c->webhook.listen,
                                            .threads = http_threads(c->webhook.threads),
                                            .limits = c->webhook.limits,
                                            .tls = c->webhook.tls,
                                            .routes = w->routes,
                                            .route_count = 1};
    options.tls.handed_over = c->webhook.certificates.mode != CERTIFICATES_FILES;
    return http_listener_start(&options, clock_real(), &w->listener, err);
}

/* Those of files, and then of the API server as well. */
static int open_policies(struct webhook_server *w, const struct webhook_server_options *options,
                         struct err *err) {
    const struct configuration *c = options->configuration;
    int r = policy_source_new(c->policies.paths, c->policies.path_count, &w->webhook.policies, err);
    if (r == 0)
        r = load(w, err);
    if (r != 0 || options->client == NULL || !c->policies.watch)
        return r;
    const struct policy_watch_options watch = {.policies = w->webhook.policies,
                                               .client = options->client,
                                               .seed = jitter_seed(),
                                               .on_change = report,
                                               .ctx = w};
    const struct policy_reporter_options reporter = {.policies = w->webhook.policies,
                                                     .client = options->client,
                                                     .cache = options->cache,
                                                     .elector = options->elector};
    r = policy_watch_start(&watch, &w->policies, err);
    return r == 0 ? policy_reporter_start(&reporter, &w->reporter, err) : r;
}

int webhook_server_start(const struct webhook_server_options *options, struct webhook_server **ret,
                         struct err *err) {
    const struct configuration *c = options->configuration;
    struct str address = str_of(c->webhook.listen);
    *ret = NULL;
    if (str_empty(address) || str_eq(address, STR("0")))
        return 0;
    struct webhook_server *w = calloc(1, sizeof *w);
    if (w == NULL)
        return err_set(err, -ENOMEM, "no memory to start");
    *ret = w; /* also after a failure: the client must end before its watches are freed */
    w->webhook.cache = options->cache;
    w->webhook.annotate = c->webhook.annotate;
    w->webhook.decisions = options->decisions;
    webhook_metrics_start();
    each_metric(metric_register);
    int r = open_policies(w, options, err);
    if (r == 0)
        r = open_fluid(w, c, options->client, err);
    return r == 0 ? listen_on(w, c, err) : r;
}

bool webhook_server_settled(struct webhook_server *w) {
    return w == NULL || ((w->policies == NULL || policy_watch_settled(w->policies)) &&
                         (w->fluid_watch == NULL || fluid_watch_settled(w->fluid_watch)));
}

const struct webhook *webhook_server_webhook(const struct webhook_server *w) {
    return w == NULL ? NULL : &w->webhook;
}

const char *webhook_server_address(const struct webhook_server *w) {
    return w == NULL ? "off" : http_listener_address(w->listener);
}

struct http_listener *webhook_server_listener(const struct webhook_server *w) {
    return w != NULL ? w->listener : NULL;
}

struct policy_source *webhook_server_policies(const struct webhook_server *w) {
    return w != NULL ? w->webhook.policies : NULL;
}

struct fluid_source *webhook_server_fluid(const struct webhook_server *w) {
    return w != NULL ? w->webhook.fluid : NULL;
}

void webhook_server_drain(struct webhook_server *w) {
    if (w != NULL && w->listener != NULL)
        http_listener_drain(w->listener);
}

void webhook_server_stop(struct webhook_server *w, unsigned drain_ms) {
    if (w == NULL)
        return;
    if (w->listener != NULL)
        http_listener_stop(w->listener, drain_ms);
    w->listener = NULL;
    policy_reporter_stop(w->reporter);
    policy_watch_stop(w->policies);
    fluid_watch_stop(w->fluid_watch);
    metric_unregister(&fluid_objects);
    each_metric(metric_unregister);
    webhook_metrics_stop();
}

void webhook_server_free(struct webhook_server *w) {
    if (w == NULL)
        return;
    policy_reporter_free(w->reporter);
    policy_watch_free(w->policies);
    fluid_watch_free(w->fluid_watch);
    fluid_source_free(w->webhook.fluid);
    fluid_live_free(w->fluid);
    policy_source_free(w->webhook.policies);
    free(w);
}
