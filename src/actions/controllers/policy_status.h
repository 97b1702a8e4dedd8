/*
 * Writes the status of the API server's TopologyPolicies (policy/status.h) where it is not
 * right: by the leader if there is one, at most five a second, and of each policy at most every few
 * seconds, so that two who disagree do not write for all they are worth. That numbers have changed
 * is written at most once a minute. It is server-side apply: conditions of others stay.
 *
 * Reviews are counted by each process for itself. Written are the leader's numbers; without
 * election those of the replica that began last, so that replicas do not write in turns.
 *
 * Events about a policy: PolicyProblem and PolicyRecovered where a condition that was written has
 * changed; and by every replica, of the pods that it validated, PodDenied, PodEvades and
 * PodNotSpread with the reason, which are the same Event as long as the reason is.
 *
 * RBAC: patch on topologypolicies/status; without it the statuses stay as they are. Events: create
 * and patch in "default".
 *
 * Threads: everything happens on the client's.
 */
#pragma once

#include "evenness/latest.h"
#include "kube/client/io.h"
#include "kube/election/elector.h"
#include "kube/events/events.h"
#include "kube/write/writer.h"
#include "policy/policies.h"

struct policy_status_controller;

struct policy_status_controller_options {
    struct policy_source *policies; /* borrowed until policy_status_controller_free() */
    struct kube_client *client;     /* borrowed likewise, as what follows */
    struct writer *writer;          /* the client's */
    struct cache *cache;            /* of the pods that are counted; NULL: none are */
    struct evenness_latest *latest; /* how even their workloads are; NULL: that is not said */
    const struct elector *elector;  /* who writes; NULL: every replica */
    const char *const *skip_names;  /* [POLICY_SKIPS], of policy_tally.skipped; NULL: there is none;
                                       static */
    const struct policy_evasion_row *evasions; /* [POLICY_EVASIONS]; NULL: there is none; static */
    struct event_recorder *events;             /* NULL: none are written */
    struct clock *clock;                       /* NULL: the real one */
    const struct kube_io *io;                  /* NULL: the client's */
};

/* Begins at once. 0 or -ENOMEM. */
int policy_status_controller_start(const struct policy_status_controller_options *options,
                                   struct policy_status_controller **ret,
                                   struct err *err) MUST_CHECK;
/* When this returns, nothing is being written any more. Any thread. NULL is fine. */
void policy_status_controller_free(struct policy_status_controller *r);
