/* What is issued, judged by OpenSSL itself: its library, and its command line. */
#include "unit/certs/issued.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

static X509 *parse(const struct strbuf *pem) {
    BIO *bio = BIO_new_mem_buf(pem->p, (int)pem->n);
    X509 *x = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    (void)BIO_free(bio); /* not NULL */
    assert_non_null(x);
    return x;
}

static time_t seconds(const ASN1_TIME *time) {
    struct tm tm = {0};
    assert_int_equal(ASN1_TIME_to_tm(time, &tm), 1);
    return timegm(&tm);
}

static void test_authority(void **state) {
    (void)state;
    struct authority *a = new_authority("test CA", AUTHORITY_DAYS, NOW);
    struct issued saved = save(a);
    X509 *x = parse(&saved.certificate);
    assert_int_equal(X509_get_version(x), 2);
    assert_int_equal(X509_verify(x, X509_get0_pubkey(x)), 1);
    assert_int_equal(X509_check_ca(x), 1);
    assert_int_equal(X509_get_pathlen(x), 0);
    assert_int_equal(X509_get_key_usage(x), KU_KEY_CERT_SIGN | KU_CRL_SIGN);
    assert_non_null(X509_get0_subject_key_id(x));
    assert_int_equal(seconds(X509_get0_notBefore(x)), NOW - CERTIFICATE_BACKDATE_S);
    assert_int_equal(seconds(X509_get0_notAfter(x)), NOW + 3650 * DAY);
    assert_int_equal(authority_not_after(a), NOW + 3650 * DAY);
    assert_int_equal(EVP_PKEY_get_bits(X509_get0_pubkey(x)), 256);
    assert_memory_equal(saved.key.p, "-----BEGIN PRIVATE KEY-----", 27);
    X509_free(x);
    issued_done(&saved);
    authority_free(a);
}

static void test_leaf(void **state) {
    (void)state;
    struct authority *a = new_authority("test CA", AUTHORITY_DAYS, NOW);
    struct issued ca = save(a);
    struct issued leaf = issue_server(a, LEAF_DAYS, NOW, "localhost", "10.0.0.1", "fd00::1:2");
    X509 *root = parse(&ca.certificate), *x = parse(&leaf.certificate);
    assert_int_equal(X509_verify(x, X509_get0_pubkey(root)), 1);
    assert_int_equal(X509_check_ca(x), 0);
    assert_int_equal(X509_get_key_usage(x), KU_DIGITAL_SIGNATURE);
    assert_int_equal(X509_get_extended_key_usage(x), XKU_SSL_SERVER);
    assert_int_equal(
        ASN1_OCTET_STRING_cmp(X509_get0_authority_key_id(x), X509_get0_subject_key_id(root)), 0);
    assert_non_null(X509_get0_subject_key_id(x));
    assert_int_equal(seconds(X509_get0_notBefore(x)), NOW - 300);
    assert_int_equal(seconds(X509_get0_notAfter(x)), NOW + 365 * DAY);
    assert_int_equal(X509_check_host(x, "localhost", 0, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, NULL),
                     1);
    assert_int_equal(X509_check_ip_asc(x, "10.0.0.1", 0), 1);
    assert_int_equal(X509_check_ip_asc(x, "fd00:0:0::1:2", 0), 1);
    assert_int_equal(X509_check_ip_asc(x, "fd00::1:3", 0), 0);
    X509_free(x);
    X509_free(root);
    issued_done(&leaf);
    issued_done(&ca);
    authority_free(a);
}

static void test_client_leaf(void **state) {
    (void)state;
    struct authority *a = new_authority("test CA", AUTHORITY_DAYS, NOW);
    struct leaf_request request = {
        .common_name = STR("system:kube-scheduler"), .client = true, .days = 1, .now_s = NOW};
    struct issued leaf = {0};
    struct err err;
    check_ok(authority_issue(a, &request, &leaf.certificate, &leaf.key, &err), &err);
    X509 *x = parse(&leaf.certificate);
    char name[64];
    assert_true(
        X509_NAME_get_text_by_NID(X509_get_subject_name(x), NID_commonName, name, sizeof name) > 0);
    assert_string_equal(name, "system:kube-scheduler");
    assert_int_equal(X509_get_extended_key_usage(x), XKU_SSL_CLIENT);
    assert_int_equal(X509_get_ext_by_NID(x, NID_subject_alt_name, -1), -1);
    X509_free(x);
    issued_done(&leaf);
    request.server = true;
    check_ok(authority_issue(a, &request, &leaf.certificate, &leaf.key, &err), &err);
    x = parse(&leaf.certificate);
    assert_int_equal(X509_get_extended_key_usage(x), XKU_SSL_SERVER | XKU_SSL_CLIENT);
    X509_free(x);
    issued_done(&leaf);
    authority_free(a);
}

