#include "certs/inspect.h"

#include "unit/certs/issued.h"

#include <errno.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

static struct certificate *read_all(struct str pem, struct arena *arena, size_t *count) {
    struct certificate *all = NULL;
    struct err err;
    arena_init(arena, 1 << 20);
    check_ok(certificates_read(pem, arena, &all, count, &err), &err);
    return all;
}

static void test_facts(void **state) {
    (void)state;
    struct authority *a = new_authority("test CA, \"x\"\xc3\xa9", 30, NOW);
    struct issued ca = save(a),
                  leaf = issue_server(a, 10, NOW, "*.A.example", "10.0.0.1", "fd::0:1");
    strbuf_append_str(&leaf.certificate, strbuf_str(&ca.certificate));
    struct arena arena;
    size_t count;
    struct certificate *all = read_all(strbuf_str(&leaf.certificate), &arena, &count);
    assert_int_equal(count, 2);
    assert_str(all[0].subject, "CN=server");
    assert_str(all[0].common_name, "server");
    assert_str(all[0].issuer, "CN=test CA\\, \\\"x\\\"\\C3\\A9");
    assert_int_equal(all[0].name_count, 3);
    assert_str(all[0].names[0], "*.a.example");
    assert_str(all[0].names[1], "10.0.0.1");
    assert_str(all[0].names[2], "fd::1");
    assert_int_equal(all[0].not_before_s, NOW - 300);
    assert_int_equal(all[0].not_after_s, NOW + 10 * DAY);
    assert_false(all[0].is_ca);
    assert_true(all[0].for_server);
    assert_false(all[0].for_client);
    assert_str(all[1].subject, all[0].issuer.p);
    assert_true(all[1].is_ca);
    assert_int_equal(all[1].name_count, 0);
    arena_done(&arena);
    issued_done(&ca);
    issued_done(&leaf);
    authority_free(a);
}

/* A certificate and its fingerprint as `openssl x509 -fingerprint -sha256` prints it. */
static void test_fingerprint(void **state) {
    (void)state;
    const struct str pem = STR("-----BEGIN CERTIFICATE-----\n"
                               "MIIBbjCCAROgAwIBAgIUJmU7ahirlIik0yEjD1VxB9otJ6MwCgYIKoZIzj0EAwIw\n"
                               "DDEKMAgGA1UEAwwBZjAeFw0yNjExMjEwODQwNDJaFw0yNjEyMDEwODQwNDJaMAwx\n"
                               "CjAIBgNVBAMMAWYwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQnE3kH0hcW3bKn\n"
                               "IsruBfOVJz2qMBrm0/rpzGPSTEr6sglAmQvWAZMCjfRjuB7blW6yFIA/+hU70r7F\n"
                               "I4mk93Uyo1MwUTAdBgNVHQ4EFgQUnMZ8ne9YBBXcLoXv5ouunyC06P8wHwYDVR0j\n"
                               "BBgwFoAUnMZ8ne9YBBXcLoXv5ouunyC06P8wDwYDVR0TAQH/BAUwAwEB/zAKBggq\n"
                               "hkjOPQQDAgNJADBGAiEAjXqwIUTGWiDGtPU6HMCFCXg35x67374nlg3j/QnWDnYC\n"
                               "IQCQQ0sTWD5uppMeqhVXEmt4BtLIqI3wlklHp12f2jcdig==\n"
                               "-----END CERTIFICATE-----\n");
    struct arena arena;
    size_t count;
    struct certificate *all = read_all(pem, &arena, &count);
    assert_str(all[0].sha256, "A7:11:A1:5C:56:11:AD:E1:CD:58:E8:DA:8D:1F:88:A5:"
                              "07:60:AF:D7:F4:51:E3:FE:9C:2D:7E:2F:90:50:B1:96");
    arena_done(&arena);
}

