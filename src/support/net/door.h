/*
 * The door of a listener admits connections within limits (net/slots.h), and logs and counts
 * connections that it refuses or closes. Every listener has a door, whatever its protocol, so all
 * listeners have the same metrics, with the label `listener`.
 *
 * Metrics, by `listener`: evenkeel_http_connections, evenkeel_http_connections_refused_total and
 * evenkeel_http_connections_evicted_total by `reason`, evenkeel_http_deadline_closes_total.
 *
 * Threads: door_admit() and door_turn_back() from one thread at a time, the others from any.
 */
#pragma once

#include "base/err.h"
#include "base/metrics.h"
#include "net/slots.h"

enum { DOOR_LABELS = 96 };

struct door_options {
    const char *listener; /* a literal without quotes or backslashes */
    unsigned connections, per_address;
    bool asks_for_certificates; /* then some connections are reserved for clients that show a
                                   certificate */
};

struct door {
    struct door_options options;
    struct slots *slots; /* owned; the listener reports each connection's state to it */
    int scarce_fd; /* a descriptor with this number or a greater one shows that few descriptors are
                      left; 0: no such number */
    char labels[DOOR_LABELS], reason_labels[SLOTS_EVICTIONS][DOOR_LABELS];
    struct metric connections, deadline_closes;
    struct metric refused[SLOTS_REASONS], evicted[SLOTS_EVICTIONS];
};

/* Registers the metrics; a door does not move afterwards. Returns 0 or -ENOMEM. */
int door_open(struct door *d, const struct door_options *options, struct err *err) MUST_CHECK;
/* Closes the door; no connection may be left. An all-zero door is fine. */
void door_close(struct door *d);

/* Admits a descriptor that has just been accepted. Returns false if it was refused; then it has
 * been closed. */
bool door_admit(struct door *d, int fd, const struct sockaddr *peer) MUST_CHECK;
/* Takes back the admission of a connection for which there is no memory, and logs it. The caller
 * closes the descriptor. */
void door_turn_back(struct door *d, int fd);
/* Does the same as slots_evict_holder(). */
bool door_evict_holder(struct door *d, const struct slot *slot, size_t wanted);
/* Adds `change` to the number of open connections, and returns the new number. */
int64_t door_count(struct door *d, int64_t change);
/* Counts a connection that is closed because its time is up. Also used as `on_close` of
 * watchdog_start(). */
void door_count_late(void *door);
