/*
 * Handshakes that must not be: what is offered (versions, ciphers, key exchanges, groups,
 * signatures) and what is no handshake at all. None gets a byte of HTTP, each connection ends, and
 * the listener serves on. What is expected is what TLS_PRIORITIES promises, and RFC 8446 and RFC
 * 5246 of records.
 */
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/http/pki.h"
#include "unit/unit.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>

/* How often somebody received when there was nothing, and how often there was something; in place
 * of the C library's, for libmicrohttpd and GnuTLS, too. */
static atomic_uint in_vain, received;

ssize_t recv(int fd, void *buf, size_t n, int flags) {
    const ssize_t got = recvfrom(fd, buf, n, flags, NULL, NULL);
    const int failure = errno;
    atomic_fetch_add(got < 0 ? &in_vain : &received, 1);
    errno = failure;
    return got;
}

struct all {
    struct served served;
    struct pki pki;
    char cert[512], key[512];
};

static struct all *begin(unsigned header_ms) {
    struct all *a = calloc(1, sizeof *a);
    assert_non_null(a);
    served_init(&a->served);
    pki_init(&a->pki);
    pki_make(&a->pki, &(struct pki_wish){.name = "server", .cn = "server"});
    (void)snprintf(a->cert, sizeof a->cert, "%s", pki_path(&a->pki, "server.pem"));
    (void)snprintf(a->key, sizeof a->key, "%s", pki_path(&a->pki, "server.key"));
    a->served.options.tls.cert_file = a->cert;
    a->served.options.tls.key_file = a->key;
    a->served.options.limits.header_ms = header_ms; /* the end of what is never complete */
    served_start(&a->served);
    return a;
}

static bool is_answered(struct all *a, const char *priorities) {
    const struct net_tls tls = {.priorities = priorities};
    struct net net;
    struct net_answer answer = {0};
    bool good = net_open_tls(&net, served_address(&a->served), &tls);
    good = good && net_say(&net, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n") &&
           net_hear(&net, &answer) && answer.status == 200;
    net_answer_done(&answer);
    net_close(&net);
    return good;
}

static void end(struct all *a) {
    int tries = 20; /* its time may be short, too, on a busy machine */
    while (!is_answered(a, "NORMAL"))
        assert_true(--tries > 0);
    served_done(&a->served);
    pki_done(&a->pki);
    free(a);
}

/* What a client may offer, all else being usual. */
static const char *const accepted[] = {
    "NORMAL",
    "NORMAL:-VERS-ALL:+VERS-TLS1.3",
    "NORMAL:-VERS-ALL:+VERS-TLS1.2",
    "NORMAL:-VERS-ALL:+VERS-TLS1.0:+VERS-TLS1.1:+VERS-TLS1.2",
    "NORMAL:-CIPHER-ALL:+AES-128-GCM",
    "NORMAL:-CIPHER-ALL:+AES-256-GCM",
    "NORMAL:-CIPHER-ALL:+CHACHA20-POLY1305",
    "NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+AES-128-GCM",
    "NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+CHACHA20-POLY1305",
    "NORMAL:-GROUP-ALL:+GROUP-X25519",
    "NORMAL:-GROUP-ALL:+GROUP-SECP256R1",
    "NORMAL:-GROUP-ALL:+GROUP-SECP384R1",
    "NORMAL:%NO_TICKETS",
};
static const char *const refused[] = {
    "NORMAL:-VERS-ALL:+VERS-TLS1.1",
    "NORMAL:-VERS-ALL:+VERS-TLS1.0",
    "NORMAL:-VERS-ALL:+VERS-TLS1.0:+VERS-TLS1.1",
    "NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+RSA",
    "NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+DHE-RSA",
    "NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+ANON-ECDH",
    "NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+ANON-DH",
    "NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+AES-128-CBC",
    "NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+AES-256-CBC",
    "NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+3DES-CBC",
    "NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+ARCFOUR-128",
    "NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+CAMELLIA-128-GCM",
    "NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+AES-128-CCM",
    "NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+AES-128-CCM-8",
    "NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+AES-256-CBC:-MAC-ALL:+SHA1",
    "NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+NULL:-MAC-ALL:+SHA1",
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-CCM",
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-CCM-8",
    "NORMAL:-GROUP-ALL:+GROUP-SECP521R1",
    "NORMAL:-GROUP-ALL:+GROUP-X448",
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:+GROUP-FFDHE2048",
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:+GROUP-FFDHE4096",
    "NORMAL:-SIGN-ALL:+SIGN-DSA-SHA256",
    "NORMAL:-SIGN-ALL:+SIGN-ECDSA-SHA1:-VERS-ALL:+VERS-TLS1.2",
};

static void test_offers(void **state) {
    (void)state;
    struct all *a = begin(10000);
    for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++)
        if (!is_answered(a, accepted[i]))
            fail_msg("refused: %s", accepted[i]);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (is_answered(a, refused[i]))
            fail_msg("accepted: %s", refused[i]);
    end(a);
}

