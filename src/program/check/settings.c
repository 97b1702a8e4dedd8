#include "check/settings.h"

#include "config/purposes.h"
#include "config/servers.h"

#include <unistd.h>

/* ---- addresses ---- */

struct listener {
    const char *path, *address; /* "extender.listen", "127.0.0.1:8443" */
};

static bool is_on(const char *address) {
    return address[0] != '\0' && strcmp(address, "0") != 0;
}

static struct str host_of(struct str address, struct str *ret_port) {
    size_t colon = address.n;
    while (colon > 0 && address.p[colon - 1] != ':')
        colon--;
    *ret_port = (struct str){address.p + colon, address.n - colon};
    return (struct str){address.p, colon > 0 ? colon - 1 : 0};
}

/* Does a listener at `host` occupy `other` as well? */
static bool host_covers(struct str host, struct str other) {
    if (host.n == 0 || str_eq(host, STR("[::]")))
        return true; /* this host accepts both IPv4 and IPv6 */
    if (str_eq(host, STR("0.0.0.0")))
        return other.n == 0 || other.p[0] != '[';
    return str_eq(host, other);
}

static bool collide(const char *a, const char *b) {
    struct str port_a, port_b;
    struct str host_a = host_of(str_of(a), &port_a), host_b = host_of(str_of(b), &port_b);
    return is_on(a) && is_on(b) && str_eq(port_a, port_b) && !str_eq(port_a, STR("0")) &&
           (host_covers(host_a, host_b) || host_covers(host_b, host_a));
}

static void check_addresses(const struct configuration *c, struct check_report *out) {
    const char *probes = configuration_probes_apart(c) ? c->ops.probe_listen : "0";
    const struct listener listeners[] = {{"extender.listen", c->extender.listen},
                                         {"webhook.listen", c->webhook.listen},
                                         {"ops.listen", c->ops.listen},
                                         {"ops.probeListen", probes},
                                         {"estimator.listen", c->estimator.listen}};
    for (size_t i = 0; i < sizeof listeners / sizeof listeners[0]; i++)
        for (size_t k = 0; k < i; k++)
            if (collide(listeners[i].address, listeners[k].address))
                check_report_add(out, SEVERITY_ERROR, 0, listeners[i].path, "give it another port",
                                 "'%s' is taken by %s, '%s'", listeners[i].address,
                                 listeners[k].path, listeners[k].address);
}

static void add_door(void *ctx, const struct configuration_problem *p) {
    check_report_add(ctx, SEVERITY_WARNING, 0, p->path, p->advice, "%s", p->text);
}

/* ---- time limits ---- */

enum { GO_IDLE_MS = 90000 }; /* how long clients written in Go keep an idle connection */

static void check_idle(const struct configuration *c, struct check_report *out) {
    if (is_on(c->extender.listen) && c->extender.limits.idle_ms < GO_IDLE_MS)
        check_report_add(
            out, SEVERITY_WARNING, 0, "extender.limits.idleTimeout", "set it above 90s",
            "kube-scheduler keeps idle connections for 90 s: a call on a connection that "
            "Evenkeel has just closed fails");
}

/* ---- files ---- */

static void check_file(const char *path, const char *file, struct check_report *out) {
    if (file != NULL && access(file, F_OK) != 0)
        check_report_add(out, SEVERITY_INFO, 0, path, "check again where Evenkeel runs",
                         "'%s' is not on this machine", file);
}

static void check_files(const struct configuration *c, struct check_report *out) {
    check_file("extender.certFile", c->extender.tls.cert_file, out);
    check_file("extender.keyFile", c->extender.tls.key_file, out);
    check_file("extender.clientCAFile", c->extender.tls.client_ca_file, out);
    check_file("webhook.certFile", c->webhook.tls.cert_file, out);
    check_file("webhook.keyFile", c->webhook.tls.key_file, out);
    check_file("webhook.clientCAFile", c->webhook.tls.client_ca_file, out);
    check_file("webhook.fluid.profileFile", c->webhook.fluid.profile, out);
    check_file("explain.tokenFile", c->explain.token_file, out);
    check_file("kubernetes.kubeconfig", c->kubernetes.kubeconfig, out);
    check_file("hub.kubeconfig", c->hub.kubeconfig, out);
    for (size_t i = 0; i < c->state.path_count; i++)
        check_file("state.paths", c->state.paths[i], out);
    for (size_t i = 0; i < c->policies.path_count; i++)
        check_file("policies.paths", c->policies.paths[i], out);
}

/* ---- bindings ---- */

static void check_bindings(const struct configuration *c, struct check_report *out) {
    if (is_on(c->extender.listen) && c->reservations.mode == RESERVATIONS_CONSERVATIVE &&
        !c->extender.bind)
        check_report_add(
            out, SEVERITY_WARNING, 0, "reservations.mode",
            "set extender.bind: true, and bindVerb: bind in kube-scheduler's configuration",
            "Conservative needs Evenkeel to write the bindings: without extender.bind a pod counts "
            "wherever it may land until the watch shows the binding");
}

/* ---- reads for reviews ---- */

static void check_reading(const struct configuration *c, struct check_report *out) {
    if (configuration_reads_data(c) && c->webhook.tls.client_ca_file == NULL &&
        !c->webhook.fluid.read_for_anyone)
        check_report_add(
            out, SEVERITY_INFO, 0, "webhook.fluid.readFor",
            "set webhook.clientCAFile if API servers can show a certificate; the value "
            "Anyone trusts everyone who reaches the port",
            "without a client CA no caller is verified, so a pod that is created before "
            "its claim or dataset was seen is admitted without them");
}

/* ---- settings without effect beside others ---- */

static bool sets_certificate(const struct http_tls_options *tls) {
    return tls->cert_file != NULL || tls->key_file != NULL;
}

