/*
 * A small HTTP client for tests of listeners: bytes in, answers out, over TCP or TLS, nothing
 * hidden. Every wait ends after a minute and then fails the test.
 */
#pragma once

#include "base/str.h"

#include <gnutls/gnutls.h>
#include <stdbool.h>

struct net_tls {
    const char *ca_file;              /* what the server must be signed by; NULL: anything goes */
    const char *cert_file, *key_file; /* ours; NULL: none */
    const char *priorities;           /* NULL: "NORMAL" */
    const char *protocol;             /* of ALPN; NULL: none */
};

struct net {
    int fd;
    gnutls_session_t tls; /* NULL: plain */
    gnutls_certificate_credentials_t credentials;
    struct strbuf in; /* received and not yet read as an answer */
};

struct net_answer {
    int status;
    struct strbuf head; /* status line and headers, NUL-terminated */
    struct strbuf body; /* NUL-terminated; n does not count the NUL */
};

/* Connects to "127.0.0.1:port". False: refused, or the handshake failed. Opening, sending and
 * hearing are for any thread: what goes wrong is false. */
bool net_open(struct net *net, const char *address);
/* The same, coming from another loopback address, such as "127.0.3.1". */
bool net_open_from(struct net *net, const char *from, const char *address);
bool net_open_tls(struct net *net, const char *address, const struct net_tls *tls);
/* TLS on a connection that has been opened; if it fails, the connection is closed. */
bool net_start_tls(struct net *net, const struct net_tls *tls);
void net_close(struct net *net);

/* False: the other side is gone. */
bool net_send(struct net *net, const char *bytes, size_t n);
bool net_say(struct net *net, const char *text);
/* The next answer; false: the connection ended before it was whole. The body of an answer to HEAD
 * is not waited for. */
bool net_hear(struct net *net, struct net_answer *answer);
bool net_hear_head(struct net *net, struct net_answer *answer);
void net_answer_done(struct net_answer *answer);
/* Adds what comes next to net->in; false: the end. */
bool net_receive(struct net *net);
/* Waits for the other side to close; false: it sent something. */
bool net_ended(struct net *net);

/* "POST path" with a JSON body of n bytes 'x', and the answer. */
bool net_post(struct net *net, const char *path, size_t n, struct net_answer *answer);
/* The serial number of the certificate the server has shown. */
unsigned net_serial(struct net *net);
