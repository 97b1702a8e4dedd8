/*
 * Names on client certificates, and how they are written in allowed subjects and logs: with their
 * type in front, "dns:a.example", "uri:spiffe://a/b", "email:a@b", "cn:a"; a common name also
 * without, "system:kube-scheduler". One type is never taken for another: whoever signs a
 * certificate has looked at the name of the type that its readers go by.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

enum client_name_type {
    CLIENT_NAME_CN,
    CLIENT_NAME_DNS,
    CLIENT_NAME_URI,
    CLIENT_NAME_EMAIL,
    CLIENT_NAME_TYPES
};

struct client_name {
    enum client_name_type type;
    struct str text; /* borrowed */
};

/* Reads a name as it is written: without one of the four types in front it is a common name. */
struct client_name client_name_read(struct str written);
bool client_name_eq(const struct client_name *a, const struct client_name *b);
/* Writes a name so that client_name_read() reads it again; cut, and NUL-terminated, where it does
 * not fit. */
void client_name_write(const struct client_name *name, char *out, size_t size);
/* Is this a name that somebody can have meant? Not "DNS:a", "ip:1.2.3.4" or "spiffe://a": these
 * would be common names that no certificate has. */
bool client_name_valid(struct str written);
