#include "check/permissions.h"

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/limits.h"
#include "config/purposes.h"
#include "model/kinds.h"
#include "model/names.h"
#include "model/owner_kinds.h"

#include <stdio.h>
#include <string.h>

/* ---- what is needed ---- */

/* The feature that needs a permission. Each can be switched on or off alone. */
enum need_of {
    NEED_OF_KIND,    /* watching a kind */
    NEED_OF_BINDING, /* extender.bind */
    NEED_OF_STATUS,
    NEED_OF_POLICY_EVENTS,
    NEED_OF_WORKLOAD_EVENTS,
    NEED_OF_OWNERS,        /* selectors of custom controllers */
    NEED_OF_UNITS,         /* owners of the controllers of units, where pods are validated */
    NEED_OF_LEAVING_NODES, /* data.labelLeavingNodes */
    NEED_OF_DECISIONS,     /* ocm.enabled */
    NEED_OF_SCORES,        /* ocm.scores */
    NEED_OF_MEMBERS,       /* estimator.fromKarmada */
    NEED_OF_SERVICES,      /* estimator.services */
    NEED_OF_ESTIMATORS,    /* karmada.estimators.mode */
    NEED_OF_LEADERS,
    NEED_OF_SECRET,          /* the webhook's Secret, filled by anyone */
    NEED_OF_SELF_SIGNED,     /* the webhook's Secret, filled by Evenkeel */
    NEED_OF_EXTENDER_SECRET, /* the extender's Secret, filled by anyone */
    NEED_OF_EXTENDER_SELF_SIGNED,
    NEED_OF_CLIENT_SECRET, /* kube-scheduler's Secret */
    NEED_OF_BUNDLES,       /* webhook configurations */
    NEED_OF_VALIDATING,    /* validating webhook configurations */
};

struct need {
    enum need_of of;
    const char *verbs; /* separated by spaces */
    const char *group, *resource;
    enum severity severity;
    const char *why;
};

/* The needed permissions. The permissions to watch are in the table of kinds (model/kinds.h), the
 * permissions to read controllers in model/owner_kinds.h. */
