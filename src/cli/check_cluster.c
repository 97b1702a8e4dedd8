#include "cli/check_cluster.h"

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/limits.h"
#include "kube/client.h"
#include "kube/status.h"
#include "kube/time.h"
#include "model/object.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { KEYS_MAX = 32, ANSWER_BYTES = 64 << 20, OLDEST_MINOR = 27, CLOCK_OFF_S = 60 };

struct check {
    const struct configuration *configuration;
    struct kube_client *client;
    struct findings *out;
    struct arena *arena;
};

#define SAY(check, severity, what, advice, ...)                                                    \
    findings_add((check)->out, severity, 0, what, advice, __VA_ARGS__)

/* ---- asking ---- */

/* Any answer: its status, or -errno with err. The body replaces what `body` held. */
static int ask(struct check *c, const char *method, const char *path, struct str request,
               struct strbuf *body, struct err *err) {
    int status = 0;
    strbuf_clear(body);
    int r = kube_call(c->client, method, path, request, body, &status, err);
    return r != 0 ? r : status;
}

static struct str message_of(struct check *c, const struct strbuf *body, int status) {
    struct kube_status said;
    kube_status_read(strbuf_str(body), status, c->arena, &said);
    return said.message;
}

/* ---- is it there, and what is it ---- */

static const char *advice_for(const struct err *err) {
    if (strstr(err->text, "certificate") != NULL || strstr(err->text, "SSL") != NULL)
        return "give the CA that signed the server's certificate in the kubeconfig, and the name "
               "it "
               "is for in tls-server-name if the address is another";
    if (err->code == -ECONNREFUSED || err->code == -ETIMEDOUT || err->code == -EHOSTUNREACH)
        return "look whether the API server runs, and whether a firewall or proxy is in between";
    return "";
}

static bool check_version(struct check *c) {
    static const struct json_string_field fields[] = {{{"gitVersion", 10}, 0},
                                                      {{"minor", 5}, sizeof(struct str)}};
    CLEANUP(strbuf_done) struct strbuf body = {.max = LIMIT_KUBE_BODY};
    struct err err = {0};
    struct str said[2] = {{0}};
    struct json_reader r;
    int status = ask(c, "GET", "/version", STR(""), &body, &err);
    if (status < 0) {
        SAY(c, SEVERITY_ERROR, "server", advice_for(&err), "no answer: %s", err.text);
        return false;
    }
    if (status == 401) {
        SAY(c, SEVERITY_ERROR, "user",
            "renew the token or certificate, or look what the plugin of the kubeconfig does",
            "the API server does not accept the credentials");
        return false;
    }
    if (status != 200) {
        SAY(c, SEVERITY_WARNING, "server", "", "GET /version is answered with %d: %.*s", status,
            STR_ARG(message_of(c, &body, status)));
        return true;
    }
    json_reader_init(&r, strbuf_str(&body), c->arena, "version");
    json_strings_of(&r, fields, 2, said);
    int64_t minor = 0;
    while (said[1].n > 0 && (said[1].p[said[1].n - 1] < '0' || said[1].p[said[1].n - 1] > '9'))
        said[1].n--; /* "31+" */
    if (str_to_i64(said[1], &minor) && minor < OLDEST_MINOR)
        SAY(c, SEVERITY_WARNING, "server", "upgrade the cluster",
            "Kubernetes %.*s is older than what Evenkeel is tried with (1.%d)", STR_ARG(said[0]),
            OLDEST_MINOR);
    else
        SAY(c, SEVERITY_INFO, "server", "", "Kubernetes %.*s answers", STR_ARG(said[0]));
    return true;
}

/* By the answer to the version. */
static void check_clock(struct check *c) {
    int64_t ahead_s = (kube_wall_us() - kube_server_us(c->client)) / 1000000;
    if (ahead_s > CLOCK_OFF_S || ahead_s < -CLOCK_OFF_S)
        SAY(c, SEVERITY_WARNING, "clock",
            "set it right: certificates look expired here, or not valid yet",
            "this machine's clock is %lld s %s the API server's",
            (long long)(ahead_s > 0 ? ahead_s : -ahead_s), ahead_s > 0 ? "ahead of" : "behind");
}

/* ---- may we ---- */

/* Who needs it: the last two are the webhook's. */
enum need_of { NEED_OF_ALL, NEED_OF_WORKLOADS, NEED_OF_POLICIES, NEED_OF_FLUID };

