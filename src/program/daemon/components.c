#include "daemon/components.h"

#include "base/clock.h"
#include "base/cpu_lack.h"
#include "base/log.h"
#include "config/karmada.h"
#include "config/placements.h"
#include "config/purposes.h"
#include "daemon/estimator_services.h"
#include "daemon/extender_certificates.h"
#include "daemon/known_data.h"
#include "daemon/known_evenness.h"
#include "daemon/known_fleet.h"
#include "daemon/known_karmada.h"
#include "daemon/known_policies.h"
#include "daemon/leadership.h"
#include "daemon/owned_placements.h"
#include "daemon/process_metrics.h"
#include "daemon/servers.h"
#include "daemon/source.h"
#include "daemon/webhook_certificates.h"
#include "estimators/tracked.h"
#include "grpc/listener.h"
#include "handlers/clusters_estimators.h"
#include "handlers/routes.h"
#include "kube/election/elector.h"
#include "members/karmada.h"
#include "policy/store.h"
#include "volumes/store.h"

#include <errno.h>
#include <stdlib.h>

/* ---- the cache, and decisions made with it ---- */

static int start_cache(struct server *s, struct err *err) {
    const struct configuration *c = s->configuration;
    const struct cache_options options = {.max_counters = c->cache.max_counters,
                                          .max_bytes = c->cache.max_bytes,
                                          .reservation_ttl_ms = c->reservations.ttl_ms};
    int r = cache_new(&options, &s->cache, err);
    cpu_lack_find("/proc/self/cgroup", "/sys/fs/cgroup");
    if (r == 0)
        process_metrics_start(s->cache);
    cpu_lack_poll(clock_now_ns());
    return r;
}

static void poll_cache(struct server *s) {
    cpu_lack_poll(clock_now_ns());
    cache_write_begin(s->cache);
    cache_expire(s->cache);
    cache_write_end(s->cache);
}

static void stop_cache(struct server *s) {
    if (s->cache != NULL)
        process_metrics_stop();
}

static void free_cache(struct server *s) {
    cache_free(s->cache);
}

/* Does the process read nodes? State files are always read, because they may have clusters. */
static bool knows_nodes(void *ctx) {
    const struct server *s = ctx;
    return configuration_serves_pods(s->configuration) || s->configuration->state.path_count > 0;
}

static bool is_synced(void *ctx) {
    const struct server *s = ctx;
    return cache_ready(s->cache);
}

static bool is_fresh(void *ctx) {
    const struct server *s = ctx;
    int64_t limit_ms = s->configuration->kubernetes.stale_after_ms;
    return limit_ms <= 0 || cache_age_ms(s->cache) <= limit_ms;
}

static int start_decisions(struct server *s, struct err *err) {
    uint32_t count = s->configuration->explain.decisions;
    int r = count > 0 ? ring_new(count, &s->decisions) : 0;
    return r == 0 ? 0 : err_set(err, r, "no memory for %u decisions", count);
}

static void free_decisions(struct server *s) {
    ring_free(s->decisions);
}

/* ---- API servers, and leader election ---- */

static int start_servers(struct server *s, struct err *err) {
    const struct configuration *c = s->configuration;
    int r = servers_new(c, &s->servers, err);
    for (enum server_role i = 0; r == 0 && i < SERVER_ROLES; i++)
        if (server_is_used(c, i) && server_is_set(server_settings(c, i))) {
            r = servers_open(s->servers, i, err);
            if (r == 0)
                r = servers_prepare_writes(s->servers, i, err);
        }
    return r;
}

static void poll_servers(struct server *s) {
    servers_poll(s->servers);
}

/* Frees the clients of the API servers; bindings that are under way end, too. */
static void stop_servers(struct server *s) {
    servers_free(s->servers);
}

/* Returns the client of a purpose's API server; NULL if the purpose is off or uses state files. */
static struct kube_client *client_of(const struct server *s, enum purpose purpose) {
    return purpose_is_wanted(s->configuration, purpose)
               ? servers_client(s->servers, purpose_server(s->configuration, purpose))
               : NULL;
}

static struct writer *writer_of(const struct server *s, enum purpose purpose) {
    return purpose_is_wanted(s->configuration, purpose)
               ? servers_writer(s->servers, purpose_server(s->configuration, purpose))
               : NULL;
}

static struct event_recorder *events_of(const struct server *s, enum purpose purpose) {
    return purpose_is_wanted(s->configuration, purpose)
               ? servers_events(s->servers, purpose_server(s->configuration, purpose))
               : NULL;
}

static const struct kube_access *access_of(const struct server *s, enum purpose purpose) {
    return servers_access(s->servers, purpose_server(s->configuration, purpose));
}

static int start_source(struct server *s, struct err *err) {
    return source_new(s->configuration, s->cache, client_of(s, PURPOSE_PODS), &s->source, err);
}

static void poll_source(struct server *s) {
    source_poll(s->source);
}

static void poll_source_files(struct server *s) {
    source_poll_files(s->source);
}

static void reload_source(struct server *s) {
    source_reload(s->source);
}

