/*
 * The plain settings of EvenkeelConfiguration, one row for each setting. A new setting needs a
 * member in config/configuration.h, a row here, a line in docs/examples/evenkeel.yaml, and a run of
 * `UPDATE_DOCS=1 make unit`, which writes the tables of docs/configuration.md anew. A unit test
 * fails until all agree.
 */
#include "config/table.h"

#include "base/limits.h"
#include "controllers/estimator_services.h"
#include "engine/priority.h"
#include "estimators/discovery.h"
#include "http/client_name.h"
#include "members/members.h"
#include "model/injected.h"
#include "model/names.h"
#include "net/address.h"

#define MEMBER(member) FIELD_MEMBER(struct configuration, member)
#define COUNT(member) FIELD_COUNT(struct configuration, member)

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

static const struct field_choice defaulting_words[] = {{"System", true}, {"List", false}, {0}};
static const struct field_choice empty_selector_words[] = {
    {"CountAll", true}, {"CountNone", false}, {0}};
static const struct field_choice reservation_words[] = {{"Off", RESERVATIONS_OFF},
                                                        {"SingleNode", RESERVATIONS_SINGLE_NODE},
                                                        {"Conservative", RESERVATIONS_CONSERVATIVE},
                                                        {0}};
static const struct field_choice compat_words[] = {
    {"correct", FLUID_CORRECT}, {"head", FLUID_HEAD}, {"legacy", FLUID_LEGACY}, {0}};
static const struct field_choice ocm_mode_words[] = {
    {"Owner", OCM_OWNER}, {"Scores", OCM_SCORES}, {"Off", OCM_OFF}, {0}};
static const struct field_choice karmada_compat_choices[] = {
    {"", COMPAT_NONE}, {"v1.18.1", COMPAT_1_18_1}, {0}};
static const struct field_choice karmada_missing_choices[] = {
    {"Refuse", MISSING_REFUSE}, {"Default", MISSING_DEFAULT}, {0}};
static const struct field_choice karmada_unset_choices[] = {
    {"Zero", false}, {"Unlimited", true}, {0}};
static const struct field_choice karmada_no_constraint_choices[] = {
    {"All", NO_CONSTRAINT_ALL}, {"UntilEnough", NO_CONSTRAINT_UNTIL_ENOUGH}, {0}};
static const struct field_choice karmada_models_choices[] = {
    {"3", MODELS_THIRD}, {"2", MODELS_SECOND}, {"1", MODELS_FIRST}, {"Off", MODELS_OFF}, {0}};
static const struct field_choice karmada_estimators_words[] = {
    {"General", false}, {"Accurate", true}, {0}};
static const struct field_choice unready_words[] = {{"Unknown", false}, {"Error", true}, {0}};
static const struct field_choice read_for_words[] = {{"Verified", false}, {"Anyone", true}, {0}};
static const struct field_choice level_words[] = {
    {"debug", LOG_DEBUG}, {"info", LOG_INFO}, {"warn", LOG_WARN}, {"error", LOG_ERROR}, {0}};
static const struct field_choice format_words[] = {{"logfmt", LOG_LOGFMT}, {"json", LOG_JSON}, {0}};

static bool address_or_off_valid(struct str s) {
    return s.n == 0 || str_eq(s, STR("0")) || address_is_valid(s);
}

static bool address_or_zero_valid(struct str s) {
    return str_eq(s, STR("0")) || address_is_valid(s);
}

static bool karmada_plugin_valid(struct str s) {
    struct err unsaid;
    uint32_t plugins;
    return karmada_plugins_parse(&s, 1, &plugins, &unsaid) == 0;
}

static bool member_valid(struct str s) {
    struct member_source source;
    return member_source_parse(s, &source);
}

static bool service_host_valid(struct str s) {
    struct str host;
    uint16_t port;
    return estimator_address_parse(s, &host, &port);
}

static bool estimator_location_valid(struct str s) {
    struct estimator_location location;
    return estimator_location_parse(s, &location);
}

#define ADDRESS_FORM                                                                               \
    "write an IP address, or nothing, and a port: 127.0.0.1:8443, [::1]:8443 or :8443"
#define SUBJECT_FORM                                                                               \
    "write the common name, or dns:, uri: or email: in front of an alternative name, or cn: in "   \
    "front of a common name that looks like one"