static const struct need needs[] = {
    {NEED_OF_BINDING, "create", "", "pods/binding", SEVERITY_ERROR,
     "without it extender.bind binds no pod"},
    {NEED_OF_BINDING, "get", "", "pods", SEVERITY_WARNING,
     "without it Evenkeel cannot look at a pod whose binding got no answer"},
    {NEED_OF_STATUS, "patch", EVENKEEL_GROUP, "topologypolicies/status", SEVERITY_WARNING,
     "without it the status of policies is not written"},
    {NEED_OF_POLICY_EVENTS, "create patch", EVENTS_GROUP, "events", SEVERITY_WARNING,
     "without it no Event is written about a policy"},
    {NEED_OF_WORKLOAD_EVENTS, "create patch", EVENTS_GROUP, "events", SEVERITY_WARNING,
     "without it no Event says which workloads stay uneven"},
    {NEED_OF_LEAVING_NODES, "patch", "", "nodes", SEVERITY_ERROR,
     "without it data.labelLeavingNodes labels no node"},
    {NEED_OF_LEADERS, "get create update", COORDINATION_GROUP, "leases", SEVERITY_ERROR,
     "without it no replica becomes ready"},
    {NEED_OF_LEADERS, "create patch", EVENTS_GROUP, "events", SEVERITY_WARNING,
     "without it only the log says which replica leads"},
    {NEED_OF_DECISIONS, "create patch delete", OCM_GROUP, "placementdecisions", SEVERITY_ERROR,
     "without it no Placement is decided"},
    {NEED_OF_DECISIONS, "patch", OCM_GROUP, "placementdecisions/status", SEVERITY_ERROR,
     "without it no Placement is decided"},
    {NEED_OF_DECISIONS, "patch", OCM_GROUP, "placements", SEVERITY_ERROR,
     "without it OCM does not leave Placements to Evenkeel"},
    {NEED_OF_SCORES, "create", OCM_GROUP, "addonplacementscores", SEVERITY_WARNING,
     "without it mode Scores decides nothing"},
    {NEED_OF_SCORES, "patch", OCM_GROUP, "addonplacementscores/status", SEVERITY_WARNING,
     "without it mode Scores decides nothing"},
    {NEED_OF_DECISIONS, "patch", OCM_GROUP, "placements/status", SEVERITY_ERROR,
     "without it the status of Placements is not written"},
    {NEED_OF_DECISIONS, "create patch", EVENTS_GROUP, "events", SEVERITY_WARNING,
     "without it no Event says which clusters were moved"},
    {NEED_OF_MEMBERS, "get", "", "secrets", SEVERITY_WARNING,
     "without it member clusters whose Secrets are in this namespace cannot be asked"},
    {NEED_OF_SERVICES, "list watch create patch delete", "", "services", SEVERITY_ERROR,
     "without it karmada-scheduler does not find the estimator of each cluster"},
    {NEED_OF_ESTIMATORS, "get", "", "services", SEVERITY_WARNING,
     "without it the estimators of clusters are not found"},
    {NEED_OF_SECRET, "list watch", "", "secrets", SEVERITY_ERROR,
     "without it the webhook has no certificate"},
    {NEED_OF_SELF_SIGNED, "create patch", "", "secrets", SEVERITY_ERROR,
     "without it the webhook's certificate is neither made nor renewed"},
    {NEED_OF_SELF_SIGNED, "create patch", EVENTS_GROUP, "events", SEVERITY_WARNING,
     "without it only the log says what was done to the certificate"},
    {NEED_OF_EXTENDER_SECRET, "list watch", "", "secrets", SEVERITY_ERROR,
     "without it the extender has no certificate"},
    {NEED_OF_EXTENDER_SELF_SIGNED, "create patch", "", "secrets", SEVERITY_ERROR,
     "without it the extender's certificate is neither made nor renewed"},
    {NEED_OF_EXTENDER_SELF_SIGNED, "create patch", EVENTS_GROUP, "events", SEVERITY_WARNING,
     "without it only the log says what was done to the certificates"},
    {NEED_OF_CLIENT_SECRET, "list watch create patch", "", "secrets", SEVERITY_ERROR,
     "without it kube-scheduler's certificate is neither made nor renewed"},
    {NEED_OF_BUNDLES, "list watch patch", WEBHOOKS_GROUP, "mutatingwebhookconfigurations",
     SEVERITY_ERROR, "without it nobody keeps its caBundle right"},
    {NEED_OF_VALIDATING, "list watch patch", WEBHOOKS_GROUP, "validatingwebhookconfigurations",
     SEVERITY_ERROR, "without it nobody keeps its caBundle right"},
    {NEED_OF_BUNDLES, "create patch", EVENTS_GROUP, "events", SEVERITY_WARNING,
     "without it only the log says who else writes a caBundle"},
};

static bool is_needed(const struct configuration *c, enum need_of of) {
    bool webhook = configuration_listens(c->webhook.listen);
    bool pods = configuration_reviews_pods(c);
    bool extender = configuration_listens(c->extender.listen);
    switch (of) {
    case NEED_OF_BINDING:
        return c->extender.bind && extender;
    case NEED_OF_STATUS:
    case NEED_OF_POLICY_EVENTS:
        return pods && c->policies.watch;
    case NEED_OF_WORKLOAD_EVENTS:
        return pods && c->policies.watch && c->events.uneven_after_ms > 0;
    case NEED_OF_OWNERS:
        return pods && c->webhook.fluid.read_ms > 0;
    case NEED_OF_UNITS:
        return pods && c->webhook.fluid.read_ms > 0 && c->webhook.certificates.validating_count > 0;
    case NEED_OF_LEAVING_NODES:
        return pods && c->data.label_leaving_nodes;
    case NEED_OF_DECISIONS:
        return purpose_is_wanted(c, PURPOSE_OCM);
    case NEED_OF_SCORES:
        return purpose_is_wanted(c, PURPOSE_OCM) && c->ocm.scores;
    case NEED_OF_MEMBERS:
        return purpose_is_wanted(c, PURPOSE_MEMBERS);
    case NEED_OF_SERVICES:
        return purpose_is_wanted(c, PURPOSE_ESTIMATOR_SERVICES);
    case NEED_OF_ESTIMATORS:
        return purpose_is_wanted(c, PURPOSE_ESTIMATORS);
    case NEED_OF_SECRET:
        return webhook && c->webhook.certificates.mode != CERTIFICATES_FILES;
    case NEED_OF_SELF_SIGNED:
        return webhook && c->webhook.certificates.mode == CERTIFICATES_SELF_SIGNED;
    case NEED_OF_EXTENDER_SECRET:
        return extender && c->extender.certificates.mode != CERTIFICATES_FILES;
    case NEED_OF_EXTENDER_SELF_SIGNED:
    case NEED_OF_CLIENT_SECRET:
        return extender && c->extender.certificates.mode == CERTIFICATES_SELF_SIGNED;
    case NEED_OF_BUNDLES:
        return webhook && c->webhook.certificates.configuration_count > 0;
    case NEED_OF_VALIDATING:
        return webhook && c->webhook.certificates.validating_count > 0;
    case NEED_OF_KIND:
    case NEED_OF_LEADERS: /* needed for each listed Lease */
        break;
    }
    return true;
}

