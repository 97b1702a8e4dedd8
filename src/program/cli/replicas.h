/*
 * The replicas of a daemon, asked all at once over their ops listeners. Each has decisions of its
 * own, so an answer of one is a part of it, and a replica that does not answer is told by name.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "base/str.h"
#include "kube/client/client.h"

#include <stdbool.h>
#include <stdint.h>

struct replica {
    const char *server; /* "http://10.0.0.7:8080" */
    int status;         /* of the answer; 0: there was none ... */
    struct err error;   /* ... because of this */
    struct strbuf body;
    /* while it is asked */
    struct kube_access access;
    struct kube_client *client;
    struct kube_request request;
    struct replicas *all;
};

struct replicas {
    struct replica *items;
    uint32_t count;
    struct mutex mutex; /* guards `waiting`, and status, error and body while there is one */
    struct condition answered;
    uint32_t waiting; /* for so many */
};

/* The replicas behind these URLs. The host of an http URL may be a name with many addresses, as
 * that of a headless Service: each is a replica (of IPv4 if there are any). Everything is in the
 * arena; replicas_done() in any case. 0, -E2BIG (more than LIMIT_EXPLAINED_REPLICAS) or -ENOMEM. A
 * name that does not resolve is a replica that does not answer. */
int replicas_open(struct replicas *ret, const char *const *servers, uint32_t count,
                  struct arena *arena, struct err *err) MUST_CHECK;
void replicas_done(struct replicas *all);

struct replica_question {
    const char *method, *path;
    struct str body;
    const char *token_file; /* NULL: none */
};
/* Asks `count` of them from `first` on, and waits until each has answered or failed, for at most
 * LIMIT_EXPLAINED_WAIT_MS. What was answered before is forgotten. */
void replicas_ask(struct replicas *all, uint32_t first, uint32_t count,
                  const struct replica_question *question);

/* Adds one that has been asked elsewhere and is not asked again: `file` is a document as
 * cli/merged.h has it; empty: nothing is known there; "": it did not answer. `server` is borrowed.
 * 0 or -errno. */
int replicas_add_answer(struct replicas *all, const char *server, const char *file,
                        struct err *err) MUST_CHECK;