struct raw {
    const char *bytes;
    size_t n;
};
#define RAW(text)                                                                                  \
    { (text), sizeof(text) - 1 }
#define RANDOM "0123456789abcdef0123456789abcdef"
/* client_version, random, no session, one cipher suite (ECDHE, AES-128-GCM), no compression */
#define HELLO "\x03\x03" RANDOM "\0\0\x02\xc0\x2f\x01\0"

static const struct raw records[] = {
    RAW("GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
    RAW("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    RAW("\r\n\r\n\r\n\r\n"),
    RAW("\0"),
    RAW("\0\0\0\0\0\0\0\0\0\0\0\0"),
    RAW("\xff\xff\xff\xff\xff\xff\xff\xff"),
    RAW("\x16"),
    RAW("\x16\x03\x01"),
    RAW("\x16\x03\x01\0\0"),             /* an empty handshake record */
    RAW("\x16\x03\x01\xff\xff"),         /* longer than a record may be */
    RAW("\x16\x03\x01\x40\x01\x01"),     /* by one byte */
    RAW("\x16\x03\x01\0\x04\x01\0\0\0"), /* an empty hello */
    RAW("\x16\x03\x01\0\x04\x01\xff\xff\xff"),
    RAW("\x16\x03\x01\0\x04\x01\x01\0\x01"), /* 64 KiB and one are announced */
    RAW("\x16\x03\x01\0\x04\x02\0\0\0"),     /* a server's hello */
    RAW("\x16\x03\x01\0\x04\x00\0\0\0"),     /* hello request */
    RAW("\x16\x03\x01\0\x04\x0e\0\0\0"),     /* server hello done */
    RAW("\x16\x03\x01\0\x04\x14\0\0\0"),     /* finished */
    RAW("\x16\x03\x01\0\x04\x18\0\0\0"),     /* key update */
    RAW("\x16\x03\x01\0\x04\xfe\0\0\0"),
    RAW("\x17\x03\x03\0\x05hello"),              /* application data */
    RAW("\x14\x03\x03\0\x01\x01"),               /* change cipher spec */
    RAW("\x15\x03\x03\0\x02\x01\0"),             /* close notify */
    RAW("\x15\x03\x03\0\x02\x02\x28"),           /* a fatal alert */
    RAW("\x15\x03\x03\0\x01\x02"),               /* half an alert */
    RAW("\x18\x03\x02\0\x03\x01\x40\0"),         /* heartbeat */
    RAW("\x80\x2e\x01\x03\x01\0\x15\0\0\0\x10"), /* SSL 2 */
    RAW("\x16\x02\0\0\x2d\x01\0\0\x29" HELLO),   /* record version 2.0 */
    RAW("\x16\x09\x09\0\x2d\x01\0\0\x29" HELLO), /* 9.9 */
    RAW("\x16\x03\x01\0\x2d\x01\0\0\x28" HELLO), /* shorter than it is */
    RAW("\x16\x03\x01\0\x2d\x01\0\0\x2a" HELLO), /* longer */
    RAW("\x16\x03\x01\0\x01\x01"),               /* one byte of one */
    RAW("\x16\x03\x01\0\x2d\x01\0\0\x29\x03\x00" RANDOM "\0\0\x02\xc0\x2f\x01\0"),   /* SSL 3 */
    RAW("\x16\x03\x01\0\x2d\x01\0\0\x29\x03\x01" RANDOM "\0\0\x02\xc0\x2f\x01\0"),   /* TLS 1.0 */
    RAW("\x16\x03\x01\0\x2d\x01\0\0\x29\x03\x02" RANDOM "\0\0\x02\xc0\x2f\x01\0"),   /* TLS 1.1 */
    RAW("\x16\x03\x01\0\x2d\x01\0\0\x29\x03\x03" RANDOM "\0\0\x02\x00\x2f\x01\0"),   /* RSA, CBC */
    RAW("\x16\x03\x01\0\x2d\x01\0\0\x29\x03\x03" RANDOM "\0\0\x02\0\0\x01\0"),       /* NULL */
    RAW("\x16\x03\x01\0\x2d\x01\0\0\x29\x03\x03" RANDOM "\0\0\x02\xc0\x2f\x01\x01"), /* deflate */
    RAW("\x16\x03\x01\0\x2d\x01\0\0\x29\x03\x03" RANDOM "\xff\0\x02\xc0\x2f\x01\0"), /* session */
    RAW("\x16\x03\x01\0\x2d\x01\0\0\x29\x03\x03" RANDOM "\0\0\x03\xc0\x2f\x01\0"), /* odd suites */
    RAW("\x16\x03\x01\0\x2d\x01\0\0\x29\x03\x03" RANDOM "\0\xff\xff\xc0\x2f\x01\0"),
    RAW("\x16\x03\x01\0\x2f\x01\0\0\x2b" HELLO "\xff\xff"), /* extensions that are not there */
    RAW("\x16\x03\x01\0\x33\x01\0\0\x2f" HELLO "\0\x04\0\x0a\xff\xff"),
};

/* No byte of HTTP: nothing, or alerts and parts of a handshake, which begin with their type. */
static void test_records(void **state) {
    (void)state;
    struct all *a = begin(200);
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
        struct net net;
        assert_true(net_open(&net, served_address(&a->served)));
        (void)net_send(&net, records[i].bytes, records[i].n);
        while (net_receive(&net))
            ;
        if (net.in.n > 0 && net.in.p[0] != 0x15 && net.in.p[0] != 0x16)
            fail_msg("record %zu: %zu bytes, the first is 0x%02x", i, net.in.n, net.in.p[0]);
        net_close(&net);
    }
    end(a);
}

/* A client that wants to negotiate again is not answered again: the connection ends. */
static void test_renegotiation(void **state) {
    (void)state;
    struct all *a = begin(10000);
    const struct net_tls tls = {.priorities = "NORMAL:-VERS-ALL:+VERS-TLS1.2"};
    struct net net;
    struct net_answer answer = {0};
    assert_true(net_open_tls(&net, served_address(&a->served), &tls));
    assert_true(net_say(&net, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"));
    assert_true(net_hear(&net, &answer));
    int r;
    do
        r = gnutls_handshake(net.tls);
    while (r < 0 && !gnutls_error_is_fatal(r) && r != GNUTLS_E_WARNING_ALERT_RECEIVED);
    assert_true(r < 0);
    net_answer_done(&answer);
    net_close(&net);
    end(a);
}

static ssize_t pull_nothing(gnutls_transport_ptr_t session, void *to, size_t size) {
    (void)to, (void)size;
    gnutls_transport_set_errno(session, EAGAIN);
    return -1;
}

/* A client that has sent its hello, and is silent then, is waited for: nobody looks again and again
 * whether it goes on, which libmicrohttpd does in the handshake if it uses epoll (0.9.75). */
static void test_silence_after_the_hello(void **state) {
    (void)state;
    struct all *a = begin(500);
    struct net net;
    gnutls_certificate_credentials_t credentials;
    assert_true(net_open(&net, served_address(&a->served)));
    assert_int_equal(gnutls_certificate_allocate_credentials(&credentials), 0);
    assert_int_equal(gnutls_init(&net.tls, GNUTLS_CLIENT | GNUTLS_NONBLOCK), 0);
    assert_int_equal(gnutls_set_default_priority(net.tls), 0);
    assert_int_equal(gnutls_credentials_set(net.tls, GNUTLS_CRD_CERTIFICATE, credentials), 0);
    gnutls_transport_set_int(net.tls, net.fd);
    gnutls_transport_set_pull_function(net.tls, pull_nothing);
    gnutls_transport_set_ptr2(net.tls, net.tls, (gnutls_transport_ptr_t)(intptr_t)net.fd);
    atomic_store(&in_vain, 0);
    atomic_store(&received, 0);
    assert_int_equal(gnutls_handshake(net.tls), GNUTLS_E_AGAIN);
    gnutls_deinit(net.tls);
    net.tls = NULL;
    while (net_receive(&net)) /* the server's part, until it closes */
        ;
    assert_true(net.in.n > 0);
    assert_true(atomic_load(&received) > 0);
    assert_true(atomic_load(&in_vain) < 20);
    gnutls_certificate_free_credentials(credentials);
    net_close(&net);
    end(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offers),
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_renegotiation),
        cmocka_unit_test(test_silence_after_the_hello),
    };
    return cmocka_run_group_tests_name("raw TLS", tests, NULL, NULL);
}
