/*
 * Leader election on a coordination.k8s.io/v1 Lease, as a state machine without threads, sockets or
 * clocks: answers and times go in, the next request comes out. So a seeded simulator can play many
 * candidates, lost answers and suspended machines against it. upstream: client-go
 * tools/leaderelection, resourcelock/leaselock.go.
 *
 * The driver asks lease_next() what to do. LEASE_SEND: send that request and hand its end over with
 * lease_on_end(), then ask again. LEASE_WAIT: ask again after that time. LEASE_DONE: it has been
 * stopped and there is nothing left to do.
 *
 * Why there is never more than one leader:
 *   - Who leads does so until renewDeadline after it *began* its last successful write, whatever
 *     happens meanwhile: lease_leading() is a function of the time. A process that was suspended
 *     finds its time used up when it wakes; so does one whose answers come late.
 *   - Nobody else takes the Lease before its record has stood unchanged for the record's whole
 *     duration since they saw it first, counted by their own monotonic clock. Times in the record
 *     are opaque texts: clocks may disagree by any amount, and run differently fast by up to
 *     duration / renewDeadline (1.5 by default).
 *   - Every write names the resourceVersion it replaces; of two, one gets a 409.
 * Not protected: a request that the leader sent in its last moments and that arrives later (give
 * requests to other objects a resourceVersion as well), and people. Who writes another holder into
 * the Lease, or none, takes it from its leader, who learns of it at its next renewal. Who deletes
 * it does not, unless a process comes to life in that moment that has never seen it.
 *
 * A leader that dies is followed within duration + 2.2 retry periods (19.4 s by default): its last
 * record is seen by the next one's next look at the latest, and the look after that is not later
 * than that record's end. One that stops in good order, within 2.2 retry periods.
 *
 * What differs from client-go: candidates look again when a record ends, and do not make a Lease
 * anew that was deleted under a leader they have seen before its time is over; who finds another
 * holder in its Lease stops leading at once, not at its deadline; after losing it is a candidate
 * again instead of a dead process; a record without a duration counts as one of ours; and the
 * renewTimes that a process writes only ever grow, even if its wall clock is set back, because a
 * record that was seen before means dead.
 *
 * What others have put into the Lease (labels, annotations, owners, members of a newer API)
 * survives an update; metadata.managedFields is left out, which tells the API server to keep its
 * own.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "kube/client/client.h"

#include <stdbool.h>
#include <stdint.h>

struct lease_options {
    const char *namespace, *name; /* of the Lease */
    const char *identity;         /* who we are, unique: lease_identity(), or any printable ASCII */
    /* How long others wait before they take the Lease from one who is silent (whole seconds, as the
     * API wants it); how long a leader goes on without a successful renewal; how often it renews.
     * duration > renew_deadline > 1.2 x retry. 0: 15, 10 and 2 s. */
    int64_t duration_ms, renew_deadline_ms, retry_ms;
    uint64_t seed; /* of the jitter */
};

enum { LEASE_JITTER_TENTHS = 12 }; /* who does not lead waits 1 to 2.2 retry periods */

enum { LEASE_IDENTITY_SIZE = 128 };
/* Writes "<host name>_<random UUID>". */
int lease_identity(char ret[static LEASE_IDENTITY_SIZE], struct err *err) MUST_CHECK;

/* The same with defaults where there was 0. */
struct lease_options lease_options_complete(const struct lease_options *options);
/* -EINVAL with the rule that is broken. */
int lease_options_check(const struct lease_options *options, struct err *err) MUST_CHECK;

struct lease;

/* Everything is copied. -EINVAL as above, or -ENOMEM. */
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
/* Only while no request is under way. `now_ms` of all calls comes from one monotonic clock that
 * does not stop in a suspended machine; `wall_us` is written into the record, nothing else. */
void lease_next(struct lease *l, int64_t now_ms, int64_t wall_us, struct lease_next *ret);
/* The request is over. */
void lease_on_end(struct lease *l, int64_t now_ms, const struct kube_result *result);

/* Leading means now_ms < this; INT64_MIN: not at all. Moves forward with every renewal, and back
 * only to INT64_MIN. */
int64_t lease_until_ms(const struct lease *l);
static inline bool lease_leading(const struct lease *l, int64_t now_ms) {
    return now_ms < lease_until_ms(l);
}

/* Somebody leads, as far as is known: we, or a holder whose last record does not count as dead
 * before this; INT64_MIN: nobody, or nothing is known yet. */
int64_t lease_held_until_ms(const struct lease *l);

/*
 * Leads no more from now on, and gives the Lease back (holderIdentity "", one second) so that the
 * next one need not wait: tries until it is known to be free or another's, at most five times and
 * limit_ms. A request under way may be awaited or cancelled, as the driver likes. Work that wants a
 * leader must have ended before.
 */
void lease_stop(struct lease *l, int64_t now_ms, int64_t limit_ms);

/* The holder as last seen; "": nobody, or not known yet. Valid until the next call. */
struct str lease_holder(const struct lease *l);
/* metadata.uid as last seen; "" if not known. Valid until the next call. */
struct str lease_uid(const struct lease *l);
/* Why the last round failed; "" when it did not: it went well, or another holds the Lease. */
const char *lease_problem(const struct lease *l);

struct lease_stats {
    uint64_t acquired;  /* times we began to lead */
    uint64_t renewals;  /* later successful writes */
    uint64_t slow;      /* of those, after reading the Lease again */
    uint64_t conflicts; /* 409 */
    uint64_t failures;  /* rounds that failed; that another holds the Lease is no failure */
    int64_t renewed_ms; /* when the last successful write began; INT64_MIN: never */
};
void lease_stats(const struct lease *l, struct lease_stats *ret);
