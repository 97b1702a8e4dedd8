#include "members/karmada_access.h"

#include "base/base64.h"
#include "base/hash.h"
#include "base/json_reader.h"
#include "model/kinds.h"
#include "model/names.h"

#include <errno.h>

/* ---- the Cluster ---- */

bool karmada_access_same(const struct karmada_cluster *a, const struct karmada_cluster *b) {
    const struct karmada_access *left = &a->access, *right = &b->access;
    return str_eq(a->meta.uid, b->meta.uid) && str_eq(left->endpoint, right->endpoint) &&
           str_eq(left->secret_namespace, right->secret_namespace) &&
           str_eq(left->secret_name, right->secret_name) &&
           str_eq(left->proxy_url, right->proxy_url) &&
           str_eq(left->proxy_headers, right->proxy_headers) &&
           left->insecure_skip_tls_verify == right->insecure_skip_tls_verify && a->pull == b->pull;
}

uint64_t karmada_access_place(const struct karmada_cluster *c) {
    const struct karmada_access *a = &c->access;
    const struct str headers = str_empty(a->proxy_url) ? STR("") : a->proxy_headers;
    const uint64_t proxy = hash_mix(hash_str(a->proxy_url), hash_str(headers));
    return hash_mix(hash_str(a->endpoint), proxy);
}

bool karmada_access_is_named(const struct karmada_cluster *c) {
    const struct karmada_access *a = &c->access;
    return !str_empty(a->endpoint) && !str_empty(a->secret_namespace) && !str_empty(a->secret_name);
}

int karmada_access_check(const struct karmada_cluster *c, const struct karmada_access_rules *rules,
                         struct err *err) {
    const struct karmada_access *a = &c->access;
    if (!str_eq(a->secret_namespace, rules->secret_namespace))
        return err_set(err, -EPERM,
                       "spec.secretRef names a Secret in namespace '%.*s': only those in "
                       "karmada.clusterNamespace '%.*s' are read; set karmada.clusterNamespace if "
                       "Karmada keeps its Secrets elsewhere",
                       STR_ARG(a->secret_namespace), STR_ARG(rules->secret_namespace));
    if (!rules->plain_http && str_has_prefix(a->endpoint, STR("http://")))
        return err_set(err, -EPERM,
                       "spec.apiEndpoint is http://: Evenkeel sends no token over plain HTTP");
    return 0;
}

/* ---- the Secret ---- */

struct secret_data {
    struct object_meta meta;
    struct str token, ca; /* base64 */
    bool has_ca;
};

static void data_decode(struct json_reader *r, struct secret_data *ret) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("token")))
            ret->token = json_string(r);
        else if (str_eq(key, STR("caBundle"))) {
            ret->ca = json_string(r);
            ret->has_ca = true;
        }
    }
}

static int secret_decode(struct str json, struct arena *arena, struct secret_data *ret,
                         struct err *err) {
    struct json_reader r;
    struct str key;
    *ret = (struct secret_data){.has_ca = false};
    json_reader_init(&r, json, arena, SECRET_KIND);
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("metadata")))
                meta_decode(&r, &ret->meta);
            else if (str_eq(key, STR("data")))
                data_decode(&r, ret);
        }
    return json_check(&r, err);
}

/* Karmada gives the Secret the Cluster's name, and makes the Cluster its owner. It does the same
 * for the impersonation Secret, whose name may be another Cluster's name.
 * upstream: karmada pkg/util/credential.go, RegisterClusterInControllerPlane (v1.18.1). */
static int check_owner(const struct karmada_cluster *c, const struct object_meta *secret,
                       struct err *err) {
    if (str_eq(secret->controller_kind, str_of(watched_kinds[KIND_KARMADA_CLUSTER].kind)) &&
        str_has_prefix(secret->controller_api, STR(KARMADA_CLUSTER_GROUP "/")))
        return str_eq(secret->controller_name, c->meta.name) &&
                       str_eq(secret->controller_uid, c->meta.uid)
                   ? 0
                   : err_set(err, -EPERM,
                             "spec.secretRef names the Secret '%.*s', which belongs to Cluster "
                             "'%.*s' with the uid '%.*s'",
                             STR_ARG(c->access.secret_name), STR_ARG(secret->controller_name),
                             STR_ARG(secret->controller_uid));
    return str_eq(c->access.secret_name, c->meta.name)
               ? 0
               : err_set(err, -EPERM,
                         "spec.secretRef names the Secret '%.*s', which has another name than the "
                         "Cluster, and no Cluster as its controlling owner (controller: true)",
                         STR_ARG(c->access.secret_name));
}

/* ---- the access ---- */

/* Is it visible ASCII, with blanks if allowed? Such bytes cannot end a header's line or begin
 * another one. */
static bool is_printable(struct str s, bool blanks) {
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < 0x20 || s.p[i] > 0x7e || (!blanks && s.p[i] == ' '))
            return false;
    return true;
}

