/*
 * Checks that need more than one setting of EvenkeelConfiguration: settings that contradict or need
 * each other.
 */
#include "config/purposes.h"

#include "http/client_name.h"
#include "kube/election/lease.h"
#include "net/address.h"

#include <errno.h>

struct rule {
    bool (*broken)(const struct configuration *c);
    struct configuration_problem problem;
};

static bool insecure_with_clients(const struct configuration *c) {
    return c->extender.insecure &&
           (configuration_asks_callers(c) || c->extender.tls.allowed_subject_count > 0 ||
            c->extender.fleet_subject_count > 0);
}

static bool open_to_everyone(const struct configuration *c) {
    return configuration_listens(c->extender.listen) && address_is_open(c->extender.listen) &&
           !configuration_asks_callers(c) && !c->extender.insecure;
}

static bool no_certificate(const struct configuration *c) {
    return configuration_listens(c->extender.listen) && !c->extender.insecure &&
           c->extender.certificates.mode == CERTIFICATES_FILES &&
           c->extender.tls.cert_file == NULL && c->extender.tls.key_file == NULL;
}

static bool certificate_without_key(const struct configuration *c) {
    return c->extender.tls.cert_file != NULL && c->extender.tls.key_file == NULL;
}

static bool key_without_certificate(const struct configuration *c) {
    return c->extender.tls.cert_file == NULL && c->extender.tls.key_file != NULL;
}

static bool subjects_without_ca(const struct configuration *c) {
    return c->extender.tls.allowed_subject_count > 0 && !configuration_asks_callers(c);
}

static bool fleet_subjects_without_ca(const struct configuration *c) {
    return c->extender.fleet_subject_count > 0 && !configuration_asks_callers(c);
}

static bool webhook_is_on(const struct configuration *c) {
    return configuration_listens(c->webhook.listen);
}

static bool no_door(const struct configuration *c) {
    return !configuration_serves_pods(c) && !webhook_is_on(c) && !c->ocm.enabled &&
           !configuration_estimates(c) &&
           !(c->fleet.clusters && configuration_listens(c->ops.listen));
}

static bool webhook_of_nothing(const struct configuration *c) {
    return webhook_is_on(c) && !c->webhook.pods && !c->ocm.enabled;
}

static bool takes_files(const struct configuration *c) {
    return c->webhook.certificates.mode == CERTIFICATES_FILES;
}

static bool webhook_without_certificate(const struct configuration *c) {
    return webhook_is_on(c) && takes_files(c) && c->webhook.tls.cert_file == NULL;
}

static bool webhook_without_key(const struct configuration *c) {
    return webhook_is_on(c) && takes_files(c) && c->webhook.tls.key_file == NULL;
}

static bool secret_and_files(const struct configuration *c) {
    return !takes_files(c) && (c->webhook.tls.cert_file != NULL || c->webhook.tls.key_file != NULL);
}

static bool secret_without_server(const struct configuration *c) {
    return !takes_files(c) && c->kubernetes.kubeconfig == NULL && !c->kubernetes.in_cluster;
}

static bool self_signed_without_hosts(const struct configuration *c) {
    return c->webhook.certificates.mode == CERTIFICATES_SELF_SIGNED &&
           c->webhook.certificates.host_count == 0;
}

static bool hosts_without_self_signed(const struct configuration *c) {
    return c->webhook.certificates.mode != CERTIFICATES_SELF_SIGNED &&
           c->webhook.certificates.host_count > 0;
}

static bool configurations_with_files(const struct configuration *c) {
    return takes_files(c) && c->webhook.certificates.configuration_count > 0;
}

static bool validating_with_files(const struct configuration *c) {
    return takes_files(c) && c->webhook.certificates.validating_count > 0;
}

static bool extender_secret_and_files(const struct configuration *c) {
    const struct http_tls_options *tls = &c->extender.tls;
    return c->extender.certificates.mode != CERTIFICATES_FILES &&
           (tls->cert_file != NULL || tls->key_file != NULL || tls->client_ca_file != NULL);
}

static bool extender_secret_without_server(const struct configuration *c) {
    return c->extender.certificates.mode != CERTIFICATES_FILES &&
           c->kubernetes.kubeconfig == NULL && !c->kubernetes.in_cluster;
}