struct need {
    enum need_of of;
    const char *verb, *group, *resource, *subresource;
    enum severity severity;
    const char *why;
};

static const struct need needs[] = {
    {NEED_OF_ALL, "list", "", "nodes", "", SEVERITY_ERROR,
     "without nodes there is nothing to spread over"},
    {NEED_OF_ALL, "watch", "", "nodes", "", SEVERITY_ERROR,
     "without it changes of nodes are not seen"},
    {NEED_OF_ALL, "list", "", "pods", "", SEVERITY_ERROR, "without pods nothing can be counted"},
    {NEED_OF_ALL, "watch", "", "pods", "", SEVERITY_ERROR, "without it new pods are not counted"},
    {NEED_OF_ALL, "list", "", "namespaces", "", SEVERITY_ERROR, "it is part of the first sync"},
    {NEED_OF_ALL, "watch", "", "namespaces", "", SEVERITY_ERROR, "it is part of the first sync"},
    {NEED_OF_WORKLOADS, "list", "", "services", "", SEVERITY_ERROR,
     "default constraints take their selectors"},
    {NEED_OF_WORKLOADS, "watch", "", "services", "", SEVERITY_ERROR,
     "default constraints take their selectors"},
    {NEED_OF_WORKLOADS, "list", "", "replicationcontrollers", "", SEVERITY_ERROR,
     "default constraints take their selectors"},
    {NEED_OF_WORKLOADS, "watch", "", "replicationcontrollers", "", SEVERITY_ERROR,
     "default constraints take their selectors"},
    {NEED_OF_WORKLOADS, "list", "apps", "replicasets", "", SEVERITY_ERROR,
     "default constraints take their selectors"},
    {NEED_OF_WORKLOADS, "watch", "apps", "replicasets", "", SEVERITY_ERROR,
     "default constraints take their selectors"},
    {NEED_OF_WORKLOADS, "list", "apps", "statefulsets", "", SEVERITY_ERROR,
     "default constraints take their selectors"},
    {NEED_OF_WORKLOADS, "watch", "apps", "statefulsets", "", SEVERITY_ERROR,
     "default constraints take their selectors"},
    {NEED_OF_ALL, "create", "", "pods", "binding", SEVERITY_WARNING,
     "needed if kube-scheduler has a bindVerb"},
    {NEED_OF_ALL, "get", "", "pods", "", SEVERITY_WARNING,
     "needed if kube-scheduler has a bindVerb"},
    {NEED_OF_POLICIES, "list", "evenkeel.io", "topologypolicies", "", SEVERITY_WARNING,
     "without it only policies of files are in force"},
    {NEED_OF_POLICIES, "watch", "evenkeel.io", "topologypolicies", "", SEVERITY_WARNING,
     "without it only policies of files are in force"},
    {NEED_OF_POLICIES, "patch", "evenkeel.io", "topologypolicies", "status", SEVERITY_WARNING,
     "without it policies do not say whether they work"},
    {NEED_OF_FLUID, "list", "data.fluid.io", "datasets", "", SEVERITY_WARNING,
     "needed for pods near their data, if Fluid is installed"},
    {NEED_OF_FLUID, "watch", "data.fluid.io", "datasets", "", SEVERITY_WARNING,
     "needed for pods near their data, if Fluid is installed"},
    {NEED_OF_FLUID, "list", "", "persistentvolumeclaims", "", SEVERITY_WARNING,
     "needed for pods near their data, if Fluid is installed"},
    {NEED_OF_FLUID, "watch", "", "persistentvolumeclaims", "", SEVERITY_WARNING,
     "needed for pods near their data, if Fluid is installed"},
    {NEED_OF_FLUID, "get", "", "persistentvolumeclaims", "", SEVERITY_WARNING,
     "needed for pods that are created together with their claims"},
};

static void write_review(const struct need *need, struct strbuf *out) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_member(&w, STR("apiVersion"), STR("authorization.k8s.io/v1"));
    json_put_member(&w, STR("kind"), STR("SelfSubjectAccessReview"));
    json_key(&w, STR("spec"));
    json_begin_object(&w);
    json_key(&w, STR("resourceAttributes"));
    json_begin_object(&w);
    json_put_member(&w, STR("verb"), str_of(need->verb));
    json_put_member(&w, STR("group"), str_of(need->group));
    json_put_member(&w, STR("resource"), str_of(need->resource));
    if (need->subresource[0] != '\0')
        json_put_member(&w, STR("subresource"), str_of(need->subresource));
    json_end_object(&w);
    json_end_object(&w);
    json_end_object(&w);
}

