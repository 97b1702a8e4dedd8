/*
 * What checks of a cluster need: an API server that the test answers for, its client, a
 * configuration, and a place for what is found.
 */
#pragma once

#include "check/report.h"
#include "config/configuration.h"
#include "kube/client/client.h"
#include "model/kinds.h"
#include "unit/kube/api.h"

struct checking {
    struct api api;
    struct arena arena;
    struct check_report findings;
    struct configuration configuration;
    enum server_role role; /* of that server; at first that of this cluster */
    struct kube_access access;
    struct kube_client *client;
    pthread_t thread;
    void (*check)(struct checking *c); /* what checking_start() runs */
};

/* Each setup has its own `check`. One at a time. */
struct checking *checking_open(void (*check)(struct checking *c));
void checking_close(struct checking *c);
/* Runs the check on a thread of its own, which asks for /done when it has nothing else to ask. */
void checking_start(struct checking *c);
/* Takes the next call. False: it was for /done, has been answered, and the thread has ended. */
bool checking_take(struct checking *c, struct api_call *ret);
