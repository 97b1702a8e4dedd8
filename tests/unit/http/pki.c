#include "unit/http/pki.h"

#include "base/err.h"
#include "base/file.h"
#include "unit/unit.h"

#include <dirent.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <unistd.h>

#define OK(call) assert_true((call) >= 0)

void pki_init(struct pki *pki) {
    (void)snprintf(pki->folder, sizeof pki->folder, "/tmp/evenkeel-test-XXXXXX");
    assert_non_null(mkdtemp(pki->folder));
}

const char *pki_path(const struct pki *pki, const char *file) {
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, sizeof paths[0], "%s/%s", pki->folder, file);
    return path;
}

static const char *with_suffix(const struct pki *pki, const char *name, const char *suffix) {
    char file[64];
    (void)snprintf(file, sizeof file, "%s%s", name, suffix);
    return pki_path(pki, file);
}

static void write_file(const char *path, gnutls_datum_t text) {
    struct err err;
    assert_int_equal(
        file_write_atomic(path, (struct str){(char *)text.data, text.size}, 0600, &err), 0);
    gnutls_free(text.data);
}

static void read_issuer(const struct pki *pki, const char *name, gnutls_x509_crt_t crt,
                        gnutls_x509_privkey_t key) {
    gnutls_datum_t text;
    OK(gnutls_load_file(with_suffix(pki, name, ".pem"), &text));
    OK(gnutls_x509_crt_import(crt, &text, GNUTLS_X509_FMT_PEM));
    gnutls_free(text.data);
    OK(gnutls_load_file(with_suffix(pki, name, ".key"), &text));
    OK(gnutls_x509_privkey_import(key, &text, GNUTLS_X509_FMT_PEM));
    gnutls_free(text.data);
}

static void add_name(gnutls_x509_crt_t crt, gnutls_x509_subject_alt_name_t type, const char *name) {
    if (name != NULL)
        OK(gnutls_x509_crt_set_subject_alt_name(crt, type, name, (unsigned)strlen(name),
                                                GNUTLS_FSAN_APPEND));
}

static void fill(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key, const struct pki_wish *wish) {
    time_t now = time(NULL);
    bool usual = wish->from_s == 0 && wish->to_s == 0;
    unsigned char serial = wish->serial != 0 ? wish->serial : 1;
    OK(gnutls_x509_crt_set_version(crt, 3));
    OK(gnutls_x509_crt_set_serial(crt, &serial, 1));
    OK(gnutls_x509_crt_set_key(crt, key));
    OK(gnutls_x509_crt_set_activation_time(crt, now + (usual ? -3600 : wish->from_s)));
    OK(gnutls_x509_crt_set_expiration_time(crt, now + (usual ? 3600 : wish->to_s)));
    OK(gnutls_x509_crt_set_basic_constraints(crt, wish->ca, -1));
    if (wish->ca)
        OK(gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_KEY_CERT_SIGN));
    if (wish->cn != NULL)
        OK(gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, wish->cn,
                                         (unsigned)strlen(wish->cn)));
    if (wish->second_cn != NULL)
        OK(gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, wish->second_cn,
                                         (unsigned)strlen(wish->second_cn)));
    for (unsigned i = 0; i < wish->many_names; i++) {
        char name[241];
        (void)snprintf(name, sizeof name, "name-%0235u", i);
        add_name(crt, GNUTLS_SAN_DNSNAME, name);
    }
    add_name(crt, GNUTLS_SAN_DNSNAME, wish->dns);
    add_name(crt, GNUTLS_SAN_RFC822NAME, wish->email);
    add_name(crt, GNUTLS_SAN_URI, wish->uri);
    if (wish->for_clients)
        OK(gnutls_x509_crt_set_key_purpose_oid(crt, GNUTLS_KP_TLS_WWW_CLIENT, 0));
    if (wish->for_servers)
        OK(gnutls_x509_crt_set_key_purpose_oid(crt, GNUTLS_KP_TLS_WWW_SERVER, 0));
}

void pki_make(const struct pki *pki, const struct pki_wish *wish) {
    gnutls_x509_crt_t crt, issuer_crt;
    gnutls_x509_privkey_t key, issuer_key;
    gnutls_datum_t text;
    OK(gnutls_x509_crt_init(&crt));
    OK(gnutls_x509_crt_init(&issuer_crt));
    OK(gnutls_x509_privkey_init(&key));
    OK(gnutls_x509_privkey_init(&issuer_key));
    OK(gnutls_x509_privkey_generate(
        key, wish->rsa ? GNUTLS_PK_RSA : GNUTLS_PK_ECDSA,
        wish->rsa ? 2048 : GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0));
    fill(crt, key, wish);
    if (wish->issuer != NULL) {
        read_issuer(pki, wish->issuer, issuer_crt, issuer_key);
        OK(gnutls_x509_crt_sign2(crt, issuer_crt, issuer_key, GNUTLS_DIG_SHA256, 0));
    } else {
        OK(gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0));
    }
    OK(gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &text));
    write_file(with_suffix(pki, wish->name, ".pem"), text);
    OK(gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN, &text));
    write_file(with_suffix(pki, wish->name, ".key"), text);
    gnutls_x509_crt_deinit(crt);
    gnutls_x509_crt_deinit(issuer_crt);
    gnutls_x509_privkey_deinit(key);
    gnutls_x509_privkey_deinit(issuer_key);
}

void pki_make_chain(const struct pki *pki, const struct pki_wish *wish, unsigned n) {
    char name[40], issuer[40];
    struct strbuf chain = {0};
    struct err err;
    struct pki_wish link = {.name = name, .cn = name, .issuer = wish->issuer, .ca = true};
    (void)snprintf(issuer, sizeof issuer, "%s", wish->issuer); /* fits, here and below */
    for (unsigned i = n - 1; i > 0; i--) {
        (void)snprintf(name, sizeof name, "%s-link%u", wish->name, i);
        link.issuer = issuer;
        pki_make(pki, &link);
        (void)snprintf(issuer, sizeof issuer, "%s", name);
    }
    link = *wish;
    link.issuer = issuer;
    pki_make(pki, &link);
    for (unsigned i = 0; i < n; i++) {
        gnutls_datum_t text;
        (void)snprintf(name, sizeof name, i > 0 ? "%s-link%u.pem" : "%s.pem", wish->name, i);
        OK(gnutls_load_file(pki_path(pki, name), &text));
        strbuf_append(&chain, (char *)text.data, text.size);
        gnutls_free(text.data);
    }
    (void)snprintf(name, sizeof name, "%s.pem", wish->name);
    assert_int_equal(file_write_atomic(pki_path(pki, name), strbuf_str(&chain), 0600, &err), 0);
    strbuf_done(&chain);
}

void pki_copy(const struct pki *pki, const char *from, const char *to) {
    gnutls_datum_t text;
    OK(gnutls_load_file(pki_path(pki, from), &text));
    write_file(pki_path(pki, to), text);
}

void pki_done(struct pki *pki) {
    DIR *folder = opendir(pki->folder);
    assert_non_null(folder);
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.')
            (void)unlink(pki_path(pki, entry->d_name));
    (void)closedir(folder);
    assert_int_equal(rmdir(pki->folder), 0);
}