static bool review_allows(struct check *c, struct str body) {
    struct json_reader r;
    struct str key;
    bool allowed = false;
    json_reader_init(&r, body, c->arena, "SelfSubjectAccessReview");
    if (!json_object(&r))
        return false;
    while (json_member(&r, &key)) {
        if (!str_eq(key, STR("status"))) {
            (void)json_skip(&r); /* errors stay in r */
            continue;
        }
        if (!json_object(&r))
            continue;
        while (json_member(&r, &key))
            if (str_eq(key, STR("allowed")))
                allowed = json_bool(&r);
            else
                (void)json_skip(&r); /* errors stay in r */
    }
    return allowed && json_check(&r, NULL) == 0;
}

static bool is_needed(const struct configuration *c, enum need_of of) {
    struct str listen = str_of(c->webhook.listen);
    bool webhook = !str_empty(listen) && !str_eq(listen, STR("0"));
    switch (of) {
    case NEED_OF_WORKLOADS:
        return c->engine.system_defaults || c->engine.default_constraint_count > 0;
    case NEED_OF_POLICIES:
        return webhook && c->policies.watch;
    case NEED_OF_FLUID:
        return webhook && c->webhook.fluid.watch;
    default:
        return true;
    }
}

static void check_permissions(struct check *c) {
    uint32_t granted = 0;
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        const struct need *need = &needs[i];
        CLEANUP(strbuf_done) struct strbuf review = {.max = 4096};
        CLEANUP(strbuf_done) struct strbuf body = {.max = LIMIT_KUBE_BODY};
        struct err err = {0};
        if (!is_needed(c->configuration, need->of))
            continue;
        write_review(need, &review);
        int status = ask(c, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                         strbuf_str(&review), &body, &err);
        if (status != 201 && status != 200) {
            SAY(c, SEVERITY_WARNING, "permissions", "",
                "they cannot be looked at: the API server says %d %s", status < 0 ? 0 : status,
                err.text);
            return;
        }
        if (review_allows(c, strbuf_str(&body))) {
            granted++;
            continue;
        }
        SAY(c, need->severity, "permissions",
            "grant it to Evenkeel's user with a ClusterRole and a ClusterRoleBinding",
            "may not %s %s%s%s%s%s: %s", need->verb, need->resource,
            need->subresource[0] != '\0' ? "/" : "", need->subresource,
            need->group[0] != '\0' ? " in API group " : "", need->group, need->why);
    }
    SAY(c, SEVERITY_INFO, "permissions", "", "%u of what is needed are granted", granted);
}

/* ---- the nodes ---- */

struct keys {
    struct str names[KEYS_MAX];
    uint32_t with[KEYS_MAX];    /* nodes that carry it */
    struct str first[KEYS_MAX]; /* a value of it; the check's arena */
    bool several[KEYS_MAX], hard[KEYS_MAX];
    uint32_t count, nodes;
    struct check *check;
};

static void add_key(struct keys *keys, struct str name, bool hard) {
    uint32_t i = 0;
    while (i < keys->count && !str_eq(keys->names[i], name))
        i++;
    if (i == KEYS_MAX)
        return;
    keys->count += i == keys->count;
    keys->names[i] = name;
    keys->hard[i] = keys->hard[i] || hard;
}

/* What the configuration spreads over; pods may well name other keys. */
static void collect_keys(const struct engine_options *engine, struct keys *keys) {
    add_key(keys, STR("kubernetes.io/hostname"), false);
    add_key(keys, STR("topology.kubernetes.io/zone"), false);
    for (uint32_t i = 0; !engine->system_defaults && i < engine->default_constraint_count; i++)
        add_key(keys, engine->default_constraints[i].topology_key,
                engine->default_constraints[i].hard);
    for (uint32_t r = 0; r < engine->ordered_rule_count; r++)
        for (uint32_t t = 0; t < engine->ordered_rules[r].term_count; t++)
            add_key(keys, engine->ordered_rules[r].terms[t].topology_key,
                    engine->ordered_rules[r].terms[t].hard);
}