/* ---- where ---- */

struct check {
    const struct configuration *configuration;
    enum server_role role;
    struct kube_client *client;
    const char *namespace, *path; /* the user's namespace; the path for findings */
    struct check_report *out;
    uint32_t granted;
    char leases[PURPOSES][LEASE_NAME_SIZE]; /* the Leases needed at this server */
    size_t lease_count;
};

/* The place of one object, or of all objects: either member may be NULL. */
struct place {
    const char *namespace, *name;
};

static struct place place_of(const struct check *c, const struct need *need, size_t i) {
    const struct configuration_certificates *certificates = &c->configuration->webhook.certificates,
                                            *extenders = &c->configuration->extender.certificates;
    struct place p = {.namespace = NULL};
    switch (need->of) {
    case NEED_OF_POLICY_EVENTS: /* about objects without a namespace */
        return (struct place){.namespace = "default"};
    case NEED_OF_WORKLOAD_EVENTS:
        if (i < c->configuration->events.namespace_count)
            p.namespace = c->configuration->events.namespaces[i];
        return p; /* no namespaces given: all namespaces */
    case NEED_OF_MEMBERS:
        return (struct place){.namespace = c->configuration->karmada_cluster_namespace};
    case NEED_OF_SERVICES:
    case NEED_OF_ESTIMATORS:
        return (struct place){.namespace = c->configuration->karmada_estimators.service_namespace};
    case NEED_OF_LEADERS:
        p.namespace = c->configuration->leader_election.namespace;
        p.name = c->leases[i];
        break;
    case NEED_OF_SECRET:
    case NEED_OF_SELF_SIGNED:
        p.namespace = certificates->namespace;
        p.name = certificates->secret;
        break;
    case NEED_OF_EXTENDER_SECRET:
    case NEED_OF_EXTENDER_SELF_SIGNED:
    case NEED_OF_CLIENT_SECRET:
        p.namespace = extenders->namespace;
        p.name = need->of == NEED_OF_CLIENT_SECRET ? extenders->client_secret : extenders->secret;
        break;
    case NEED_OF_BUNDLES:
        p.name = certificates->configurations[i];
        break;
    case NEED_OF_VALIDATING:
        p.name = certificates->validating[i];
        break;
    default:
        return p;
    }
    if (p.namespace == NULL && need->of != NEED_OF_BUNDLES && need->of != NEED_OF_VALIDATING)
        p.namespace = c->namespace;
    if (strcmp(need->resource, "events") == 0)
        p = (struct place){.namespace = p.namespace != NULL ? p.namespace : "default"};
    return p;
}

static enum server_role server_of_need(const struct check *c, const struct need *need) {
    switch (need->of) {
    case NEED_OF_LEADERS:
        return c->role; /* this server's Leases were listed */
    case NEED_OF_DECISIONS:
    case NEED_OF_SCORES:
        return purpose_server(c->configuration, PURPOSE_OCM);
    case NEED_OF_MEMBERS:
        return purpose_server(c->configuration, PURPOSE_MEMBERS);
    case NEED_OF_SERVICES:
        return purpose_server(c->configuration, PURPOSE_ESTIMATOR_SERVICES);
    case NEED_OF_ESTIMATORS:
        return purpose_server(c->configuration, PURPOSE_ESTIMATORS);
    default:
        return SERVER_CLUSTER;
    }
}

