/*
 * The names of a server, as its certificate has them (subject alternative names). A client compares
 * them with the name under which it called the server.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum host_kind { HOST_DNS, HOST_IP };

enum { HOST_DNS_MAX = 253 };

struct host {
    enum host_kind kind;
    size_t n;                     /* number of bytes: 4 or 16 for an address */
    char bytes[HOST_DNS_MAX + 1]; /* the name in lower case and a NUL, or the address in network
                                     order */
};

/* Parses a DNS name (the first label may be '*'), an IPv4 address, or an IPv6 address with or
 * without brackets. -EINVAL for everything else; err names usual mistakes (a port, a URL). */
int host_parse(struct str text, struct host *ret, struct err *err) MUST_CHECK;
