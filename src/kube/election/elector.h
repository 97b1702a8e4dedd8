/*
 * Leader election at work: a lease (kube/election/lease.h) on a client (kube/client/client.h). One
 * of all processes that name the same Lease leads; who leads is told so by a callback, and can ask
 * at any moment.
 *
 * The callback says when to begin and when to end work; it may come late, for the client's thread
 * may be late. So what must not be done by two asks elector_leads() right before doing it: that is
 * one atomic load and a look at the clock, true only as long as nobody else can have become leader.
 * A request that may take a while is given elector_remaining_ms() as its time limit at most, and a
 * resourceVersion.
 *
 * The clock is CLOCK_BOOTTIME unless a test owns time: who was suspended, stopped or starved does
 * not lead when it goes on.
 *
 * Metrics, with name="<namespace>/<name>" of the Lease: evenkeel_leader (0 or 1),
 * evenkeel_leader_acquisitions_total, evenkeel_lease_failures_total,
 * evenkeel_lease_slow_renewals_total. Becoming leader, and being it no more, is an Event about the
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
    struct lease_options lease; /* copied; seed 0: one is drawn */
    struct clock *clock; /* NULL: kube_clock_boot(). Not the client's, which may stand still */
    /* Every change, on the client's thread, perhaps before elector_new() has returned: true and
     * false in turn, true first. May be NULL. */
    void (*on_change)(void *ctx, bool leading);
    void *ctx;
    struct event_recorder *events; /* borrowed likewise; NULL: none are written */
    const struct kube_io *io;      /* NULL: the client's */
};

struct elector;

/* Of the Events about the Lease. */
extern const struct event_reason election_reason;

/* Begins at once. -EINVAL with what is wrong in the lease's options, or -ENOMEM. */
int elector_new(const struct elector_options *options, struct elector **ret,
                struct err *err) MUST_CHECK;

/* Any thread, no lock. */
bool elector_leads(const struct elector *e);
/* Does anybody lead, as far as we know? Another one's death is noticed when its Lease has run out.
 * Likewise. */
bool elector_somebody_leads(const struct elector *e);
/* How long we lead at least, without another renewal; 0: we do not. */
int64_t elector_remaining_ms(const struct elector *e);

/*
 * For /livez: false while we have been told to lead and the last renewal is older than the lease's
 * duration and 20 s, so that the work goes on though the end of our term could not be told: the
 * client's thread hangs, and the process should go. upstream: leaderelection.go Check()
 */
bool elector_is_alive(const struct elector *e);

/*
 * Calls on_change(false) if we lead, gives the Lease back (for limit_ms at most), and waits for
 * that. The work that wants a leader must have ended before, or whoever is next acts at the same
 * time. Any thread but the client's, once. NULL is fine.
 */
void elector_stop(struct elector *e, int64_t limit_ms);
/* Without elector_stop() the Lease is left to expire. Any thread; when this returns, the client's
 * does nothing for it any more. NULL is fine. */
void elector_free(struct elector *e);
