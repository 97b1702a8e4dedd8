#include "cli/webhook_server.h"

#include "admit/policies.h"
#include "base/log.h"
#include "base/metrics.h"
#include "handlers/webhook.h"

#include <errno.h>
#include <stdlib.h>

struct webhook_server {
    struct webhook webhook;
    struct http_route routes[1];
    struct http_listener *listener;
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
        .help = "TopologyPolicies that were read, and whether they can work.",                     \
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

/* What was read, and what of it cannot work. */
static void report(struct policy_source *source) {
    uint32_t count, broken = 0;
    struct policies *held = policies_hold(source);
    const struct policy *items = policies_items(held, &count);
    for (uint32_t i = 0; i < count; i++)
        if (!str_empty(items[i].problem)) {
            broken++;
            LOG_W("a policy cannot work", LOG_STR("policy", items[i].name),
                  LOG_STR("why", items[i].problem));
        }
    policies_release(held);
    metric_set(&policies[0], count - broken);
    metric_set(&policies[1], broken);
    LOG_I("policies read", LOG_INT("policies", count), LOG_INT("broken", broken));
}

static int load(struct webhook_server *w, struct err *err) {
    int r = policy_source_load(w->webhook.policies, err);
    metric_add(&reads[r != 0], 1);
    if (r == 0)
        report(w->webhook.policies);
    return r;
}

static int load_fluid(struct webhook_server *w, struct err *err) {
    int r = fluid_source_load(w->webhook.fluid, err);
    if (r == 0) {
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

/* Those of the state files; an API server is not asked for them. */
static int open_fluid(struct webhook_server *w, const struct configuration *c, struct err *err) {
    const struct fluid_source_options options = {.paths = c->state.paths,
                                                 .path_count = c->state.path_count,
                                                 .profile = c->webhook.fluid.profile,
                                                 .compat = c->webhook.fluid.compat,
                                                 .scale_in = c->webhook.fluid.scale_in};
    if (options.path_count == 0)
        return 0;
    int r = fluid_source_new(&options, &w->webhook.fluid, err);
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

int webhook_server_start(const struct configuration *c, struct cache *cache,
                         struct webhook_server **ret, struct err *err) {
    struct str address = str_of(c->webhook.listen);
    *ret = NULL;
    if (str_empty(address) || str_eq(address, STR("0")))
        return 0;
    struct webhook_server *w = calloc(1, sizeof *w);
    if (w == NULL)
        return err_set(err, -ENOMEM, "no memory to start");
    w->webhook.cache = cache;
    webhook_metrics_start();
    each_metric(metric_register);
    int r = policy_source_new(c->policies.paths, c->policies.path_count, &w->webhook.policies, err);
    if (r == 0)
        r = load(w, err);
    if (r == 0)
        r = open_fluid(w, c, err);
    if (r == 0)
        r = listen_on(w, c, err);
    if (r == 0)
        *ret = w;
    else
        webhook_server_stop(w, 0);
    return r;
}

const char *webhook_server_address(const struct webhook_server *w) {
    return w == NULL ? "off" : http_listener_address(w->listener);
}

struct http_listener *webhook_server_listener(const struct webhook_server *w) {
    return w != NULL ? w->listener : NULL;
}

struct fluid_source *webhook_server_fluid(const struct webhook_server *w) {
    return w != NULL ? w->webhook.fluid : NULL;
}

void webhook_server_drain(struct webhook_server *w) {
    if (w != NULL)
        http_listener_drain(w->listener);
}

void webhook_server_stop(struct webhook_server *w, unsigned drain_ms) {
    if (w == NULL)
        return;
    if (w->listener != NULL)
        http_listener_stop(w->listener, drain_ms);
    each_metric(metric_unregister);
    webhook_metrics_stop();
    fluid_source_free(w->webhook.fluid);
    policy_source_free(w->webhook.policies);
    free(w);
}