static void stop_source(struct server *s) {
    source_free(s->source);
}

static int start_leadership(struct server *s, struct err *err) {
    return leadership_start(s->configuration, s->servers, &s->leadership, err);
}

static void stop_leadership(struct server *s) {
    leadership_stop(s->leadership);
}

static bool is_leader(void *ctx) {
    const struct server *s = ctx;
    return elector_leads(leadership_elector(s->leadership, PURPOSE_RESERVATIONS));
}

static bool is_alive(void *ctx) {
    const struct server *s = ctx;
    return leadership_is_alive(s->leadership);
}

static bool elects(void *ctx) {
    const struct server *s = ctx;
    return leadership_elector(s->leadership, PURPOSE_RESERVATIONS) != NULL;
}

static int start_extender_certificates(struct server *s, struct err *err) {
    return extender_certificates_start(
        s->configuration, access_of(s, PURPOSE_CERTIFICATES), client_of(s, PURPOSE_CERTIFICATES),
        writer_of(s, PURPOSE_CERTIFICATES), &s->extender_certificates, err);
}

static void stop_extender_certificates(struct server *s) {
    extender_certificates_free(s->extender_certificates);
}

static bool extender_needs_certificate(void *ctx) {
    const struct server *s = ctx;
    return s->extender_certificates != NULL;
}

static bool extender_is_certified(void *ctx) {
    const struct server *s = ctx;
    return s->extender_certificates == NULL ||
           atomic_load(extender_certificates_ready(s->extender_certificates));
}

static int start_certificates(struct server *s, struct err *err) {
    return webhook_certificates_start(s->configuration, access_of(s, PURPOSE_CERTIFICATES),
                                      client_of(s, PURPOSE_CERTIFICATES),
                                      writer_of(s, PURPOSE_CERTIFICATES), &s->certificates, err);
}

static void stop_certificates(struct server *s) {
    webhook_certificates_free(s->certificates);
}

static bool needs_certificate(void *ctx) {
    const struct server *s = ctx;
    return s->certificates != NULL;
}

static bool is_certified(void *ctx) {
    const struct server *s = ctx;
    return s->certificates == NULL || atomic_load(webhook_certificates_ready(s->certificates));
}

/* ---- data beside the cache ---- */

static int start_latest(struct server *s, struct err *err) {
    s->latest = evenness_latest_new();
    return s->latest != NULL ? 0 : err_set(err, -ENOMEM, "no memory to start");
}

static void free_latest(struct server *s) {
    evenness_latest_free(s->latest);
}

/* Starts the policies of pods or, if this process serves no pods, those of Placements. */
static int start_policies(struct server *s, struct err *err) {
    const bool of_pods = purpose_is_wanted(s->configuration, PURPOSE_PODS);
    const struct known_policies_options options = {
        .configuration = s->configuration,
        .store = of_pods ? &policy_store : &hub_policy_store,
        .counted = true,
        .cache = s->cache,
        .client = client_of(s, of_pods ? PURPOSE_PODS : PURPOSE_OCM),
        .writer = writer_of(s, PURPOSE_CONTROLLERS),
        .events = events_of(s, PURPOSE_CONTROLLERS),
        .latest = s->latest,
        .elector = leadership_elector(s->leadership, PURPOSE_CONTROLLERS)};
    return known_policies_start(&options, &s->policies, err);
}

static void poll_policies(struct server *s) {
    known_policies_poll(s->policies);
}

static void reload_policies(struct server *s) {
    known_policies_reload(s->policies);
}

static void stop_policies(struct server *s) {
    known_policies_stop(s->policies);
}

static void free_policies(struct server *s) {
    known_policies_free(s->policies);
}

static bool policies_listed(void *ctx) {
    const struct server *s = ctx;
    return known_policies_listed(s->policies);
}

static bool decides_placements(const struct server *s) {
    return purpose_is_wanted(s->configuration, PURPOSE_OCM);
}

/* Do Placements have policies of their own? Only if pods are served, too, and the hub is another
 * server. */
static bool has_placement_policies(void *ctx) {
    const struct server *s = ctx;
    return s->placement_policies != NULL && s->placement_policies != s->policies;
}

static int start_placement_policies(struct server *s, struct err *err) {
    const struct known_policies_options options = {.configuration = s->configuration,
                                                   .store = &hub_policy_store,
                                                   .cache = s->cache,
                                                   .client = client_of(s, PURPOSE_OCM),
                                                   .latest = s->latest};
    if (decides_placements(s) && purpose_is_wanted(s->configuration, PURPOSE_PODS) &&
        client_of(s, PURPOSE_PODS) != options.client)
        return known_policies_start(&options, &s->placement_policies, err);
    s->placement_policies = decides_placements(s) ? s->policies : NULL;
    return 0;
}

static void poll_placement_policies(struct server *s) {
    if (has_placement_policies(s))
        known_policies_poll(s->placement_policies);
}

static void reload_placement_policies(struct server *s) {
    if (has_placement_policies(s))
        known_policies_reload(s->placement_policies);
}

