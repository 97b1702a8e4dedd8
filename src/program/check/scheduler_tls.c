/*
 * The TLS half of an extender's entry. upstream: kube-scheduler extender.go makeTransport,
 * client-go transport TLSConfigFor.
 */
#include "base/file.h"
#include "base/limits.h"
#include "certs/inspect.h"
#include "check/scheduler.h"

#include <errno.h>

static bool is_https(const struct judge *j) {
    return str_has_prefix(j->extender->url_prefix, STR("https://"));
}

static bool has_ca(const struct scheduler_tls *tls) {
    return tls->ca_file.n > 0 || tls->ca_data.n > 0;
}

static bool has_certificate(const struct scheduler_tls *tls) {
    return tls->cert_file.n > 0 || tls->cert_data.n > 0;
}

static bool has_key(const struct scheduler_tls *tls) {
    return tls->key_file.n > 0 || tls->key_data.n > 0;
}

void judge_tls_start(const struct judge *j) {
    const struct scheduler_tls *tls = &j->extender->tls;
    if (tls->insecure && has_ca(tls))
        judge_say(j, SEVERITY_ERROR, "tlsConfig.insecure", "remove insecure",
                  "insecure together with a CA: kube-scheduler does not start");
}

/* ---- verification of server and client ---- */

static void judge_server(const struct judge *j) {
    static const char advice[] = "set tlsConfig.caFile to the CA of Evenkeel's certificate";
    const struct scheduler_extender *e = j->extender;
    if (has_ca(&e->tls))
        return;
    if (e->tls.insecure)
        judge_say(j, SEVERITY_WARNING, "tlsConfig.insecure", advice,
                  "whoever answers is believed: the server is not verified");
    else if (e->enable_https)
        judge_say(j, SEVERITY_ERROR, "tlsConfig", advice,
                  "with enableHTTPS and no CA, kube-scheduler silently does not verify the server");
    else
        judge_say(j, SEVERITY_WARNING, "tlsConfig", advice,
                  "no CA: Evenkeel's certificate must be from a CA that the machine trusts");
}

static void judge_client(const struct judge *j) {
    const struct scheduler_tls *tls = &j->extender->tls;
    bool certificate = has_certificate(tls), key = has_key(tls);
    if (certificate && !key)
        judge_say(j, SEVERITY_ERROR, "tlsConfig", "set keyFile",
                  "a certificate without its key is not shown: Evenkeel refuses such callers if it "
                  "has a clientCAFile");
    else if (key && !certificate)
        judge_say(j, SEVERITY_ERROR, "tlsConfig", "set certFile",
                  "a key without its certificate is of no use: Evenkeel refuses such callers if it "
                  "has a clientCAFile");
    else if (!key && j->evenkeel != NULL && configuration_asks_callers(j->evenkeel))
        judge_say(j, SEVERITY_ERROR, "tlsConfig", "set certFile and keyFile",
                  "no client certificate, but Evenkeel's own configuration has a clientCAFile, or "
                  "certificates in a Secret: every call fails");
    else if (!key)
        judge_say(j, SEVERITY_INFO, "tlsConfig", "set certFile and keyFile",
                  "no client certificate: Evenkeel answers only if it has no clientCAFile, and "
                  "then it listens on its own machine only");
}

/* ---- inline data ---- */

static void judge_data(const struct judge *j, const char *member, struct str data,
                       struct str file) {
    if (data.n == 0)
        return;
    if (str_has_prefix(data, STR("-----BEGIN")))
        judge_say(j, SEVERITY_ERROR, member, "encode it: base64 -w0 FILE",
                  "this is PEM, but must be the base64 of it: kube-scheduler refuses the file");
    else if (!str_has_prefix(data, STR("LS0tLS1CRUdJTi"))) /* "-----BEGIN" in base64 */
        judge_say(j, SEVERITY_WARNING, member, "encode it: base64 -w0 FILE",
                  "this does not look like the base64 of PEM");
    if (file.n > 0)
        judge_say(j, SEVERITY_WARNING, member, "keep one of them",
                  "kube-scheduler does not use the file of the same name beside this member");
}

/* ---- files, if they are on this machine ---- */

/* Returns false if the file cannot be read; then this has been reported. */
static bool read_pem(const struct judge *j, const char *member, struct str path,
                     struct strbuf *pem) {
    const char *name = arena_cstr(j->out->arena, path);
    struct err err;
    int r = name == NULL ? -ENOMEM : file_read(name, LIMIT_CONFIG_BYTES, pem, &err);
    if (r == -ENOENT)
        judge_say(j, SEVERITY_INFO, member, "check again where kube-scheduler runs",
                  "'%.*s' is not on this machine, so it was not looked at", STR_ARG(path));
    else if (r != 0 && name != NULL)
        judge_say(j, SEVERITY_WARNING, member, "check again where kube-scheduler runs", "%s",
                  err.text);
    return r == 0;
}

/* Appends the certificates to `pem`. Returns false if no certificate can be used. */
static bool judge_certificates(const struct judge *j, const char *member, struct str path,
                               struct strbuf *pem) {
    struct certificate *certificates;
    size_t count;
    struct err err;
    if (path.n == 0 || !read_pem(j, member, path, pem))
        return false;
    if (certificates_read(strbuf_str(pem), j->out->arena, &certificates, &count, &err) == 0) {
        if (!certificates[0].is_ca)
            judge_dates(j, member, "renew it: kube-scheduler reads the file again by itself", path,
                        &certificates[0]);
        return true;
    }
    judge_say(j, SEVERITY_WARNING, member, "it must hold certificates in PEM", "'%.*s': %s",
              STR_ARG(path), err.text);
    return false;
}

static void judge_files(const struct judge *j) {
    const struct scheduler_tls *tls = &j->extender->tls;
    CLEANUP(strbuf_done) struct strbuf ca = {.max = LIMIT_CONFIG_BYTES + 1};
    CLEANUP(strbuf_done) struct strbuf certificate = {.max = LIMIT_CONFIG_BYTES + 1};
    CLEANUP(strbuf_done) struct strbuf key = {.max = LIMIT_CONFIG_BYTES + 1};
    struct err err;
    bool fits;
    (void)judge_certificates(j, "tlsConfig.caFile", tls->ca_file, &ca); /* it has reported */
    bool good = judge_certificates(j, "tlsConfig.certFile", tls->cert_file, &certificate);
    if (tls->key_file.n == 0 || !read_pem(j, "tlsConfig.keyFile", tls->key_file, &key) || !good)
        return;
    if (certificate_has_key(strbuf_str(&certificate), strbuf_str(&key), &fits, &err) != 0)
        judge_say(j, SEVERITY_WARNING, "tlsConfig.keyFile", "it must hold a private key in PEM",
                  "'%.*s': %s", STR_ARG(tls->key_file), err.text);
    else if (!fits)
        judge_say(j, SEVERITY_WARNING, "tlsConfig.keyFile", "use the key of certFile",
                  "'%.*s' does not belong to the certificate", STR_ARG(tls->key_file));
}

void judge_tls(const struct judge *j) {
    const struct scheduler_tls *tls = &j->extender->tls;
    if (!is_https(j)) /* reported already, and nothing here has an effect */
        return;
    judge_server(j);
    judge_client(j);
    judge_data(j, "tlsConfig.caData", tls->ca_data, tls->ca_file);
    judge_data(j, "tlsConfig.certData", tls->cert_data, tls->cert_file);
    judge_data(j, "tlsConfig.keyData", tls->key_data, tls->key_file);
    judge_files(j);
}
