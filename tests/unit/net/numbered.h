/*
 * Connections of slots for tests. A connection has a number, which is also its age, and an address
 * as text. Descriptors are invented: shutdown(2) refuses them, as if the peer were gone.
 */
#pragma once

#include "net/slots.h"
#include "unit/unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

enum { FIRST_FD = 1 << 20 };

static struct slots *slots; /* between begin() and end() */

static inline struct sockaddr_storage peer_of(int number, const char *from) {
    struct sockaddr_storage peer = {.ss_family = AF_INET6};
    struct sockaddr_in *v4 = (struct sockaddr_in *)&peer;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&peer;
    if (inet_pton(AF_INET6, from, &v6->sin6_addr) == 1)
        return peer;
    *v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((in_port_t)number)};
    assert_int_equal(inet_pton(AF_INET, from, &v4->sin_addr), 1);
    return peer;
}

static inline struct slots_entry enter(int number, const char *from) {
    const struct sockaddr_storage peer = peer_of(number, from);
    return slots_enter(slots, FIRST_FD + number, (const struct sockaddr *)&peer);
}

/* Enters a connection, which is then served and waits for a request. */
static inline struct slot *come(int number, const char *from) {
    assert_true(enter(number, from).admitted);
    struct slot *slot = slots_start(slots, FIRST_FD + number);
    assert_non_null(slot);
    return slot;
}

static inline void leave(int number) {
    slots_leave(slots, FIRST_FD + number);
}

static inline void expect_evicted(const struct slots_entry *entry, const char *whose) {
    char text[ADDRESS_TEXT_SIZE];
    assert_true(entry->admitted);
    assert_true(entry->evicted);
    address_key_text(&entry->whose, text);
    assert_string_equal(text, whose);
}

static inline void begin(unsigned connections, unsigned per_address, unsigned reserved) {
    slots = slots_new(&(struct slots_limits){
        .connections = connections, .per_address = per_address, .reserved = reserved});
    assert_non_null(slots);
}

static inline void end(void) {
    slots_free(slots);
    slots = NULL;
}
