/*
 * Everything that checks of a cluster need: an API server whose answers the test gives, its client,
 * a configuration, and a report for the findings.
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
    enum server_role role; /* the role of that server; at first the cluster itself */
    struct kube_access access;
    struct kube_client *client;
    pthread_t thread;
    void (*check)(struct checking *c); /* checking_start() runs it */
};

/* Each setup passes its own `check`. Only one may be open at a time. */
struct checking *checking_open(void (*check)(struct checking *c));
void checking_close(struct checking *c);
/* Runs the check on a new thread. The thread requests /done when the check has ended. */
void checking_start(struct checking *c);
/* Takes the next call. Returns false if the call was for /done; then it has been answered, and the
 * thread has ended. */
bool checking_take(struct checking *c, struct api_call *ret);
