/*
 * The connections that a listener may have, and who must go when there are too many.
 *
 * A connection is a stranger's until a client certificate has been accepted on it; then it is
 * *verified* and never closed for another. Some slots are for verified connections only. When there
 * is no slot for a new connection, a stranger's goes: of the address that has most, in the network
 * that has most (see net/shares.h), the one that has waited longest for a request. If none of that
 * address waits, one with a request under way goes, but only if the newcomer has less than that
 * address or network even then. So a flood ends its own connections, a client with few connections
 * keeps them, and a newcomer gets in that has little: a probe, an API server, a client that still
 * has to show its certificate. It does not where no stranger's connection is left that could go:
 * when all are verified ones.
 *
 * A client that loses a connection before it has shown its certificate loses nothing by it: it
 * shows it on the next.
 *
 * Closing is shutdown(2), as by the watchdog: the owner of the descriptor sees the end of the
 * stream and calls slots_leave() before it closes. Until then the connection is on its way out: it
 * counts no more for anybody, but there are never more than twice `connections` open.
 *
 * A newcomer that would have to be refused waits, SLOTS_WAIT_MS at most, while connections are on
 * their way in or out: the threads that serve may lag behind a burst. After a wait in vain
 * newcomers are refused at once until those threads go on.
 *
 * Where descriptors are few, a newcomer gets in only for another once there are SLOTS_FEW
 * connections, and waits while as many are on their way: other listeners and the rest of the
 * process need the descriptors, too.
 *
 * Threads: slots_enter() from one at a time, the others from any; one mutex, held for moments.
 */
#pragma once

#include "net/address.h"

#include <stdbool.h>
#include <stddef.h>

struct slots_limits {
    unsigned connections;
    unsigned per_address; /* of strangers */
    unsigned reserved;    /* of all connections, for verified ones; less than `connections` */
    int scarce_fd;        /* when as many descriptors are in use, few are left; 0: enough are */
};

/* From which descriptor on few are left, as the process is limited; 0: enough are. */
int slots_scarce_fd(void);

enum { SLOTS_WAIT_MS = 100, SLOTS_FEW = 16 };

enum slots_reason {
    SLOTS_ALL,     /* as many are open as may be */
    SLOTS_ADDRESS, /* as many of this address */
    SLOTS_REASONS,
    SLOTS_BYTES = SLOTS_REASONS, /* only for eviction: its bytes are needed for another's */
    SLOTS_EVICTIONS
};

/* What became of a new connection. */
struct slots_entry {
    bool admitted;
    bool evicted;             /* another one had to go */
    enum slots_reason reason; /* if it was not admitted, or another one had to go */
    struct address_key whose; /* the other one's address */
};

struct slots;
struct slot;

/* NULL: no memory. */
struct slots *slots_new(const struct slots_limits *limits);
/* NULL is fine. No connection may be left. */
void slots_free(struct slots *s);

/* For a descriptor that has just been accepted. The connection cannot be closed for another before
 * slots_start(). */
struct slots_entry slots_enter(struct slots *s, int fd, const struct sockaddr *peer);
/* It is served now, and waits for a request. It has entered, and is borrowed until slots_leave().
 */
struct slot *slots_start(struct slots *s, int fd);
/* It has a request; it waits for the next one; its client is verified. */
void slots_busy(struct slots *s, struct slot *slot);
void slots_idle(struct slots *s, struct slot *slot);
void slots_verified(struct slots *s, struct slot *slot);
/*
 * What it holds of its listener's bytes from now on, and whether its client decides for how long:
 * while a body comes or an answer goes, but not while a handler runs. For the connection's thread.
 */
void slots_hold(struct slot *slot, size_t bytes, bool by_client);
/*
 * Closes the connection that holds most bytes by its client's doing, of the address that holds
 * most, in the network that holds most, unless `slot`'s network, address or connection would hold
 * as much once it holds `wanted`. Returns whether one was closed; its bytes are given back a moment
 * later. Takes a step for each connection.
 */
bool slots_evict_holder(struct slots *s, const struct slot *slot, size_t wanted,
                        struct slots_entry *ret);
/* Bytes of connections that have been closed and are still held. Takes as many steps. */
size_t slots_leaving_bytes(struct slots *s);
/* Closes all connections, and waits until their owner has let go of each, however long it has no
 * CPU or a handler runs. Nothing may enter any more. */
void slots_close_all(struct slots *s);
/* The descriptor is about to be closed, or has been closed before slots_start(). */
void slots_leave(struct slots *s, int fd);
