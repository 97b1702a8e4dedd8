#include "check/cluster.h"

#include "base/json_fields.h"
#include "base/limits.h"
#include "base/time.h"
#include "check/hub.h"
#include "check/permissions.h"
#include "check/validating.h"
#include "config/purposes.h"
#include "kube/client/get.h"
#include "kube/client/list.h"
#include "kube/client/server_clock.h"
#include "kube/client/status.h"
#include "model/object.h"
#include "model/topology.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    KEYS_MAX = 32,
    NODES_NAMED = 3,
    ANSWER_BYTES = 64 << 20,
    OLDEST_MINOR = 27,
    ANSWER_MS = 10000
};

struct check {
    const struct configuration *configuration;
    enum server_role role;
    struct kube_client *client;
    struct check_report *out;
    struct arena *arena;
};

/* A finding's field names the hub or Karmada: "hub.server", "karmada.server". */
#define SAY(check, severity, what, advice, ...)                                                    \
    check_report_add((check)->out, severity, 0,                                                    \
                     (check)->role == SERVER_HUB       ? "hub." what                               \
                     : (check)->role == SERVER_KARMADA ? "karmada." what                           \
                                                       : what,                                     \
                     advice, __VA_ARGS__)

/* ---- asking ---- */

/* Returns the status of any answer, or -errno with err. The answer replaces the text of `body`. */
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

/* ---- does the server answer, and in which version ---- */

static const char *advice_for(const struct err *err) {
    if (err->code == -ETIMEDOUT)
        return "look whether the API server runs, hangs or is overloaded, and whether a firewall "
               "or proxy is in between";
    if (strstr(err->text, "certificate") != NULL || strstr(err->text, "SSL") != NULL)
        return "set the CA that signed the server's certificate in the kubeconfig; if the "
               "certificate is not for the server's address, set tls-server-name to a name that "
               "the certificate has";
    if (err->code == -ECONNREFUSED || err->code == -EHOSTUNREACH)
        return "look whether the API server runs, and whether a firewall or proxy is in between";
    return "";
}