static void test_serials_are_long_and_differ(void **state) {
    (void)state;
    struct authority *a = new_authority("test CA", 1, NOW);
    BIGNUM *last = NULL;
    int most = 0;
    for (int i = 0; i < 16; i++) {
        struct issued leaf = issue_server(a, 1, NOW, "localhost", NULL, NULL);
        X509 *x = parse(&leaf.certificate);
        BIGNUM *serial = ASN1_INTEGER_to_BN(X509_get0_serialNumber(x), NULL);
        assert_false(BN_is_negative(serial));
        assert_true(last == NULL || BN_cmp(serial, last) != 0);
        most = BN_num_bits(serial) > most ? BN_num_bits(serial) : most;
        assert_true(BN_num_bits(serial) <= 128);
        BN_free(last);
        last = serial;
        X509_free(x);
        issued_done(&leaf);
    }
    assert_true(most > 120);
    BN_free(last);
    authority_free(a);
}

static void test_never_past_the_authority(void **state) {
    (void)state;
    struct authority *a = new_authority("test CA", 10, NOW);
    struct issued leaf = issue_server(a, LEAF_DAYS, NOW + DAY, "localhost", NULL, NULL);
    X509 *x = parse(&leaf.certificate);
    assert_int_equal(seconds(X509_get0_notAfter(x)), NOW + 10 * DAY);
    X509_free(x);
    issued_done(&leaf);
    const struct leaf_request late = {
        .common_name = STR("x"), .client = true, .days = 1, .now_s = NOW + 10 * DAY};
    struct err err;
    assert_int_equal(authority_issue(a, &late, &leaf.certificate, &leaf.key, &err), -EINVAL);
    assert_string_equal(err.text, "the certificate authority has expired");
    assert_int_equal(leaf.certificate.n, 0);
    authority_free(a);
}

static void test_load_saved(void **state) {
    (void)state;
    struct authority *a = new_authority("test CA", 10, NOW), *again = NULL;
    struct issued saved = save(a);
    struct err err;
    check_ok(authority_load(strbuf_str(&saved.certificate), strbuf_str(&saved.key), &again, &err),
             &err);
    struct issued leaf = issue_server(again, 1, NOW, "localhost", NULL, NULL);
    assert_true(authority_signed(a, strbuf_str(&leaf.certificate)));
    struct authority *other = new_authority("test CA", 10, NOW);
    assert_false(authority_signed(other, strbuf_str(&leaf.certificate)));
    assert_false(authority_signed(a, STR("nothing")));
    issued_done(&leaf);
    issued_done(&saved);
    authority_free(other);
    authority_free(again);
    authority_free(a);
}

static void refuse_load(const struct strbuf *certificate, const struct strbuf *key,
                        const char *why) {
    struct authority *a = NULL;
    struct err err;
    assert_int_equal(authority_load(strbuf_str(certificate), strbuf_str(key), &a, &err), -EINVAL);
    assert_contains(err.text, why);
    assert_null(a);
}

static void test_load_refuses(void **state) {
    (void)state;
    struct authority *a = new_authority("a", 10, NOW), *b = new_authority("b", 10, NOW);
    struct issued of_a = save(a), of_b = save(b);
    struct issued leaf = issue_server(a, 1, NOW, "localhost", NULL, NULL);
    struct strbuf nothing = {0};
    refuse_load(&of_a.certificate, &of_b.key, "does not belong to its certificate");
    refuse_load(&leaf.certificate, &leaf.key, "it is no authority");
    refuse_load(&nothing, &of_a.key, "cannot read the authority's certificate: no certificate");
    refuse_load(&of_a.certificate, &nothing, "cannot read the authority's key: no private key");
    refuse_load(&of_a.key, &of_a.key, "no certificate (-----BEGIN CERTIFICATE-----) in it");
    of_a.certificate.n = 200;
    refuse_load(&of_a.certificate, &of_a.key, "cannot read the authority's certificate");
    issued_done(&leaf);
    issued_done(&of_a);
    issued_done(&of_b);
    authority_free(a);
    authority_free(b);
}

/* An encrypted key must not make OpenSSL ask on the terminal. */
static void test_encrypted_key_is_refused(void **state) {
    (void)state;
    struct authority *a = new_authority("a", 10, NOW);
    struct issued saved = save(a);
    EVP_PKEY *key = EVP_EC_gen("P-256");
    BIO *bio = BIO_new(BIO_s_mem());
    char passphrase[] = "secret";
    assert_int_equal(PEM_write_bio_PrivateKey(bio, key, EVP_aes_128_cbc(),
                                              (unsigned char *)passphrase, 6, NULL, NULL),
                     1);
    char *bytes;
    long n = BIO_get_mem_data(bio, &bytes);
    struct strbuf encrypted = {.p = bytes, .n = (size_t)n};
    refuse_load(&saved.certificate, &encrypted, "no private key without a passphrase in it");
    (void)BIO_free(bio); /* not NULL */
    EVP_PKEY_free(key);
    issued_done(&saved);
    authority_free(a);
}