static const struct field fields[] = {
    {.path = "apiVersion",
     .type = FIELD_ANY,
     .required = true,
     .noun = "text",
     .help = "`" EVENKEEL_API "`."},
    {.path = "kind",
     .type = FIELD_ANY,
     .required = true,
     .noun = "text",
     .help = "`EvenkeelConfiguration`."},

    /* extender */
    {.path = "extender.listen",
     .flag = "extender-listen",
     .type = FIELD_CSTR,
     MEMBER(extender.listen),
     .valid = address_or_zero_valid,
     .noun = "address",
     .form = ADDRESS_FORM,
     .initial_text = "127.0.0.1:8443",
     .help = "Where kube-scheduler calls: `host:port`, or `:port` for every address of the "
             "machine. `0` "
             "turns it off."},
    {.path = "extender.maxPriority",
     .flag = "extender-max-priority",
     .type = FIELD_NUMBER,
     MEMBER(engine.max_priority),
     .min = ENGINE_MAX_PRIORITY,
     .max = PRIORITY_STEPS_MAX,
     .initial = ENGINE_MAX_PRIORITY,
     .help =
         "The priority of the best node. kube-scheduler adds priority x weight x 10 and checks no "
         "upper bound: 20 with `weight: 1` is as strong as 10 with `weight: 2` and twice as fine; "
         "100 outweighs nearly everything else even with `weight: 1`."},
    {.path = "extender.insecure",
     .flag = "insecure-extender",
     .type = FIELD_BOOL,
     MEMBER(extender.insecure),
     .help = "Answer everyone who can connect, without `certFile` over plain HTTP. Only for trying "
             "things out."},
    {.path = "extender.bind",
     .flag = "extender-bind",
     .type = FIELD_BOOL,
     MEMBER(extender.bind),
     .help = "Serve `bind`, which writes bindings with Evenkeel's own credentials: for callers "
             "with a client certificate, and programs on the machine. Needs an API server as the "
             "source. Set it where kube-scheduler has a `bindVerb`."},
    {.path = "extender.certFile",
     .flag = "extender-cert-file",
     .type = FIELD_CSTR,
     MEMBER(extender.tls.cert_file),
     .noun = "file",
     .help = "Certificate chain in PEM, the extender's own first. Read again when it changes."},
    {.path = "extender.keyFile",
     .flag = "extender-key-file",
     .type = FIELD_CSTR,
     MEMBER(extender.tls.key_file),
     .noun = "file",
     .help = "Private key in PEM that belongs to the certificate. Read again when it changes."},
    {.path = "extender.clientCAFile",
     .flag = "extender-client-ca-file",
     .type = FIELD_CSTR,
     MEMBER(extender.tls.client_ca_file),
     .noun = "file",
     .help = "CA certificates in PEM. With it, only callers who show a certificate from one of "
             "these CAs are answered. Needed as soon as `listen` is an address that other machines "
             "reach."},
    {.path = "extender.allowedSubjects",
     .flag = "extender-allowed-subject",
     .type = FIELD_CSTRS,
     MEMBER(extender.tls.allowed_subjects),
     COUNT(extender.tls.allowed_subject_count),
     .valid = client_name_valid,
     .noun = "subject",
     .form = SUBJECT_FORM,
     .help = "Which callers with a certificate of `clientCAFile` may call, by the certificate's "
             "common name, for instance `system:kube-scheduler`, or by a subject alternative name "
             "with its type in front: `dns:`, `uri:`, `email:`. None: all of them."},
    {.path = "extender.fleetSubjects",
     .flag = "extender-fleet-subject",
     .type = FIELD_CSTRS,
     MEMBER(extender.fleet_subjects),
     COUNT(extender.fleet_subject_count),
     .valid = client_name_valid,
     .noun = "subject",
     .form = SUBJECT_FORM,
     .help = "Which callers with a certificate of `clientCAFile` may ask about fleets, at "
             "`/clusters/v1`. They may ask nothing else, unless `allowedSubjects` has them, too. "
             "None: those of `allowedSubjects`."},
    {.path = "extender.certificates",
     .type = FIELD_OBJECT,
     MEMBER(extender.certificates),
     .table = &configuration_extender_certificates_table,
     .help = "Where the extender's certificate and the CA of its callers come from, if not from "
             "files."},
    {.path = "extender.limits.connections",
     .flag = "extender-limit-connections",
     .type = FIELD_NUMBER,
     MEMBER(extender.limits.connections),
     .min = 1,
     .max = 65536,
     .initial = LIMIT_HTTP_CONNECTIONS,
     .help = "Connections open at the same time. A quarter is for clients with an accepted "
             "certificate, if there is a clientCAFile."},
    {.path = "extender.limits.connectionsPerAddress",
     .flag = "extender-limit-connections-per-address",
     .type = FIELD_NUMBER,
     MEMBER(extender.limits.connections_per_address),
     .min = 1,
     .max = 65536,
     .initial = LIMIT_HTTP_CONNECTIONS_PER_ADDRESS,
     .help = "Connections of one client address, without an accepted certificate, that are open at "
             "the same time."},
    {.path = "extender.limits.headerTimeout",
     .flag = "extender-limit-header-timeout",
     .type = FIELD_DURATION,
     MEMBER(extender.limits.header_ms),
     .min = 100,
     .max = 10 * MINUTE,
     .initial = LIMIT_HTTP_HEADER_MS,
     .help = "From the connection, or the first byte of a request, to the end of its headers."},
    {.path = "extender.limits.requestTimeout",
     .flag = "extender-limit-request-timeout",
     .type = FIELD_DURATION,
     MEMBER(extender.limits.request_ms),
     .min = 100,
     .max = 10 * MINUTE,
     .initial = LIMIT_HTTP_REQUEST_MS,
     .help = "From the end of the headers to the last byte of the answer."},
    {.path = "extender.limits.idleTimeout",
     .flag = "extender-limit-idle-timeout",
     .type = FIELD_DURATION,
     MEMBER(extender.limits.idle_ms),
     .min = SECOND,
     .max = HOUR,
     .initial = LIMIT_HTTP_IDLE_MS,
     .help = "How long a connection may wait for its next request. kube-scheduler keeps idle "
             "connections for 90s, so stay above that."},

    /* webhook */
    {.path = "webhook.listen",
     .flag = "webhook-listen",
     .type = FIELD_CSTR,
     MEMBER(webhook.listen),
     .valid = address_or_off_valid,
     .noun = "address",
     .form = ADDRESS_FORM,
     .initial_text = "0",
     .help = "Where API servers call: `host:port`, or `:port` for every address of the machine. "
             "`0` turns it off."},
    {.path = "webhook.certFile",
     .flag = "webhook-cert-file",
     .type = FIELD_CSTR,
     MEMBER(webhook.tls.cert_file),
     .noun = "file",
     .help = "Certificate chain in PEM, the webhook's own first. Read again when it changes."},
    {.path = "webhook.keyFile",
     .flag = "webhook-key-file",
     .type = FIELD_CSTR,
     MEMBER(webhook.tls.key_file),
     .noun = "file",
     .help = "Private key in PEM that belongs to the certificate. Read again when it changes."},
    {.path = "webhook.clientCAFile",
     .flag = "webhook-client-ca-file",
     .type = FIELD_CSTR,
     MEMBER(webhook.tls.client_ca_file),
     .noun = "file",
     .help = "CA certificates in PEM. With it, only callers who show a certificate from one of "
             "these CAs are answered; API servers show one only if they are configured to."},
    {.path = "webhook.allowedSubjects",
     .flag = "webhook-allowed-subject",
     .type = FIELD_CSTRS,
     MEMBER(webhook.tls.allowed_subjects),
     COUNT(webhook.tls.allowed_subject_count),
     .valid = client_name_valid,
     .noun = "subject",
     .form = SUBJECT_FORM,
     .help = "Which callers with a certificate of `clientCAFile` may call, as in "
             "`extender.allowedSubjects`. None: all of them."},
    {.path = "webhook.certificates",
     .type = FIELD_OBJECT,
     MEMBER(webhook.certificates),
     .table = &configuration_certificates_table,
     .help = "Where the webhook's certificate comes from, if not from files."},
    {.path = "webhook.limits.connections",
     .flag = "webhook-limit-connections",
     .type = FIELD_NUMBER,
     MEMBER(webhook.limits.connections),
     .min = 1,
     .max = 65536,
     .initial = LIMIT_HTTP_CONNECTIONS,
     .help = "Connections open at the same time. A quarter is for clients with an accepted "
             "certificate, if there is a clientCAFile."},
    {.path = "webhook.limits.connectionsPerAddress",
     .flag = "webhook-limit-connections-per-address",
     .type = FIELD_NUMBER,
     MEMBER(webhook.limits.connections_per_address),
     .min = 1,
     .max = 65536,
     .initial = LIMIT_HTTP_CONNECTIONS_PER_ADDRESS,
     .help = "Connections of one client address, without an accepted certificate, that are open at "
             "the same time."},
    {.path = "webhook.pods",
     .type = FIELD_BOOL,
     MEMBER(webhook.pods),
     .initial = true,
     .help = "Review pods. `false` on a hub whose API server asks about Placements alone: the "
             "webhook then watches no nodes, no pods and nothing else that reviews of pods need. "
             "Needs `ocm.enabled: true`."},
    {.path = "webhook.annotate",
     .flag = "webhook-annotate",
     .type = FIELD_BOOL,
     MEMBER(webhook.annotate),
     .help = "Give pods that are changed the annotation `pods.evenkeel.io/explained`: by which "
             "policy and plugins."},
    {.path = "webhook.fluid.profileFile",
     .flag = "fluid-profile",
     .type = FIELD_CSTR,
     MEMBER(webhook.fluid.profile),
     .noun = "file",
     .help =
         "Which of Fluid's plugins run, in which order and with which arguments, in Fluid's own "
         "format. None: as Fluid's chart sets them. Read again when it changes."},
    {.path = "webhook.fluid.compat",
     .flag = "compat",
     .type = FIELD_CHOICE,
     MEMBER(webhook.fluid.compat),
     .choices = compat_words,
     .initial = FLUID_CORRECT,
     .help = "Where Fluid's webhook has defects: `correct` does what the rules of the API mean, "
             "`head` what Fluid 1.1 does, `legacy` what Fluid up to 1.0.8 does."},
    {.path = "webhook.fluid.scaleInExclusion",
     .type = FIELD_BOOL,
     MEMBER(webhook.fluid.scale_in),
     .initial = true,
     .help = "Keep pods off nodes whose label says that a worker of their dataset is leaving. "
             "`correct` only: "
             "Fluid has no such plugin."},
    {.path = "webhook.fluid.watch",
     .type = FIELD_BOOL,
     MEMBER(webhook.fluid.watch),
     .initial = true,
     .help = "With an API server as the source, watch Fluid's objects there. `false`: nothing is "
             "done for pods with datasets, and no permission for it is needed."},
    {.path = "webhook.fluid.readTimeout",
     .type = FIELD_DURATION,
     MEMBER(webhook.fluid.read_ms),
     .min = 0,
     .max = 10 * SECOND,
     .initial = 300,
     .help = "How long a review may wait, in all, for claims, datasets and runtimes that Evenkeel "
             "reads from the API server because no watch has brought them yet; and how long it may "
             "wait for the selector of the pod's controller. `0s`: it does not wait."},

    {.path = "webhook.fluid.readFor",
     .type = FIELD_CHOICE,
     MEMBER(webhook.fluid.read_for_anyone),
     .choices = read_for_words,
     .initial = false,
     .help = "For whose reviews Evenkeel reads claims, datasets and runtimes, with its own "
             "credentials. `Verified`: "
             "for callers whose certificate `webhook.clientCAFile` and `allowedSubjects` let in; "
             "`Anyone`: for everyone who reaches the webhook. Other callers are answered from the "
             "watched objects alone, with a warning."},

    /* policies */
    {.path = "policies.paths",
     .flag = "policy",
     .type = FIELD_CSTRS,
     MEMBER(policies.paths),
     COUNT(policies.path_count),
     .noun = "path",
     .help =
         "Files, or folders of files, that hold TopologyPolicies as YAML or JSON. Looked at for "
         "changes as often as `state.pollInterval` says, and at SIGHUP."},
    {.path = "policies.watch",
     .type = FIELD_BOOL,
     MEMBER(policies.watch),
     .initial = true,
     .help =
         "With an API server as the source, use its TopologyPolicies, too. If a file and the API "
         "server have policies of the same name, the API server's policy is used."},

    /* data */
    {.path = "data.labelLeavingNodes",
     .type = FIELD_BOOL,
     MEMBER(data.label_leaving_nodes),
     .help =
         "Label the nodes that workers of datasets are leaving, as "
         "`webhook.fluid.scaleInExclusion` expects it, with `data.fluid.io/storage-scalein-...: "
         "\"true\"`, and take the label away again. By the webhook's leader; it needs the right "
         "to patch nodes."},

    /* fleet */
    {.path = "fleet.clusters",
     .flag = "fleet-clusters",
     .type = FIELD_BOOL,
     MEMBER(fleet.clusters),
     .help = "Keep the clusters of a fleet, too, from the API server of `hub`; without `hub`, from "
             "the state files or from the API server of `kubernetes`. `evenkeel topology --help` "
             "says which kinds are known."},

    /* ocm */
    {.path = "ocm.enabled",
     .flag = "ocm",
     .type = FIELD_BOOL,
     MEMBER(ocm.enabled),
     .help = "Decide Placements of Open Cluster Management that have terms to spread by, at the "
             "hub: the API server of `hub`, without it that of `kubernetes`. Includes "
             "`fleet.clusters`."},
    {.path = "ocm.mode",
     .flag = "ocm-mode",
     .type = FIELD_CHOICE,
     MEMBER(ocm.mode),
     .choices = ocm_mode_words,
     .initial = OCM_OWNER,
     .help = "For Placements with terms whose annotation `placements.evenkeel.io/mode` says "
             "nothing. `Owner`: Evenkeel writes their PlacementDecisions, and OCM's controller "
             "leaves them alone. `Scores`: OCM's controller decides, by scores that Evenkeel "
             "publishes. `Off`: they are left to OCM."},
    {.path = "ocm.scores",
     .flag = "ocm-scores",
     .type = FIELD_BOOL,
     MEMBER(ocm.scores),
     .initial = true,
     .help = "Placements may have mode `Scores`. `false`: Evenkeel publishes nothing in "
             "AddOnPlacementScores and needs no permission to write them; a Placement whose "
             "annotation asks for `Scores` is left to OCM."},
    {.path = "ocm.writesPerSecond",
     .flag = "ocm-writes-per-second",
     .type = FIELD_NUMBER,
     MEMBER(ocm.writes_per_second),
     .min = 1,
     .max = 10000,
     .initial = 50,
     .help = "Objects that Evenkeel writes at the hub in a second; after a pause it may write as "
             "many at once. Namespaces take turns, and half of the writes are kept for Placements "
             "that leave clusters which do not fit any more."},
    {.path = "ocm.writesInFlight",
     .flag = "ocm-writes-in-flight",
     .type = FIELD_NUMBER,
     MEMBER(ocm.writes_in_flight),
     .min = 1,
     .max = LIMIT_WRITES_IN_FLIGHT,
     .initial = 16,
     .help = "How many writes at the hub may be under way at the same time."},
    {.path = "ocm.settleAfter",
     .flag = "ocm-settle-after",
     .type = FIELD_DURATION,
     MEMBER(ocm.settle_after_ms),
     .min = 0,
     .max = HOUR,
     .initial = 10 * SECOND,
     .help = "A cluster that may stay is exchanged for a better one only after the better choice "
             "has held for this time. A cluster that may not stay is exchanged at once."},
    {.path = "ocm.movesPerMinute",
     .flag = "ocm-moves-per-minute",
     .type = FIELD_NUMBER,
     MEMBER(ocm.moves_per_minute),
     .min = 0,
     .max = 10000,
     .initial = 10,
     .help = "How many clusters that may stay each Placement exchanges in a minute; 0: none. "
             "Clusters that may not stay do not count."},

    {.path = "ocm.shards",
     .flag = "ocm-shards",
     .type = FIELD_NUMBER,
     MEMBER(ocm.shards),
     .min = 1,
     .max = INJECTED_SHARDS,
     .initial = 4,
     .help = "Number of AddOnPlacementScores in each cluster over which the scores of mode Scores "
             "are divided: `evenkeel-0` and on. When one of these objects changes, OCM looks again "
             "at all Placements of that object. Every replica and `evenkeel simulate` must have "
             "the same number."},
    {.path = "ocm.refusedAfter",
     .flag = "ocm-refused-after",
     .type = FIELD_DURATION,
     MEMBER(ocm.refused_after_ms),
     .min = SECOND,
     .max = HOUR,
     .initial = 30 * SECOND,
     .help = "In mode Scores: if OCM does not select a cluster for this time after the cluster got "
             "its score, although OCM should select more clusters, Evenkeel leaves the cluster "
             "out. Never less than three times the longest time that OCM was seen to take."},
    {.path = "ocm.retryRefused",
     .flag = "ocm-retry-refused",
     .type = FIELD_DURATION,
     MEMBER(ocm.retry_refused_ms),
     .min = SECOND,
     .max = 24 * HOUR,
     .initial = 600 * SECOND,
     .help = "A cluster that was left out because OCM did not select it is tried again when it "
             "changes, or after this time."},

    /* karmada */
    {.path = "karmada.kubeconfig",
     .flag = "karmada-kubeconfig",
     .type = FIELD_CSTR,
     MEMBER(karmada_server.kubeconfig),
     .noun = "file",
     .help = "Karmada's API server is that of this kubeconfig; without it, and without "
             "`karmada.inCluster`, that of `kubernetes`."},
    {.path = "karmada.context",
     .flag = "karmada-context",
     .type = FIELD_CSTR,
     MEMBER(karmada_server.context),
     .noun = "name",
     .help = "Which context of the kubeconfig; otherwise its current one."},
    {.path = "karmada.inCluster",
     .flag = "karmada-in-cluster",
     .type = FIELD_BOOL,
     MEMBER(karmada_server.in_cluster),
     .help = "Karmada's API server is that of the cluster that this pod runs in, as its service "
             "account."},
    {.path = "karmada.staleAfter",
     .flag = "karmada-stale-after",
     .type = FIELD_DURATION,
     MEMBER(karmada_server.stale_after_ms),
     .min = SECOND,
     .max = HOUR,
     .initial = LIMIT_KUBE_STALE_MS,
     .help = "When Karmada's API server has not been heard for so long, a cluster that is not "
             "known may be a new one: the estimator answers -1 for it, and not an error."},
    {.path = "karmada.clusterNamespace",
     .flag = "karmada-cluster-namespace",
     .type = FIELD_CSTR,
     MEMBER(karmada_cluster_namespace),
     .valid = configuration_namespace_valid,
     .noun = "namespace",
     .initial_text = "karmada-cluster",
     .help = "Where Karmada keeps the Secrets of its Clusters, as with karmadactl's "
             "`--cluster-namespace`. Secrets of other namespaces are not read."},
    {.path = "karmada.compat",
     .flag = "karmada-compat",
     .type = FIELD_CHOICE,
     MEMBER(karmada.words.compat),
     .choices = karmada_compat_choices,
     .help = "Empty: every combination of levels to spread over is searched, provider, region, "
             "zone, labels and cluster. `v1.18.1`: as Karmada of that version, which knows "
             "cluster, and region with cluster."},
    {.path = "karmada.missingTopology",
     .flag = "karmada-missing-topology",
     .type = FIELD_CHOICE,
     MEMBER(karmada.words.missing),
     .choices = karmada_missing_choices,
     .help = "A cluster that lacks a provider, region or zone when a binding spreads over that "
             "level: `Refuse` leaves the cluster out; `Default` puts it into a group named "
             "`default`, whose score is 0."},
    {.path = "karmada.maxGroupsUnset",
     .flag = "karmada-max-groups-unset",
     .type = FIELD_CHOICE,
     MEMBER(karmada.words.max_unset_is_unlimited),
     .choices = karmada_unset_choices,
     .help = "What a spread constraint without `maxGroups` means where Karmada's own rules "
             "decide, cluster, and region with cluster: `Zero`, as in Karmada, selects nothing."},
    {.path = "karmada.noConstraint",
     .flag = "karmada-no-constraint",
     .type = FIELD_CHOICE,
     MEMBER(karmada.words.no_constraint),
     .choices = karmada_no_constraint_choices,
     .help = "Without a spread constraint. `All`: all candidates take part, as in Karmada. "
             "`UntilEnough`: where replicas are divided by free capacity, only the best candidates "
             "take part, until enough replicas fit."},
    {.path = "karmada.staticWeightsKeepSpread",
     .flag = "karmada-static-weights-keep-spread",
     .type = FIELD_BOOL,
     MEMBER(karmada.words.static_keeps_spread),
     .help = "Spread constraints also apply if static weights divide the replicas. Karmada ignores "
             "the constraints in this case."},
    {.path = "karmada.searchBudget",
     .flag = "karmada-search-budget",
     .type = FIELD_NUMBER,
     MEMBER(karmada.search_budget),
     .min = 1,
     .max = 100000000,
     .initial = 1000000,
     .help = "Combinations and clusters that one selection by levels may try. At this limit the "
             "search stops: the answer is the best selection so far, with `proven: false`, or an "
             "error if there is none."},
    {.path = "karmada.plugins",
     .flag = "karmada-plugin",
     .type = FIELD_CSTRS,
     MEMBER(karmada.plugins),
     COUNT(karmada.plugin_count),
     .valid = karmada_plugin_valid,
     .noun = "plugin",
     .form = "write `*` for all of Karmada's, or the name of a plugin; with - in front it is off",
     .help = "Filters and scores that take part, as Karmada's `--plugins` lists them. None: all of "
             "Karmada's. `Capacity` and `FreeCapacity` take part only if they are listed."},
    {.path = "karmada.estimators.mode",
     .flag = "karmada-estimators-mode",
     .type = FIELD_CHOICE,
     MEMBER(karmada_estimators.accurate),
     .choices = karmada_estimators_words,
     .initial = false,
     .help = "`General`: the status of a cluster says how many replicas fit it. `Accurate`: the "
             "cluster's estimator is asked, too, over gRPC, and the smallest known number counts, "
             "as with karmada-scheduler's `--enable-scheduler-estimator`."},
    {.path = "karmada.estimators.timeout",
     .flag = "karmada-estimators-timeout",
     .type = FIELD_DURATION,
     MEMBER(karmada_estimators.timeout_ms),
     .min = 10,
     .max = MINUTE,
     .initial = 3 * SECOND,
     .help = "How long all estimators together may take to answer a question. After this time the "
             "question is answered without the estimates that are missing."},
    {.path = "karmada.estimators.addresses",
     .flag = "karmada-estimators-address",
     .type = FIELD_CSTRS,
     MEMBER(karmada_estimators.addresses),
     COUNT(karmada_estimators.address_count),
     .valid = estimator_location_valid,
     .noun = "estimator",
     .form = "write NAME=HOST:PORT, and the name of the Cluster as Karmada has it",
     .help = "Where the estimators of these clusters are: `NAME=HOST:PORT`. Those of other "
             "clusters are found by their Services."},
    {.path = "karmada.estimators.port",
     .flag = "karmada-estimators-port",
     .type = FIELD_NUMBER,
     MEMBER(karmada_estimators.port),
     .min = 1,
     .max = UINT16_MAX,
     .initial = 10352,
     .help = "The port of the estimators' Services, as with karmada-scheduler's "
             "`--scheduler-estimator-port`."},
    {.path = "karmada.estimators.disableInPullMode",
     .flag = "karmada-estimators-disable-in-pull-mode",
     .type = FIELD_BOOL,
     MEMBER(karmada_estimators.disable_in_pull_mode),
     .help = "Clusters in Pull mode have no estimator, unless `addresses` names them."},
    {.path = "karmada.estimators.certFile",
     .flag = "karmada-estimators-cert-file",
     .type = FIELD_CSTR,
     MEMBER(karmada_estimators.cert_file),
     .noun = "file",
     .help = "The certificate that estimators are shown, in PEM. Read again when it changes, as "
             "the two others."},
    {.path = "karmada.estimators.keyFile",
     .flag = "karmada-estimators-key-file",
     .type = FIELD_CSTR,
     MEMBER(karmada_estimators.key_file),
     .noun = "file",
     .help = "Its private key."},
    {.path = "karmada.estimators.caFile",
     .flag = "karmada-estimators-ca-file",
     .type = FIELD_CSTR,
     MEMBER(karmada_estimators.ca_file),
     .noun = "file",
     .help =
         "Estimators must show a certificate of one of these CAs, for the name that is dialled. "
         "None, and without `insecureSkipVerify`: plaintext."},
    {.path = "karmada.estimators.insecureSkipVerify",
     .flag = "karmada-estimators-insecure-skip-verify",
     .type = FIELD_BOOL,
     MEMBER(karmada_estimators.insecure_skip_verify),
     .help = "TLS, with whatever certificate an estimator shows."},
    {.path = "karmada.estimators.servicePrefix",
     .flag = "karmada-estimators-service-prefix",
     .type = FIELD_CSTR,
     MEMBER(karmada_estimators.service_prefix),
     .valid = configuration_namespace_valid,
     .noun = "name",
     .initial_text = "karmada-scheduler-estimator",
     .help = "The Service of a cluster's estimator has this name, a `-` and the cluster's name, as "
             "with karmada-scheduler's `--scheduler-estimator-service-prefix`."},
    {.path = "karmada.estimators.serviceNamespace",
     .flag = "karmada-estimators-service-namespace",
     .type = FIELD_CSTR,
     MEMBER(karmada_estimators.service_namespace),
     .valid = configuration_namespace_valid,
     .noun = "namespace",
     .initial_text = "karmada-system",
     .help = "The namespace of the estimators' Services, as with karmada-scheduler's "
             "`--scheduler-estimator-service-namespace`."},
    {.path = "karmada.estimators.models",
     .flag = "karmada-estimators-models",
     .type = FIELD_CHOICE,
     MEMBER(karmada.words.models),
     .choices = karmada_models_choices,
     .initial = MODELS_THIRD,
     .help =
         "How many replicas a cluster's resource models allow: as Karmada 1.18 and later (`3`), "
         "1.12 to 1.17 (`2`) or up to 1.11 (`1`). `Off`: its summary alone is asked."},

    /* estimator */
    {.path = "estimator.listen",
     .flag = "estimator-listen",
     .type = FIELD_CSTR,
     MEMBER(estimator.listen),
     .valid = address_or_off_valid,
     .noun = "address",
     .form = ADDRESS_FORM,
     .initial_text = "0",
     .help = "Where karmada-scheduler and karmada-descheduler call, over gRPC: `host:port`, or "
             "`:port` for every address of the machine. `0` turns it off."},
    {.path = "estimator.certFile",
     .flag = "estimator-cert-file",
     .type = FIELD_CSTR,
     MEMBER(estimator.tls.cert_file),
     .noun = "file",
     .help = "Certificate chain in PEM, the estimator's own first. Read again when it changes. "
             "None: plaintext."},
    {.path = "estimator.keyFile",
     .flag = "estimator-key-file",
     .type = FIELD_CSTR,
     MEMBER(estimator.tls.key_file),
     .noun = "file",
     .help = "Private key in PEM that belongs to the certificate. Read again when it changes."},
    {.path = "estimator.clientCAFile",
     .flag = "estimator-client-ca-file",
     .type = FIELD_CSTR,
     MEMBER(estimator.tls.client_ca_file),
     .noun = "file",
     .help = "CA certificates in PEM. With it, only callers who show a certificate from one of "
             "these CAs are answered."},
    {.path = "estimator.allowedSubjects",
     .flag = "estimator-allowed-subject",
     .type = FIELD_CSTRS,
     MEMBER(estimator.tls.allowed_subjects),
     COUNT(estimator.tls.allowed_subject_count),
     .valid = client_name_valid,
     .noun = "subject",
     .form = SUBJECT_FORM,
     .help = "Which callers with a certificate of `clientCAFile` may call, as in "
             "`extender.allowedSubjects`. None: all of them."},
    {.path = "estimator.members",
     .flag = "estimator-member",
     .type = FIELD_CSTRS,
     MEMBER(estimator.members),
     COUNT(estimator.member_count),
     .valid = member_valid,
     .noun = "member",
     .form = "write NAME=KUBECONFIG or NAME=KUBECONFIG#CONTEXT, and the name of the Cluster as "
             "Karmada has it",
     .help =
         "Member clusters that are estimated: `NAME=KUBECONFIG`, with `#CONTEXT` if it is not "
         "the current one; their nodes and pods are watched. `NAME=https://HOST:PORT,KUBECONFIG` "
         "asks another address than the kubeconfig's. `NAME` alone is the cluster of "
         "`state.paths`, or that of `kubernetes`."},
    {.path = "estimator.fromKarmada",
     .flag = "estimator-from-karmada",
     .type = FIELD_BOOL,
     MEMBER(estimator.from_karmada),
     .help = "Estimate the clusters that Karmada has, too: each Cluster of its API server "
             "(`karmada.kubeconfig`) is a member, asked with the credentials of the Secret that it "
             "names. They come and go while Evenkeel runs. If `estimator.members` has the same "
             "name, the member there is used."},
    {.path = "estimator.services",
     .flag = "estimator-services",
     .type = FIELD_BOOL,
     MEMBER(estimator.services),
     .help = "With `estimator.fromKarmada`: keep a Service of type ExternalName for each Cluster "
             "in Karmada's API server, by which karmada-scheduler and karmada-descheduler find "
             "this estimator. The Service's name is `karmada.estimators.servicePrefix`, a `-` and "
             "the Cluster's name. The leader writes the Services; it needs the right to write "
             "Services there."},
    {.path = "estimator.serviceHost",
     .flag = "estimator-service-host",
     .type = FIELD_CSTR,
     MEMBER(estimator.service_host),
     .valid = service_host_valid,
     .noun = "address",
     .form = "write HOST or HOST:PORT, with a DNS name or an IPv4 address",
     .help = "Where the Services of `estimator.services` lead: the name by which karmada-scheduler "
             "reaches this estimator, and its port, otherwise 10352. With TLS the certificate must "
             "be for that name."},
    {.path = "estimator.unready",
     .flag = "estimator-unready",
     .type = FIELD_CHOICE,
     MEMBER(estimator.unready_is_error),
     .choices = unready_words,
     .initial = false,
     .help =
         "What is answered for a member that is not listed yet, or has not been heard for "
         "`kubernetes.staleAfter`. `Unknown`: -1, which karmada-scheduler passes over. `Error`: "
         "status 14, which makes it pass over the answers of all members."},
    {.path = "estimator.limits.memberBytes",
     .flag = "estimator-limit-member-bytes",
     .type = FIELD_NUMBER,
     MEMBER(estimator.member_bytes),
     .min = 1u << 20,
     .max = 1u << 31,
     .initial = LIMIT_MEMBER_BYTES,
     .help =
         "Memory for the objects of one member cluster. For a member that needs more, the answer "
         "is that of `estimator.unready`; the member is listed again now and then until it fits."},
    {.path = "estimator.resourceQuota",
     .flag = "estimator-resource-quota",
     .type = FIELD_BOOL,
     MEMBER(estimator.resource_quota),
     .help = "ResourceQuotas of a workload's namespace limit the answer, as with Karmada's feature "
             "gate `ResourceQuotaEstimate`. Members' ResourceQuotas are watched then."},
    {.path = "estimator.overcommitProtection",
     .flag = "estimator-overcommit-protection",
     .type = FIELD_BOOL,
     MEMBER(estimator.overcommit_protection),
     .help = "Workloads that karmada-scheduler has assigned to a member, and that have no pods "
             "there yet, take room, as with Karmada's feature gate "
             "`SchedulingOvercommitProtection`. Set that gate of karmada-scheduler, too: it sends "
             "them only then."},

    /* ops */
    {.path = "ops.listen",
     .flag = "ops-listen",
     .type = FIELD_CSTR,
     MEMBER(ops.listen),
     .valid = address_or_off_valid,
     .noun = "address",
     .form = ADDRESS_FORM,
     .initial_text = "127.0.0.1:8080",
     .help = "Health, metrics, version and explanations over plain HTTP; `0` turns it off."},
    {.path = "ops.probeListen",
     .flag = "ops-probe-listen",
     .type = FIELD_CSTR,
     MEMBER(ops.probe_listen),
     .valid = address_or_off_valid,
     .noun = "address",
     .form = ADDRESS_FORM,
     .initial_text = "0",
     .help = "A listener for probes alone, over plain HTTP: `/healthz` and `/readyz`, and 404 for "
             "everything else. `0` turns it off: `ops.listen` serves them, too."},

    /* metrics */
    {.path = "metrics.workloads",
     .flag = "metrics-workloads",
     .type = FIELD_NUMBER,
     MEMBER(metrics.workloads),
     .min = 0,
     .max = 10000,
     .initial = LIMIT_WORKLOAD_SERIES,
     .help = "How many workloads have a metric of their own, `evenkeel_workload_skew`: those with "
             "the worst skew. All are counted in `evenkeel_workloads`."},

    /* events */
    {.path = "events.unevenAfter",
     .flag = "uneven-after",
     .type = FIELD_DURATION,
     MEMBER(events.uneven_after_ms),
     .min = 0,
     .max = 24 * HOUR,
     .initial = LIMIT_UNEVEN_AFTER_MS,
     .help = "How long a workload stays uneven before an Event about it says so; `0s`: no Event is "
             "written. Only where the API server's policies are watched and pods are admitted."},
    {.path = "events.namespaces",
     .flag = "event-namespace",
     .type = FIELD_CSTRS,
     MEMBER(events.namespaces),
     COUNT(events.namespace_count),
     .valid = configuration_namespace_valid,
     .noun = "namespace",
     .help = "Namespaces whose workloads such Events may be about: in other namespaces no Events "
             "are written, and no permission to write them is needed. None: every namespace."},

    /* explain */
    {.path = "explain.decisions",
     .flag = "explain-decisions",
     .type = FIELD_NUMBER,
     MEMBER(explain.decisions),
     .min = 0,
     .max = 1000000,
     .initial = LIMIT_DECISIONS,
     .help =
         "How many of the last decisions are kept to be explained, 1.5 KB each; 0 turns it off."},
    {.path = "explain.tokenFile",
     .flag = "explain-token-file",
     .type = FIELD_CSTR,
     MEMBER(explain.token_file),
     .noun = "file",
     .help = "A token that lets callers on other machines read explanations, as `Authorization: "
             "Bearer`. Without it only callers on the machine itself may. Read again when it "
             "changes."},

    /* state */
    {.path = "state.paths",
     .flag = "state",
     .type = FIELD_CSTRS,
     MEMBER(state.paths),
     COUNT(state.path_count),
     .noun = "path",
     .help = "Files, or folders of files, that hold what `kubectl get nodes,pods,namespaces,...` "
             "prints as YAML or JSON."},
    {.path = "state.pollInterval",
     .flag = "state-poll-interval",
     .type = FIELD_DURATION,
     MEMBER(state.poll_ms),
     .min = 10,
     .max = HOUR,
     .initial = SECOND,
     .help = "How often the files of `state.paths` are looked at for changes. SIGHUP reads them at "
             "once."},

    /* kubernetes */
    {.path = "kubernetes.kubeconfig",
     .flag = "kubeconfig",
     .type = FIELD_CSTR,
     MEMBER(kubernetes.kubeconfig),
     .noun = "file",
     .help = "Watch the API server of this kubeconfig instead of reading files."},
    {.path = "kubernetes.context",
     .flag = "context",
     .type = FIELD_CSTR,
     MEMBER(kubernetes.context),
     .noun = "name",
     .help = "Which context of the kubeconfig; otherwise its current one."},
    {.path = "kubernetes.inCluster",
     .flag = "in-cluster",
     .type = FIELD_BOOL,
     MEMBER(kubernetes.in_cluster),
     .help = "Watch the API server of the cluster that this pod runs in, as its service account."},
    {.path = "kubernetes.staleAfter",
     .flag = "stale-after",
     .type = FIELD_DURATION,
     MEMBER(kubernetes.stale_after_ms),
     .min = SECOND,
     .max = HOUR,
     .initial = LIMIT_KUBE_STALE_MS,
     .help = "When the API server has not been heard for so long, answers become \"no opinion\": "
             "every node passes, every score is 0. It is heard about once a minute even if nothing "
             "happens, so stay above that."},

    /* hub */
    {.path = "hub.kubeconfig",
     .flag = "hub-kubeconfig",
     .type = FIELD_CSTR,
     MEMBER(hub.kubeconfig),
     .noun = "file",
     .help = "Watch the clusters of the fleet at the API server of this kubeconfig."},
    {.path = "hub.context",
     .flag = "hub-context",
     .type = FIELD_CSTR,
     MEMBER(hub.context),
     .noun = "name",
     .help = "Which context of the kubeconfig; otherwise its current one."},
    {.path = "hub.inCluster",
     .flag = "hub-in-cluster",
     .type = FIELD_BOOL,
     MEMBER(hub.in_cluster),
     .help = "The hub is the cluster that this pod runs in, as its service account."},
    {.path = "hub.staleAfter",
     .flag = "hub-stale-after",
     .type = FIELD_DURATION,
     MEMBER(hub.stale_after_ms),
     .min = SECOND,
     .max = HOUR,
     .initial = LIMIT_KUBE_STALE_MS,
     .help = "When the hub has not been heard for so long, `/readyz` says so; what was listed last "
             "stays in use."},

    /* leaderElection */
    {.path = "leaderElection.enabled",
     .flag = "leader-election",
     .type = FIELD_BOOL,
     MEMBER(leader_election.enabled),
     .help = "Of several replicas one leads, by a Lease for each purpose. With `reservations` "
             "other than Off only the leader is ready, because reservations are in the memory of "
             "one process. A leader writes the status of policies, too, and decisions at a hub "
             "(`ocm`); there the other replicas are ready all the same."},
    {.path = "leaderElection.leaseName",
     .flag = "lease-name",
     .type = FIELD_CSTR,
     MEMBER(leader_election.name),
     .noun = "name",
     .initial_text = "evenkeel",
     .help = "The name of the Lease of reservations. The Leases of controllers, of decisions at a "
             "hub and of Services in Karmada's API server have this name with `-controllers`, "
             "`-ocm` and `-karmada` behind it. Every installation needs names of its own."},
    {.path = "leaderElection.leaseNamespace",
     .flag = "lease-namespace",
     .type = FIELD_CSTR,
     MEMBER(leader_election.namespace),
     .noun = "name",
     .help = "The Lease's namespace; otherwise the namespace of the pod, or of the kubeconfig's "
             "context."},
    {.path = "leaderElection.leaseDuration",
     .flag = "lease-duration",
     .type = FIELD_DURATION,
     MEMBER(leader_election.duration_ms),
     .min = SECOND,
     .max = HOUR,
     .initial = 15 * SECOND,
     .help = "How long the other replicas wait before they take the Lease from a leader that does "
             "not renew it. The leader renews the Lease every two fifteenths of that time (2s of "
             "15s), and stops after two thirds without success (10s)."},

    /* spread */
    {.path = "spread.defaulting",
     .flag = "spread-defaulting",
     .type = FIELD_CHOICE,
     MEMBER(engine.system_defaults),
     .choices = defaulting_words,
     .initial = true,
     .help = "Which constraints a pod gets that has none of its own: kube-scheduler's built-in "
             "ones (hostname with maxSkew 3 and zone with 5, both soft), or `defaultConstraints`. "
             "`List` with an empty list turns default constraints off."},
    {.path = "spread.defaultConstraints",
     .type = FIELD_OBJECTS,
     MEMBER(engine.default_constraints),
     COUNT(engine.default_constraint_count),
     .table = &configuration_default_table,
     .max = LIMIT_DEFAULT_CONSTRAINTS,
     .help = "As in kube-scheduler's PodTopologySpreadArgs; only with `defaulting: List`."},
    {.path = "spread.emptySelector",
     .flag = "empty-selector",
     .type = FIELD_CHOICE,
     MEMBER(engine.empty_selector_counts_all),
     .choices = empty_selector_words,
     .initial = true,
     .help = "What a constraint with `labelSelector: {}` counts: every pod of the namespace, or, "
             "as kube-scheduler 1.27 to 1.37 does, none."},
    {.path = "spread.weight",
     .flag = "spread-weight",
     .type = FIELD_NUMBER,
     MEMBER(engine.spread_weight),
     .min = 0,
     .max = 1000,
     .initial = 50,
     .help = "Share of these scores in a node's priority, beside `orderedSpread.weight`."},

    /* locality */
    {.path = "locality.weight",
     .flag = "locality-weight",
     .type = FIELD_NUMBER,
     MEMBER(engine.locality_weight),
     .min = 0,
     .max = 1000,
     .initial = 50,
     .help = "Share of locality's scores in a node's priority, beside `spread.weight` and "
             "`orderedSpread.weight`. Only for pods that mount datasets."},
    {.path = "locality.tiers",
     .type = FIELD_OBJECTS,
     MEMBER(engine.tiers),
     COUNT(engine.tier_count),
     .table = &configuration_tier_table,
     .max = LIMIT_POLICY_TERMS,
     .help = "Weights of a node by its distance from the bytes, from near to far; each domain lies "
             "within a domain of the next tier. None: on the same node (`kubernetes.io/hostname`) "
             "100, in its zone 25, in its region 10. A TopologyPolicy's `tiers` take their place "
             "for its pods."},

    /* orderedSpread */
    {.path = "orderedSpread.weight",
     .flag = "ordered-spread-weight",
     .type = FIELD_NUMBER,
     MEMBER(engine.ordered_weight),
     .min = 0,
     .max = 1000,
     .initial = 50,
     .help = "Share of ordered spread's scores in a node's priority, beside `spread.weight`."},
    {.path = "orderedSpread.rules",
     .type = FIELD_OBJECTS,
     MEMBER(engine.ordered_rules),
     COUNT(engine.ordered_rule_count),
     .table = &configuration_rule_table,
     .max = CONFIGURATION_RULES_MAX,
     .help = "Groups of pods to spread over nested domains: evenly over regions first, then over "
             "the zones within each region, and so on. The first rule that fits a pod is used."},

    /* cache */
    {.path = "cache.maxCounters",
     .flag = "cache-max-counters",
     .type = FIELD_NUMBER,
     MEMBER(cache.max_counters),
     .min = 128,
     .max = 1 << 20,
     .initial = LIMIT_COUNTERS,
     .help = "Selectors whose pods are counted per node at the same time. The one used longest ago "
             "makes room."},
    {.path = "cache.maxBytes",
     .flag = "cache-max-bytes",
     .type = FIELD_NUMBER,
     MEMBER(cache.max_bytes),
     .min = 1 << 20,
     .max = 1ll << 40,
     .initial = LIMIT_CACHE_BYTES,
     .help = "Memory for these selectors' counts and for the columns and trees of topology keys. A "
             "namespace that has more than a quarter of it, or of `cache.maxCounters`, makes room "
             "first; an item larger than a quarter is not kept, but built for each question."},

    /* reservations */
    {.path = "reservations.mode",
     .flag = "reservations",
     .type = FIELD_CHOICE,
     MEMBER(reservations.mode),
     .choices = reservation_words,
     .initial = RESERVATIONS_OFF,
     .help =
         "Which pods count before the cluster shows their bindings. `SingleNode`: a pod whose node "
         "is certain, because filter left no other or bind was called. `Conservative`: until bind "
         "is called a pod counts wherever it may land, and bindings happen in order, so that hard "
         "constraints hold at every moment; other pods of its group may have to wait for it."},
    {.path = "reservations.assume",
     .type = FIELD_BOOL,
     MEMBER(reservations.assume),
     .initial = true,
     .help = "With an API server as the source: soft constraints count a pod in the domain to "
             "which prioritize sends it, until the pod is seen there. Among equally good nodes "
             "prioritize prefers those of one domain, so that the pod's domain is known. `false`: "
             "a burst of pods may be sent to the same domain."},
    {.path = "reservations.ttl",
     .flag = "reservations-ttl",
     .type = FIELD_DURATION,
     MEMBER(reservations.ttl_ms),
     .min = 100,
     .max = HOUR,
     .initial = 30 * SECOND,
     .help = "How long a pod is counted while the cluster does not show its binding. Twice "
             "kube-scheduler's `httpTimeout` at least."},
    {.path = "reservations.settle",
     .flag = "reservations-settle",
     .type = FIELD_DURATION,
     MEMBER(reservations.settle_ms),
     .min = 0,
     .max = HOUR,
     .initial = 2 * SECOND,
     .help = "`Conservative`: for this time after its start Evenkeel answers a filter call with an "
             "error where a hard constraint applies. A binding that an earlier process sent may "
             "still land, and the new process does not know of it."},

    /* shutdown */
    {.path = "shutdown.delay",
     .flag = "shutdown-delay",
     .type = FIELD_DURATION,
     MEMBER(shutdown.delay_ms),
     .min = 0,
     .max = 10 * MINUTE,
     .initial = 10 * SECOND,
     .help = "From SIGTERM until new connections are refused: time for Services to notice."},
    {.path = "shutdown.drain",
     .flag = "shutdown-drain",
     .type = FIELD_DURATION,
     MEMBER(shutdown.drain_ms),
     .min = 0,
     .max = 10 * MINUTE,
     .initial = 10 * SECOND,
     .help = "After `shutdown.delay`, how long requests under way may take to finish."},

    /* log */
    {.path = "log.level",
     .flag = "log-level",
     .type = FIELD_CHOICE,
     MEMBER(log.level),
     .choices = level_words,
     .initial = LOG_INFO,
     .help = "The least important lines that are written."},
    {.path = "log.format",
     .flag = "log-format",
     .type = FIELD_CHOICE,
     MEMBER(log.format),
     .choices = format_words,
     .initial = LOG_LOGFMT,
     .help = "How log lines on standard error look."},
};

const struct field_table configuration_table = FIELD_TABLE(fields, struct configuration, NULL);
