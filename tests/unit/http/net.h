/*
 * A small HTTP client for tests of listeners: sends bytes and reads answers, over TCP or TLS,
 * without hidden steps. A wait of more than a minute fails the test.
 */
#pragma once

#include "base/str.h"

#include <gnutls/gnutls.h>
#include <stdbool.h>

struct net_tls {
    const char *ca_file; /* the CA of the server's certificate; NULL: any certificate is accepted */
    const char *cert_file, *key_file; /* the client's certificate; NULL: none */
    const char *priorities;           /* NULL: "NORMAL" */
    const char *protocol;             /* protocol for ALPN; NULL: no ALPN */
};

struct net {
    int fd;
    gnutls_session_t tls; /* NULL: plain */
    gnutls_certificate_credentials_t credentials;
    struct strbuf in; /* bytes that were received and are not yet part of an answer */
};

struct net_answer {
    int status;
    struct strbuf head; /* status line and headers, NUL-terminated */
    struct strbuf body; /* NUL-terminated; n does not count the NUL */
};

/* Connects to "127.0.0.1:port". Returns false if the connection was refused or the handshake
 * failed. Any thread may open, send and hear: these functions return false after a failure and do
 * not fail the test. */
bool net_open(struct net *net, const char *address);
/* The same as net_open() from another loopback address, such as "127.0.3.1". */
bool net_open_from(struct net *net, const char *from, const char *address);
bool net_open_tls(struct net *net, const char *address, const struct net_tls *tls);
/* Starts TLS on an open connection; if it fails, the connection is closed. */
bool net_start_tls(struct net *net, const struct net_tls *tls);
void net_close(struct net *net);

/* Returns false if the other side has closed the connection. */
bool net_send(struct net *net, const char *bytes, size_t n);
bool net_say(struct net *net, const char *text);
/* Reads the next answer. Returns false if the connection ended before the answer was complete.
 * net_hear_head() reads an answer to HEAD, which has no body. */
bool net_hear(struct net *net, struct net_answer *answer);
bool net_hear_head(struct net *net, struct net_answer *answer);
void net_answer_done(struct net_answer *answer);
/* Adds the next received bytes to net->in. Returns false at the end. */
bool net_receive(struct net *net);
/* Waits until the other side closes the connection. Returns false if it sent bytes instead. */
bool net_ended(struct net *net);

/* Sends "POST path" with a JSON body of n bytes 'x', and reads the answer. */
bool net_post(struct net *net, const char *path, size_t n, struct net_answer *answer);
/* Returns the serial number of the server's certificate. */
unsigned net_serial(struct net *net);
