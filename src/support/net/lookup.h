/*
 * Resolves host names without blocking the caller: each look-up has a thread of its own, at most
 * LIMIT_LOOKUPS in the process, because getaddrinfo(3) may take many seconds if DNS does not
 * answer. A literal address needs no thread.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum { LOOKUP_ADDRESSES = 8, LOOKUP_HOST_SIZE = 254, LOOKUP_PORT_SIZE = 6 };

/* Splits "host:port" or "[::1]:port"; the port is 1 to 65535. Returns false for another form. */
bool lookup_split(const char *address, char host[LOOKUP_HOST_SIZE], char port[LOOKUP_PORT_SIZE]);

/* The addresses of a name in the order of getaddrinfo(3): the best address first. */
struct lookup_found {
    size_t count; /* number of addresses, at least 1 */
    struct {
        struct sockaddr_storage address;
        socklen_t length;
    } items[LOOKUP_ADDRESSES];
};

struct lookup;
/* Begins a look-up. The end of the look-up adds 1 to the eventfd; the caller may close its eventfd
 * earlier. Returns 0, -EAGAIN (LIMIT_LOOKUPS are running: try again when one has ended, or later)
 * or -ENOMEM. */
int lookup_start(const char *host, const char *port, int event_fd, struct lookup **ret,
                 struct err *err) MUST_CHECK;
/* Returns 0 with addresses; -EAGAIN: not yet; -ENXIO: no address, with a sentence. */
int lookup_result(struct lookup *l, struct lookup_found *ret, struct err *err) MUST_CHECK;
/* Frees a look-up; if it still runs, its result is dropped. NULL is fine. */
void lookup_free(struct lookup *l);