static void stop_placement_policies(struct server *s) {
    if (has_placement_policies(s))
        known_policies_stop(s->placement_policies);
}

static void free_placement_policies(struct server *s) {
    if (has_placement_policies(s))
        known_policies_free(s->placement_policies);
}

static bool placement_policies_listed(void *ctx) {
    const struct server *s = ctx;
    return known_policies_listed(s->placement_policies);
}

static int start_data(struct server *s, struct err *err) {
    const struct known_data_options options = {
        .configuration = s->configuration,
        .client = client_of(s, PURPOSE_PODS),
        .cache = s->cache,
        .writer = writer_of(s, PURPOSE_CONTROLLERS),
        .elector = leadership_elector(s->leadership, PURPOSE_CONTROLLERS)};
    int r = known_data_start(&options, &s->data, err);
    if (r == 0 && s->data != NULL)
        source_follow(s->source, known_data_follower(s->data));
    return r;
}

static void poll_data(struct server *s) {
    if (known_data_poll(s->data))
        source_reload(s->source);
}

static void reload_data(struct server *s) {
    known_data_reload(s->data);
}

static void stop_data(struct server *s) {
    known_data_stop(s->data);
}

static void free_data(struct server *s) {
    known_data_free(s->data);
}

static bool data_listed(void *ctx) {
    const struct server *s = ctx;
    return known_data_listed(s->data);
}

static int start_evenness(struct server *s, struct err *err) {
    const struct known_evenness_options options = {
        .cache = s->cache,
        .policies = known_policies_source(s->policies),
        .latest = s->latest,
        .volumes = s->volumes,
        .events = known_policies_events(s->policies),
        .elector = leadership_elector(s->leadership, PURPOSE_CONTROLLERS),
        .uneven_after_ms = s->configuration->events.uneven_after_ms,
        .event_namespaces = s->configuration->events.namespaces,
        .event_namespace_count = s->configuration->events.namespace_count,
        .stale_after_ms = s->configuration->kubernetes.stale_after_ms};
    return known_evenness_start(&options, &s->evenness, err);
}

static void poll_evenness(struct server *s) {
    known_evenness_poll(s->evenness);
}

static void free_evenness(struct server *s) {
    known_evenness_free(s->evenness);
}

static void evenness_metrics(void *ctx, struct strbuf *out) {
    const struct server *s = ctx;
    known_evenness_metrics(s->evenness, s->configuration->metrics.workloads, out);
}

static int start_fleet(struct server *s, struct err *err) {
    return known_fleet_start(s->configuration, s->servers, s->source, &s->fleet, err);
}

static void stop_fleet(struct server *s) {
    known_fleet_stop(s->fleet);
}

static void free_fleet(struct server *s) {
    known_fleet_free(s->fleet);
}

static int start_karmada(struct server *s, struct err *err) {
    return known_karmada_start(s->configuration, s->servers, s->source, &s->karmada, err);
}

static void stop_karmada(struct server *s) {
    known_karmada_stop(s->karmada);
}

static void free_karmada(struct server *s) {
    known_karmada_free(s->karmada);
}

static bool fleet_listed(void *ctx) {
    const struct server *s = ctx;
    /* a replica that serves pods waits for no other server, and not long for this server; any other
     * replica needs the clusters */
    if (configuration_serves_pods(s->configuration))
        return server_is_used(s->configuration, SERVER_HUB) || known_fleet_listed(s->fleet);
    return known_fleet_synced(s->fleet);
}

/* Can this process answer questions about the fleet? */
static bool fleet_known(void *ctx) {
    const struct server *s = ctx;
    const bool read = s->configuration->state.path_count == 0 || cache_ready(s->cache);
    return read && known_fleet_synced(s->fleet);
}

static bool fleet_fresh(void *ctx) {
    const struct server *s = ctx;
    return known_fleet_fresh(s->fleet);
}

static bool keeps_clusters(void *ctx) {
    const struct server *s = ctx;
    return s->fleet != NULL;
}

static int start_owned_placements(struct server *s, struct err *err) {
    const struct owned_placements_options options = {.configuration = s->configuration,
                                                     .servers = s->servers,
                                                     .leadership = s->leadership,
                                                     .fleet = s->fleet,
                                                     .policies = s->placement_policies};
    return owned_placements_start(&options, &s->owned_placements, err);
}

static void stop_owned_placements(struct server *s) {
    owned_placements_stop(s->owned_placements);
}

static bool owns_placements(void *ctx) {
    const struct server *s = ctx;
    return s->owned_placements != NULL;
}

/* A new replica must be able to lead, so a list that failed is not enough. But a replica that
 * serves pods does not wait for another server. */
static bool can_decide_placements(void *ctx) {
    const struct server *s = ctx;
    const bool is_another =
        configuration_serves_pods(s->configuration) && server_is_used(s->configuration, SERVER_HUB);
    return is_another || known_fleet_synced(s->fleet);
}

/* ---- member clusters ---- */

