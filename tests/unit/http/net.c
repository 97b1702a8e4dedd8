#include "unit/http/net.h"

#include "unit/unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/x509.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 60000 };

static bool wait_for(struct net *net, short events) {
    struct pollfd p = {net->fd, events, 0};
    int n;
    do
        n = poll(&p, 1, PATIENCE_MS);
    while (n < 0 && errno == EINTR);
    if (n ==
        0) { /* printed here, because fail() prints nothing from another thread than the test's */
        (void)fprintf(stderr, "# nothing happened for %d ms\n", PATIENCE_MS);
        fail();
    }
    return n > 0;
}

bool net_open(struct net *net, const char *address) {
    return net_open_from(net, "127.0.0.1", address);
}

bool net_open_from(struct net *net, const char *from, const char *address) {
    *net = (struct net){.fd = -1};
    struct sockaddr_in ours = {.sin_family = AF_INET};
    const char *port = strrchr(address, ':') + 1;
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((in_port_t)strtoul(port, NULL, 10)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    net->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    if (setsockopt(net->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0 &&
        inet_pton(AF_INET, from, &ours.sin_addr) == 1 &&
        bind(net->fd, (struct sockaddr *)&ours, sizeof ours) == 0 &&
        connect(net->fd, (struct sockaddr *)&to, sizeof to) == 0)
        return true;
    net_close(net);
    return false;
}

/* Sends the certificates of a file, however many: GnuTLS's own function stops after sixteen. */
static void show(gnutls_certificate_credentials_t credentials, const char *cert_file,
                 const char *key_file) {
    gnutls_datum_t text;
    gnutls_x509_crt_t *chain;
    gnutls_x509_privkey_t key;
    unsigned n;
    assert_int_equal(gnutls_load_file(cert_file, &text), 0);
    assert_true(gnutls_x509_crt_list_import2(&chain, &n, &text, GNUTLS_X509_FMT_PEM, 0) >= 0);
    gnutls_free(text.data);
    assert_int_equal(gnutls_load_file(key_file, &text), 0);
    assert_int_equal(gnutls_x509_privkey_init(&key), 0);
    assert_int_equal(gnutls_x509_privkey_import(key, &text, GNUTLS_X509_FMT_PEM), 0);
    gnutls_free(text.data);
    assert_true(gnutls_certificate_set_x509_key(credentials, chain, (int)n, key) >= 0);
    gnutls_x509_privkey_deinit(key);
    for (unsigned i = 0; i < n; i++)
        gnutls_x509_crt_deinit(chain[i]);
    gnutls_free(chain);
}

static bool set_up_tls(struct net *net, const struct net_tls *tls) {
    const char *priorities = tls->priorities != NULL ? tls->priorities : "NORMAL";
    if (gnutls_certificate_allocate_credentials(&net->credentials) != 0 ||
        gnutls_init(&net->tls, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL) != 0 ||
        gnutls_priority_set_direct(net->tls, priorities, NULL) != 0)
        return false;
    if (tls->ca_file != NULL && gnutls_certificate_set_x509_trust_file(
                                    net->credentials, tls->ca_file, GNUTLS_X509_FMT_PEM) <= 0)
        return false;
    if (tls->cert_file != NULL)
        show(net->credentials, tls->cert_file, tls->key_file);
    if (gnutls_credentials_set(net->tls, GNUTLS_CRD_CERTIFICATE, net->credentials) != 0)
        return false;
    if (tls->ca_file != NULL)
        gnutls_session_set_verify_cert(net->tls, NULL, 0);
    if (tls->protocol != NULL) {
        const gnutls_datum_t protocol = {(unsigned char *)(uintptr_t)tls->protocol,
                                         (unsigned)strlen(tls->protocol)};
        if (gnutls_alpn_set_protocols(net->tls, &protocol, 1, 0) != 0)
            return false;
    }
    gnutls_transport_set_int(net->tls, net->fd);
    gnutls_handshake_set_timeout(net->tls, PATIENCE_MS);
    return true;
}

bool net_start_tls(struct net *net, const struct net_tls *tls) {
    int r = set_up_tls(net, tls) ? GNUTLS_E_AGAIN : GNUTLS_E_INTERNAL_ERROR;
    while (r < 0 && !gnutls_error_is_fatal(r))
        r = gnutls_handshake(net->tls);
    if (r < 0)
        net_close(net);
    return r == 0;
}

bool net_open_tls(struct net *net, const char *address, const struct net_tls *tls) {
    return net_open(net, address) && net_start_tls(net, tls);
}

void net_close(struct net *net) {
    if (net->tls != NULL)
        gnutls_deinit(net->tls);
    if (net->credentials != NULL)
        gnutls_certificate_free_credentials(net->credentials);
    if (net->fd >= 0)
        (void)close(net->fd);
    strbuf_done(&net->in);
    *net = (struct net){.fd = -1};
}

bool net_send(struct net *net, const char *bytes, size_t n) {
    while (n > 0) {
        ssize_t sent = net->tls != NULL ? gnutls_record_send(net->tls, bytes, n)
                                        : send(net->fd, bytes, n, MSG_NOSIGNAL);
        if (sent < 0 && (net->tls != NULL ? !gnutls_error_is_fatal((int)sent) : errno == EINTR))
            continue;
        if (sent <= 0)
            return false;
        bytes += sent;
        n -= (size_t)sent;
    }
    return true;
}

bool net_say(struct net *net, const char *text) {
    return net_send(net, text, strlen(text));
}

bool net_receive(struct net *net) {
    char *to = strbuf_reserve(&net->in, 1 << 16);
    while (to != NULL) {
        if (net->tls == NULL || gnutls_record_check_pending(net->tls) == 0)
            (void)wait_for(net, POLLIN);
        ssize_t n = net->tls != NULL ? gnutls_record_recv(net->tls, to, 1 << 16)
                                     : recv(net->fd, to, 1 << 16, 0);
        if (n < 0 && (net->tls != NULL ? !gnutls_error_is_fatal((int)n) : errno == EINTR))
            continue;
        if (n <= 0)
            return false;
        net->in.n += (size_t)n;
        return true;
    }
    return false;
}

/* Moves the first n received bytes to `to`, with a NUL behind them. */
static bool take(struct net *net, size_t n, struct strbuf *to) {
    strbuf_clear(to);
    strbuf_append(to, net->in.p, n);
    strbuf_append_char(to, '\0');
    if (strbuf_failed(to))
        return false;
    to->n--;
    memmove(net->in.p, net->in.p + n, net->in.n - n);
    net->in.n -= n;
    return true;
}

static bool hear(struct net *net, struct net_answer *answer, bool with_body) {
    const char *end = NULL;
    while (net->in.n == 0 || (end = memmem(net->in.p, net->in.n, "\r\n\r\n", 4)) == NULL)
        if (!net_receive(net))
            return false;
    if (!take(net, (size_t)(end + 4 - net->in.p), &answer->head) ||
        !str_has_prefix(strbuf_str(&answer->head), STR("HTTP/1.1 ")))
        return false;
    answer->status = (int)strtol(answer->head.p + 9, NULL, 10);
    const char *length = strcasestr(answer->head.p, "\r\nContent-Length: ");
    size_t n = with_body && length != NULL ? strtoul(length + 18, NULL, 10) : 0;
    while (net->in.n < n)
        if (!net_receive(net))
            return false;
    return take(net, n, &answer->body);
}

bool net_hear(struct net *net, struct net_answer *answer) {
    return hear(net, answer, true);
}

bool net_hear_head(struct net *net, struct net_answer *answer) {
    return hear(net, answer, false);
}

void net_answer_done(struct net_answer *answer) {
    strbuf_done(&answer->head);
    strbuf_done(&answer->body);
}

bool net_ended(struct net *net) {
    return net->in.n == 0 && !net_receive(net);
}

bool net_post(struct net *net, const char *path, size_t n, struct net_answer *answer) {
    struct strbuf request = {0};
    strbuf_appendf(&request,
                   "POST %s HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
                   "Content-Length: %zu\r\n\r\n",
                   path, n);
    char *to = strbuf_reserve(&request, n);
    if (to != NULL) {
        memset(to, 'x', n);
        request.n += n;
    }
    bool ok = to != NULL && net_send(net, request.p, request.n);
    strbuf_done(&request);
    return ok && net_hear(net, answer);
}

unsigned net_serial(struct net *net) {
    unsigned n = 0;
    unsigned char serial[32];
    size_t size = sizeof serial;
    gnutls_x509_crt_t crt;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(net->tls, &n);
    assert_true(n > 0);
    assert_int_equal(gnutls_x509_crt_init(&crt), 0);
    assert_int_equal(gnutls_x509_crt_import(crt, &chain[0], GNUTLS_X509_FMT_DER), 0);
    assert_int_equal(gnutls_x509_crt_get_serial(crt, serial, &size), 0);
    gnutls_x509_crt_deinit(crt);
    return serial[size - 1];
}