static bool check_version(struct check *c) {
    struct version {
        struct str whole, minor;
    } said = {.whole = {0}};
    static const struct json_field fields[] = {JSON_TEXT("gitVersion", struct version, whole),
                                               JSON_TEXT("minor", struct version, minor)};
    CLEANUP(strbuf_done) struct strbuf body = {.max = LIMIT_KUBE_BODY};
    struct err err = {0};
    struct json_reader r;
    int status = 0;
    if (kube_get_within(c->client, "/version", ANSWER_MS, &body, &status, &err) != 0) {
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
    json_fields(&r, &JSON_ROWS(fields), &said);
    int64_t minor = 0;
    while (said.minor.n > 0 &&
           (said.minor.p[said.minor.n - 1] < '0' || said.minor.p[said.minor.n - 1] > '9'))
        said.minor.n--; /* a minor like "31+" */
    if (str_to_i64(said.minor, &minor) && minor < OLDEST_MINOR)
        SAY(c, SEVERITY_WARNING, "server", "upgrade the cluster",
            "Kubernetes %.*s is older than the oldest version that Evenkeel is tested with (1.%d)",
            STR_ARG(said.whole), OLDEST_MINOR);
    else
        SAY(c, SEVERITY_INFO, "server", "", "Kubernetes %.*s answers", STR_ARG(said.whole));
    return true;
}

/* Compares the clocks. The answer about the version had the API server's time. */
static void check_clock(struct check *c) {
    int64_t ahead_s = (kube_wall_us() - kube_server_us(c->client)) / 1000000;
    if (ahead_s > SERVER_CLOCK_APART_S || ahead_s < -SERVER_CLOCK_APART_S)
        SAY(c, SEVERITY_WARNING, "clock",
            "set this machine's clock right: with a wrong clock, certificates look expired or not "
            "valid yet",
            "this machine's clock is %lld s %s the API server's",
            (long long)(ahead_s > 0 ? ahead_s : -ahead_s), ahead_s > 0 ? "ahead of" : "behind");
}

/* ---- the nodes ---- */

struct keys {
    struct str names[KEYS_MAX];
    uint32_t with[KEYS_MAX];                   /* number of nodes with the label */
    struct str first[KEYS_MAX];                /* the label's first value; in the check's arena */
    struct str lacking[KEYS_MAX][NODES_NAMED]; /* names of nodes without it; in the check's arena */
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

/* Collects the topology keys that the configuration uses; pods may name other keys. */
static void collect_keys(const struct engine_options *engine, struct keys *keys) {
    add_key(keys, TOPOLOGY_KEY_HOSTNAME, false);
    add_key(keys, TOPOLOGY_KEY_ZONE, false);
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
    (void)err; /* cannot fail */
    for (uint32_t k = 0; k < keys->count; k++) {
        struct str value;
        uint32_t without = keys->nodes - keys->with[k];
        if (!labels_lookup(&object->meta.labels, keys->names[k], &value)) {
            if (without < NODES_NAMED)
                keys->lacking[k][without] = arena_str(keys->check->arena, object->meta.name);
            continue;
        }
        if (keys->with[k]++ == 0)
            keys->first[k] = arena_str(keys->check->arena, value);
        else if (!str_eq(keys->first[k], value))
            keys->several[k] = true;
    }
    keys->nodes++;
    return 0;
}

/* Appends "a, b, c and 7 more". */
static void name_nodes(const struct str names[static NODES_NAMED], uint32_t count,
                       struct strbuf *out) {
    for (uint32_t i = 0; i < count && i < NODES_NAMED; i++)
        strbuf_appendf(out, "%s%.*s", i > 0 ? ", " : "", STR_ARG(names[i]));
    if (count > NODES_NAMED)
        strbuf_appendf(out, " and %u more", count - NODES_NAMED);
}

static void say_lacking(struct check *c, const struct keys *keys, uint32_t k, uint32_t without) {
    CLEANUP(strbuf_done) struct strbuf names = {.max = ERR_TEXT_SIZE};
    name_nodes(keys->lacking[k], without, &names);
    SAY(c, keys->hard[k] ? SEVERITY_ERROR : SEVERITY_WARNING, "nodes",
        "label these nodes; pods that must spread over this label never land on nodes without the "
        "label",
        "%u of %u nodes have no label %.*s: %.*s", without, keys->nodes, STR_ARG(keys->names[k]),
        STR_ARG(strbuf_str(&names)));
}

static void judge_keys(struct check *c, const struct keys *keys) {
    SAY(c, SEVERITY_INFO, "nodes", "", "%u nodes", keys->nodes);
    for (uint32_t k = 0; k < keys->count && keys->nodes > 0; k++) {
        struct str name = keys->names[k];
        uint32_t without = keys->nodes - keys->with[k];
        if (without > 0)
            say_lacking(c, keys, k, without);
        else if (!keys->several[k] && keys->nodes > 1)
            SAY(c, SEVERITY_WARNING, "nodes", "check the labels, or add nodes elsewhere",
                "all nodes have the same %.*s, '%.*s': there is nothing to spread over",
                STR_ARG(name), STR_ARG(keys->first[k]));
    }
}

static int count_page(void *ctx, struct strbuf *page, struct err *err) {
    CLEANUP(arena_done) struct arena scratch;
    arena_init(&scratch, LIMIT_STATE_OBJECT_ARENA);
    return objects_read(strbuf_str(page), POD_RUNNING, &scratch, count_node, ctx, err);
}

static void check_nodes(struct check *c) {
    struct keys keys = {.check = c};
    struct err err = {0};
    int status = 0;
    collect_keys(&c->configuration->engine, &keys);
    const struct kube_listing nodes = {.path = "/api/v1/nodes"};
    int r = kube_list(c->client, &nodes, count_page, &keys, &status, &err);
    if (r == 0 && status == 200)
        judge_keys(c, &keys);
    else
        SAY(c, SEVERITY_ERROR, "nodes", "", "they cannot be listed: %s",
            r != 0 ? err.text : "see permissions");
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

/* Checks the facts that only spreading of pods needs. */
static void check_for_pods(struct check *c) {
    if (c->configuration->policies.watch)
        validating_check(c->configuration, c->client, c->out);
    check_nodes(c);
    check_watch_list(c);
}

static void check_server(struct check *c, const struct kube_access *access) {
    if (c->role != SERVER_CLUSTER) /* the heading names the cluster's server */
        SAY(c, SEVERITY_INFO, "server", "", "at %s", access->server);
    if (!check_version(c))
        return;
    check_clock(c);
    permissions_check(c->configuration, c->role, c->client, access->namespace, c->out);
    hub_check(c->configuration, c->role, c->client, c->out);
    if (c->role == SERVER_CLUSTER && configuration_serves_pods(c->configuration))
        check_for_pods(c);
}

/* Returns the server's URL, "" if it is not known. */
static const char *check_role(const struct configuration *configuration, enum server_role role,
                              struct check_report *out) {
    struct check check = {
        .configuration = configuration, .role = role, .out = out, .arena = out->arena};
    struct kube_access access = {0};
    struct err err = {0};
    int r = server_access(configuration, role, check.arena, &access, &err);
    if (r == 0)
        r = kube_client_new(&access, NULL, &check.client, &err);
    if (r == 0)
        check_server(&check, &access);
    else
        SAY(&check, SEVERITY_ERROR, "kubeconfig", "", "%s", err.text);
    kube_client_free(check.client);
    return access.server != NULL ? access.server : "";
}

/* Warns of a configured hub that no feature uses: no other check would report it. */
static void note_unused(const struct configuration *configuration, enum server_role role,
                        struct check_report *out) {
    if (role == SERVER_HUB && server_is_set(server_settings(configuration, role)))
        check_report_add(
            out, SEVERITY_WARNING, 0, "hub",
            "set fleet.clusters: true (--fleet-clusters) or ocm.enabled: true (--ocm), or "
            "remove hub",
            "it was not asked: nothing is watched at the hub, because fleet.clusters and "
            "ocm.enabled are off");
}

void cluster_check(const struct configuration *configuration, struct check_report *out,
                   const char **ret_server) {
    *ret_server = "";
    for (enum server_role i = 0; i < SERVER_ROLES; i++) {
        if (!server_is_used(configuration, i)) {
            note_unused(configuration, i, out);
            continue;
        }
        const char *server = check_role(configuration, i, out);
        if ((*ret_server)[0] == '\0')
            *ret_server = server;
    }
    if ((*ret_server)[0] == '\0')
        *ret_server = "cluster";
}
