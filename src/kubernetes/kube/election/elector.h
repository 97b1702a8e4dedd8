/*
 * Runs leader election: a lease (kube/election/lease.h) on a client (kube/client/client.h). One of
 * all processes that name the same Lease leads; it learns this from a callback, and can ask at any
 * moment.
 *
 * The callback begins and ends work; it may come late, for the client's thread may be late. So code
 * that only one process may run calls elector_leads() right before: one atomic load and one look at
 * the clock, true only as long as nobody else can have become leader. A request that may take a
 * while gets at most elector_remaining_ms() as its time limit, and a resourceVersion.
 *
 * The clock is CLOCK_BOOTTIME unless a test owns time: a process that was suspended, stopped or
 * starved does not lead when it goes on.
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

/* The reason of Events about the Lease. */
extern const struct event_reason election_reason;

/* Begins at once. -EINVAL with what is wrong in the lease's options, or -ENOMEM. */
int elector_new(const struct elector_options *options, struct elector **ret,
                struct err *err) MUST_CHECK;

/* Any thread, no lock. */
bool elector_leads(const struct elector *e);
/* Does anybody lead, as far as we know? A dead leader counts until its Lease has run out. Any
 * thread, no lock. */
bool elector_somebody_leads(const struct elector *e);
/* Returns how long we lead at least, without another renewal; 0: we do not lead. */
int64_t elector_remaining_ms(const struct elector *e);

/*
 * For /livez: false while on_change(false) has not been called and the last renewal is older than
 * the lease's duration and 20 s. Then the client's thread hangs and work goes on after our term has
 * ended; the process should be restarted. upstream: leaderelection.go Check()
 */
bool elector_is_alive(const struct elector *e);

/*
 * Calls on_change(false) if we lead, gives the Lease back (for limit_ms at most), and waits for
 * that. Work that needs a leader must have ended before, or the next leader acts at the same time.
 * Any thread but the client's, once. NULL is fine.
 */
void elector_stop(struct elector *e, int64_t limit_ms);
/* Without elector_stop() the Lease is left to expire. Any thread; after the return the client's
 * thread does nothing more for the elector. NULL is fine. */
void elector_free(struct elector *e);