static bool extender_self_signed_without_hosts(const struct configuration *c) {
    return c->extender.certificates.mode == CERTIFICATES_SELF_SIGNED &&
           c->extender.certificates.host_count == 0;
}

static bool extender_hosts_without_self_signed(const struct configuration *c) {
    return c->extender.certificates.mode != CERTIFICATES_SELF_SIGNED &&
           c->extender.certificates.host_count > 0;
}

static bool extender_secret_without_subjects(const struct configuration *c) {
    return c->extender.certificates.mode == CERTIFICATES_SECRET &&
           c->extender.tls.allowed_subject_count == 0;
}

static bool allows_client(const struct configuration *c) {
    const struct client_name client = {CLIENT_NAME_CN,
                                       str_of(c->extender.certificates.client_name)};
    for (size_t i = 0; i < c->extender.tls.allowed_subject_count; i++) {
        struct client_name name = client_name_read(str_of(c->extender.tls.allowed_subjects[i]));
        if (client_name_eq(&name, &client))
            return true;
    }
    return c->extender.tls.allowed_subject_count == 0;
}

static bool client_is_not_allowed(const struct configuration *c) {
    return c->extender.certificates.mode == CERTIFICATES_SELF_SIGNED && !allows_client(c);
}

static bool same_text(const char *a, const char *b) {
    return str_eq(str_of(a), str_of(b));
}

static const char *namespace_or(const char *namespace, const char *otherwise) {
    return namespace != NULL ? namespace : otherwise;
}

bool configuration_secrets_meet(const struct configuration *c, const char *home) {
    const struct configuration_certificates *e = &c->extender.certificates,
                                            *w = &c->webhook.certificates;
    bool makes_client = e->mode == CERTIFICATES_SELF_SIGNED;
    if (makes_client && same_text(e->secret, e->client_secret))
        return true;
    return e->mode != CERTIFICATES_FILES && w->mode != CERTIFICATES_FILES &&
           same_text(namespace_or(e->namespace, home), namespace_or(w->namespace, home)) &&
           (same_text(e->secret, w->secret) ||
            (makes_client && same_text(e->client_secret, w->secret)));
}

static bool secrets_meet(const struct configuration *c) {
    return configuration_secrets_meet(c, NULL);
}

static bool webhook_subjects_without_ca(const struct configuration *c) {
    return c->webhook.tls.allowed_subject_count > 0 && c->webhook.tls.client_ca_file == NULL;
}

static int sources(const struct configuration *c) {
    return (c->state.path_count > 0) + (c->kubernetes.kubeconfig != NULL) +
           c->kubernetes.in_cluster;
}

static bool labels_without_webhook(const struct configuration *c) {
    return c->data.label_leaving_nodes && (!webhook_is_on(c) || !c->webhook.fluid.watch);
}

static bool labels_without_server(const struct configuration *c) {
    return c->data.label_leaving_nodes && c->kubernetes.kubeconfig == NULL &&
           !c->kubernetes.in_cluster;
}

static bool ocm_without_server(const struct configuration *c) {
    return c->ocm.enabled && !server_is_set(&c->hub) && !server_is_set(&c->kubernetes);
}

static bool from_karmada_without_server(const struct configuration *c) {
    return purpose_is_wanted(c, PURPOSE_MEMBERS) && !server_is_set(&c->karmada_server) &&
           !server_is_set(&c->kubernetes);
}

static bool no_source(const struct configuration *c) {
    return sources(c) == 0 && server_is_used(c, SERVER_CLUSTER) && !ocm_without_server(c) &&
           !from_karmada_without_server(c);
}

static bool two_sources(const struct configuration *c) {
    return sources(c) > 1;
}

static bool context_without_kubeconfig(const struct configuration *c) {
    return c->kubernetes.context != NULL && c->kubernetes.kubeconfig == NULL;
}

static bool two_hubs(const struct configuration *c) {
    return c->hub.kubeconfig != NULL && c->hub.in_cluster;
}

static bool hub_context_without_kubeconfig(const struct configuration *c) {
    return c->hub.context != NULL && c->hub.kubeconfig == NULL;
}

