#include "bench/client.h"

#include "base/clock.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ANSWER_BYTES = 256 << 20,
    READ_BYTES = 64 << 10,
    TIMEOUT_S = 30, /* for one read or write: a server that hangs must not hang the benchmark */
};

struct client {
    SSL_CTX *context;
    SSL *ssl; /* NULL: without TLS */
    int fd;
    char host[256];
    struct strbuf out, in; /* the request and the answer, used again for every call */
};

static int tls_failed(const char *what, struct err *err) {
    char text[256];
    unsigned long code = ERR_get_error();
    if (code == 0)
        return err_set(err, -EIO, "cannot %s: the connection was closed", what);
    ERR_error_string_n(code, text, sizeof text);
    return err_set(err, -EIO, "cannot %s: %s", what, text);
}

/* ---- opening ---- */

static int load_files(SSL_CTX *context, const struct client_options *options, struct err *err) {
    if (SSL_CTX_load_verify_locations(context, options->ca_file, NULL) != 1)
        return tls_failed("load the CA", err);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    if (options->cert_file == NULL)
        return 0;
    if (SSL_CTX_use_certificate_chain_file(context, options->cert_file) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, options->key_file, SSL_FILETYPE_PEM) != 1)
        return tls_failed("load the client certificate", err);
    return 0;
}

static int connect_to(struct client *c, const char *address, struct err *err) {
    const char *colon = strrchr(address, ':');
    if (colon == NULL || (size_t)(colon - address) >= sizeof c->host)
        return err_set(err, -EINVAL, "'%s' is no host:port", address);
    (void)snprintf(c->host, sizeof c->host, "%.*s", (int)(colon - address), address);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    int r = getaddrinfo(c->host, colon + 1, &hints, &found);
    if (r != 0)
        return err_set(err, -EINVAL, "cannot resolve '%s': %s", address, gai_strerror(r));
    c->fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    r = c->fd < 0 || connect(c->fd, found->ai_addr, found->ai_addrlen) != 0 ? errno : 0;
    freeaddrinfo(found);
    if (r != 0)
        return err_set_errno(err, r, "cannot connect to '%s'", address);
    const int on = 1;
    const struct timeval timeout = {.tv_sec = TIMEOUT_S};
    if (setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
        setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0 ||
        setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) != 0)
        return err_set_errno(err, errno, "cannot set up the socket");
    return 0;
}

static int shake_hands(struct client *c, const struct client_options *options, struct err *err) {
    char name[] = "localhost"; /* OpenSSL takes no const one */
    c->context = SSL_CTX_new(TLS_client_method());
    if (c->context == NULL)
        return tls_failed("make a TLS context", err);
    int r = load_files(c->context, options, err);
    if (r != 0)
        return r;
    SSL_CTX_set_read_ahead(c->context, 1);
    SSL_CTX_set_default_read_buffer_len(c->context, READ_BYTES);
    c->ssl = SSL_new(c->context);
    if (c->ssl == NULL || SSL_set_fd(c->ssl, c->fd) != 1 ||
        SSL_set_tlsext_host_name(c->ssl, name) != 1 || SSL_connect(c->ssl) != 1)
        return tls_failed("shake hands", err);
    return 0;
}

int client_open(const struct client_options *options, struct client **ret, struct err *err) {
    struct client *c = calloc(1, sizeof *c);
    if (c == NULL)
        return err_set(err, -ENOMEM, "no memory for a client");
    c->fd = -1;
    c->in.max = c->out.max = ANSWER_BYTES;
    int r = connect_to(c, options->address, err);
    if (r == 0 && options->ca_file != NULL)
        r = shake_hands(c, options, err);
    if (r != 0) {
        client_close(c);
        return r;
    }
    *ret = c;
    return 0;
}

void client_close(struct client *c) {
    if (c == NULL)
        return;
    SSL_free(c->ssl); /* NULL is fine, here and below */
    SSL_CTX_free(c->context);
    if (c->fd >= 0)
        (void)close(c->fd); /* nothing is left to be lost */
    strbuf_done(&c->out);
    strbuf_done(&c->in);
    free(c);
}

/* ---- one call ---- */