static void test_malformed(void **state) {
    (void)state;
    struct arena arena;
    struct certificate *all = NULL;
    size_t count;
    struct err err;
    arena_init(&arena, 1 << 16);
    assert_int_equal(certificates_read(STR(""), &arena, &all, &count, &err), -EINVAL);
    assert_contains(err.text, "no certificate");
    assert_int_equal(certificates_read(STR("-----BEGIN CERTIFICATE-----\nAAAA\n"
                                           "-----END CERTIFICATE-----\n"),
                                       &arena, &all, &count, &err),
                     -EINVAL);
    assert_contains(err.text, "malformed certificate");
    assert_null(all);
    arena_done(&arena);
    arena_init(&arena, 100);
    struct authority *a = new_authority("a", 1, NOW);
    struct issued ca = save(a);
    assert_int_equal(certificates_read(strbuf_str(&ca.certificate), &arena, &all, &count, &err),
                     -ENOMEM);
    issued_done(&ca);
    authority_free(a);
    arena_done(&arena);
}

/* Names are anybody's bytes, and must come out as text. */
static void test_hostile_names(void **state) {
    (void)state;
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x = X509_new();
    GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
    const struct {
        int type;
        const char *bytes;
        int n;
    } rows[] = {{GEN_DNS, "a\0b\n\xff\x7f", 6}, {GEN_IPADD, "abc", 3}, {GEN_URI, "spiffe://x", 10}};
    for (size_t i = 0; i < 3; i++) {
        GENERAL_NAME *name = GENERAL_NAME_new();
        ASN1_STRING *value =
            rows[i].type == GEN_IPADD ? ASN1_OCTET_STRING_new() : ASN1_IA5STRING_new();
        assert_int_equal(ASN1_STRING_set(value, rows[i].bytes, rows[i].n), 1);
        GENERAL_NAME_set0_value(name, rows[i].type, value);
        assert_true(sk_GENERAL_NAME_push(names, name) > 0);
    }
    assert_non_null(ASN1_TIME_set(X509_getm_notBefore(x), NOW));
    assert_non_null(ASN1_TIME_set(X509_getm_notAfter(x), NOW));
    assert_int_equal(X509_set_version(x, 2), 1);
    assert_int_equal(X509_set_pubkey(x, key), 1);
    assert_int_equal(X509_add1_ext_i2d(x, NID_subject_alt_name, names, 0, 0), 1);
    assert_true(X509_sign(x, key, EVP_sha256()) > 0);
    BIO *bio = BIO_new(BIO_s_mem());
    assert_int_equal(PEM_write_bio_X509(bio, x), 1);
    char *bytes;
    long n = BIO_get_mem_data(bio, &bytes);
    struct arena arena;
    size_t count;
    struct certificate *all = read_all((struct str){bytes, (size_t)n}, &arena, &count);
    assert_int_equal(all[0].name_count, 3);
    assert_str(all[0].names[0], "a?b???");
    assert_str(all[0].names[1], "?");
    assert_str(all[0].names[2], "spiffe://x");
    assert_str(all[0].subject, "");
    bool covered = true;
    struct err err;
    check_ok(certificate_covers((struct str){bytes, (size_t)n}, STR("a"), &covered, &err), &err);
    assert_false(covered);
    arena_done(&arena);
    (void)BIO_free(bio); /* not NULL */
    GENERAL_NAMES_free(names);
    X509_free(x);
    EVP_PKEY_free(key);
}

/* As in Go, where such a certificate cannot be parsed. */
static void test_malformed_names(void **state) {
    (void)state;
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x = X509_new();
    ASN1_OCTET_STRING *junk = ASN1_OCTET_STRING_new();
    assert_int_equal(ASN1_OCTET_STRING_set(junk, (const unsigned char *)"junk", 4), 1);
    X509_EXTENSION *e = X509_EXTENSION_create_by_NID(NULL, NID_subject_alt_name, 0, junk);
    assert_non_null(ASN1_TIME_set(X509_getm_notBefore(x), NOW));
    assert_non_null(ASN1_TIME_set(X509_getm_notAfter(x), NOW));
    assert_int_equal(X509_set_version(x, 2), 1);
    assert_int_equal(X509_set_pubkey(x, key), 1);
    assert_int_equal(X509_add_ext(x, e, -1), 1);
    assert_true(X509_sign(x, key, EVP_sha256()) > 0);
    BIO *bio = BIO_new(BIO_s_mem());
    assert_int_equal(PEM_write_bio_X509(bio, x), 1);
    char *bytes;
    long n = BIO_get_mem_data(bio, &bytes);
    struct arena arena;
    struct certificate *all = NULL;
    size_t count;
    struct err err;
    arena_init(&arena, 1 << 16);
    assert_int_equal(certificates_read((struct str){bytes, (size_t)n}, &arena, &all, &count, &err),
                     -EINVAL);
    assert_contains(err.text, "malformed subject alternative names");
    arena_done(&arena);
    (void)BIO_free(bio); /* not NULL */
    X509_EXTENSION_free(e);
    ASN1_OCTET_STRING_free(junk);
    X509_free(x);
    EVP_PKEY_free(key);
}