static bool unused_hub(const struct configuration *c) {
    return server_is_set(&c->hub) && !server_is_used(c, SERVER_HUB);
}

static bool hub_is_this_cluster(const struct configuration *c) {
    return c->hub.in_cluster && c->kubernetes.in_cluster;
}

/* ---- the estimator ---- */

static bool nobody_is_estimated(const struct configuration *c) {
    return configuration_estimates(c) && c->estimator.member_count == 0 &&
           !c->estimator.from_karmada;
}

static bool nobody_asks_for_karmadas(const struct configuration *c) {
    return !configuration_estimates(c) && c->estimator.from_karmada;
}

static bool services_of_nobody(const struct configuration *c) {
    return c->estimator.services && !c->estimator.from_karmada;
}

static bool services_to_nowhere(const struct configuration *c) {
    return c->estimator.services && str_empty(str_of(c->estimator.service_host));
}

static bool unused_service_host(const struct configuration *c) {
    return !c->estimator.services && !str_empty(str_of(c->estimator.service_host));
}

static bool two_karmadas(const struct configuration *c) {
    return c->karmada_server.kubeconfig != NULL && c->karmada_server.in_cluster;
}

static bool karmada_context_without_kubeconfig(const struct configuration *c) {
    return c->karmada_server.context != NULL && c->karmada_server.kubeconfig == NULL;
}

static bool estimators_of_nothing(const struct configuration *c) {
    return c->karmada_estimators.accurate && !configuration_asks_estimators(c);
}

static bool unused_estimators(const struct configuration *c) {
    return !c->karmada_estimators.accurate && c->karmada_estimators.address_count > 0;
}

static bool estimators_certificate_without_key(const struct configuration *c) {
    return c->karmada_estimators.cert_file != NULL && c->karmada_estimators.key_file == NULL;
}

static bool estimators_key_without_certificate(const struct configuration *c) {
    return c->karmada_estimators.cert_file == NULL && c->karmada_estimators.key_file != NULL;
}

static bool estimators_certificate_in_plaintext(const struct configuration *c) {
    return c->karmada_estimators.cert_file != NULL && c->karmada_estimators.ca_file == NULL &&
           !c->karmada_estimators.insecure_skip_verify;
}

static bool scores_are_not_written(const struct configuration *c) {
    return c->ocm.enabled && c->ocm.mode == OCM_SCORES && !c->ocm.scores;
}

static bool unused_karmada(const struct configuration *c) {
    return server_is_set(&c->karmada_server) && !server_is_used(c, SERVER_KARMADA);
}

static bool karmada_is_this_cluster(const struct configuration *c) {
    return c->karmada_server.in_cluster && c->kubernetes.in_cluster;
}

static bool nobody_asks_for_members(const struct configuration *c) {
    return !configuration_estimates(c) && c->estimator.member_count > 0;
}

static bool estimator_certificate_without_key(const struct configuration *c) {
    return c->estimator.tls.cert_file != NULL && c->estimator.tls.key_file == NULL;
}

static bool estimator_key_without_certificate(const struct configuration *c) {
    return c->estimator.tls.cert_file == NULL && c->estimator.tls.key_file != NULL;
}

static bool estimator_ca_without_certificate(const struct configuration *c) {
    return c->estimator.tls.client_ca_file != NULL && c->estimator.tls.cert_file == NULL;
}

static bool estimator_subjects_without_ca(const struct configuration *c) {
    return c->estimator.tls.allowed_subject_count > 0 && c->estimator.tls.client_ca_file == NULL;
}

static size_t members_without_kubeconfig(const struct configuration *c) {
    size_t count = 0;
    for (size_t i = 0; i < c->estimator.member_count; i++)
        count += strchr(c->estimator.members[i], '=') == NULL;
    return count;
}

static bool member_without_cluster(const struct configuration *c) {
    return !server_is_set(&c->kubernetes) && configuration_estimates_own_cluster(c);
}

static bool two_members_without_kubeconfig(const struct configuration *c) {
    return members_without_kubeconfig(c) > 1;
}