static bool uses_secret(const struct configuration_certificates *c) {
    return c->mode != CERTIFICATES_FILES;
}

static bool has_server(const struct configuration *c) {
    return server_is_set(&c->kubernetes);
}

/* Is an API server configured from which nothing is watched, and where no Secret is used? */
static bool leaves_server(const struct configuration *c) {
    return has_server(c) && !server_is_used(c, SERVER_CLUSTER) &&
           !uses_secret(&c->extender.certificates) && !uses_secret(&c->webhook.certificates) &&
           !configuration_estimates_own_cluster(c);
}

static bool labels_for_nobody(const struct configuration *c) {
    return is_on(c->webhook.listen) && c->data.label_leaving_nodes &&
           (!c->webhook.fluid.scale_in || c->webhook.fluid.compat != FLUID_CORRECT);
}

static const char extender_is_off[] = "it is a setting of the extender, which does not listen";
static const char webhook_is_off[] = "it is a setting of the webhook, which does not listen";
static const char set_extender[] = "set extender.listen, or remove it";
static const char pods_are_off[] = "it is about pods, which webhook.pods: false leaves out";
static const char set_pods[] = "set webhook.pods: true, or remove it";
static const char set_webhook[] = "set webhook.listen, or remove it";

static void check_unused(const struct configuration *c, struct check_report *out) {
    const bool no_extender = !is_on(c->extender.listen), no_webhook = !is_on(c->webhook.listen);
    const struct {
        bool found;
        const char *path, *text, *advice;
    } rows[] = {
        {no_extender && c->extender.bind, "extender.bind", extender_is_off, set_extender},
        {no_extender && c->extender.insecure, "extender.insecure", extender_is_off, set_extender},
        {no_extender && sets_certificate(&c->extender.tls), "extender.certFile", extender_is_off,
         set_extender},
        {no_extender && c->extender.tls.client_ca_file != NULL, "extender.clientCAFile",
         extender_is_off, set_extender},
        {no_extender && c->extender.tls.allowed_subject_count > 0, "extender.allowedSubjects",
         extender_is_off, set_extender},
        {no_extender && uses_secret(&c->extender.certificates), "extender.certificates",
         extender_is_off, set_extender},
        {no_webhook && sets_certificate(&c->webhook.tls), "webhook.certFile", webhook_is_off,
         set_webhook},
        {no_webhook && c->webhook.tls.client_ca_file != NULL, "webhook.clientCAFile",
         webhook_is_off, set_webhook},
        {no_webhook && c->webhook.tls.allowed_subject_count > 0, "webhook.allowedSubjects",
         webhook_is_off, set_webhook},
        {no_webhook && uses_secret(&c->webhook.certificates), "webhook.certificates",
         webhook_is_off, set_webhook},
        {no_webhook && c->webhook.fluid.profile != NULL, "webhook.fluid.profileFile",
         webhook_is_off, set_webhook},
        {!no_extender && c->extender.bind && !has_server(c), "extender.bind",
         "bindings are written to an API server, and the cluster is read from files",
         "set kubernetes.kubeconfig or kubernetes.inCluster, or remove it"},
        {leaves_server(c), "kubernetes",
         "nothing is read there: neither extender nor webhook listens, and the clusters of a fleet "
         "are at the hub",
         "set extender.listen or webhook.listen, or remove it"},
        {!configuration_serves_pods(c) && !c->ocm.enabled && c->policies.path_count > 0,
         "policies.paths", "policies are for pods, and neither extender nor webhook listens",
         "set extender.listen or webhook.listen, or remove it"},
        {!is_on(c->ops.listen) && c->explain.token_file != NULL, "explain.tokenFile",
         "decisions are explained at ops.listen, which is off", "set ops.listen, or remove it"},
        {!c->leader_election.enabled && c->leader_election.namespace != NULL,
         "leaderElection.leaseNamespace", "there is no Lease without leaderElection.enabled",
         "set enabled: true, or remove it"},
        {no_extender && c->reservations.mode != RESERVATIONS_OFF, "reservations.mode",
         extender_is_off, set_extender},
        {no_extender && c->engine.ordered_rule_count > 0, "orderedSpread.rules", extender_is_off,
         set_extender},
        {no_extender && c->engine.tier_count > 0, "locality.tiers", extender_is_off, set_extender},
        {!no_webhook && !c->webhook.pods && c->webhook.annotate, "webhook.annotate", pods_are_off,
         set_pods},
        {!no_webhook && !c->webhook.pods && c->data.label_leaving_nodes, "data.labelLeavingNodes",
         pods_are_off, set_pods},
        {!no_webhook && !c->webhook.pods && c->webhook.certificates.validating_count > 0,
         "webhook.certificates.validatingConfigurations", pods_are_off, set_pods},
        {no_webhook && c->webhook.fluid.read_for_anyone, "webhook.fluid.readFor", webhook_is_off,
         set_webhook},
        {no_webhook && c->webhook.fluid.compat != FLUID_CORRECT, "webhook.fluid.compat",
         webhook_is_off, set_webhook},
        {labels_for_nobody(c), "data.labelLeavingNodes",
         "these labels keep no pod off the nodes: only fluid.compat `correct` with "
         "scaleInExclusion asks for the labels",
         "set webhook.fluid.scaleInExclusion: true and compat: correct, or remove it"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].found)
            check_report_add(out, SEVERITY_INFO, 0, rows[i].path, rows[i].advice, "%s",
                             rows[i].text);
}

void settings_check(const struct configuration *c, struct check_report *out) {
    check_addresses(c, out);
    configuration_open_doors(c, add_door, out);
    check_bindings(c, out);
    check_reading(c, out);
    check_idle(c, out);
    check_unused(c, out);
    check_files(c, out);
}