static size_t place_count(const struct check *c, const struct need *need) {
    const size_t namespaces = c->configuration->events.namespace_count;
    if (need->of == NEED_OF_LEADERS && c->lease_count == 0)
        return 0;
    if (need->of == NEED_OF_WORKLOAD_EVENTS)
        return namespaces > 0 ? namespaces : 1;
    if (strcmp(need->resource, "events") == 0)
        return 1;
    if (need->of == NEED_OF_LEADERS)
        return c->lease_count;
    const struct configuration_certificates *certificates = &c->configuration->webhook.certificates;
    return need->of == NEED_OF_BUNDLES      ? certificates->configuration_count
           : need->of == NEED_OF_VALIDATING ? certificates->validating_count
                                            : 1;
}

/* ---- asking ---- */

/* Returns the text before the first `c`, or all of it; `*rest` is the text behind that `c`. */
static struct str cut(struct str text, char c, struct str *rest) {
    size_t at = str_find(text, c);
    *rest = at == SIZE_MAX ? STR("") : (struct str){text.p + at + 1, text.n - at - 1};
    return (struct str){text.p, at == SIZE_MAX ? text.n : at};
}

static void put_if(struct json_writer *w, struct str name, struct str value) {
    if (!str_empty(value))
        json_put_member(w, name, value);
}

static void write_review(const struct need *need, struct str verb, const struct place *place,
                         struct strbuf *out) {
    struct json_writer w = {.out = out};
    struct str subresource, resource = cut(str_of(need->resource), '/', &subresource);
    json_begin_object(&w);
    json_put_member(&w, STR("apiVersion"), STR(AUTHORIZATION_API));
    json_put_member(&w, STR("kind"), STR(ACCESS_REVIEW_KIND));
    json_key(&w, STR("spec"));
    json_begin_object(&w);
    json_key(&w, STR("resourceAttributes"));
    json_begin_object(&w);
    json_put_member(&w, STR("verb"), verb);
    json_put_member(&w, STR("group"), str_of(need->group));
    json_put_member(&w, STR("resource"), resource);
    put_if(&w, STR("subresource"), subresource);
    put_if(&w, STR("namespace"), str_of(place->namespace));
    if (!str_eq(verb, STR("create"))) /* a creation has no name yet */
        put_if(&w, STR("name"), str_of(place->name));
    json_end_object(&w);
    json_end_object(&w);
    json_end_object(&w);
}

static bool review_allows(struct arena *arena, struct str body) {
    struct json_reader r;
    struct str key;
    bool allowed = false;
    json_reader_init(&r, body, arena, ACCESS_REVIEW_KIND);
    if (!json_object(&r))
        return false;
    while (json_member(&r, &key)) {
        if (!str_eq(key, STR("status")))
            continue;
        if (!json_object(&r))
            continue;
        while (json_member(&r, &key))
            if (str_eq(key, STR("allowed")))
                allowed = json_bool(&r);
    }
    return allowed && json_check(&r, NULL) == 0;
}

/* Returns false if the permission cannot be checked; the reason is among the findings. */
static bool is_allowed(struct check *c, const struct need *need, struct str verb,
                       const struct place *place, bool *ret) {
    CLEANUP(strbuf_done) struct strbuf review = {.max = 4096};
    CLEANUP(strbuf_done) struct strbuf body = {.max = LIMIT_KUBE_BODY};
    struct err err = {0};
    int status = 0;
    write_review(need, verb, place, &review);
    int r = kube_call(c->client, "POST", "/apis/" AUTHORIZATION_API "/selfsubjectaccessreviews",
                      strbuf_str(&review), &body, &status, &err);
    if (r != 0 || (status != 201 && status != 200)) {
        check_report_add(c->out, SEVERITY_WARNING, 0, c->path, "",
                         "they cannot be looked at: the API server says %d %s", status, err.text);
        return false;
    }
    *ret = review_allows(c->out->arena, strbuf_str(&body));
    return true;
}

static void say_refused(struct check *c, const struct need *need, struct str verb,
                        const struct place *place) {
    bool named = place->name != NULL && !str_eq(verb, STR("create"));
    check_report_add(
        c->out, need->severity, 0, c->path,
        place->namespace != NULL
            ? "grant it to Evenkeel's user with a Role and a RoleBinding there"
            : "grant it to Evenkeel's user with a ClusterRole and a ClusterRoleBinding",
        "may not %.*s %s%s%s%s%s%s%s: %s", STR_ARG(verb), need->resource,
        need->group[0] != '\0' ? " in API group " : "", need->group, named ? ", object " : "",
        named ? place->name : "", place->namespace != NULL ? ", namespace " : "",
        place->namespace != NULL ? place->namespace : "", need->why);
}