static bool election_of_nobody(const struct configuration *c) {
    bool elects = false;
    for (enum server_role i = 0; i < SERVER_ROLES; i++)
        elects = elects || server_elects(c, i);
    return c->leader_election.enabled && !elects;
}

static bool election_without_server(const struct configuration *c) {
    for (enum server_role i = 0; i < SERVER_ROLES; i++)
        if (server_elects(c, i) && !server_is_set(server_settings(c, i)))
            return true;
    return false;
}

static bool bad_election(const struct configuration *c) {
    const struct lease_options options = {.namespace = "any",
                                          .name = c->leader_election.name,
                                          .identity = "any",
                                          .duration_ms = c->leader_election.duration_ms};
    return c->leader_election.enabled && lease_options_check(&options, NULL) != 0;
}

static bool unused_constraints(const struct configuration *c) {
    return c->engine.system_defaults && c->engine.default_constraint_count > 0;
}

static bool no_weight(const struct configuration *c) {
    return !engine_weighs(&c->engine);
}

static const struct rule rules[] = {
    {no_door,
     {.path = "extender.listen",
      .text = "neither the extender nor the webhook listens, so nobody can ask anything",
      .advice =
          "set extender.listen, webhook.listen or both; without them, fleet.clusters: true and "
          "ops.listen keep the clusters of a fleet, ocm.enabled: true decides its Placements, and "
          "estimator.listen answers Karmada"}},
    {webhook_of_nothing,
     {.path = "webhook.pods",
      .text = "without pods the webhook is asked about Placements alone, and ocm.enabled is false",
      .advice = "set ocm.enabled: true, or webhook.pods: true"}},
    {insecure_with_clients,
     {.path = "extender.insecure",
      .text = "it lets everyone call, but a client CA or subjects are set",
      .advice = "remove it, or them"}},
    {no_certificate,
     {.path = "extender.certFile",
      .text = "serving HTTPS needs a certificate and its key",
      .advice = "set certFile and keyFile ('evenkeel certs' makes a pair), or insecure: true to "
                "try things out",
      .missing = true}},
    {certificate_without_key,
     {.path = "extender.keyFile",
      .text = "the certificate's key is missing",
      .advice = "set it to the key of certFile",
      .missing = true}},
    {key_without_certificate,
     {.path = "extender.certFile",
      .text = "the key's certificate is missing",
      .advice = "set it to the certificate of keyFile",
      .missing = true}},
    {open_to_everyone,
     {.path = "extender.clientCAFile",
      .text = "extender.listen is open to other machines, and without a client CA everyone who "
              "reaches it may call",
      .advice =
          "set it (--extender-client-ca-file), or listen on 127.0.0.1, or, only to try things "
          "out, set insecure: true (--insecure-extender)"}},
    {subjects_without_ca,
     {.path = "extender.allowedSubjects",
      .text = "without clientCAFile no client certificate is asked for, so no subject is checked",
      .advice = "set clientCAFile"}},
    {fleet_subjects_without_ca,
     {.path = "extender.fleetSubjects",
      .text = "without clientCAFile no client certificate is asked for, so no subject is checked",
      .advice = "set clientCAFile"}},
    {extender_secret_and_files,
     {.path = "extender.certificates.mode",
      .text = "certificate and client CA are to come from a Secret, but certFile, keyFile or "
              "clientCAFile is set",
      .advice = "remove them, or set mode: Files"}},
    {extender_secret_without_server,
     {.path = "extender.certificates.mode",
      .text = "the Secret is on an API server, and none is configured",
      .advice = "set kubernetes.kubeconfig or kubernetes.inCluster, or mode: Files",
      .missing = true}},
    {extender_self_signed_without_hosts,
     {.path = "extender.certificates.hosts",
      .text = "a certificate of our own needs the names that kube-scheduler calls",
      .advice = "set hosts: the name and the clusterIP of the Service, or what urlPrefix has"}},
    {extender_hosts_without_self_signed,
     {.path = "extender.certificates.hosts",
      .text = "only certificates of our own are made for them",
      .advice = "set mode: SelfSigned, or remove them"}},
    {extender_secret_without_subjects,
     {.path = "extender.allowedSubjects",
      .text = "with mode: Secret every certificate of the CA in it could call, those of servers "
              "and of other programs, too",
      .advice = "set it to the name in kube-scheduler's certificate"}},
    {client_is_not_allowed,
     {.path = "extender.allowedSubjects",
      .text = "it has not the clientName of extender.certificates, so kube-scheduler would be "
              "refused",
      .advice = "add it, or remove allowedSubjects"}},
    {secrets_meet,
     {.path = "extender.certificates.secretName",
      .text = "two certificates are to be in one Secret",
      .advice = "give each its own: extender.certificates.secretName and clientSecretName, "
                "webhook.certificates.secretName"}},
    {webhook_without_certificate,
     {.path = "webhook.certFile",
      .text = "API servers call HTTPS only, which needs a certificate and its key",
      .advice =
          "set certFile and keyFile ('evenkeel certs' makes a pair), or webhook.listen: \"0\"",
      .missing = true}},
    {webhook_without_key,
     {.path = "webhook.keyFile",
      .text = "the certificate's key is missing",
      .advice = "set it to the key of certFile",
      .missing = true}},
    {webhook_subjects_without_ca,
     {.path = "webhook.allowedSubjects",
      .text = "without clientCAFile no client certificate is asked for, so no subject is checked",
      .advice = "set clientCAFile"}},
    {secret_and_files,
     {.path = "webhook.certificates.mode",
      .text = "the certificate is to come from a Secret, but certFile or keyFile is set",
      .advice = "remove them, or set mode: Files"}},
    {secret_without_server,
     {.path = "webhook.certificates.mode",
      .text = "the Secret is on an API server, and none is configured",
      .advice = "set kubernetes.kubeconfig or kubernetes.inCluster, or mode: Files",
      .missing = true}},
    {self_signed_without_hosts,
     {.path = "webhook.certificates.hosts",
      .text = "a certificate of our own needs the names that API servers call",
      .advice = "set hosts, for a Service to [NAME.NAMESPACE.svc]"}},
    {hosts_without_self_signed,
     {.path = "webhook.certificates.hosts",
      .text = "only certificates of our own are made for them",
      .advice = "set mode: SelfSigned, or remove them"}},
    {configurations_with_files,
     {.path = "webhook.certificates.configurations",
      .text = "with mode: Files the CA is not known, so no caBundle can be kept right",
      .advice = "set mode: Secret or SelfSigned, or remove them"}},
    {validating_with_files,
     {.path = "webhook.certificates.validatingConfigurations",
      .text = "with mode: Files the CA is not known, so no caBundle can be kept right",
      .advice = "set mode: Secret or SelfSigned, or remove them"}},
    {labels_without_webhook,
     {.path = "data.labelLeavingNodes",
      .text = "only replicas of the webhook that watch Fluid's objects label nodes, and this "
              "instance does not watch them",
      .advice = "set webhook.listen and webhook.fluid.watch: true, or remove it"}},
    {labels_without_server,
     {.path = "data.labelLeavingNodes",
      .text = "the nodes are on an API server, and none is configured",
      .advice = "set kubernetes.kubeconfig or kubernetes.inCluster, or remove it"}},
    {no_source,
     {.path = "kubernetes",
      .text = "there is nothing to learn the cluster's state from",
      .advice =
          "set kubernetes.kubeconfig, kubernetes.inCluster or state.paths (--kubeconfig FILE, "
          "--in-cluster or --state FILE)",
      .missing = true}},
    {two_sources,
     {.path = "kubernetes",
      .text = "state.paths, kubernetes.kubeconfig and kubernetes.inCluster exclude each other",
      .advice = "keep one"}},
    {context_without_kubeconfig,
     {.path = "kubernetes.context",
      .text = "it is a context of kubernetes.kubeconfig, which is not set",
      .advice = "set kubeconfig, or remove it"}},
    {two_hubs,
     {.path = "hub",
      .text = "hub.kubeconfig and hub.inCluster exclude each other",
      .advice = "keep one"}},
    {hub_context_without_kubeconfig,
     {.path = "hub.context",
      .text = "it is a context of hub.kubeconfig, which is not set",
      .advice = "set hub.kubeconfig, or remove it"}},
    {unused_hub,
     {.path = "hub",
      .text = "nothing is watched at the hub, because fleet.clusters and ocm.enabled are off",
      .advice = "set fleet.clusters: true (--fleet-clusters) or ocm.enabled: true (--ocm), or "
                "remove hub"}},
    {ocm_without_server,
     {.path = "ocm.enabled",
      .text = "Placements and their decisions are on an API server, and none is configured",
      .advice = "set hub.kubeconfig, hub.inCluster, kubernetes.kubeconfig or "
                "kubernetes.inCluster, or remove it",
      .missing = true}},
    {scores_are_not_written,
     {.path = "ocm.scores",
      .text = "mode: Scores decides by scores, which are not written",
      .advice = "remove it, or set another mode"}},
    {hub_is_this_cluster,
     {.path = "hub.inCluster",
      .text = "kubernetes.inCluster names the same API server",
      .advice = "remove hub: without it the clusters are watched there"}},
    {nobody_is_estimated,
     {.path = "estimator.members",
      .text = "the estimator listens, and has no member cluster to answer for",
      .advice = "set it (--estimator-member NAME=KUBECONFIG), or estimator.listen: \"0\"",
      .missing = true}},
    {nobody_asks_for_karmadas,
     {.path = "estimator.fromKarmada",
      .text = "nobody can ask for them, because the estimator does not listen",
      .advice = "set estimator.listen, or remove it",
      .missing = true}},
    {from_karmada_without_server,
     {.path = "estimator.fromKarmada",
      .text = "the clusters are in Karmada's API server, which is not set",
      .advice = "set karmada.kubeconfig (--karmada-kubeconfig FILE) or karmada.inCluster: true "
                "(--karmada-in-cluster)",
      .missing = true}},
    {services_of_nobody,
     {.path = "estimator.services",
      .text = "they are for the clusters that Karmada has, which are not estimated",
      .advice = "set estimator.fromKarmada: true (--estimator-from-karmada), or remove it",
      .missing = true}},
    {services_to_nowhere,
     {.path = "estimator.serviceHost",
      .text = "the Services have to lead to a name or address where karmada-scheduler reaches this "
              "estimator",
      .advice = "set it to that name or address (--estimator-service-host HOST:PORT), or remove "
                "estimator.services",
      .missing = true}},
    {unused_service_host,
     {.path = "estimator.serviceHost",
      .text = "no Service leads there, because estimator.services is off",
      .advice = "set estimator.services: true (--estimator-services), or remove it"}},
    {two_karmadas,
     {.path = "karmada.inCluster",
      .text = "karmada.kubeconfig names another API server",
      .advice = "set one of the two"}},
    {karmada_context_without_kubeconfig,
     {.path = "karmada.context",
      .text = "a context belongs to karmada.kubeconfig, which is not set",
      .advice = "set karmada.kubeconfig (--karmada-kubeconfig FILE) to the file with that context",
      .missing = true}},
    {unused_karmada,
     {.path = "karmada.kubeconfig",
      .text = "nothing is asked there, because estimator.fromKarmada is off, and "
              "karmada.estimators.mode is General",
      .advice = "set estimator.fromKarmada: true (--estimator-from-karmada) or "
                "karmada.estimators.mode: Accurate (--karmada-estimators-mode Accurate), or remove "
                "it"}},
    {estimators_of_nothing,
     {.path = "karmada.estimators.mode",
      .text = "no estimator would ever be asked: questions about bindings come to the extender's "
              "listener, and Karmada's clusters are known from state files",
      .advice = "set mode: General; or set extender.listen, fleet.clusters: true "
                "(--fleet-clusters) and state.paths (--state FILE), and remove hub",
      .missing = true}},
    {unused_estimators,
     {.path = "karmada.estimators.addresses",
      .text = "they are not asked, because karmada.estimators.mode is General",
      .advice = "set mode: Accurate (--karmada-estimators-mode Accurate), or remove them",
      .missing = true}},
    {estimators_certificate_without_key,
     {.path = "karmada.estimators.keyFile",
      .text = "the certificate's key is missing",
      .advice = "set it to the key of certFile",
      .missing = true}},
    {estimators_key_without_certificate,
     {.path = "karmada.estimators.certFile",
      .text = "the key's certificate is missing",
      .advice = "set it to the certificate of keyFile",
      .missing = true}},
    {estimators_certificate_in_plaintext,
     {.path = "karmada.estimators.certFile",
      .text = "it is shown to nobody: without caFile estimators are asked in plaintext",
      .advice = "set caFile (--karmada-estimators-ca-file FILE), or insecureSkipVerify: true",
      .missing = true}},
    {karmada_is_this_cluster,
     {.path = "karmada.inCluster",
      .text = "kubernetes.inCluster names the same API server",
      .advice = "remove it: without it the clusters are watched there"}},
    {nobody_asks_for_members,
     {.path = "estimator.members",
      .text = "nobody can ask for them, because the estimator does not listen",
      .advice = "set estimator.listen, or remove them",
      .missing = true}},
    {estimator_certificate_without_key,
     {.path = "estimator.keyFile",
      .text = "the certificate's key is missing",
      .advice = "set it to the key of certFile",
      .missing = true}},
    {estimator_key_without_certificate,
     {.path = "estimator.certFile",
      .text = "the key's certificate is missing",
      .advice = "set it to the certificate of keyFile",
      .missing = true}},
    {estimator_ca_without_certificate,
     {.path = "estimator.clientCAFile",
      .text = "without a certificate of its own the estimator speaks plaintext, in which no caller "
              "shows a certificate",
      .advice = "set certFile and keyFile",
      .missing = true}},
    {estimator_subjects_without_ca,
     {.path = "estimator.allowedSubjects",
      .text = "without clientCAFile no client certificate is asked for, so no subject is checked",
      .advice = "set clientCAFile"}},
    {member_without_cluster,
     {.path = "estimator.members",
      .text = "a member without a kubeconfig is the cluster of state.paths or of kubernetes, and "
              "neither is set",
      .advice =
          "write NAME=KUBECONFIG, or set state.paths (--state FILE), kubernetes.kubeconfig or "
          "kubernetes.inCluster",
      .missing = true}},
    {two_members_without_kubeconfig,
     {.path = "estimator.members",
      .text = "two members have no kubeconfig, but state.paths or kubernetes can be the cluster of "
              "one member only",
      .advice = "write NAME=KUBECONFIG"}},
    {election_of_nobody,
     {.path = "leaderElection.enabled",
      .text = "nobody would be elected: there are neither reservations, nor anything that the "
              "webhook's leader writes, nor Placements to decide, nor Services of estimators",
      .advice =
          "set reservations.mode, policies.watch, data.labelLeavingNodes, ocm.enabled or "
          "estimator.services in this instance's configuration, or remove leaderElection.enabled"}},
    {election_without_server,
     {.path = "leaderElection.enabled",
      .text = "the Lease is on an API server, and none is configured",
      .advice = "set kubernetes.kubeconfig or kubernetes.inCluster, or remove it"}},
    {bad_election,
     {.path = "leaderElection",
      .text = "the Lease's name or its duration is not valid",
      .advice = "leaseDuration in whole seconds; leaseName as Kubernetes names objects"}},
    {unused_constraints,
     {.path = "spread.defaultConstraints",
      .text = "they are only used with defaulting: List",
      .advice = "set spread.defaulting: List, or remove them"}},
    {no_weight,
     {.path = "spread.weight",
      .text = "every weight is 0, so all nodes score the same",
      .advice = "set one of the weights above 0"}},
};

void configuration_check_all(const struct configuration *c, configuration_problem_fn *found,
                             void *ctx) {
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i].broken(c))
            found(ctx, &rules[i].problem);
}

static void keep_first(void *ctx, const struct configuration_problem *p) {
    const struct configuration_problem **first = ctx;
    if (*first == NULL)
        *first = p;
}

int configuration_check(const struct configuration *c, struct err *err) {
    const struct configuration_problem *first = NULL;
    configuration_check_all(c, keep_first, &first);
    if (first == NULL)
        return 0;
    return err_set(err, -EINVAL, "%s: %s; %s", first->path, first->text, first->advice);
}
