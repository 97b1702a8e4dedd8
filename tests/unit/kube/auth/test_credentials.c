/* Credentials from real files that rotate, under a clock that is the test's. */
#include "kube/auth/credentials.h"

#include "base/log.h"
#include "base/metrics.h"
#include "unit/certs/issued.h"
#include "unit/http/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>

#define NAME "evenkeel_kube_credential_reloads_total"

enum { POLL_MS = 10000, TOKEN_MS = 50000 };

struct fixture {
    const char *folder;
    struct clock_fake clock;
    struct kube_access access;
    struct credentials *credentials;
    struct identity identity;
    struct err err;
    struct authority *authority;
    struct issued one, two; /* certificates, each with its key */
    char paths[4][256];     /* token, ca, certificate, key */
    int log[2];
    sem_t woken;
};

static int setup(void **state) {
    static struct fixture f;
    static const char *const names[] = {"token", "ca.crt", "tls.crt", "tls.key"};
    void *folder;
    if (make_folder(&folder) != 0)
        return -1;
    f = (struct fixture){.folder = folder, .access = {.server = "https://h", .source = "the test"}};
    clock_fake_init(&f.clock, 1000000);
    for (size_t i = 0; i < 4; i++)
        (void)snprintf(f.paths[i], sizeof f.paths[i], "%s/%s", f.folder, names[i]); /* fits */
    f.authority = new_authority("ca", 10, NOW);
    f.one = issue_server(f.authority, 1, NOW, "a", NULL, NULL);
    f.two = issue_server(f.authority, 1, NOW, "b", NULL, NULL);
    metrics_reset();
    *state = &f;
    if (sem_init(&f.woken, 0, 0) != 0 || pipe2(f.log, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    log_use_clock(&f.clock.clock);
    log_setup(LOG_INFO, LOG_LOGFMT, f.log[1]);
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    void *folder = (void *)(uintptr_t)f->folder;
    log_setup(LOG_INFO, LOG_LOGFMT, STDERR_FILENO);
    log_use_clock(NULL);
    credentials_free(f->credentials);
    issued_done(&f->one);
    issued_done(&f->two);
    authority_free(f->authority);
    (void)close(f->log[0]);
    (void)close(f->log[1]);
    return remove_folder(&folder) != 0 || sem_destroy(&f->woken) != 0;
}

static void put_text(const char *path, const char *text) {
    put_file(path, str_of(text), 0600);
}

static void wake(void *ctx) {
    (void)sem_post(&((struct fixture *)ctx)->woken); /* far from its maximum */
}

static int open_credentials(struct fixture *f) {
    const struct credentials_options options = {
        .access = &f->access, .clock = &f->clock.clock, .wake = wake, .ctx = f};
    f->err = (struct err){0};
    return credentials_new(&options, &f->credentials, &f->err);
}

static void open_well(struct fixture *f) {
    check_ok(open_credentials(f), &f->err);
}

static void close_credentials(struct fixture *f) {
    credentials_free(f->credentials);
    f->credentials = NULL;
}

/* Must fail with these words. */
static void open_badly(struct fixture *f, int code, const char *words) {
    assert_int_equal(open_credentials(f), code);
    assert_int_equal(f->err.code, code);
    assert_contains(f->err.text, words);
    assert_null(f->credentials);
}

static const struct identity *get(struct fixture *f) {
    check_ok(credentials_get(f->credentials, &f->identity, &f->err), &f->err);
    return &f->identity;
}

static const struct identity *get_later(struct fixture *f, int64_t ms) {
    f->clock.at_ms += ms;
    return get(f);
}

/* Lines logged since the last call; *ret_text, the last read of them, is valid until the next. */
static unsigned logged(struct fixture *f, const char **ret_text) {
    static char text[1 << 16];
    unsigned lines = 0;
    ssize_t n = read(f->log[0], text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++)
        lines++;
    if (ret_text != NULL)
        *ret_text = text;
    return lines;
}

/* The counter's value; -1: there is none. */
static long count(const char *kind, const char *result) {
    char series[256];
    struct strbuf out = {0};
    metrics_render(&out);
    strbuf_append_char(&out, '\0');
    (void)snprintf(series, sizeof series, NAME "{kind=\"%s\",result=\"%s\"} ", kind,
                   result); /* fits */
    const char *at = strstr(out.p, series);
    long value = at != NULL ? strtol(at + strlen(series), NULL, 10) : -1;
    strbuf_done(&out);
    return value;
}

/* ---- what does not change ---- */

static void test_fixed(void **state) {
    struct fixture *f = *state;
    credentials_free(NULL);
    open_well(f);
    const struct identity *i = get(f);
    assert_int_equal(i->ca.n + i->certificate.n + i->key.n + i->authorization.n, 0);
    close_credentials(f);

    f->access.token = " secret\n";
    f->access.ca.data = strbuf_str(&f->one.certificate);
    f->access.client_certificate.data = strbuf_str(&f->two.certificate);
    f->access.client_key.data = strbuf_str(&f->two.key);
    open_well(f);
    i = get(f);
    assert_str(i->authorization, "Bearer secret");
    assert_true(str_eq(i->ca, strbuf_str(&f->one.certificate)));
    assert_true(str_eq(i->certificate, strbuf_str(&f->two.certificate)));
    assert_true(str_eq(i->key, strbuf_str(&f->two.key)));
    uint64_t version = i->tls_version;
    credentials_refused(f->credentials, f->clock.at_ms);
    i = get_later(f, 1000000);
    assert_str(i->authorization, "Bearer secret");
    assert_true(i->tls_version == version);
    assert_int_equal(logged(f, NULL), 0);
    assert_int_equal(count("ca", "ok"), -1); /* nothing that could be read again */
    close_credentials(f);

    f->access = (struct kube_access){.username = "Aladdin", .password = "open sesame"};
    open_well(f);
    assert_str(get(f)->authorization, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    close_credentials(f);
    f->access = (struct kube_access){.username = "", .password = ""};
    open_well(f);
    assert_str(get(f)->authorization, "Basic Og==");
}

static void test_clock_may_be_left_out(void **state) {
    struct fixture *f = *state;
    const struct credentials_options options = {.access = &f->access};
    f->access.token_file = f->paths[0];
    put_text(f->paths[0], "t");
    check_ok(credentials_new(&options, &f->credentials, &f->err), &f->err);
    assert_str(get(f)->authorization, "Bearer t");
}

static void test_what_must_be_there(void **state) {
    struct fixture *f = *state;
    f->access.token = "a\nb";
    open_badly(f, -EINVAL, "the token in the test has blanks");
    f->access.token = NULL;
    f->access.token_file = f->paths[0];
    open_badly(f, -ENOENT, f->paths[0]);
    put_text(f->paths[0], " \n");
    open_badly(f, -EINVAL, "is empty");
    put_text(f->paths[0], "a b");
    open_badly(f, -EINVAL, "holds more than a token");
    put_text(f->paths[0], "t");
    f->access.ca.file = f->paths[1];
    open_badly(f, -ENOENT, f->paths[1]);
    put_text(f->paths[1], "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    open_badly(f, -EINVAL, "certificate authority '");
    f->access.ca = (struct kube_pem){.data = STR("no PEM")};
    open_badly(f, -EINVAL, "certificate authority 'certificate-authority-data'");
    f->access.ca = (struct kube_pem){.file = NULL};
    f->access.client_certificate.file = f->paths[2];
    f->access.client_key.file = f->paths[3];
    open_badly(f, -ENOENT, f->paths[2]);
    put_file(f->paths[2], strbuf_str(&f->one.certificate), 0600);
    open_badly(f, -ENOENT, f->paths[3]);
    put_file(f->paths[3], strbuf_str(&f->two.key), 0600);
    open_badly(f, -EINVAL, "does not belong to certificate");
    put_text(f->paths[3], "");
    open_badly(f, -EINVAL, f->paths[3]);
    f->access.client_key = (struct kube_pem){.data = strbuf_str(&f->two.key)};
    open_badly(f, -EINVAL, "client key 'client-key-data'");
    f->access.client_key.data = strbuf_str(&f->one.key);
    open_well(f);
    assert_int_equal(count("client_certificate", "ok"), 0);
    close_credentials(f);
    assert_int_equal(count("client_certificate", "ok"), -1); /* the counters go with it */
    assert_int_equal(count("token", "ok"), -1);
}

/* ---- tokens ---- */

static void test_token_rotates(void **state) {
    struct fixture *f = *state;
    f->access.token_file = f->paths[0];
    put_text(f->paths[0], "\t one \r\n");
    open_well(f);
    uint64_t version = get(f)->tls_version;
    assert_str(f->identity.authorization, "Bearer one");
    put_text(f->paths[0], "two\n");
    assert_str(get_later(f, TOKEN_MS - 1)->authorization, "Bearer one");
    assert_str(get_later(f, 1)->authorization, "Bearer two");
    put_text(f->paths[0], "three");
    assert_str(get_later(f, TOKEN_MS - 1)->authorization, "Bearer two"); /* its age begins anew */
    assert_str(get_later(f, 1)->authorization, "Bearer three");
    assert_true(f->identity.tls_version == version); /* connections may stay */
    (void)get_later(f, TOKEN_MS);
    assert_int_equal(count("token", "ok"), 2); /* the same again is no reload */
    assert_int_equal(count("token", "refused"), 0);
    assert_int_equal(logged(f, NULL), 0);
}

/* Each of four ways in which a file can be useless; 1: it is missing. */
static void spoil(const char *path, int how) {
    (void)remove(path); /* there may be nothing */
    if (how == 0)
        put_text(path, " \n");
    else if (how == 2)
        put_text(path, "neither a token\nnor PEM");
    else if (how == 3)
        assert_int_equal(mkdir(path, 0700), 0); /* cannot be read, not by root either */
}

static void test_useless_token_files(void **state) {
    struct fixture *f = *state;
    const char *text;
    f->access.token_file = f->paths[0];
    put_text(f->paths[0], "one");
    open_well(f);
    spoil(f->paths[0], 0);
    assert_str(get_later(f, TOKEN_MS)->authorization, "Bearer one");
    assert_int_equal(logged(f, &text), 1);
    assert_contains(text, "the old credential stays in use");
    assert_contains(text, "is empty");
    assert_null(strstr(text, "one\""));
    (void)get_later(f, 999); /* a second between attempts */
    assert_int_equal(count("token", "refused"), 1);
    for (int how = 1; how < 4; how++) {
        spoil(f->paths[0], how);
        assert_str(get_later(f, 1000)->authorization, "Bearer one");
        assert_int_equal(count("token", "refused"), how + 1);
    }
    assert_int_equal(logged(f, NULL), 0); /* said once */
    assert_int_equal(rmdir(f->paths[0]), 0);
    put_text(f->paths[0], "two");
    assert_str(get_later(f, 1000)->authorization, "Bearer two");
    assert_int_equal(count("token", "ok"), 1);
    assert_int_equal(logged(f, &text), 1);
    assert_contains(text, "good again");
    put_text(f->paths[0], "three");
    assert_str(get_later(f, TOKEN_MS - 1)->authorization, "Bearer two"); /* every 50 s again */
    assert_str(get_later(f, 1)->authorization, "Bearer three");
}

static void test_a_role_is_named(void **state) {
    struct fixture *f = *state;
    const char *text;
    f->access.token_file = f->paths[0];
    f->access.role = "hub";
    put_text(f->paths[0], "one");
    open_well(f);
    spoil(f->paths[0], 0);
    (void)get_later(f, TOKEN_MS);
    assert_int_equal(logged(f, &text), 1);
    assert_contains(text, "role=hub");
    assert_true(metric_now(NAME "{kind=\"token\",result=\"refused\",server=\"hub\"}") == 1);
    assert_true(metric_now(NAME "{kind=\"token\",result=\"refused\"}") == -1);
}

static void test_refused_token(void **state) {
    struct fixture *f = *state;
    f->access.token_file = f->paths[0];
    put_text(f->paths[0], "one");
    open_well(f);
    int64_t read_ms = f->clock.at_ms;
    (void)get(f);
    put_text(f->paths[0], "two");
    credentials_refused(f->credentials, read_ms - 1); /* sent with the token before this one */
    assert_str(get_later(f, 1)->authorization, "Bearer one");
    credentials_refused(f->credentials, f->clock.at_ms);
    assert_str(get(f)->authorization, "Bearer two"); /* at once */
    put_text(f->paths[0], "three");
    assert_str(get_later(f, 1)->authorization, "Bearer two"); /* one 401, one look */

    /* nothing better to be had: the old one, and another look soon */
    assert_int_equal(unlink(f->paths[0]), 0);
    credentials_refused(f->credentials, f->clock.at_ms);
    assert_str(get(f)->authorization, "Bearer two");
    put_text(f->paths[0], "four");
    assert_str(get_later(f, 999)->authorization, "Bearer two");
    assert_str(get_later(f, 1)->authorization, "Bearer four");
}

/* As upstream: the token beside the name of a file is what helps while there is no file. */
static void test_token_beside_a_file(void **state) {
    struct fixture *f = *state;
    f->access.token = "spare";
    f->access.token_file = f->paths[0];
    open_well(f);
    assert_str(get(f)->authorization, "Bearer spare");
    assert_int_equal(logged(f, NULL), 1);
    assert_int_equal(count("token", "refused"), 1);
    put_text(f->paths[0], "file");
    assert_str(get_later(f, 999)->authorization, "Bearer spare");
    assert_str(get_later(f, 1)->authorization, "Bearer file");
    close_credentials(f);
    open_well(f);
    assert_str(get(f)->authorization, "Bearer file"); /* which otherwise wins */
}

/* ---- certificates ---- */

static void test_ca_rotates(void **state) {
    struct fixture *f = *state;
    struct str one = strbuf_str(&f->one.certificate), two = strbuf_str(&f->two.certificate);
    const char *text;
    f->access.ca.file = f->paths[1];
    put_file(f->paths[1], one, 0600);
    open_well(f);
    uint64_t version = get(f)->tls_version;
    assert_true(str_eq(f->identity.ca, one));
    put_file(f->paths[1], two, 0600);
    assert_true(str_eq(get_later(f, POLL_MS - 1)->ca, one));
    assert_true(str_eq(get_later(f, 1)->ca, two));
    assert_true(f->identity.tls_version != version);
    assert_int_equal(count("ca", "ok"), 1);

    version = f->identity.tls_version;
    put_file(f->paths[1], two, 0600); /* written again, the same */
    assert_true(get_later(f, POLL_MS)->tls_version == version);
    assert_int_equal(count("ca", "ok"), 1);
    assert_int_equal(logged(f, NULL), 0);

    for (int how = 0; how < 4; how++) {
        spoil(f->paths[1], how);
        assert_true(str_eq(get_later(f, POLL_MS)->ca, two));
        assert_true(f->identity.tls_version == version);
        assert_int_equal(count("ca", "refused"), how + 1);
        assert_int_equal(logged(f, &text), how == 0);
        if (how == 0)
            assert_contains(text, f->paths[1]);
    }
    (void)get_later(f, POLL_MS); /* tried again though it looks the same: memory may have lacked */
    assert_int_equal(count("ca", "refused"), 5);
    assert_int_equal(rmdir(f->paths[1]), 0);
    put_file(f->paths[1], two, 0600);
    assert_true(get_later(f, POLL_MS)->tls_version == version); /* back, and what it was */
    assert_int_equal(logged(f, &text), 1);
    assert_contains(text, "good again");
    (void)get_later(f, POLL_MS);
    assert_int_equal(count("ca", "refused"), 5);

    struct strbuf both = {0};
    strbuf_append_str(&both, one);
    strbuf_append_str(&both, two);
    put_file(f->paths[1], strbuf_str(&both), 0600); /* old and new, as in a rotation */
    assert_true(str_eq(get_later(f, POLL_MS)->ca, strbuf_str(&both)));
    strbuf_done(&both);
}

static void check_pair(struct fixture *f, const struct issued *want) {
    assert_true(str_eq(f->identity.certificate, strbuf_str(&want->certificate)));
    assert_true(str_eq(f->identity.key, strbuf_str(&want->key)));
}

static void test_pair_changes_together(void **state) {
    struct fixture *f = *state;
    f->access.client_certificate.file = f->paths[2];
    f->access.client_key.file = f->paths[3];
    put_file(f->paths[2], strbuf_str(&f->one.certificate), 0600);
    put_file(f->paths[3], strbuf_str(&f->one.key), 0600);
    open_well(f);
    uint64_t version = get(f)->tls_version;
    check_pair(f, &f->one);
    put_file(f->paths[2], strbuf_str(&f->two.certificate), 0600); /* the key is still to come */
    assert_true(get_later(f, POLL_MS)->tls_version == version);
    check_pair(f, &f->one);
    assert_int_equal(count("client_certificate", "refused"), 1);
    assert_int_equal(logged(f, NULL), 1);
    put_file(f->paths[3], strbuf_str(&f->two.key), 0600);
    (void)get_later(f, POLL_MS - 1);
    check_pair(f, &f->one);
    assert_true(get_later(f, 1)->tls_version != version);
    check_pair(f, &f->two);
    assert_int_equal(count("client_certificate", "ok"), 1);
    assert_int_equal(logged(f, NULL), 1);

    strbuf_append_char(&f->two.key, '\n'); /* the same key in another file */
    put_file(f->paths[3], strbuf_str(&f->two.key), 0600);
    version = f->identity.tls_version;
    assert_true(get_later(f, POLL_MS)->tls_version != version);
    check_pair(f, &f->two);
    assert_int_equal(count("client_certificate", "ok"), 2);

    version = f->identity.tls_version;
    for (int how = 0; how < 4; how++)
        for (int file = 2; file < 4; file++) {
            spoil(f->paths[file], how);
            assert_true(get_later(f, POLL_MS)->tls_version == version);
            check_pair(f, &f->two);
        }
    assert_int_equal(count("client_certificate", "refused"), 9);
    assert_int_equal(logged(f, NULL), 1);
    assert_int_equal(rmdir(f->paths[2]) + rmdir(f->paths[3]), 0);
    put_file(f->paths[3], strbuf_str(&f->one.key), 0600); /* this time the key comes first */
    (void)get_later(f, POLL_MS);
    check_pair(f, &f->two);
    put_file(f->paths[2], strbuf_str(&f->one.certificate), 0600);
    assert_true(get_later(f, POLL_MS)->tls_version != version);
    check_pair(f, &f->one);
}

static void put_volume(struct fixture *f, const char *folder, const struct issued *pair) {
    char path[512];
    assert_int_equal(mkdir(in(f->folder, folder), 0700), 0);
    (void)snprintf(path, sizeof path, "%s/%s/tls.crt", f->folder, folder); /* fits */
    put_file(path, strbuf_str(&pair->certificate), 0600);
    (void)snprintf(path, sizeof path, "%s/%s/tls.key", f->folder, folder); /* fits */
    put_file(path, strbuf_str(&pair->key), 0600);
}

/* As the kubelet updates a volume: ..data is a link, and replaced. */
static void test_symlink_swap(void **state) {
    struct fixture *f = *state;
    f->access.client_certificate.file = f->paths[2];
    f->access.client_key.file = f->paths[3];
    put_volume(f, "..1", &f->one);
    put_volume(f, "..2", &f->two);
    assert_int_equal(symlink("..1", in(f->folder, "..data")), 0);
    assert_int_equal(symlink("..data/tls.crt", f->paths[2]), 0);
    assert_int_equal(symlink("..data/tls.key", f->paths[3]), 0);
    open_well(f);
    (void)get(f);
    check_pair(f, &f->one);
    assert_int_equal(symlink("..2", in(f->folder, "..data_tmp")), 0);
    assert_int_equal(rename(in(f->folder, "..data_tmp"), in(f->folder, "..data")), 0);
    (void)get_later(f, POLL_MS);
    check_pair(f, &f->two);
    assert_int_equal(count("client_certificate", "refused"), 0);
}

/* ---- plugins ---- */

static void put_plugin(struct fixture *f, const char *text) {
    struct strbuf script = {0};
    strbuf_appendf(&script, "#!/bin/sh\nD='%s'\n%s\n", f->folder, text);
    put_file(in(f->folder, "plugin"), strbuf_str(&script), 0700);
    strbuf_done(&script);
}

static void await(struct fixture *f) {
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until); /* cannot fail on Linux */
    until.tv_sec += 60;
    int r;
    while ((r = sem_timedwait(&f->woken, &until)) != 0 && errno == EINTR) {
    }
    assert_int_equal(r, 0);
}

static int get_after_run(struct fixture *f) {
    assert_int_equal(credentials_get(f->credentials, &f->identity, &f->err), -EAGAIN);
    await(f);
    return credentials_get(f->credentials, &f->identity, &f->err);
}

static void test_plugin(void **state) {
    struct fixture *f = *state;
    static char command[256];
    (void)snprintf(command, sizeof command, "%s/plugin", f->folder); /* fits */
    f->access.exec.command = command;
    f->access.exec.api_version = "client.authentication.k8s.io/v1beta1";
    f->access.exec.provide_cluster_info = true;
    f->access.ca.file = f->paths[1];
    put_file(f->paths[1], strbuf_str(&f->one.certificate), 0600);
    /* says in the token how much it was told, and what the file says */
    put_plugin(f, "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io"
                  "/v1beta1\",\"status\":{\"token\":\"'${#KUBERNETES_EXEC_INFO}'\"}}'");
    open_well(f);
    assert_int_equal(count("exec", "ok"), 0);
    check_ok(get_after_run(f), &f->err);
    assert_true(str_has_prefix(f->identity.authorization, STR("Bearer ")));
    assert_true(f->identity.authorization.n >= 11); /* "1234": the CA is in there */
    assert_true(str_eq(f->identity.ca, strbuf_str(&f->one.certificate)));
    assert_int_equal(count("exec", "ok"), 1);
    uint64_t version = f->identity.tls_version;
    put_file(f->paths[1], strbuf_str(&f->two.certificate), 0600);
    assert_true(get_later(f, POLL_MS)->tls_version != version);

    put_plugin(f, "exit 3");
    credentials_refused(f->credentials, f->clock.at_ms);
    assert_int_equal(get_after_run(f), -EPROTO);
    assert_contains(f->err.text, "ended with status 3");
    assert_int_equal(count("exec", "refused"), 1);
    close_credentials(f);
    assert_int_equal(count("exec", "ok"), -1);

    put_plugin(f, "exec sleep 1000"); /* its end is not waited for */
    open_well(f);
    assert_int_equal(credentials_get(f->credentials, &f->identity, NULL), -EAGAIN);
}

static void put_certificate_answer(struct fixture *f, const char *token, const struct issued *i) {
    struct strbuf script = {0};
    const struct str parts[] = {strbuf_str(&i->certificate), strbuf_str(&i->key)};
    strbuf_appendf(&script,
                   "cat <<'EOF'\n{\"kind\":\"ExecCredential\",\"apiVersion\":\"client."
                   "authentication.k8s.io/v1\",\"status\":{%s",
                   token);
    for (int part = 0; part < 2; part++) {
        strbuf_appendf(&script, "%s\":\"",
                       part == 0 ? "\"clientCertificateData" : "\",\"clientKeyData");
        for (size_t k = 0; k < parts[part].n; k++)
            strbuf_appendf(&script, parts[part].p[k] == '\n' ? "\\n" : "%c", parts[part].p[k]);
    }
    strbuf_appendf(&script, "\"}}\nEOF\n%c", '\0');
    put_plugin(f, script.p);
    strbuf_done(&script);
}

static void test_plugin_with_certificate(void **state) {
    struct fixture *f = *state;
    static char command[256];
    (void)snprintf(command, sizeof command, "%s/plugin", f->folder); /* fits */
    f->access.exec.command = command;
    f->access.exec.api_version = "client.authentication.k8s.io/v1";
    put_certificate_answer(f, "\"token\":\"t\",", &f->one);
    open_well(f);
    check_ok(get_after_run(f), &f->err);
    uint64_t version = f->identity.tls_version;
    assert_str(f->identity.authorization, "Bearer t");
    check_pair(f, &f->one);
    put_certificate_answer(f, "", &f->two);
    credentials_refused(f->credentials, f->clock.at_ms);
    check_ok(get_after_run(f), &f->err);
    assert_int_equal(f->identity.authorization.n, 0); /* this time there is no token */
    check_pair(f, &f->two);
    assert_true(f->identity.tls_version != version);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_fixed),
        TEST(test_clock_may_be_left_out),
        TEST(test_what_must_be_there),
        TEST(test_token_rotates),
        TEST(test_useless_token_files),
        TEST(test_a_role_is_named),
        TEST(test_refused_token),
        TEST(test_token_beside_a_file),
        TEST(test_ca_rotates),
        TEST(test_pair_changes_together),
        TEST(test_symlink_swap),
        TEST(test_plugin),
        TEST(test_plugin_with_certificate),
    };
    return cmocka_run_group_tests_name("credentials", tests, NULL, NULL);
}
