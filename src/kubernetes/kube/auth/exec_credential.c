#include "kube/auth/exec_credential.h"

#include "base/base64.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/timestamp.h"
#include "certs/inspect.h"

#include <errno.h>

/* ---- the request ---- */

static void put_optional(struct json_writer *w, struct str key, const char *value) {
    if (value != NULL)
        json_put_member(w, key, str_of(value));
}

static void put_cluster(struct json_writer *w, const struct kube_access *access, struct str ca) {
    CLEANUP(strbuf_done) struct strbuf encoded = {0};
    base64_append(&encoded, ca);
    if (strbuf_failed(&encoded))
        w->out->failed = true;
    json_key(w, STR("cluster"));
    json_begin_object(w);
    json_put_member(w, STR("server"), str_of(access->server));
    put_optional(w, STR("tls-server-name"), access->tls_server_name);
    if (access->insecure_skip_tls_verify) {
        json_key(w, STR("insecure-skip-tls-verify"));
        json_put_bool(w, true);
    }
    if (ca.n > 0)
        json_put_member(w, STR("certificate-authority-data"), strbuf_str(&encoded));
    put_optional(w, STR("proxy-url"), access->proxy_url);
    json_key(w, STR("config"));
    json_put_raw(w, access->exec.cluster_config != NULL ? str_of(access->exec.cluster_config)
                                                        : STR("null"));
    json_end_object(w);
}

void exec_credential_info(const struct kube_access *access, struct str ca, struct strbuf *out) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_member(&w, STR("kind"), STR("ExecCredential"));
    json_put_member(&w, STR("apiVersion"), str_of(access->exec.api_version));
    json_key(&w, STR("spec"));
    json_begin_object(&w);
    if (access->exec.provide_cluster_info)
        put_cluster(&w, access, ca);
    json_key(&w, STR("interactive"));
    json_put_bool(&w, false);
    json_end_object(&w);
    json_end_object(&w);
}

/* ---- the answer ---- */

bool token_valid(struct str token) {
    for (size_t i = 0; i < token.n; i++)
        if ((unsigned char)token.p[i] <= ' ' || (unsigned char)token.p[i] >= 0x7f)
            return false;
    return token.n > 0;
}

static int64_t read_expiry(struct json_reader *r) {
    int64_t ms = INT64_MAX;
    struct str text = json_string(r);
    if (text.n > 0 && !timestamp_parse(text, &ms))
        json_fail(r, "'%.*s' is not a time such as 2026-01-02T03:04:05Z", STR_ARG(text));
    return ms;
}

static void read_status(struct json_reader *r, struct exec_credential *c) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("token")))
            c->token = json_string(r);
        else if (str_eq(key, STR("clientCertificateData")))
            c->certificate = json_string(r);
        else if (str_eq(key, STR("clientKeyData")))
            c->key = json_string(r);
        else if (str_eq(key, STR("expirationTimestamp")))
            c->expires_ms = read_expiry(r);
    }
}

struct header {
    struct str kind, api_version;
    bool has_status;
};

static void read_answer(struct json_reader *r, struct header *h, struct exec_credential *c) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("kind"))) {
            h->kind = json_string(r);
        } else if (str_eq(key, STR("apiVersion"))) {
            h->api_version = json_string(r);
        } else if (str_eq(key, STR("status"))) {
            h->has_status = json_peek(r) == JSON_OBJECT;
            read_status(r, c);
        }
    }
}

static int check_header(const struct header *h, const char *api_version, struct err *err) {
    if (!str_eq(h->kind, STR("ExecCredential")))
        return err_set(err, -EINVAL, "it printed kind '%.*s' instead of ExecCredential",
                       STR_ARG(h->kind));
    if (!str_eq(h->api_version, str_of(api_version)))
        return err_set(err, -EINVAL, "it printed apiVersion '%.*s', the kubeconfig asks for '%s'",
                       STR_ARG(h->api_version), api_version);
    return h->has_status ? 0 : err_set(err, -EINVAL, "it printed no status");
}

static int check_credential(const struct exec_credential *c, struct err *err) {
    bool belongs = false;
    if (c->token.n + c->certificate.n + c->key.n == 0)
        return err_set(err, -EINVAL, "it printed neither a token nor a certificate with key");
    if ((c->certificate.n > 0) != (c->key.n > 0))
        return err_set(err, -EINVAL, "it printed %s without %s",
                       c->key.n > 0 ? "clientKeyData" : "clientCertificateData",
                       c->key.n > 0 ? "clientCertificateData" : "clientKeyData");
    if (c->token.n > 0 && !token_valid(c->token))
        return err_set(err, -EINVAL,
                       "its token has blanks or other characters in it that no "
                       "header may have");
    if (c->certificate.n == 0)
        return 0;
    int r = certificate_has_key(c->certificate, c->key, &belongs, err);
    if (r != 0) {
        (void)err_wrap(err, "its certificate and key"); /* r says the same, also without err */
        return r;
    }
    return belongs ? 0 : err_set(err, -EINVAL, "its key does not belong to its certificate");
}

static void wipe(struct str s) {
    if (s.n > 0)
        explicit_bzero((void *)(uintptr_t)s.p, s.n); /* writable memory: see exec_credential_read()
                                                      */
}

void exec_credential_wipe(const struct exec_credential *c) {
    wipe(c->token);
    wipe(c->certificate);
    wipe(c->key);
}

int exec_credential_read(struct str text, const char *api_version, struct arena *arena,
                         struct exec_credential *ret, struct err *err) {
    struct exec_credential c = {.expires_ms = INT64_MAX};
    struct header header = {.has_status = false};
    struct json_reader reader;
    json_reader_init(&reader, text, arena, "ExecCredential");
    read_answer(&reader, &header, &c);
    int r = json_finish(&reader, err);
    if (r != 0)
        (void)err_wrap(err, "its output"); /* r says the same, also without err */
    if (r == 0)
        r = check_header(&header, api_version, err);
    if (r == 0)
        r = check_credential(&c, err);
    if (r == 0)
        *ret = c;
    else
        exec_credential_wipe(&c);
    return r;
}
