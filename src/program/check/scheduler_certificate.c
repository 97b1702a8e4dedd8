/*
 * By which name does kube-scheduler call Evenkeel, and is the server's certificate valid for that
 * name? The certificate is looked up in Evenkeel's own configuration, its file, or a given Secret.
 * upstream: client-go transport TLSConfigFor (serverName in place of the URL's host).
 */
#include "base/file.h"
#include "base/limits.h"
#include "base/time.h"
#include "certs/bundle.h"
#include "certs/host.h"
#include "certs/inspect.h"
#include "check/scheduler.h"
#include "kube/objects/tls_secret.h"
#include "yaml/yaml.h"

#include <errno.h>
#include <stdio.h>

enum { SECONDS_PER_DAY = 86400, NEAR_DAYS = 14 };

/* ---- names ---- */

/* Returns "[::1]" for "https://[::1]:8443/extender/v1". */
static struct str host_of(struct str url) {
    size_t begin = strlen("https://"), end;
    if (url.n < begin)
        return STR("");
    bool bracket = url.n > begin && url.p[begin] == '[';
    for (end = begin; end < url.n; end++)
        if (url.p[end] == '/' || (url.p[end] == ':' && !bracket))
            break;
        else if (url.p[end] == ']')
            bracket = false;
    return (struct str){url.p + begin, end - begin};
}

/* Returns the name that the certificate must have. */
static struct str name_of(const struct judge *j) {
    struct str name = j->extender->tls.server_name;
    return name.n > 0 ? name : host_of(j->extender->url_prefix);
}

/* Is this a name that only the cluster's own DNS knows? */
static bool is_service(struct str host) {
    static const struct str part = {".svc.", 5};
    if (str_has_suffix(host, STR(".svc")))
        return true;
    for (size_t i = 0; i + part.n <= host.n; i++)
        if (memcmp(host.p + i, part.p, part.n) == 0)
            return true;
    return false;
}

/* upstream: kubernetes#68890. */
static void judge_service(const struct judge *j) {
    static const char advice[] =
        "on the host's network write the Service's clusterIP; then add the clusterIP to "
        "extender.certificates.hosts, too, or set tlsConfig.serverName to the name";
    struct str host = host_of(j->extender->url_prefix);
    if (!is_service(host))
        return;
    if (j->config->has_kubeconfig)
        judge_say(j, SEVERITY_WARNING, "urlPrefix", advice,
                  "a kube-scheduler with a kubeconfig is mostly a static pod on the host's "
                  "network: there '%.*s' has no address, so that no call arrives",
                  STR_ARG(host));
    else
        judge_say(
            j, SEVERITY_INFO, "urlPrefix", advice,
            "only pods can resolve '%.*s', and a static kube-scheduler is on the host's network",
            STR_ARG(host));
}

/* ---- the certificate that Evenkeel will make ---- */

static bool is_same_host(const struct host *a, const struct host *b) {
    return a->kind == b->kind && a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

/* A wildcard stands for one whole label. */
static bool is_for(const struct host *certified, const struct host *wanted) {
    const char *dot = memchr(wanted->bytes, '.', wanted->n);
    if (is_same_host(certified, wanted))
        return true;
    if (certified->kind != HOST_DNS || wanted->kind != HOST_DNS || dot == NULL ||
        certified->n < 2 || certified->bytes[0] != '*')
        return false;
    size_t rest = wanted->n - (size_t)(dot - wanted->bytes);
    return certified->n - 1 == rest && memcmp(certified->bytes + 1, dot, rest) == 0;
}

static void judge_hosts(const struct judge *j, const struct configuration_certificates *o) {
    struct host wanted, certified;
    struct str name = name_of(j);
    if (host_parse(name, &wanted, NULL) != 0)
        return; /* judge_url() reports it */
    for (size_t i = 0; i < o->host_count; i++)
        if (host_parse(o->hosts[i], &certified, NULL) == 0 && is_for(&certified, &wanted))
            return;
    judge_say(
        j, SEVERITY_ERROR,
        j->extender->tls.server_name.n > 0 ? "tlsConfig.serverName" : "urlPrefix",
        "add this name to extender.certificates.hosts, or set tlsConfig.serverName to a name in "
        "that list",
        "Evenkeel's certificate will not be for '%.*s', so kube-scheduler refuses it and every "
        "call fails",
        STR_ARG(name));
}

/* ---- existing certificates ---- */

void judge_dates(const struct judge *j, const char *member, const char *advice, struct str what,
                 const struct certificate *c) {
    int64_t now_s = kube_wall_us() / 1000000, left_s = c->not_after_s - now_s;
    if (left_s <= 0)
        judge_say(j, SEVERITY_ERROR, member, advice, "'%.*s' has expired %lld days ago",
                  STR_ARG(what), (long long)(-left_s / SECONDS_PER_DAY));
    else if (c->not_before_s > now_s)
        judge_say(j, SEVERITY_WARNING, member, "set this machine's clock right",
                  "'%.*s' is not valid yet", STR_ARG(what));
    else if (left_s < (int64_t)NEAR_DAYS * SECONDS_PER_DAY)
        judge_say(j, SEVERITY_WARNING, member, advice, "'%.*s' expires in %lld days", STR_ARG(what),
                  (long long)(left_s / SECONDS_PER_DAY));
}

static void join_names(const struct certificate *c, struct strbuf *out) {
    for (size_t i = 0; i < c->name_count; i++)
        strbuf_appendf(out, "%s%.*s", i > 0 ? ", " : "", STR_ARG(c->names[i]));
}

/* Matches like Go, which accepts "*.svc" too. c->names mixes DNS names and addresses, and an
 * address among the DNS names must not match, so addresses are looked up in the PEM. */
static bool covers(struct str pem, const struct certificate *c, struct str name) {
    struct host wanted, certified;
    bool covered;
    if (host_parse(name, &wanted, NULL) != 0)
        return true; /* judge_url() reports it */
    if (wanted.kind == HOST_IP)
        return certificate_covers(pem, name, &covered, NULL) != 0 || covered;
    for (size_t i = 0; i < c->name_count; i++)
        if (host_parse(c->names[i], &certified, NULL) == 0 && is_for(&certified, &wanted))
            return true;
    return false;
}

static void judge_server_pem(const struct judge *j, struct str what, struct str pem,
                             const struct certificate *c) {
    CLEANUP(strbuf_done) struct strbuf names = {.max = ERR_TEXT_SIZE};
    struct str name = name_of(j);
    judge_dates(j, "urlPrefix", "renew Evenkeel's certificate", what, c);
    if (covers(pem, c, name))
        return;
    join_names(c, &names);
    judge_say(
        j, SEVERITY_ERROR,
        j->extender->tls.server_name.n > 0 ? "tlsConfig.serverName" : "urlPrefix",
        "have Evenkeel's certificate made for that name, or set tlsConfig.serverName to a name "
        "that the certificate has",
        "the certificate in '%.*s' is not for '%.*s' but for %.*s, so kube-scheduler refuses it "
        "and every call fails",
        STR_ARG(what), STR_ARG(name), STR_ARG(strbuf_str(&names)));
}

/* Checks Evenkeel's own certificate file, if this machine has it. */
static void judge_file(const struct judge *j, const char *path) {
    CLEANUP(strbuf_done) struct strbuf pem = {.max = LIMIT_CONFIG_BYTES + 1};
    struct certificate *chain;
    size_t count;
    if (path != NULL && file_read(path, LIMIT_CONFIG_BYTES, &pem, NULL) == 0 &&
        certificates_read(strbuf_str(&pem), j->out->arena, &chain, &count, NULL) == 0)
        judge_server_pem(j, str_of(path), strbuf_str(&pem), &chain[0]);
}

/* ---- a Secret ---- */

static int read_secret(const struct judge *j, struct tls_secret *ret, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = LIMIT_CONFIG_BYTES + 1};
    struct yaml_json doc;
    int r = file_read(j->secret, LIMIT_CONFIG_BYTES, &text, err);
    if (r == 0)
        r = yaml_to_json(strbuf_str(&text), false, j->out->arena, &doc, err);
    if (r == 0 && doc.document_count != 1)
        r = err_set(err, -EINVAL, "there are %zu documents in it", doc.document_count);
    return r == 0 ? tls_secret_read(doc.documents[0], j->out->arena, ret, err) : r;
}

