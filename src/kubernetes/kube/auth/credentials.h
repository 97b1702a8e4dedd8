/*
 * The present credentials of requests to an API server: tokens that rotate, certificates that are
 * renewed, plugins that are run again. upstream: client-go transport (token_source.go,
 * cert_rotation.go, ca_rotation.go) and plugin/pkg/client/auth/exec.
 *
 * Token file: read again when the copy is 50 s old; blanks around the token are cut. If the file is
 * empty, missing or unreadable, the old token stays. After a 401 the copy is dropped if it was read
 * before the request began.
 *
 * CA, client certificate and key: checked every 10 s and read again when they have changed. If a
 * file is broken, empty or missing, or certificate and key do not belong together, the old ones
 * stay in use: certificate and key change together.
 *
 * Plugin: run in a thread of its own, never through a shell, with bounds on time and output. Its
 * answer is kept until a little before its expirationTimestamp, or until a 401; see
 * kube/auth/exec_plugin.h.
 *
 * Failed reloads are counted (evenkeel_kube_credential_reloads_total); several failures in a row
 * are logged once.
 *
 * Threads: everything from one thread at a time. `wake` is called on the plugin's thread.
 */
#pragma once

#include "base/clock.h"
#include "kube/auth/access.h"

#include <stdint.h>

struct credentials;

/* Borrowed until the next credentials_get(). */
struct identity {
    struct str ca;               /* PEM; empty: the system's */
    struct str certificate, key; /* PEM; empty: no client certificate */
    struct str authorization;    /* the header's value: "Bearer ...", "Basic ..."; empty: none */
    uint64_t tls_version; /* changes whenever ca, certificate or key change: open new connections */
};

struct credentials_options {
    const struct kube_access *access; /* borrowed for the object's life */
    struct clock *clock;              /* NULL: the real clock */
    void (*wake)(void *ctx);          /* a plugin has ended: call credentials_get() again. May be
                                         NULL */
    void *ctx;
};

/* Reads the files. A missing file is an error, unless `token` can replace it. The plugin is not run
 * yet. */
int credentials_new(const struct credentials_options *options, struct credentials **ret,
                    struct err *err) MUST_CHECK;
/* Ends a plugin that is running. Secrets are wiped. */
void credentials_free(struct credentials *c);

/* Returns 0; -EAGAIN: a plugin is running, `wake` will be called; or another -errno with the reason
 * (the plugin failed; it runs again after 5 s at the earliest; this wait doubles with each failure,
 * up to 60 s). Reads small local files when they are due; waits for nothing else. */
int credentials_get(struct credentials *c, struct identity *ret, struct err *err) MUST_CHECK;
/* Call it when the server answered 401 to a request that began at `began_ms` of the clock. */
void credentials_refused(struct credentials *c, int64_t began_ms);
