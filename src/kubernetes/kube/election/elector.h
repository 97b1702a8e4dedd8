/*
 * Runs leader election: a lease (kube/election/lease.h) on a client (kube/client/client.h). One of
 * all processes with the same Lease leads. A callback reports changes, and each process can ask at
 * any moment if it leads.
 *
 * The callback begins and ends work; it may come late, because the client's thread may be late. So
 * code that only the leader may run calls elector_leads() immediately before (one atomic load and
 * one look at the clock): it is true only while nobody else can have become leader. A request that
 * may take a while gets at most elector_remaining_ms() as its time limit, and a resourceVersion.
 *
 * The clock is CLOCK_BOOTTIME unless a test owns time: a process that was suspended, stopped or
 * starved does not lead when it goes on.
 *
 * Metrics, with name="<namespace>/<name>" of the Lease: evenkeel_leader (0 or 1),
 * evenkeel_leader_acquisitions_total, evenkeel_lease_failures_total,
 * evenkeel_lease_slow_renewals_total. The begin and the end of leadership are Events about the
 * Lease, with upstream's reason and words. RBAC: get, create and update on leases; create and patch
 * on events.k8s.io events.
 */
#pragma once

#include "kube/client/client.h"
#include "kube/client/io.h"
#include "kube/election/lease.h"
#include "kube/events/events.h"

struct elector_options {
    struct kube_client *client; /* borrowed until elector_free() */
    struct lease_options lease; /* copied; seed 0: a seed is made from the identity */
    struct clock *clock; /* NULL: kube_clock_boot(). Not the client's, which may stand still */
    /* Called at every change, on the client's thread, perhaps before elector_new() has returned.
     * `leading` is true at first, then false, true and so on. May be NULL. */
    void (*on_change)(void *ctx, bool leading);
    void *ctx;
    struct event_recorder *events; /* borrowed until elector_free(); NULL: no Events */
    const struct kube_io *io;      /* NULL: the client's */
};

struct elector;

/* The reason of Events about the Lease. */
extern const struct event_reason election_reason;

/* Starts the election at once. Returns 0, -EINVAL with the error in the lease's options, or
 * -ENOMEM. */
int elector_new(const struct elector_options *options, struct elector **ret,
                struct err *err) MUST_CHECK;

/* Three questions, for any thread, without a lock. NULL: there is no election, and every replica
 * leads without an end. */

/* Does this process lead? */
bool elector_leads(const struct elector *e);
/* Does anybody lead, as far as we know? A dead leader counts until its Lease has run out. */
bool elector_somebody_leads(const struct elector *e);
/* Returns how long we lead at least, without another renewal; 0: we do not lead; INT64_MAX without
 * an election. */
int64_t elector_remaining_ms(const struct elector *e);

/*
 * For /livez. Returns false if the last renewal is older than the lease's duration plus 20 s, but
 * on_change(false) was not called yet. Then the client's thread hangs, and the leader's work goes
 * on although this process no longer leads: the process should be restarted. upstream:
 * leaderelection.go Check()
 */
bool elector_is_alive(const struct elector *e);

/*
 * Calls on_change(false) if we lead, gives the Lease back, and waits until this is done, for
 * limit_ms at most. Work that only a leader may do must have ended before, or the next leader acts
 * at the same time. Call it once, on any thread but the client's. NULL is fine.
 */
void elector_stop(struct elector *e, int64_t limit_ms);
/* Without elector_stop() before, the Lease expires later. Any thread; after the return the client's
 * thread does nothing more for the elector. NULL is fine. */
void elector_free(struct elector *e);