static void test_refused_requests(void **state) {
    (void)state;
    struct authority *a = new_authority("a", 10, NOW);
    struct issued none = {0};
    struct err err;
    const struct str wrong = STR("10.0.0.1:8443");
    struct leaf_request request = {.common_name = STR("x"),
                                   .hosts = &wrong,
                                   .host_count = 1,
                                   .server = true,
                                   .days = 1,
                                   .now_s = NOW};
    assert_int_equal(authority_issue(a, &request, &none.certificate, &none.key, &err), -EINVAL);
    assert_contains(err.text, "host '10.0.0.1:8443' is neither a DNS name nor an IP address");
    request.host_count = 0;
    request.days = 0;
    assert_int_equal(authority_issue(a, &request, &none.certificate, &none.key, &err), -EINVAL);
    assert_contains(err.text, "cannot be valid for 0 days");
    request.days = 1;
    request.common_name = STR("");
    assert_int_equal(authority_issue(a, &request, &none.certificate, &none.key, &err), -EINVAL);
    assert_contains(err.text, "not between 1 and 64 bytes long");
    request.common_name = STR("\xff\xfe");
    assert_int_equal(authority_issue(a, &request, &none.certificate, &none.key, &err), -EIO);
    assert_int_equal(none.certificate.n + none.key.n, 0);
    authority_free(a);
}

/* Runs `openssl` and returns its exit status; its output goes nowhere. */
static int openssl(const char *const *args) {
    posix_spawn_file_actions_t quiet;
    assert_int_equal(posix_spawn_file_actions_init(&quiet), 0);
    for (int fd = 1; fd <= 2; fd++)
        assert_int_equal(posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_WRONLY, 0), 0);
    char *argv[16];
    size_t n = 0;
    for (; n < 15 && args[n] != NULL; n++)
        argv[n] = strdup(args[n]);
    argv[n] = NULL;
    pid_t pid;
    int status = 0, r = posix_spawnp(&pid, "openssl", &quiet, NULL, argv, environ);
    assert_int_equal(r, 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    for (size_t i = 0; i < n; i++)
        free(argv[i]);
    assert_int_equal(posix_spawn_file_actions_destroy(&quiet), 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int verify(const char *dir, const char *how, const char *host, const char *at) {
    const char *const args[] = {
        "openssl", "verify",   "-x509_strict", "-CAfile", in(dir, "ca"), "-attime",
        at,        "-purpose", "sslserver",    how,       host,          in(dir, "leaf"),
        NULL};
    return openssl(args);
}

static void test_openssl_verify(void **state) {
    const char *dir = *state;
    struct authority *a = new_authority("test CA", 3650, NOW);
    struct issued ca = save(a), leaf = issue_server(a, 10, NOW, "a.example", "10.0.0.1", "::1");
    put_file(in(dir, "ca"), strbuf_str(&ca.certificate), 0644);
    put_file(in(dir, "leaf"), strbuf_str(&leaf.certificate), 0644);
    put_file(in(dir, "key"), strbuf_str(&leaf.key), 0600);
    assert_int_equal(verify(dir, "-verify_hostname", "a.example", "1767225600"), 0);
    assert_int_equal(verify(dir, "-verify_ip", "10.0.0.1", "1767225600"), 0);
    assert_int_equal(verify(dir, "-verify_ip", "0:0::1", "1767225600"), 0);
    assert_int_not_equal(verify(dir, "-verify_hostname", "server", "1767225600"), 0);
    assert_int_not_equal(verify(dir, "-verify_hostname", "a.example", "1768089601"), 0);
    assert_int_not_equal(verify(dir, "-verify_hostname", "a.example", "1767225200"), 0);
    const char *const check_key[] = {"openssl", "pkey",         "-check", "-noout",
                                     "-in",     in(dir, "key"), NULL};
    assert_int_equal(openssl(check_key), 0);
    issued_done(&ca);
    issued_done(&leaf);
    authority_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_authority),
        cmocka_unit_test(test_leaf),
        cmocka_unit_test(test_client_leaf),
        cmocka_unit_test(test_serials_are_long_and_differ),
        cmocka_unit_test(test_never_past_the_authority),
        cmocka_unit_test(test_load_saved),
        cmocka_unit_test(test_load_refuses),
        cmocka_unit_test(test_encrypted_key_is_refused),
        cmocka_unit_test(test_refused_requests),
        cmocka_unit_test_setup_teardown(test_openssl_verify, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
