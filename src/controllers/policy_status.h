/*
 * Writes the status of the API server's TopologyPolicies (policy/status.h) where it is not
 * right: by the leader if there is one, at most five a second, and of each policy at most every few
 * seconds, so that two who disagree do not write for all they are worth. That the number of its
 * pods has changed is written at most once a minute.
 *
 * RBAC: patch on topologypolicies/status; without it the statuses stay as they are.
 *
 * Threads: everything happens on the client's.
 */
#pragma once

#include "kube/client/io.h"
#include "kube/election/elector.h"
#include "kube/write/writer.h"
#include "policy/policies.h"

struct policy_status_controller;

struct policy_status_controller_options {
    struct policy_source *policies; /* borrowed until policy_status_controller_free() */
    struct kube_client *client;     /* borrowed likewise, as what follows */
    struct writer *writer;          /* the client's */
    struct cache *cache;            /* of the pods that are counted; NULL: none are */
    const struct elector *elector;  /* who writes; NULL: every replica */
    struct clock *clock;            /* NULL: the real one */
    const struct kube_io *io;       /* NULL: the client's */
};

/* Begins at once. 0 or -ENOMEM. */
int policy_status_controller_start(const struct policy_status_controller_options *options,
                                   struct policy_status_controller **ret,
                                   struct err *err) MUST_CHECK;
/* When this returns, nothing is being written any more. Any thread. NULL is fine. */
void policy_status_controller_free(struct policy_status_controller *r);