static int start_members(struct server *s, struct err *err) {
    const struct configuration *c = s->configuration;
    if (!configuration_estimates(c))
        return 0;
    int r = members_new(c->estimator.members, c->estimator.member_count,
                        c->kubernetes.stale_after_ms, &s->members, err);
    if (r == 0)
        members_configure(s->members,
                          &(struct members_options){.quotas = c->estimator.resource_quota,
                                                    .max_bytes = c->estimator.member_bytes});
    if (r == 0 && c->state.path_count == 0)
        r = members_use_cluster(s->members, c->kubernetes.kubeconfig, c->kubernetes.context, err);
    if (r != 0)
        return r;
    struct informer *of_files = members_of_files(s->members);
    if (of_files != NULL)
        source_follow(s->source, informer_follower(of_files));
    members_start(s->members);
    const struct karmada_members_options karmada = {
        .members = s->members,
        .clusters = known_karmada_watched(s->karmada),
        .client = client_of(s, PURPOSE_MEMBERS),
        .rules = {.secret_namespace = str_of(c->karmada_cluster_namespace)},
        .stale_after_ms = server_settings(c, purpose_server(c, PURPOSE_MEMBERS))->stale_after_ms,
        .listing_ms = KARMADA_LISTING_MS};
    r = karmada.clusters != NULL ? karmada_members_start(&karmada, &s->karmada_members, err) : 0;
    return r != 0 ? r
                  : estimator_services_door_start(c, s->servers, s->leadership, s->karmada_members,
                                                  &s->estimator_services, err);
}

static void poll_members(struct server *s) {
    karmada_members_poll(s->karmada_members);
    if (s->members != NULL)
        members_poll(s->members);
}

static void stop_members(struct server *s) {
    estimator_services_door_stop(s->estimator_services);
    karmada_members_stop(s->karmada_members);
    members_stop(s->members);
}

static void free_members(struct server *s) {
    karmada_members_free(s->karmada_members);
    members_free(s->members);
}

static bool keeps_members(void *ctx) {
    const struct server *s = ctx;
    return s->members != NULL;
}

/* Are all members listed? If a member cannot be listed or joins later, its answer is -1, and
 * callers ignore this member; if this process does not answer, callers ignore all members. */
static bool are_members_listed(void *ctx) {
    const struct server *s = ctx;
    return karmada_members_listed(s->karmada_members) && members_listed(s->members);
}

static int start_volumes(struct server *s, struct err *err) {
    if (!configuration_reviews_pods(s->configuration))
        return 0;
    int r = informer_new(&volume_store, NULL, &s->volumes, err);
    if (r != 0)
        return r;
    const struct informer_watch watch = {.client = client_of(s, PURPOSE_PODS),
                                         .seed = clock_seed()};
    if (watch.client != NULL)
        return informer_watch(s->volumes, &watch, err);
    source_follow(s->source, informer_follower(s->volumes));
    return 0;
}

static void stop_volumes(struct server *s) {
    informer_stop(s->volumes);
}

static void free_volumes(struct server *s) {
    informer_free(s->volumes);
}

static bool volumes_listed(void *ctx) {
    const struct server *s = ctx;
    return informer_listed(s->volumes);
}

static bool keeps_volumes(void *ctx) {
    const struct server *s = ctx;
    return s->volumes != NULL;
}

/* ---- contexts of the listeners' handlers ---- */

/* Returns the time limit of a binding: it ends before the waiting connection is closed. */
static int64_t bind_timeout_ms(const struct http_limits *limits) {
    enum { MARGIN_MS = 1000 };
    return limits->request_ms > 2 * MARGIN_MS ? limits->request_ms - MARGIN_MS
                                              : limits->request_ms / 2;
}

static int start_extender_work(struct server *s, struct err *err) {
    const struct configuration *c = s->configuration;
    struct kube_client *client = client_of(s, PURPOSE_PODS);
    bool conservative = c->reservations.mode == RESERVATIONS_CONSERVATIVE;
    s->engine = c->engine;
    s->engine.count_flights = conservative;
    s->extender = (struct extender){.cache = s->cache,
                                    .options = &s->engine,
                                    .stale_after_ms = c->kubernetes.stale_after_ms,
                                    .reservations = c->reservations.mode,
                                    /* state files never confirm or refute an assumed pod */
                                    .assume = c->reservations.assume && client != NULL,
                                    .client = client,
                                    .bind_timeout_ms = bind_timeout_ms(&c->extender.limits),
                                    .decisions = s->decisions,
                                    .fluid = known_data_source(s->data),
                                    .policies = known_policies_source(s->policies)};
    /* an earlier process may have started a binding */
    if (client != NULL && conservative)
        s->extender.settled_ms = clock_real()->now_ms(clock_real()) + c->reservations.settle_ms;
    extender_metrics_start();
    int r = conservative ? bind_queue_new(&s->extender.bindings) : 0;
    return r == 0 ? 0 : err_set(err, r, "no memory to start");
}

static void stop_extender_work(struct server *s) {
    (void)s;
    extender_metrics_stop();
}