static int count_node(void *ctx, const struct object *object, struct err *err) {
    struct keys *keys = ctx;
    (void)err; /* nothing can fail */
    keys->nodes++;
    for (uint32_t k = 0; k < keys->count; k++) {
        struct str value;
        if (!labels_lookup(&object->meta.labels, keys->names[k], &value))
            continue;
        if (keys->with[k]++ == 0)
            keys->first[k] = arena_str(keys->check->arena, value);
        else if (!str_eq(keys->first[k], value))
            keys->several[k] = true;
    }
    return 0;
}

static void judge_keys(struct check *c, const struct keys *keys) {
    SAY(c, SEVERITY_INFO, "nodes", "", "%u nodes", keys->nodes);
    for (uint32_t k = 0; k < keys->count && keys->nodes > 0; k++) {
        struct str name = keys->names[k];
        uint32_t without = keys->nodes - keys->with[k];
        if (without > 0)
            SAY(c, keys->hard[k] ? SEVERITY_ERROR : SEVERITY_WARNING, "nodes",
                "label them; pods that must spread over it never land on nodes without it",
                "%u of %u nodes have no label %.*s", without, keys->nodes, STR_ARG(name));
        else if (!keys->several[k] && keys->nodes > 1)
            SAY(c, SEVERITY_WARNING, "nodes", "check the labels, or add nodes elsewhere",
                "all nodes have the same %.*s, '%.*s': there is nothing to spread over",
                STR_ARG(name), STR_ARG(keys->first[k]));
    }
}

static void check_nodes(struct check *c) {
    CLEANUP(strbuf_done) struct strbuf body = {.max = ANSWER_BYTES};
    struct keys keys = {.check = c};
    struct arena scratch;
    struct err err = {0};
    collect_keys(&c->configuration->engine, &keys);
    int status = ask(c, "GET", "/api/v1/nodes?resourceVersion=0", STR(""), &body, &err);
    if (status != 200) {
        SAY(c, SEVERITY_ERROR, "nodes", "", "they cannot be listed: %s",
            status < 0 ? err.text : "see permissions");
        return;
    }
    arena_init(&scratch, LIMIT_STATE_OBJECT_ARENA);
    if (objects_read(strbuf_str(&body), POD_PLACEMENT, &scratch, count_node, &keys, &err) == 0)
        judge_keys(c, &keys);
    else
        SAY(c, SEVERITY_ERROR, "nodes", "", "the API server's list of nodes: %s", err.text);
    arena_done(&scratch);
}

/* ---- how it watches ---- */

static void check_watch_list(struct check *c) {
    CLEANUP(strbuf_done) struct strbuf body = {.max = ANSWER_BYTES};
    struct err err = {0};
    int status = ask(c, "GET",
                     "/api/v1/namespaces?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
                     "&resourceVersionMatch=NotOlderThan&timeoutSeconds=1",
                     STR(""), &body, &err);
    if (status == 200)
        SAY(c, SEVERITY_INFO, "watch", "", "the first listing comes as a stream");
    else if (status == 400 || status == 422)
        SAY(c, SEVERITY_INFO, "watch", "",
            "the first listing comes in pages; streaming needs Kubernetes 1.32 or newer");
}

/* ---- all of it ---- */

static int open_client(struct check *c, struct kube_access *access, struct err *err) {
    const struct configuration *k = c->configuration;
    int r = k->kubernetes.in_cluster
                ? kube_access_in_cluster(c->arena, access, err)
                : kube_access_from_kubeconfig(k->kubernetes.kubeconfig, k->kubernetes.context,
                                              c->arena, access, err);
    return r == 0 ? kube_client_new(access, NULL, &c->client, err) : r;
}

void cluster_check(const struct configuration *configuration, struct findings *out,
                   const char **ret_server) {
    struct check check = {.configuration = configuration, .out = out, .arena = out->arena};
    struct kube_access access = {0};
    struct err err = {0};
    int r = open_client(&check, &access, &err);
    *ret_server = access.server != NULL ? access.server : "cluster";
    if (r != 0) {
        SAY(&check, SEVERITY_ERROR, "kubeconfig", "", "%s", err.text);
        return;
    }
    if (check_version(&check)) {
        check_clock(&check);
        check_permissions(&check);
        check_nodes(&check);
        check_watch_list(&check);
    }
    kube_client_free(check.client);
}