static int use_token(struct str base64, struct arena *arena, struct kube_access *ret,
                     struct err *err) {
    struct str token;
    if (!base64_decode(base64, arena, &token))
        return err_set(err, -EINVAL, "the Secret's 'token' is no base64");
    if (str_empty(token))
        return err_set(err, -EINVAL, "the Secret has no 'token'");
    if (!is_printable(token, false))
        return err_set(err, -EINVAL, "the Secret's 'token' has bytes in it that no token may have");
    ret->token = arena_cstr(arena, token);
    return 0;
}

static int use_ca(const struct secret_data *data, struct arena *arena, struct kube_access *ret,
                  struct err *err) {
    if (!data->has_ca)
        return err_set(err, -EINVAL, "the Secret has no 'caBundle'");
    if (!base64_decode(data->ca, arena, &ret->ca.data))
        return err_set(err, -EINVAL, "the Secret's 'caBundle' is no base64");
    return 0;
}

/* Makes one line for each value: upstream cuts at commas. */
static int use_proxy_headers(struct str json, struct arena *arena, struct kube_access *ret,
                             struct err *err) {
    struct json_reader r;
    struct str key;
    const char **lines = NULL;
    uint32_t cap = 0;
    size_t count = 0;
    json_reader_init(&r, json, arena, "proxyHeader");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            struct str rest = json_string(&r);
            bool more = true;
            while (more) {
                const size_t comma = str_find(rest, ',');
                more = comma != SIZE_MAX;
                const struct str value = {rest.p, more ? comma : rest.n};
                rest = more ? (struct str){rest.p + comma + 1, rest.n - comma - 1} : rest;
                if (str_empty(key) || str_find(key, ':') != SIZE_MAX || !is_printable(key, false) ||
                    !is_printable(value, true))
                    return err_set(err, -EINVAL, "spec.proxyHeader: '%.*s' is no header",
                                   STR_ARG(key));
                lines = arena_push(arena, lines, count, &cap, sizeof *lines);
                CLEANUP(strbuf_done) struct strbuf line = {0};
                strbuf_appendf(&line, "%.*s: %.*s", STR_ARG(key), STR_ARG(value));
                if (lines == NULL || strbuf_failed(&line))
                    return err_set(err, -ENOMEM, "no memory for credentials");
                lines[count++] = arena_cstr(arena, strbuf_str(&line));
            }
        }
    ret->proxy_headers = lines;
    ret->proxy_header_count = count;
    return json_check(&r, err);
}

static int use_cluster(const struct karmada_access *a, struct arena *arena, struct kube_access *ret,
                       struct err *err) {
    struct str endpoint = a->endpoint;
    while (endpoint.n > 0 && endpoint.p[endpoint.n - 1] == '/')
        endpoint.n--;
    if (str_empty(endpoint) || !is_printable(endpoint, false))
        return err_set(err, -EINVAL, "spec.apiEndpoint is no address");
    const bool has_scheme =
        str_has_prefix(endpoint, STR("https://")) || str_has_prefix(endpoint, STR("http://"));
    CLEANUP(strbuf_done) struct strbuf url = {0};
    strbuf_appendf(&url, "%s%.*s", has_scheme ? "" : "https://", STR_ARG(endpoint));
    if (strbuf_failed(&url))
        return err_set(err, -ENOMEM, "no memory for credentials");
    ret->server = arena_cstr(arena, strbuf_str(&url));
    ret->namespace = "default";
    ret->source = "Cluster and Secret in Karmada";
    ret->insecure_skip_tls_verify = a->insecure_skip_tls_verify;
    if (str_empty(a->proxy_url))
        return 0;
    if (!is_printable(a->proxy_url, false))
        return err_set(err, -EINVAL, "spec.proxyURL is no address");
    ret->proxy_url = arena_cstr(arena, a->proxy_url);
    return str_empty(a->proxy_headers) ? 0 : use_proxy_headers(a->proxy_headers, arena, ret, err);
}

static uint64_t hash_access(const struct kube_access *a) {
    uint64_t hash = hash_str(str_of(a->server));
    hash = hash_mix(hash, hash_str(str_of(a->token)));
    hash = hash_mix(hash, hash_str(a->ca.data));
    hash = hash_mix(hash, hash_str(str_of(a->proxy_url)));
    for (size_t i = 0; i < a->proxy_header_count; i++)
        hash = hash_mix(hash, hash_str(str_of(a->proxy_headers[i])));
    return hash_mix(hash, a->insecure_skip_tls_verify);
}

int karmada_access_read(const struct karmada_cluster *c, struct str secret, struct arena *arena,
                        struct kube_access *ret, uint64_t *ret_hash, struct err *err) {
    struct secret_data data;
    *ret = (struct kube_access){.server = NULL};
    int r = secret_decode(secret, arena, &data, err);
    if (r == 0)
        r = check_owner(c, &data.meta, err);
    if (r == 0)
        r = use_cluster(&c->access, arena, ret, err);
    if (r == 0)
        r = use_token(data.token, arena, ret, err);
    if (r == 0 && !c->access.insecure_skip_tls_verify)
        r = use_ca(&data, arena, ret, err);
    if (arena_failed(arena))
        return err_set(err, -ENOMEM, "no memory for credentials");
    if (r == 0)
        *ret_hash = hash_access(ret);
    return r;
}