static void test_key(void **state) {
    (void)state;
    struct authority *a = new_authority("a", 1, NOW);
    struct issued one = issue_server(a, 1, NOW, "x", NULL, NULL);
    struct issued other = issue_server(a, 1, NOW, "x", NULL, NULL);
    bool matches = false;
    struct err err;
    check_ok(
        certificate_has_key(strbuf_str(&one.certificate), strbuf_str(&one.key), &matches, &err),
        &err);
    assert_true(matches);
    check_ok(
        certificate_has_key(strbuf_str(&one.certificate), strbuf_str(&other.key), &matches, &err),
        &err);
    assert_false(matches);
    assert_int_equal(certificate_has_key(strbuf_str(&one.certificate), strbuf_str(&one.certificate),
                                         &matches, &err),
                     -EINVAL);
    assert_contains(err.text, "no private key");
    issued_done(&one);
    issued_done(&other);
    authority_free(a);
}

static bool covers(const struct issued *leaf, const char *host) {
    bool covered = false;
    struct err err;
    check_ok(certificate_covers(strbuf_str(&leaf->certificate), str_of(host), &covered, &err),
             &err);
    return covered;
}

static void test_covers(void **state) {
    (void)state;
    struct authority *a = new_authority("a", 1, NOW);
    struct issued leaf = issue_server(a, 1, NOW, "*.svc.example", "10.0.0.1", "fd00::1");
    assert_true(covers(&leaf, "a.svc.example"));
    assert_true(covers(&leaf, "A.SVC.example"));
    assert_false(covers(&leaf, "a.b.svc.example"));
    assert_false(covers(&leaf, "svc.example"));
    assert_false(covers(&leaf, "server")); /* the common name */
    assert_true(covers(&leaf, "10.0.0.1"));
    assert_false(covers(&leaf, "10.0.0.2"));
    assert_true(covers(&leaf, "fd00::1"));
    assert_true(covers(&leaf, "[fd00:0::1]"));
    assert_false(covers(&leaf, "fd00::2"));
    struct err err;
    bool covered;
    assert_int_equal(certificate_covers(strbuf_str(&leaf.certificate), STR("a:1"), &covered, &err),
                     -EINVAL);
    issued_done(&leaf);
    leaf = issue_server(a, 1, NOW, NULL, NULL, NULL);
    assert_false(covers(&leaf, "server"));
    issued_done(&leaf);
    authority_free(a);
}

static int verify(struct str chain, struct str ca, int64_t at_s, const char *why) {
    struct err err = {0};
    const struct certificate_trust trust = {
        .chain_pem = chain, .ca_pem = ca, .at_s = at_s, .at_any_time = at_s == 0};
    int r = certificate_verify(&trust, NULL, &err);
    if (why != NULL)
        assert_contains(err.text, why);
    return r;
}