/* Returns false after an error. */
static bool send_some(struct client *c, const char *from, size_t n, size_t *ret_n) {
    if (c->ssl != NULL)
        return SSL_write_ex(c->ssl, from, n, ret_n) == 1;
    const ssize_t sent = send(c->fd, from, n, MSG_NOSIGNAL);
    *ret_n = sent > 0 ? (size_t)sent : 0;
    return sent > 0;
}

static bool receive_some(struct client *c, char *to, size_t n, size_t *ret_n) {
    if (c->ssl != NULL)
        return SSL_read_ex(c->ssl, to, n, ret_n) == 1;
    const ssize_t received = recv(c->fd, to, n, 0);
    *ret_n = received > 0 ? (size_t)received : 0;
    return received > 0;
}

static int call_failed(const struct client *c, const char *what, struct err *err) {
    return c->ssl != NULL ? tls_failed(what, err) : err_set_errno(err, errno, "cannot %s", what);
}

static int send_all(struct client *c, struct err *err) {
    for (size_t at = 0; at < c->out.n;) {
        size_t n;
        if (!send_some(c, c->out.p + at, c->out.n - at, &n))
            return call_failed(c, "send the request", err);
        at += n;
    }
    return 0;
}

/* Reads what is there, at most `wanted` bytes, behind what was read before. */
static int read_some(struct client *c, size_t wanted, struct err *err) {
    size_t n;
    char *to = strbuf_reserve(&c->in, wanted);
    if (to == NULL)
        return err_set(err, -ENOMEM, "no memory for the answer");
    if (!receive_some(c, to, wanted, &n))
        return call_failed(c, "read the answer", err);
    c->in.n += n;
    return 0;
}

/* Status and length from the head, whose bytes end with an empty line. */
static int parse_head(struct str head, int *ret_status, size_t *ret_length, struct err *err) {
    static const char name[] = "\r\nContent-Length:";
    int64_t status, length;
    const char *found = memmem(head.p, head.n, name, sizeof name - 1);
    if (head.n < 12 || !str_to_i64((struct str){head.p + 9, 3}, &status) || found == NULL)
        return err_set(err, -EPROTO, "the answer has no status or no Content-Length");
    const char *value = found + sizeof name - 1;
    struct str text = {value,
                       str_find((struct str){value, (size_t)(head.p + head.n - value)}, '\r')};
    if (!str_to_i64(str_trim(text), &length) || length < 0 || length > ANSWER_BYTES / 2)
        return err_set(err, -EPROTO, "Content-Length '%.*s' is no length", STR_ARG(text));
    *ret_status = (int)status;
    *ret_length = (size_t)length;
    return 0;
}

static int receive(struct client *c, int64_t began_ns, struct answer *ret, struct err *err) {
    const char *end = NULL;
    size_t length = 0;
    strbuf_clear(&c->in);
    while (end == NULL) {
        int r = read_some(c, READ_BYTES, err);
        if (r != 0)
            return r;
        if (ret->first_ns == 0)
            ret->first_ns = clock_now_ns() - began_ns;
        end = memmem(c->in.p, c->in.n, "\r\n\r\n", 4);
    }
    size_t head = (size_t)(end - c->in.p) + 4;
    int r = parse_head((struct str){c->in.p, head}, &ret->status, &length, err);
    while (r == 0 && c->in.n < head + length)
        r = read_some(c, head + length - c->in.n, err);
    ret->total_ns = clock_now_ns() - began_ns;
    if (r == 0 && c->in.n > head + length)
        r = err_set(err, -EPROTO, "%zu bytes behind the answer", c->in.n - head - length);
    ret->body = (struct str){c->in.p + head, length};
    return r;
}

int client_post(struct client *c, const char *path, struct str body, struct answer *ret,
                struct err *err) {
    struct answer answer = {0};
    strbuf_clear(&c->out);
    strbuf_appendf(&c->out,
                   "POST %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: Go-http-client/1.1\r\n"
                   "Content-Length: %zu\r\nContent-Type: application/json\r\n"
                   "Accept-Encoding: gzip\r\n\r\n",
                   path, c->host, body.n);
    strbuf_append_str(&c->out, body);
    if (strbuf_failed(&c->out))
        return err_set(err, -ENOMEM, "no memory for a request of %zu bytes", body.n);
    int64_t began_ns = clock_now_ns();
    int r = send_all(c, err);
    if (r == 0)
        r = receive(c, began_ns, &answer, err);
    if (r == 0)
        *ret = answer;
    return r;
}
