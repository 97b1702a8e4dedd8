/*
 * The connections that a listener may have, and the choice of the one to close if there are too
 * many.
 *
 * A connection is a stranger's until a client certificate has been accepted on it; then it is
 * *verified* and never closed for another. Some slots are for verified connections only. If a new
 * connection finds no slot, a stranger's connection is closed: the one that has waited longest for
 * a request, of the largest address in the largest network (see net/shares.h). If no connection of
 * that address waits, one with a request under way is closed, but only if the newcomer still has
 * less than that address or network then. So a flood ends its own connections, a client with few
 * connections keeps them, and a small newcomer gets in: a probe, an API server, a client that still
 * has to show its certificate. The newcomer is refused if all connections are verified.
 *
 * A client that loses a connection before it has shown its certificate shows it on the next one.
 *
 * Closing is shutdown(2), as by the watchdog: the owner of the descriptor sees the end of the
 * stream and calls slots_leave() before it closes. Until then the connection is on its way out and
 * no longer counts, but never more than twice `connections` are open.
 *
 * A newcomer without a slot waits, SLOTS_WAIT_MS at most, while connections are on their way in or
 * out: the serving threads may lag behind a burst. After a wait in vain newcomers are refused at
 * once until those threads go on.
 *
 * If descriptors are few, from SLOTS_FEW connections on a newcomer must replace another one, and
 * waits while as many are on their way: other listeners and the rest of the process need
 * descriptors, too.
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

/* Returns the descriptor from which on few are left under the process's limit; 0: enough are. */
int slots_scarce_fd(void);

enum { SLOTS_WAIT_MS = 100, SLOTS_FEW = 16 };

enum slots_reason {
    SLOTS_ALL,     /* as many are open as may be */
    SLOTS_ADDRESS, /* as many of this address */
    SLOTS_REASONS,
    SLOTS_BYTES = SLOTS_REASONS, /* only for eviction: its bytes are needed for another's */
    SLOTS_EVICTIONS
};

/* The fate of a new connection. */
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

/* Enters a descriptor that has just been accepted. Its connection cannot be closed for another
 * before slots_start(). */
struct slots_entry slots_enter(struct slots *s, int fd, const struct sockaddr *peer);
/* The entered connection is served from now on, and waits for a request. Borrowed until
 * slots_leave(). */
struct slot *slots_start(struct slots *s, int fd);
/* The connection has a request; waits for the next one; has a verified client. */
void slots_busy(struct slots *s, struct slot *slot);
void slots_idle(struct slots *s, struct slot *slot);
void slots_verified(struct slots *s, struct slot *slot);
/*
 * Sets the bytes that the connection holds, and whether the client decides for how long: while a
 * body comes or an answer goes, but not while a handler runs. For the connection's thread.
 */
void slots_hold(struct slot *slot, size_t bytes, bool by_client);
/*
 * Closes the connection that holds most bytes because of its client, of the address that holds
 * most, in the network that holds most, unless `slot`'s network, address or connection would hold
 * as much with `wanted` bytes. Returns whether one was closed; its bytes are free a moment later.
 * Takes a step for each connection.
 */
bool slots_evict_holder(struct slots *s, const struct slot *slot, size_t wanted,
                        struct slots_entry *ret);
/* Returns the bytes still held by connections that have been closed. Takes as many steps. */
size_t slots_leaving_bytes(struct slots *s);
/* Closes all connections, and waits without limit until their owner has released each. No
 * connection may enter any more. */
void slots_close_all(struct slots *s);
/* The descriptor is about to be closed, or has been closed before slots_start(). */
void slots_leave(struct slots *s, int fd);
