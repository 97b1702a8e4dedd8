/*
 * Listening sockets for "host:port" with a literal host, and texts and keys of addresses.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct sockaddr;

enum { ADDRESS_TEXT_SIZE = 80 }; /* "[fe80::...%interface]:65535" */

/*
 * Opens, binds and listens. Hosts: IPv4 and IPv6 literals ("127.0.0.1:8443", "[::1]:8443"), or
 * nothing (":8443") for every address of the machine, both families. Port 0 takes any free port.
 * The caller owns *ret_fd, which is non-blocking and close-on-exec. `text` receives the real
 * address of the socket. Returns 0, -EINVAL if `address` is not an address, or the errno of the
 * failing call with advice in its sentence.
 */
int address_listen(const char *address, char text[ADDRESS_TEXT_SIZE], int *ret_fd,
                   struct err *err) MUST_CHECK;

/* Does the text have the form that address_listen() takes? The interface of an IPv6 address is not
 * looked for, because another machine may have it. */
bool address_is_valid(struct str address);

/* Writes "10.0.0.7:51342" or "[::1]:51342"; "unknown" for other address families. */
void address_text(const struct sockaddr *address, char text[ADDRESS_TEXT_SIZE]);
/* Is the address in 127.0.0.0/8, or ::1? */
bool address_is_loopback(const struct sockaddr *address);
/* Would other machines reach a socket that listens here? False for a text that is no address:
 * address_listen() refuses it. */
bool address_is_open(const char *address);

/* An address without its port, for comparing: IPv6, or IPv4 as ::ffff:10.0.0.7. */
struct address_key {
    uint8_t bytes[16];
};
/* Returns the key of an address; all zero for other address families. */
struct address_key address_key(const struct sockaddr *address);
/* Returns the network of an address, by a rule of thumb: a /24 of IPv4, a /64 of IPv6. */
struct address_key address_key_network(struct address_key key);
/* Returns the key of one caller: an IPv4 address, or a /64 of IPv6, which one caller may own. */
struct address_key address_key_caller(struct address_key key);
/* Writes "10.0.0.7" or "fd00::1". */
void address_key_text(const struct address_key *key, char text[ADDRESS_TEXT_SIZE]);
