/*
 * A bearer token in a file that another program renews: the kubelet replaces the token of a service
 * account long before it expires. upstream: client-go transport/token_source.go. One thread.
 */
#pragma once

#include "base/secret.h"
#include "kube/auth/access.h"
#include "kube/auth/reload.h"

#include <stdint.h>

struct token_file {
    const char *path;    /* borrowed; NULL: no token file */
    struct secret token; /* the copy in use; empty: no copy yet */
    int64_t read_ms;     /* when the copy was read */
    int64_t tried_ms;    /* when reading was last tried */
    bool stale;          /* the server refused the copy */
    struct reload reload;
};

/* Reads the token for the first time from the token_file of `access`, which is borrowed. `fallback`
 * is used while the file has no token; if it is empty, a file without a token is an error. `t` must
 * be zero-initialised; call token_file_done() in any case. */
int token_file_init(struct token_file *t, const struct kube_access *access, struct str fallback,
                    int64_t now_ms, struct err *err) MUST_CHECK;
void token_file_done(struct token_file *t);

/* Reads the file again if it is due. A file without a usable token changes nothing, and is read
 * again a second later. */
void token_file_poll(struct token_file *t, int64_t now_ms);
/* Call it when the server refused a request that began at began_ms: the copy is replaced as soon as
 * possible, unless it was read later than that. */
void token_file_refused(struct token_file *t, int64_t began_ms);