/* Returns false if a permission cannot be checked: then the next permissions cannot be checked
 * either. */
static bool check_need(struct check *c, const struct need *need, const struct place *place) {
    struct str verbs = str_of(need->verbs);
    bool allowed = false;
    while (!str_empty(verbs)) {
        struct str verb = cut(verbs, ' ', &verbs);
        if (!is_allowed(c, need, verb, place, &allowed))
            return false;
        if (allowed)
            c->granted++;
        else
            say_refused(c, need, verb, place);
    }
    return true;
}

static bool check_kind(struct check *c, const struct watched_kind *kind) {
    const struct place everywhere = {.namespace = NULL};
    for (size_t i = 0; i < KIND_PERMISSIONS && kind->permissions[i].verbs != NULL; i++) {
        const struct kind_permission *p = &kind->permissions[i];
        const struct need need = {NEED_OF_KIND,
                                  p->verbs,
                                  kind->group,
                                  kind->resource,
                                  p->vital ? SEVERITY_ERROR : SEVERITY_WARNING,
                                  p->why};
        if (!check_need(c, &need, &everywhere))
            return false;
    }
    return true;
}

static bool check_kinds(struct check *c) {
    for (size_t i = 0; i < KIND_ROWS; i++)
        if (kind_is_watched(c->configuration, &watched_kinds[i], c->role) &&
            !check_kind(c, &watched_kinds[i]))
            return false;
    return true;
}

static bool check_owner(struct check *c, const struct owner_kind *kind, enum need_of of,
                        const char *subresource, const char *why) {
    const struct place everywhere = {.namespace = NULL};
    char group[64], resource[64]; /* texts of the table fit */
    (void)snprintf(group, sizeof group, "%.*s", STR_ARG(kind->group));
    (void)snprintf(resource, sizeof resource, "%.*s%s", STR_ARG(kind->plural), subresource);
    const struct need need = {of, "get", group, resource, SEVERITY_WARNING, why};
    return !is_needed(c->configuration, of) || check_need(c, &need, &everywhere);
}

/* Checks the permissions to read controllers of pods: the selectors of some kinds, the existence of
 * other kinds. */
static bool check_owners(struct check *c) {
    for (size_t i = 0; c->role == SERVER_CLUSTER && i < OWNER_KINDS; i++) {
        const struct owner_kind *kind = &owner_kinds[i];
        if (kind->selects && !check_owner(c, kind, NEED_OF_OWNERS, "/scale",
                                          "without it the groups of pods of this kind are learned "
                                          "from the pods' labels only"))
            return false;
        if (kind->role != OWNER_OF_PODS &&
            !check_owner(c, kind, NEED_OF_UNITS, "",
                         "without it policies with mode Require deny the pods of units that this "
                         "kind makes"))
            return false;
    }
    return true;
}

static bool check_table(struct check *c) {
    for (size_t n = 0; n < sizeof needs / sizeof needs[0]; n++) {
        if (server_of_need(c, &needs[n]) != c->role || !is_needed(c->configuration, needs[n].of))
            continue;
        for (size_t i = 0; i < place_count(c, &needs[n]); i++) {
            const struct place place = place_of(c, &needs[n], i);
            if (!check_need(c, &needs[n], &place))
                return false;
        }
    }
    return true;
}

void permissions_check(const struct configuration *configuration, enum server_role role,
                       struct kube_client *client, const char *namespace,
                       struct check_report *out) {
    struct check c = {.configuration = configuration,
                      .role = role,
                      .client = client,
                      .namespace = namespace,
                      .path = role == SERVER_HUB       ? "hub.permissions"
                              : role == SERVER_KARMADA ? "karmada.permissions"
                                                       : "permissions",
                      .out = out};
    for (enum purpose p = 0; p < PURPOSES; p++)
        if (lease_is_wanted(configuration, p) && purpose_server(configuration, p) == role)
            lease_name(configuration, p, c.leases[c.lease_count++]);
    if (check_kinds(&c) && check_table(&c) && check_owners(&c))
        check_report_add(out, SEVERITY_INFO, 0, c.path, "",
                         "%u of the needed permissions are granted", c.granted);
}