/* Is kube-scheduler's file at `path` on this machine, but with a text that differs from `text`? */
static bool differs(const struct judge *j, struct str path, struct str text) {
    CLEANUP(strbuf_done) struct strbuf there = {.max = LIMIT_CONFIG_BYTES + 1};
    const char *name = path.n > 0 ? arena_cstr(j->out->arena, path) : NULL;
    return name != NULL && text.n > 0 && file_read(name, LIMIT_CONFIG_BYTES, &there, NULL) == 0 &&
           !bundle_same(strbuf_str(&there), text);
}

static void judge_client_secret(const struct judge *j, const struct tls_secret *secret,
                                const struct certificate *c) {
    static const char advice[] =
        "Evenkeel renews the certificate when two thirds of its time are over; see Evenkeel's log";
    const struct scheduler_tls *tls = &j->extender->tls;
    judge_dates(j, "tlsConfig.certFile", advice, str_of(j->secret), c);
    if (differs(j, tls->cert_file, secret->certificate))
        judge_say(j, SEVERITY_WARNING, "tlsConfig.certFile",
                  "copy tls.crt and tls.key; kube-scheduler reads them again by itself",
                  "'%.*s' is not the certificate in '%s', which may be newer",
                  STR_ARG(tls->cert_file), j->secret);
}

static void judge_secret(const struct judge *j) {
    const struct scheduler_tls *tls = &j->extender->tls;
    struct tls_secret secret;
    struct certificate *chain;
    size_t count;
    struct err err;
    int r = read_secret(j, &secret, &err);
    if (r == 0)
        r = certificates_read(secret.certificate, j->out->arena, &chain, &count, &err);
    if (r != 0) {
        check_report_add(
            j->out, SEVERITY_ERROR, 0, "--secret",
            "give the output of 'kubectl get secret NAME -o yaml' for a Secret with tls.crt",
            "'%s': %s", j->secret, err.text);
        return;
    }
    if (chain[0].for_server)
        judge_server_pem(j, str_of(j->secret), secret.certificate, &chain[0]);
    else
        judge_client_secret(j, &secret, &chain[0]);
    if (differs(j, tls->ca_file, secret.ca))
        judge_say(j, SEVERITY_WARNING, "tlsConfig.caFile",
                  "copy ca.crt, and start kube-scheduler again: it reads ca.crt only once",
                  "'%.*s' has other authorities than '%s'", STR_ARG(tls->ca_file), j->secret);
}

void judge_certificate(const struct judge *j) {
    if (!str_has_prefix(j->extender->url_prefix, STR("https://")))
        return; /* reported already */
    judge_service(j);
    if (j->secret != NULL)
        judge_secret(j);
    if (j->evenkeel == NULL)
        return;
    if (j->evenkeel->extender.certificates.mode == CERTIFICATES_SELF_SIGNED)
        judge_hosts(j, &j->evenkeel->extender.certificates);
    else
        judge_file(j, j->evenkeel->extender.tls.cert_file);
}
