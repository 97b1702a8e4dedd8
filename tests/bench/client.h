/*
 * A client that behaves like kube-scheduler's extender client: HTTP/1.1 over TLS, one keep-alive
 * connection, the next request after the last byte of the answer. It measures each call. One thread
 * at a time.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

struct client;

struct client_options {
    const char *address;              /* "127.0.0.1:8443" */
    const char *ca_file;              /* PEM: the CA of the server's certificate; NULL: no TLS */
    const char *cert_file, *key_file; /* PEM; NULL: no client certificate */
};

struct answer {
    int status;
    struct str body; /* borrowed until the next call */
    /* time from the first byte of the request to the first byte of the answer ... */
    int64_t first_ns;
    int64_t total_ns; /* ... and to the last byte of the answer */
};

/* Connects, with the TLS handshake. Returns 0 or -errno. */
int client_open(const struct client_options *options, struct client **ret,
                struct err *err) MUST_CHECK;
/* POSTs a JSON body and reads the whole answer. Returns 0 with any status of HTTP, or -errno; after
 * -errno the client can only be closed. */
int client_post(struct client *c, const char *path, struct str body, struct answer *ret,
                struct err *err) MUST_CHECK;
void client_close(struct client *c);
