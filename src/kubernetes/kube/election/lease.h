/*
 * Leader election on a coordination.k8s.io/v1 Lease, as a state machine without threads, sockets or
 * clocks: answers and times go in, the next request comes out. So a seeded simulator can play many
 * candidates, lost answers and suspended machines. upstream: client-go
 * tools/leaderelection, resourcelock/leaselock.go.
 *
 * The driver asks lease_next() what to do. LEASE_SEND: send the given request, report its end with
 * lease_on_end(), then ask again. LEASE_WAIT: ask again after the given time. LEASE_DONE: the lease
 * was stopped, and nothing is left to do.
 *
 * Why there is never more than one leader:
 *   - A leader leads until renewDeadline after it *began* its last successful write, whatever
 *     happens meanwhile: lease_leading() is a function of the time. So the time of a process that
 *     was suspended, or whose answers come late, is simply over.
 *   - Another process takes the Lease only if it has seen the same record for the record's whole
 *     duration, counted by its own monotonic clock. Times in the record are opaque texts: clocks
 *     may differ by any amount, and their speeds by up to duration / renewDeadline (1.5 by
 *     default).
 *   - Every write names the resourceVersion that it replaces; of two writes one gets a 409.
 * Not protected against: a request that the leader sent in its last moments and that arrives later
 * (give requests to other objects a resourceVersion as well), and people. People who write another
 * holder, or no holder, into the Lease take it from its leader, which notices this at its next
 * renewal. People who delete the Lease do not take it, unless a process that has never seen the
 * Lease starts at that moment.
 *
 * A dead leader is replaced within duration + 2.2 retry periods (19.4 s by default): a candidate
 * sees the last record at its next read at the latest, and reads again no later than that record's
 * end. A leader that stops in good order is replaced within 2.2 retry periods.
 *
 * Differences from client-go: candidates read again when a record ends; if a Lease was deleted, a
 * candidate that knew its leader makes a new Lease only when that leader's time is over; a leader
 * that finds another holder in its Lease stops leading at once, not at its deadline, and becomes a
 * candidate again, where client-go ends the process; a record without a duration counts as if it
 * had our duration; and the renewTimes of a process never go back, even if its wall clock does,
 * because an unchanged record means a dead leader.
 *
 * Other members of the Lease (labels, annotations, owners, members of a newer API) survive an
 * update; we leave out metadata.managedFields, so that the API server keeps its own.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "kube/client/client.h"

#include <stdbool.h>
#include <stdint.h>

struct lease_options {
    const char *namespace, *name; /* names of the Lease */
    const char *identity;         /* name of this process, unique: lease_identity(), or any
                                     printable ASCII */
    /* duration: how long others wait before they take the Lease from a silent leader (the API wants
     * whole seconds). renew_deadline: how long a leader goes on without a successful renewal.
     * retry: how often it renews. duration > renew_deadline > 1.2 x retry. 0: 15 s, and 2/3 and
     * 2/15 of the duration. */
    int64_t duration_ms, renew_deadline_ms, retry_ms;
    uint64_t seed; /* seed of the jitter */
};

enum { LEASE_JITTER_TENTHS = 12 }; /* candidates wait 1 to 2.2 retry periods */

enum { LEASE_IDENTITY_SIZE = 128 };
/* Writes "<host name>_<random UUID>". */
int lease_identity(char ret[static LEASE_IDENTITY_SIZE], struct err *err) MUST_CHECK;

/* Returns the options, with defaults in place of 0. */
struct lease_options lease_options_complete(const struct lease_options *options);
/* Returns 0, or -EINVAL with the rule that the options break. */
int lease_options_check(const struct lease_options *options, struct err *err) MUST_CHECK;

struct lease;

/* Everything is copied. Returns 0, -EINVAL as above, or -ENOMEM. */
int lease_new(const struct lease_options *options, struct lease **ret, struct err *err) MUST_CHECK;
void lease_free(struct lease *l);

enum lease_step { LEASE_SEND, LEASE_WAIT, LEASE_DONE };
struct lease_next {
    enum lease_step step;
    int64_t wait_ms;           /* LEASE_WAIT: at least 1 */
    const char *method, *path; /* LEASE_SEND: borrowed until lease_on_end() */
    struct str body;           /* JSON; empty for GET */
    int64_t timeout_ms;        /* half of renewDeadline, and never beyond the time we lead */
};
/* Call it only while no request is under way. `now_ms` of all calls comes from one monotonic clock
 * that also runs in a suspended machine. `wall_us` is only written into the record. */
void lease_next(struct lease *l, int64_t now_ms, int64_t wall_us, struct lease_next *ret);
/* Call it when the request is over. */
void lease_on_end(struct lease *l, int64_t now_ms, const struct kube_result *result);

/* Returns the end of our leadership: we lead while now_ms is less; INT64_MIN: we do not lead. Moves
 * forward with every renewal, and back only to INT64_MIN. */
int64_t lease_until_ms(const struct lease *l);
static inline bool lease_leading(const struct lease *l, int64_t now_ms) {
    return now_ms < lease_until_ms(l);
}

/* Returns the time until which somebody leads, as far as we know: we, or the holder in the last
 * record; INT64_MIN: nobody, or not known yet. */
int64_t lease_held_until_ms(const struct lease *l);

/*
 * Stops leading at once, and gives the Lease back (holderIdentity "", one second) so that the next
 * leader need not wait. Tries until the Lease is known to be free, or to have another holder; at
 * most five times, and for limit_ms. The driver may wait for a request under way or cancel it. Work
 * that only a leader may do must have ended before.
 */
void lease_stop(struct lease *l, int64_t now_ms, int64_t limit_ms);

/* Returns the holder as last seen; "": nobody, or not known yet. Valid until the next call. */
struct str lease_holder(const struct lease *l);
/* Returns metadata.uid as last seen; "" if not known. Valid until the next call. */
struct str lease_uid(const struct lease *l);
/* Returns why the last round failed; "" if we renewed, or another holds the Lease. */
const char *lease_problem(const struct lease *l);

struct lease_stats {
    uint64_t acquired;  /* number of times that we began to lead */
    uint64_t renewals;  /* number of later successful writes */
    uint64_t slow;      /* number of renewals for which the Lease was read again */
    uint64_t conflicts; /* number of answers with status 409 */
    uint64_t failures;  /* number of failed rounds; a round that finds another holder is no failure
                         */
    int64_t renewed_ms; /* when the last successful write began; INT64_MIN: never */
};
void lease_stats(const struct lease *l, struct lease_stats *ret);
