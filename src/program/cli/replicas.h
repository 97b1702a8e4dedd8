/*
 * Asks all replicas of a daemon at once, over their ops listeners. Each replica has only its own
 * decisions, so all answers are needed, and a replica that does not answer is reported by name.
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
    const char *server; /* the replica's URL: "http://10.0.0.7:8080" */
    int status;         /* status code of the answer; 0: no answer */
    struct err error;   /* the reason why there is no answer */
    struct strbuf body;
    /* used while the replica is asked */
    struct kube_access access;
    struct kube_client *client;
    struct kube_request request;
    struct replicas *all;
};

struct replicas {
    struct replica *items;
    uint32_t count;
    struct mutex mutex; /* guards `waiting`; while it is not 0, also status, error and body */
    struct condition answered;
    uint32_t waiting; /* number of replicas that have not answered yet */
};

/* Finds the replicas behind these URLs. The host of an http URL may be a name with many addresses,
 * like that of a headless Service: each IPv4 address, or else each IPv6 address, is a replica. All
 * is in the arena; call replicas_done() in any case. Returns 0, -E2BIG (LIMIT_EXPLAINED_REPLICAS)
 * or -ENOMEM. A name that does not resolve is a replica that does not answer. */
int replicas_open(struct replicas *ret, const char *const *servers, uint32_t count,
                  struct arena *arena, struct err *err) MUST_CHECK;
void replicas_done(struct replicas *all);

struct replica_question {
    const char *method, *path;
    struct str body;
    const char *token_file; /* NULL: no token is sent */
};
/* Asks `count` replicas from `first` on, and waits until each has answered or failed, at most
 * LIMIT_EXPLAINED_WAIT_MS. Drops their earlier answers. */
void replicas_ask(struct replicas *all, uint32_t first, uint32_t count,
                  const struct replica_question *question);

/* Adds a replica that was asked in another process, with its answer: `file` is the path of a
 * document of cli/merged.h. An empty file means that the replica knows no decision; the path ""
 * means that it did not answer. `server` is borrowed. Returns 0 or -errno. */
int replicas_add_answer(struct replicas *all, const char *server, const char *file,
                        struct err *err) MUST_CHECK;
