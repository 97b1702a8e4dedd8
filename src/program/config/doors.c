/*
 * Finds listeners that accept anyone, although other machines reach them or they bind pods.
 * Accepting anyone may be intended, so the listener only gets a warning when the process starts.
 */
#include "config/configuration.h"
#include "net/address.h"

#include <string.h>

static bool is_open(const char *address) {
    return configuration_listens(address) && address_is_open(address);
}

bool configuration_reviews_pods(const struct configuration *c) {
    return configuration_listens(c->webhook.listen) && c->webhook.pods;
}

bool configuration_serves_pods(const struct configuration *c) {
    return configuration_listens(c->extender.listen) || configuration_reviews_pods(c);
}

/* Port 0 stands for another free port each time, so two listeners with port 0 do not share a
 * port. */
bool configuration_probes_apart(const struct configuration *c) {
    const struct str probes = str_of(c->ops.probe_listen);
    return configuration_listens(probes.p) &&
           (!str_eq(probes, str_of(c->ops.listen)) || str_has_suffix(probes, STR(":0")));
}

bool configuration_estimates(const struct configuration *c) {
    return configuration_listens(c->estimator.listen);
}

bool configuration_estimates_own_cluster(const struct configuration *c) {
    if (!configuration_estimates(c) || c->state.path_count > 0)
        return false;
    for (size_t i = 0; i < c->estimator.member_count; i++)
        if (strchr(c->estimator.members[i], '=') == NULL)
            return true;
    return false;
}

bool configuration_keeps_fleet(const struct configuration *c) {
    return c->fleet.clusters || c->ocm.enabled;
}

/* Karmada's clusters are only read from state files, not from a hub that is watched. */
bool configuration_asks_estimators(const struct configuration *c) {
    return c->karmada_estimators.accurate && configuration_listens(c->extender.listen) &&
           configuration_keeps_fleet(c) && c->state.path_count > 0 && c->hub.kubeconfig == NULL &&
           !c->hub.in_cluster;
}

bool configuration_asks_callers(const struct configuration *c) {
    return c->extender.tls.client_ca_file != NULL ||
           c->extender.certificates.mode != CERTIFICATES_FILES;
}

bool configuration_reads_data(const struct configuration *c) {
    return configuration_reviews_pods(c) && c->webhook.fluid.watch &&
           c->webhook.fluid.read_ms > 0 &&
           (c->kubernetes.kubeconfig != NULL || c->kubernetes.in_cluster);
}

void configuration_open_doors(const struct configuration *c, configuration_problem_fn *found,
                              void *ctx) {
    static const struct configuration_problem extender = {
        .path = "extender.insecure",
        .text = "everyone who can connect may ask which nodes have room, and may make Evenkeel "
                "count pods that do not exist",
        .advice = "set clientCAFile and allowedSubjects instead"};
    static const struct configuration_problem bind = {
        .path = "extender.bind",
        .text = "without a client CA every program on this machine may make Evenkeel bind pods, "
                "and so may everyone who reaches a proxy on this machine",
        .advice = "set clientCAFile and allowedSubjects"};
    static const struct configuration_problem webhook = {
        .path = "webhook.clientCAFile",
        .text = "without a client CA everyone who can connect may ask what becomes of a pod of any "
                "namespace, and Evenkeel records these reviews like those of an API server",
        .advice = "set it if API servers can show a certificate; otherwise let only API servers "
                  "reach the port"};
    static const struct configuration_problem reads = {
        .path = "webhook.fluid.readFor",
        .text = "everyone who can connect may have Evenkeel read claims, datasets and runtimes of "
                "any namespace with its own credentials",
        .advice = "set Verified, which needs webhook.clientCAFile"};
    static const struct configuration_problem estimator = {
        .path = "estimator.clientCAFile",
        .text = "without a client CA everyone who can connect may ask how much fits the member "
                "clusters",
        .advice = "set it if karmada-scheduler shows a certificate; otherwise let only "
                  "karmada-scheduler and karmada-descheduler reach the port"};
    static const struct configuration_problem ops = {
        .path = "ops.listen",
        .text = "everyone who can connect may read the metrics, over plain HTTP",
        .advice = "let only probes and Prometheus reach the port"};
    static const struct configuration_problem explain = {
        .path = "explain.tokenFile",
        .text = "the token crosses the network in clear text, for ops.listen speaks plain HTTP",
        .advice = "put a proxy that speaks TLS in front of ops.listen; or remove the token and "
                  "forward a port"};
    if (is_open(c->extender.listen) && c->extender.insecure)
        found(ctx, &extender);
    if (configuration_listens(c->extender.listen) && c->extender.bind &&
        !configuration_asks_callers(c))
        found(ctx, &bind);
    if (is_open(c->webhook.listen) && c->webhook.tls.client_ca_file == NULL)
        found(ctx, &webhook);
    if (is_open(c->webhook.listen) && c->webhook.tls.client_ca_file == NULL &&
        configuration_reads_data(c) && c->webhook.fluid.read_for_anyone)
        found(ctx, &reads);
    if (is_open(c->estimator.listen) && c->estimator.tls.client_ca_file == NULL)
        found(ctx, &estimator);
    if (is_open(c->ops.listen))
        found(ctx, &ops);
    if (is_open(c->ops.listen) && c->explain.token_file != NULL)
        found(ctx, &explain);
}
