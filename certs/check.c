#include "certs/check.h"

#include "base/file.h"
#include "base/limits.h"
#include "certs/authority.h"
#include "certs/inspect.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

enum { MAX_PROBLEMS = 256, SECONDS_PER_DAY = 86400 };

#define RENEW "renew it with 'evenkeel certs init', or get a new one from its issuer"

/* One run: the request, the files that were read, and the findings. */
struct check {
    const struct check_request *request;
    struct arena *arena;
    struct check_report *report;
    struct strbuf certificate, key, ca; /* PEM texts; empty if the file cannot be read */
    bool for_server;                    /* the leaf may be used for a server */
};

static void done(struct check *c) {
    strbuf_done(&c->certificate);
    key_done(&c->key);
    strbuf_done(&c->ca);
}

/* Adds a problem; ignores those beyond MAX_PROBLEMS. */
static void problem(struct check *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void problem(struct check *c, const char *fmt, ...) {
    if (c->report->count == MAX_PROBLEMS)
        return;
    char text[1024];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args); /* truncation is fine: people read it */
    va_end(args);
    c->report->problems[c->report->count++] = arena_str(c->arena, str_of(text));
}

static bool read_pem(struct check *c, const char *path, struct strbuf *out) {
    struct err err;
    out->max = LIMIT_CONFIG_BYTES + 1;
    if (file_read(path, LIMIT_CONFIG_BYTES, out, &err) == 0)
        return true;
    problem(c, "%s: give a file that this user can read", err.text);
    strbuf_clear(out);
    return false;
}

/* Writes a date like "2026-01-02 03:04:05 UTC" to `text`, and returns `text`. */
static const char *date(int64_t at_s, char text[32]) {
    time_t at = at_s;
    struct tm tm = {0};
    (void)gmtime_r(&at, &tm); /* fails only if the year exceeds an int */
    (void)strftime(text, 32, "%Y-%m-%d %H:%M:%S UTC", &tm); /* it fits */
    return text;
}

static void check_end(struct check *c, const char *path, const char *what, int64_t not_after_s,
                      const char *advice) {
    char text[32];
    int64_t left_s = not_after_s - c->request->now_s;
    if (left_s <= 0)
        problem(c, "%s: %s expired on %s: %s", path, what, date(not_after_s, text), advice);
    else if (left_s < (int64_t)c->request->within_days * SECONDS_PER_DAY)
        problem(c, "%s: %s expires in %lld days, on %s: %s", path, what,
                (long long)(left_s / SECONDS_PER_DAY), date(not_after_s, text), advice);
}

static void check_leaf(struct check *c) {
    const char *path = c->request->certificate_path;
    struct certificate *chain;
    size_t count;
    struct err err;
    if (certificates_read(strbuf_str(&c->certificate), c->arena, &chain, &count, &err) != 0) {
        problem(c, "%s: %s: give the server's certificate as PEM", path, err.text);
        strbuf_clear(&c->certificate);
        return;
    }
    char text[32];
    c->report->not_after_s = chain[0].not_after_s;
    if (chain[0].not_before_s > c->request->now_s)
        problem(c, "%s: the certificate is not valid before %s: check this machine's clock", path,
                date(chain[0].not_before_s, text));
    check_end(c, path, "the certificate", chain[0].not_after_s, RENEW);
    for (size_t i = 1; i < count; i++)
        check_end(c, path, "an intermediate certificate", chain[i].not_after_s,
                  "get a new chain from its issuer");
    c->for_server = chain[0].for_server;
    if (!c->for_server)
        problem(c,
                "%s: the certificate is not for servers (its key usage says so): give the server's "
                "certificate, or issue one ('evenkeel certs init')",
                path);
    if (chain[0].name_count == 0)
        problem(c,
                "%s: the certificate has no subject alternative names, and clients written in Go "
                "ignore the common name '%.*s': issue one with names ('evenkeel certs init --host "
                "NAME')",
                path, STR_ARG(chain[0].common_name));
}

static void check_hosts(struct check *c) {
    for (size_t i = 0; i < c->request->host_count; i++) {
        struct str host = c->request->hosts[i];
        struct err err;
        bool covered;
        if (certificate_covers(strbuf_str(&c->certificate), host, &covered, &err) != 0)
            problem(c, "%s", err.text);
        else if (!covered)
            problem(
                c,
                "%s: the certificate is not for host '%.*s': issue a certificate for it ('evenkeel "
                "certs init --host %.*s ...'), or have clients use a name that the certificate has",
                c->request->certificate_path, STR_ARG(host), STR_ARG(host));
    }
}

static void check_key(struct check *c) {
    const char *path = c->request->key_path;
    struct stat st;
    struct err err;
    bool matches;
    if (stat(path, &st) == 0 && (st.st_mode & S_IRWXO) != 0)
        problem(c, "%s: the key is open to every user (mode %04o): chmod 600 %s", path,
                (unsigned)st.st_mode & 07777, path);
    if (c->certificate.n == 0)
        return;
    if (certificate_has_key(strbuf_str(&c->certificate), strbuf_str(&c->key), &matches, &err) != 0)
        problem(c, "%s: %s: give the server's private key as PEM", path, err.text);
    else if (!matches)
        problem(c,
                "%s: the key does not belong to the certificate %s: use the pair that was issued "
                "together",
                path, c->request->certificate_path);
}

/* Ignores the leaf's dates, and a leaf that is not for servers: check_leaf() has reported these. */
static void check_ca(struct check *c) {
    if (c->certificate.n == 0 || !c->for_server)
        return;
    const char *path = c->request->ca_path;
    int64_t root_ends_s;
    struct err err;
    const struct certificate_trust trust = {.chain_pem = strbuf_str(&c->certificate),
                                            .ca_pem = strbuf_str(&c->ca),
                                            .at_any_time = true};
    if (certificate_verify(&trust, &root_ends_s, &err) != 0)
        problem(c,
                "%s: the certificate does not lead to the CA in %s (%s): give clients the CA that "
                "signed the certificate, or sign the certificate again with this CA",
                c->request->certificate_path, path, err.text);
    else
        check_end(c, path, "the CA certificate", root_ends_s,
                  "make a new CA and restart kube-scheduler with it: kube-scheduler reads its CA "
                  "only when it starts");
}

int certs_check(const struct check_request *request, struct arena *arena, struct check_report *ret,
                struct err *err) {
    struct check_report report = {.problems =
                                      arena_array(arena, MAX_PROBLEMS, sizeof *report.problems)};
    if (report.problems == NULL)
        return err_set(err, -ENOMEM, "no memory to check certificates");
    CLEANUP(done) struct check c = {.request = request, .arena = arena, .report = &report};
    if (read_pem(&c, request->certificate_path, &c.certificate))
        check_leaf(&c);
    if (c.certificate.n > 0)
        check_hosts(&c);
    if (read_pem(&c, request->key_path, &c.key))
        check_key(&c);
    if (request->ca_path != NULL && read_pem(&c, request->ca_path, &c.ca))
        check_ca(&c);
    if (arena_failed(arena))
        return err_set(err, -ENOMEM, "no memory to check certificates");
    *ret = report;
    return 0;
}