static void free_extender_work(struct server *s) {
    bind_queue_free(s->extender.bindings);
}

static bool admits(const struct server *s) {
    return configuration_listens(s->configuration->webhook.listen);
}

/* Does a leader publish scores of Placements? */
static bool placements_have_leader(void *ctx) {
    const struct server *s = ctx;
    return elector_somebody_leads(leadership_elector(s->leadership, PURPOSE_OCM));
}

static int start_webhook_work(struct server *s, struct err *err) {
    const struct configuration *c = s->configuration;
    struct owners *owners = NULL;
    struct kube_client *client = client_of(s, PURPOSE_PODS);
    int r = client != NULL ? owners_new(NULL, &owners, err) : 0;
    if (r != 0)
        return r;
    s->webhook = (struct webhook){.decisions = s->decisions,
                                  .pods = {.known = {.cache = s->cache,
                                                     .owners = owners,
                                                     .policies = known_policies_source(s->policies),
                                                     .fluid = known_data_source(s->data),
                                                     .volumes = s->volumes,
                                                     .annotate = c->webhook.annotate},
                                           .client = client,
                                           .read_ms = c->webhook.fluid.read_ms,
                                           .read_for_anyone = c->webhook.fluid.read_for_anyone}};
    s->webhook.placements =
        (struct placement_reviewer){.known = {.policies = known_policies_source(s->policies),
                                              .fleet = known_fleet_store(s->fleet),
                                              .cache = s->cache,
                                              .has_leader = placements_have_leader,
                                              .ctx = s},
                                    .seed = clock_seed()};
    configuration_reviews_placements(c, &s->webhook.placements.known);
    if (admits(s))
        webhook_metrics_start();
    return 0;
}

static void stop_webhook_work(struct server *s) {
    if (admits(s))
        webhook_metrics_stop();
}

static void free_webhook_work(struct server *s) {
    owners_free(s->webhook.pods.known.owners);
}

static int start_asked_estimators(struct server *s, struct err *err) {
    const struct configuration *c = s->configuration;
    const struct tracked_estimators_options options = {
        .services = {.prefix = str_of(c->karmada_estimators.service_prefix),
                     .namespace = str_of(c->karmada_estimators.service_namespace),
                     .port = (uint16_t)c->karmada_estimators.port},
        .addresses = c->karmada_estimators.addresses,
        .address_count = c->karmada_estimators.address_count,
        .without_pull = c->karmada_estimators.disable_in_pull_mode,
        .tls = {.ca_file = c->karmada_estimators.ca_file,
                .cert_file = c->karmada_estimators.cert_file,
                .key_file = c->karmada_estimators.key_file,
                .insecure_skip_verify = c->karmada_estimators.insecure_skip_verify},
        .client = client_of(s, PURPOSE_ESTIMATORS),
        .karmada = known_karmada_of_files(s->karmada)};
    if (!configuration_asks_estimators(c))
        return 0;
    clusters_estimators_metrics_start();
    return tracked_estimators_start(&options, &s->asked_estimators, err);
}

static void poll_asked_estimators(struct server *s) {
    tracked_estimators_poll(s->asked_estimators);
}

static void stop_asked_estimators(struct server *s) {
    tracked_estimators_stop(s->asked_estimators);
}

static void free_asked_estimators(struct server *s) {
    if (configuration_asks_estimators(s->configuration))
        clusters_estimators_metrics_stop();
    tracked_estimators_free(s->asked_estimators);
}

/* Returns the time limit of estimators: like a binding, the question to estimators ends before the
 * request does. */
static int64_t estimate_ms(const struct configuration *c) {
    const int64_t most = bind_timeout_ms(&c->extender.limits);
    return c->karmada_estimators.timeout_ms < most ? c->karmada_estimators.timeout_ms : most;
}

/* Prepares answers to questions about fleets, for the extender's listener and for people. */
static int start_clusters(struct server *s, struct err *err) {
    (void)err; /* this cannot fail */
    s->clusters = (struct clusters){
        .known = {known_fleet_store(s->fleet),
                  known_policies_source(decides_placements(s) ? s->placement_policies
                                                              : s->policies)},
        .karmada = known_karmada_of_files(s->karmada),
        .estimators = tracked_estimators_asked(s->asked_estimators),
        .estimate_ms = estimate_ms(s->configuration),
        .is_ready = fleet_known,
        .ctx = s};
    configuration_karmada(s->configuration, &s->clusters.options);
    return 0;
}

static int start_explain(struct server *s, struct err *err) {
    s->explain.clusters = &s->clusters;
    s->explain.history = owned_placements_history(s->owned_placements);
    s->explain.extender = &s->extender;
    s->explain.volumes = s->volumes;
    s->explain.webhook = configuration_reviews_pods(s->configuration) ? &s->webhook : NULL;
    return explain_access_new(s->configuration->explain.token_file, &s->explain.access, err);
}

static void poll_explain(struct server *s) {
    explain_access_poll(s->explain.access);
}

static void free_explain(struct server *s) {
    explain_access_free(s->explain.access);
}