/* As in Go: a wildcard is a whole label. */
static void test_a_part_of_a_label_is_no_wildcard(void **state) {
    (void)state;
    static const char *const names[] = {"*.svc.example", "a*.svc.example"};
    EVP_PKEY *key = EVP_EC_gen("P-256");
    for (int i = 0; i < 2; i++) {
        X509 *x = X509_new();
        GENERAL_NAMES *all = sk_GENERAL_NAME_new_null();
        GENERAL_NAME *name = GENERAL_NAME_new();
        ASN1_STRING *value = ASN1_IA5STRING_new();
        assert_int_equal(ASN1_STRING_set(value, names[i], -1), 1);
        GENERAL_NAME_set0_value(name, GEN_DNS, value);
        assert_true(sk_GENERAL_NAME_push(all, name) > 0);
        assert_non_null(ASN1_TIME_set(X509_getm_notBefore(x), NOW));
        assert_non_null(ASN1_TIME_set(X509_getm_notAfter(x), NOW));
        assert_int_equal(X509_set_version(x, 2), 1);
        assert_int_equal(X509_set_pubkey(x, key), 1);
        assert_int_equal(X509_add1_ext_i2d(x, NID_subject_alt_name, all, 0, 0), 1);
        assert_true(X509_sign(x, key, EVP_sha256()) > 0);
        BIO *bio = BIO_new(BIO_s_mem());
        assert_int_equal(PEM_write_bio_X509(bio, x), 1);
        char *bytes;
        long n = BIO_get_mem_data(bio, &bytes);
        bool covered;
        struct err err;
        check_ok(certificate_covers((struct str){bytes, (size_t)n}, STR("ab.svc.example"), &covered,
                                    &err),
                 &err);
        assert_int_equal(covered, i == 0);
        (void)BIO_free(bio); /* not NULL */
        GENERAL_NAMES_free(all);
        X509_free(x);
    }
    EVP_PKEY_free(key);
}

static void test_verify(void **state) {
    (void)state;
    struct authority *a = new_authority("a", 30, NOW), *b = new_authority("a", 30, NOW);
    struct issued ca = save(a), wrong = save(b), leaf = issue_server(a, 10, NOW, "x", NULL, NULL);
    struct str chain = strbuf_str(&leaf.certificate), bundle = strbuf_str(&ca.certificate);
    assert_int_equal(verify(chain, bundle, NOW, NULL), 0);
    assert_int_equal(verify(chain, bundle, NOW - 299, NULL), 0);
    assert_int_equal(verify(chain, bundle, NOW - 301, "not yet valid"), -EINVAL);
    assert_int_equal(verify(chain, bundle, NOW + 10 * DAY - 1, NULL), 0);
    assert_int_equal(verify(chain, bundle, NOW + 10 * DAY + 1, "expired"), -EINVAL);
    assert_int_equal(verify(chain, bundle, 0, NULL), 0);
    assert_int_equal(verify(chain, strbuf_str(&wrong.certificate), NOW, "unable to get"), -EINVAL);
    /* a bundle of several, as during a change of the authority */
    strbuf_append_str(&wrong.certificate, bundle);
    assert_int_equal(verify(chain, strbuf_str(&wrong.certificate), NOW, NULL), 0);
    /* the leaf itself as the only root, which Go accepts */
    assert_int_equal(verify(chain, chain, NOW, NULL), 0);
    assert_int_equal(verify(STR(""), bundle, NOW, "no certificate"), -EINVAL);
    assert_int_equal(verify(chain, STR(""), NOW, "CA bundle: no certificate"), -EINVAL);
    struct err err;
    int64_t ends_s = 0;
    const struct certificate_trust trust = {.chain_pem = chain, .ca_pem = bundle, .at_s = NOW};
    check_ok(certificate_verify(&trust, &ends_s, &err), &err);
    assert_int_equal(ends_s, NOW + 30 * DAY);
    issued_done(&leaf);
    issued_done(&ca);
    issued_done(&wrong);
    authority_free(a);
    authority_free(b);
}

static void test_verify_is_for_servers(void **state) {
    (void)state;
    struct authority *a = new_authority("a", 30, NOW);
    const struct leaf_request request = {
        .common_name = STR("c"), .client = true, .days = 1, .now_s = NOW};
    struct issued ca = save(a), client = {0};
    struct err err;
    check_ok(authority_issue(a, &request, &client.certificate, &client.key, &err), &err);
    assert_int_equal(
        verify(strbuf_str(&client.certificate), strbuf_str(&ca.certificate), NOW, "purpose"),
        -EINVAL);
    issued_done(&client);
    issued_done(&ca);
    authority_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_fingerprint),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_malformed_names),
        cmocka_unit_test(test_key),
        cmocka_unit_test(test_covers),
        cmocka_unit_test(test_a_part_of_a_label_is_no_wildcard),
        cmocka_unit_test(test_verify),
        cmocka_unit_test(test_verify_is_for_servers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
