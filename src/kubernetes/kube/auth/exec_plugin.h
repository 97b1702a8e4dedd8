/*
 * A credential plugin and its last answer. The plugin runs in a thread that the object owns, never
 * in the caller's: asking for the answer does not wait.
 *
 * The plugin runs at the first exec_plugin_get(); a little before the answer's expirationTimestamp
 * (until that time the old answer is used); and when the server refused the answer (at most every 5
 * s). After a failure it waits 5 s, then twice as long each time, up to 60 s. An answer without
 * expirationTimestamp is kept until it is refused; an answer that has expired already, because a
 * clock is wrong, is used for 5 s: the server decides if the answer is valid. upstream: client-go
 * plugin/pkg/client/auth/exec.
 *
 * Threads: everything from one thread; `wake` is called on the plugin's thread.
 */
#pragma once

#include "base/clock.h"
#include "kube/auth/access.h"

#include <stdint.h>

struct exec_plugin;

struct exec_plugin_options {
    const struct kube_access *access; /* with exec.command; borrowed for the object's life */
    struct clock *clock;              /* borrowed */
    void (*wake)(void *ctx);          /* called when the plugin has ended, with success or not; may
                                         be NULL */
    void *ctx;
    int64_t time_limit_ms; /* 0: LIMIT_KUBE_EXEC_MS */
};

/* Starts the thread, not the plugin. Copies this process's environment for the plugin. */
int exec_plugin_new(const struct exec_plugin_options *options, struct exec_plugin **ret,
                    struct err *err) MUST_CHECK;
/* Kills the plugin if it is running; `wake` is not called any more. Secrets are wiped. */
void exec_plugin_free(struct exec_plugin *p);

/* Borrowed until the next exec_plugin_get(). */
struct exec_answer {
    struct str token;            /* empty: none */
    struct str certificate, key; /* PEM; empty: none */
    uint64_t tls_version;        /* changes whenever certificate or key do */
};

/* Returns 0 and a good answer, -EAGAIN while the plugin runs, or the error of its last run. `ca`:
 * the authorities for the plugin to trust, PEM. */
int exec_plugin_get(struct exec_plugin *p, struct str ca, struct exec_answer *ret,
                    struct err *err) MUST_CHECK;
/* Call it when the server answered 401 to a request that began at `began_ms` of the clock. */
void exec_plugin_refused(struct exec_plugin *p, int64_t began_ms);
