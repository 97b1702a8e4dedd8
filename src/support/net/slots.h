/*
 * Limits the connections of a listener, and chooses a connection to close if there are too many.
 *
 * A connection is a *stranger's* until a client certificate is accepted on it; then it is
 * *verified*, and never closed to make room for another. Some slots are for verified connections
 * only. If a new connection finds no slot, a stranger's connection is closed: the one that has
 * waited longest for a request, of the largest address in the largest network (see net/shares.h).
 * If no connection of that address waits, one with a request under way is closed, but only if the
 * newcomer's address or network then still has fewer connections. So a flood ends its own
 * connections, a client with few connections keeps them, and a small newcomer gets in: a probe, an
 * API server, a client that still has to show its certificate. The newcomer is refused if all
 * connections are verified.
 *
 * A client that loses a connection before it has shown its certificate shows it on the next one.
 *
 * Connections are closed with shutdown(2), as by the watchdog: the owner of the descriptor sees the
 * end of the stream and calls slots_leave() before close(2). Until then the connection does not
 * count any more, but never more than twice `connections` are open.
 *
 * A newcomer without a slot waits, SLOTS_WAIT_MS at most, while connections are on their way in or
 * out: the serving threads may lag behind a burst. After a wait without success, newcomers are
 * refused at once until those threads make progress.
 *
 * If few descriptors are left, and SLOTS_FEW connections are open, a newcomer must replace another
 * connection, and waits while so many are on their way in or out: other listeners and the rest of
 * the process need descriptors, too.
 *
 * Threads: slots_enter() from one thread at a time, the others from any; one mutex, held for a
 * short time.
 */
#pragma once

#include "net/address.h"

#include <stdbool.h>
#include <stddef.h>

struct slots_limits {
    unsigned connections;
    unsigned per_address; /* most connections of strangers from one address */
    unsigned reserved;    /* of all connections, for verified ones; less than `connections` */
    int scarce_fd;        /* from this descriptor number on, few descriptors are left; 0: never */
};

/* Returns the descriptor number from which on few descriptors are left under the process's limit;
 * 0: there are always enough. */
int slots_scarce_fd(void);

enum { SLOTS_WAIT_MS = 100, SLOTS_FEW = 16 };

enum slots_reason {
    SLOTS_ALL,     /* the limit of all connections is reached */
    SLOTS_ADDRESS, /* the limit of this address is reached */
    SLOTS_REASONS,
    SLOTS_BYTES = SLOTS_REASONS, /* only for eviction: another request needs its bytes */
    SLOTS_EVICTIONS
};

/* The fate of a new connection. */
struct slots_entry {
    bool admitted;
    bool evicted;             /* another connection had to be closed */
    enum slots_reason reason; /* why it was not admitted, or why another connection was closed */
    struct address_key whose; /* the address of the closed connection */
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
/* Report that the connection has a request, waits for the next one, or has a verified client. */
void slots_busy(struct slots *s, struct slot *slot);
void slots_idle(struct slots *s, struct slot *slot);
void slots_verified(struct slots *s, struct slot *slot);
/*
 * Sets the bytes that the connection holds. `by_client`: the client decides for how long, because a
 * body comes or an answer is sent (not while a handler runs). For the connection's thread.
 */
void slots_hold(struct slot *slot, size_t bytes, bool by_client);
/*
 * Finds the network that holds most bytes because of its clients, in it the address that holds
 * most, and closes the connection of that address that holds most. Does nothing if the network, the
 * address or the connection of `slot` would hold as much with `wanted` bytes. Returns true if it
 * closed a connection; the bytes of that connection are free a moment later. O(connections).
 */
bool slots_evict_holder(struct slots *s, const struct slot *slot, size_t wanted,
                        struct slots_entry *ret);
/* Returns the bytes still held by connections that have been closed. O(connections). */
size_t slots_leaving_bytes(struct slots *s);
/* Closes all connections, and waits without limit until their owner has released each. No
 * connection may enter any more. */
void slots_close_all(struct slots *s);
/* Call it before a served descriptor is closed, or after a descriptor was closed before
 * slots_start(). */
void slots_leave(struct slots *s, int fd);
