/*
 * Writes the status of the API server's TopologyPolicies (policy/status.h) where it is not right.
 * The leader writes, if there is one: at most five policies a second, and each policy at most every
 * few seconds, so that two replicas that disagree do not write without pause. Changed numbers are
 * written at most once a minute. It is server-side apply: conditions of others stay.
 *
 * A field of the status that the installed CustomResourceDefinition does not declare is left out,
 * for ten minutes each time, and logged once: the API server would refuse the whole status.
 *
 * A number of pods belongs to a generation of the policy. A changed policy is judged when its pods
 * have been counted again.
 *
 * Replicas with the same data agree on every number: the status has no number that counts only in
 * one process.
 *
 * Events about a policy: PolicyProblem and PolicyRecovered, if a written condition has changed. A
 * condition that was bad has recovered when it is good, also if it was Unknown in between.
 * Every replica also reports the pods that it validated: PodDenied, PodEvades and PodNotSpread with
 * the reason; the same reason repeats the same Event.
 *
 * RBAC: patch on topologypolicies/status; without it the statuses stay as they are. Events: create
 * and patch in "default".
 *
 * Threads: everything happens on the client's thread.
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
    struct kube_client *client;     /* borrowed likewise, as the members below */
    struct writer *writer;          /* the writer of that client */
    struct cache *cache;            /* has the pods to count; NULL: no pods are counted */
    struct evenness_latest *latest; /* how even their workloads are; NULL: not reported */
    const struct elector *elector;  /* the leader writes; NULL: every replica */
    const struct policy_evasion_row *evasions; /* [POLICY_EVASIONS]; may be NULL; static */
    struct event_recorder *events;             /* NULL: no Events are written */
    struct clock *clock;                       /* NULL: the real clock */
    const struct kube_io *io;                  /* NULL: the real functions */
};

/* Starts at once. Returns 0 or -ENOMEM. */
int policy_status_controller_start(const struct policy_status_controller_options *options,
                                   struct policy_status_controller **ret,
                                   struct err *err) MUST_CHECK;
/* When this returns, no write is under way. Any thread. NULL is fine. */
void policy_status_controller_free(struct policy_status_controller *r);