/* ---- listeners ---- */

/* Returns the time left for requests that are under way. */
static unsigned left_ms(const struct server *s) {
    int64_t left = s->drain_until_ms - clock_real()->now_ms(clock_real());
    return left > 0 ? (unsigned)left : 0;
}

static const struct http_limits ops_limits = {
    .body_bytes = LIMIT_OPS_BODY,
    .bodies_in_flight = LIMIT_OPS_BYTES_IN_FLIGHT,
    .connections = LIMIT_OPS_CONNECTIONS,
    .connections_per_address = LIMIT_OPS_CONNECTIONS,
    .header_ms = LIMIT_HTTP_HEADER_MS,
    .request_ms = LIMIT_HTTP_REQUEST_MS,
    .idle_ms = LIMIT_HTTP_IDLE_MS,
};

static int start_ops(struct server *s, struct err *err) {
    s->topology = (struct topology_door){knows_nodes(s) ? s->latest : NULL, s->explain.access,
                                         s->cache, clock_seed()};
    ops_start();
    s->ops.is_alive = is_alive;
    s->ops.more_metrics = evenness_metrics;
    s->ops.handler_ms = LIMIT_HANDLER_MS;
    s->ops.ctx = s;
    const struct http_listener_options options = {
        .name = "ops",
        .address = s->configuration->ops.listen,
        .threads = 1,
        .limits = ops_limits,
        .services = {{.routes = &ops_routes, .ctx = &s->ops},
                     {.routes = &explain_routes, .ctx = &s->explain},
                     {.routes = &topology_routes, .ctx = &s->topology},
                     {.routes = &log_level_routes, .ctx = s->explain.access}}};
    return configuration_listens(options.address)
               ? http_listener_start(&options, clock_real(), &s->ops_listener, err)
               : 0;
}

static void stop_ops(struct server *s) {
    http_listener_stop(s->ops_listener, 0);
    ops_stop();
}

static int start_probes(struct server *s, struct err *err) {
    const struct http_listener_options options = {
        .name = "probes",
        .address = s->configuration->ops.probe_listen,
        .threads = 1,
        .limits = ops_limits,
        .services = {{.routes = &probe_routes, .ctx = &s->ops}}};
    return configuration_probes_apart(s->configuration)
               ? http_listener_start(&options, clock_real(), &s->probe_listener, err)
               : 0;
}

static void stop_probes(struct server *s) {
    http_listener_stop(s->probe_listener, 0);
}

/* Expects certificates to be handed over if they are in a Secret. With self-signed certificates
 * only the client with kube-scheduler's certificate may call, unless the configuration names
 * others. */
static void trust_in_secret(const struct server *s, struct http_tls_options *tls) {
    const struct configuration_certificates *o = &s->configuration->extender.certificates;
    tls->handed_over = tls->client_ca_handed_over = o->mode != CERTIFICATES_FILES;
    if (o->mode == CERTIFICATES_SELF_SIGNED && tls->allowed_subject_count == 0) {
        tls->allowed_subjects = &o->client_name;
        tls->allowed_subject_count = 1;
    }
}

static int start_extender(struct server *s, struct err *err) {
    const struct configuration *c = s->configuration;
    const struct http_routes *binding =
        c->extender.bind ? &extender_binding_routes : &extender_binding_off;
    struct http_listener_options options = {
        .name = "extender",
        .address = c->extender.listen,
        .threads = http_threads(),
        .large_threads = (http_threads() + 1) / 2,
        .limits = c->extender.limits,
        .tls = c->extender.tls,
        .services = {{.routes = &extender_routes, .ctx = &s->extender},
                     {.routes = binding, .ctx = &s->extender},
                     {&clusters_routes, &s->clusters,
                      c->extender.fleet_subject_count > 0 ? &s->fleet_subjects : NULL}}};
    if (!configuration_listens(options.address))
        return 0;
    trust_in_secret(s, &options.tls);
    options.tls.setting = "extender.allowedSubjects";
    s->fleet_subjects = (struct http_subjects){
        c->extender.fleet_subjects, c->extender.fleet_subject_count, "extender.fleetSubjects"};
    int r = http_listener_start(&options, clock_real(), &s->extender_listener, err);
    if (r == 0)
        extender_certificates_serve(s->extender_certificates, s->extender_listener);
    return r;
}

static void poll_extender(struct server *s) {
    http_listener_poll_files(s->extender_listener);
}

static void drain_extender(struct server *s) {
    http_listener_drain(s->extender_listener);
}

static void stop_extender(struct server *s) {
    extender_certificates_serve(s->extender_certificates, NULL);
    http_listener_stop(s->extender_listener, left_ms(s));
}

