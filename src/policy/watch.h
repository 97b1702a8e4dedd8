/*
 * Keeps the policies in force the same as those of an API server: list and watch
 * (kube/watch/watch.h) of topologypolicies. Where the kind is not installed there are none, which
 * is no error.
 *
 * Threads: the client's thread changes the policies and calls on_change.
 */
#pragma once

#include "kube/client/client.h"
#include "policy/policies.h"

struct policy_watch;

struct policy_watch_options {
    struct policy_source *policies; /* borrowed until policy_watch_free() */
    struct kube_client *client;     /* borrowed likewise */
    struct clock *clock;            /* NULL: the real one */
    uint64_t seed;                  /* of jitter */
    void (*on_change)(void *ctx);   /* other policies are in force; on the client's thread */
    void *ctx;
};

/* Begins at once. Registers metrics with resource="topologypolicies". 0 or -ENOMEM. */
int policy_watch_start(const struct policy_watch_options *options, struct policy_watch **ret,
                       struct err *err) MUST_CHECK;
/* When this returns, on_change is not being called and will not be. Any thread but the client's.
 * NULL is fine. */
void policy_watch_free(struct policy_watch *w);

/* Have all policies been read once, or found not to be installed? Or has it at least been tried?
 * Waiting longer would not help then. Any thread. */
bool policy_watch_listed(struct policy_watch *w);