static int start_webhook(struct server *s, struct err *err) {
    const struct configuration *c = s->configuration;
    const struct http_routes *pods = c->webhook.pods ? &webhook_pod_routes : &webhook_pods_off;
    struct http_listener_options options = {
        .name = "webhook",
        .address = c->webhook.listen,
        .threads = http_threads(),
        .limits = c->webhook.limits,
        .tls = c->webhook.tls,
        .services = {{.routes = &webhook_hub_routes, .ctx = &s->webhook},
                     {.routes = pods, .ctx = &s->webhook}}};
    options.tls.handed_over = c->webhook.certificates.mode != CERTIFICATES_FILES;
    if (!admits(s))
        return 0;
    int r = http_listener_start(&options, clock_real(), &s->webhook_listener, err);
    if (r == 0)
        webhook_certificates_serve(s->certificates, s->webhook_listener);
    return r;
}

static void poll_webhook(struct server *s) {
    http_listener_poll_files(s->webhook_listener);
}

static void drain_webhook(struct server *s) {
    http_listener_drain(s->webhook_listener);
}

static void stop_webhook(struct server *s) {
    webhook_certificates_serve(s->certificates, NULL);
    http_listener_stop(s->webhook_listener, left_ms(s));
}

/* ---- the estimator's listener ---- */

static int start_estimator(struct server *s, struct err *err) {
    const struct configuration *c = s->configuration;
    if (!configuration_estimates(c))
        return 0;
    s->estimator = (struct estimator){.members = s->members,
                                      .karmada = s->karmada_members,
                                      .unready_is_error = c->estimator.unready_is_error,
                                      .quotas = c->estimator.resource_quota,
                                      .overcommit_protection = c->estimator.overcommit_protection};
    s->estimator_service = estimator_service(&s->estimator);
    const struct grpc_listener_options options = {.address = c->estimator.listen,
                                                  .threads = http_threads(),
                                                  .service = &s->estimator_service,
                                                  .tls = &c->estimator.tls};
    estimator_metrics_start();
    return grpc_listener_start(&options, clock_real(), &s->estimator_listener, err);
}

static void poll_estimator(struct server *s) {
    grpc_listener_poll_files(s->estimator_listener);
}

static void drain_estimator(struct server *s) {
    grpc_listener_drain(s->estimator_listener);
}

static void stop_estimator(struct server *s) {
    grpc_listener_stop(s->estimator_listener, left_ms(s));
    s->estimator_listener = NULL;
    if (configuration_estimates(s->configuration))
        estimator_metrics_stop();
}

/* ---- the table of components ---- */

static int start_sync(struct server *s, struct err *err) {
    int r = source_start(s->source, err);
    if (r == 0)
        source_warn_of_no_nodes(s->source);
    return r;
}

static const struct server_component components[] = {
    {.name = "cache",
     .start = start_cache,
     .poll = poll_cache,
     .stop = stop_cache,
     .free = free_cache,
     .ready = {{.name = "state",
                .good = is_synced,
                .wanted = knows_nodes,
                .good_text = "read",
                .bad_text = "not read yet; see the log"},
               {.name = "age",
                .good = is_fresh,
                .wanted = knows_nodes,
                .bad_text = "stale: answers are no opinion until the API server is heard",
                .advice = true}}},
    {.name = "decisions", .start = start_decisions, .free = free_decisions},
    {.name = "servers", .start = start_servers, .poll = poll_servers, .stop = stop_servers},
    {.name = "source",
     .start = start_source,
     .poll = poll_source,
     .poll_files = poll_source_files,
     .reload = reload_source,
     .stop = stop_source},
    {.name = "leadership",
     .start = start_leadership,
     .stop = stop_leadership,
     .ready = {{.name = "leader",
                .good = is_leader,
                .wanted = elects,
                .good_text = "this one",
                .bad_text = "another one, or none yet"}}},
    {.name = "certificates",
     .start = start_certificates,
     .stop = stop_certificates,
     .ready = {{.name = "certificate",
                .good = is_certified,
                .wanted = needs_certificate,
                .good_text = "the webhook has one",
                .bad_text = "the webhook has none yet; see the log"}}},
    {.name = "extender's certificates",
     .start = start_extender_certificates,
     .stop = stop_extender_certificates,
     .ready = {{.name = "extender-certificate",
                .good = extender_is_certified,
                .wanted = extender_needs_certificate,
                .good_text = "the extender has one, and the CA of its callers",
                .bad_text = "the extender has none yet, or no CA of its callers; see the log"}}},
    {.name = "latest report", .start = start_latest, .free = free_latest},
    {.name = "policies",
     .start = start_policies,
     .poll_files = poll_policies,
     .reload = reload_policies,
     .stop = stop_policies,
     .free = free_policies,
     .ready = {{.name = "policies",
                .good = policies_listed,
                .bad_text = "the API server's policies are not listed yet"}}},
    {.name = "placement policies",
     .start = start_placement_policies,
     .poll_files = poll_placement_policies,
     .reload = reload_placement_policies,
     .stop = stop_placement_policies,
     .free = free_placement_policies,
     .ready = {{.name = "placement-policies",
                .good = placement_policies_listed,
                .wanted = has_placement_policies,
                .bad_text = "the hub's policies are not listed yet"}}},
    {.name = "data",
     .start = start_data,
     .poll_files = poll_data,
     .reload = reload_data,
     .stop = stop_data,
     .free = free_data,
     .ready = {{.name = "data",
                .good = data_listed,
                .bad_text = "Fluid's objects are not listed yet"}}},
    {.name = "fleet",
     .start = start_fleet,
     .stop = stop_fleet,
     .free = free_fleet,
     .ready = {{.name = "clusters",
                .good = fleet_listed,
                .wanted = keeps_clusters,
                .bad_text = "the fleet's clusters are not listed yet"},
               {.name = "hub",
                .good = fleet_fresh,
                .wanted = keeps_clusters,
                .bad_text = "not heard: the clusters are those that it listed last; see the log",
                .advice = true}}},
    {.name = "Karmada's clusters",
     .start = start_karmada,
     .stop = stop_karmada,
     .free = free_karmada},
    {.name = "owned placements",
     .start = start_owned_placements,
     .stop = stop_owned_placements,
     .ready = {{.name = "placements",
                .good = can_decide_placements,
                .wanted = owns_placements,
                .bad_text = "not all lists of the hub are known: no Placement can be decided"}}},
    {.name = "members",
     .start = start_members,
     .poll = poll_members,
     .stop = stop_members,
     .free = free_members,
     .ready = {{.name = "members",
                .good = are_members_listed,
                .wanted = keeps_members,
                .bad_text = "not all member clusters have been asked yet"}}},
    {.name = "volumes",
     .start = start_volumes,
     .stop = stop_volumes,
     .free = free_volumes,
     .ready = {{.name = "volumes",
                .good = volumes_listed,
                .wanted = keeps_volumes,
                .bad_text = "claims and volumes are not listed yet"}}},
    {.name = "evenness", .start = start_evenness, .poll = poll_evenness, .free = free_evenness},
    {.name = "extender's work",
     .start = start_extender_work,
     .stop = stop_extender_work,
     .free = free_extender_work},
    {.name = "webhook's work",
     .start = start_webhook_work,
     .stop = stop_webhook_work,
     .free = free_webhook_work},
    {.name = "estimators",
     .start = start_asked_estimators,
     .poll = poll_asked_estimators,
     .stop = stop_asked_estimators,
     .free = free_asked_estimators},
    {.name = "clusters", .start = start_clusters},
    {.name = "explain", .start = start_explain, .poll = poll_explain, .free = free_explain},
    {.name = "ops", .start = start_ops, .stop = stop_ops},
    {.name = "probes", .start = start_probes, .stop = stop_probes},
    {.name = "extender",
     .start = start_extender,
     .poll = poll_extender,
     .drain = drain_extender,
     .stop = stop_extender},
    {.name = "webhook",
     .start = start_webhook,
     .poll = poll_webhook,
     .drain = drain_webhook,
     .stop = stop_webhook},
    {.name = "estimator",
     .start = start_estimator,
     .poll = poll_estimator,
     .drain = drain_estimator,
     .stop = stop_estimator},
    /* The last component: it makes /readyz good, so all listeners must be open before it starts. */
    {.name = "sync", .start = start_sync},
};

#define COMPONENTS (sizeof components / sizeof components[0])

#define CHECKS_EACH (sizeof components[0].ready / sizeof components[0].ready[0])

static int list_checks(struct server *s, struct err *err) {
    s->checks = calloc(COMPONENTS * CHECKS_EACH, sizeof *s->checks);
    if (s->checks == NULL)
        return err_set(err, -ENOMEM, "no memory to start");
    s->ops.checks = s->checks;
    for (size_t i = 0; i < COMPONENTS * CHECKS_EACH; i++) {
        const struct ops_check *check = &components[i / CHECKS_EACH].ready[i % CHECKS_EACH];
        if (check->name == NULL)
            continue;
        s->checks[s->ops.check_count] = *check;
        s->checks[s->ops.check_count++].ctx = s;
    }
    return 0;
}

int components_start(struct server *s, struct err *err) {
    int r = list_checks(s, err);
    for (size_t i = 0; r == 0 && i < COMPONENTS; i++)
        r = components[i].start(s, err);
    return r;
}

void components_poll(struct server *s) {
    for (size_t i = 0; i < COMPONENTS; i++)
        if (components[i].poll != NULL)
            components[i].poll(s);
}

void components_poll_files(struct server *s) {
    for (size_t i = 0; i < COMPONENTS; i++)
        if (components[i].poll_files != NULL)
            components[i].poll_files(s);
}

void components_reload(struct server *s) {
    for (size_t i = 0; i < COMPONENTS; i++)
        if (components[i].reload != NULL)
            components[i].reload(s);
}

void components_drain(struct server *s) {
    for (size_t i = 0; i < COMPONENTS; i++)
        if (components[i].drain != NULL)
            components[i].drain(s);
}

void components_end(struct server *s) {
    for (size_t i = COMPONENTS; i-- > 0;)
        if (components[i].stop != NULL)
            components[i].stop(s);
    for (size_t i = COMPONENTS; i-- > 0;)
        if (components[i].free != NULL)
            components[i].free(s);
    free(s->checks);
}
