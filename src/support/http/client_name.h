/*
 * Names on client certificates, and their form in allowed subjects and logs: with their type in
 * front, "dns:a.example", "uri:spiffe://a/b", "email:a@b", "cn:a". A common name may have no type:
 * "system:kube-scheduler". A name of one type never matches a name of another type, because a CA
 * checks each type of name by other rules.
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

/* Reads a written name: without one of the four types in front it is a common name. */
struct client_name client_name_read(struct str written);
bool client_name_eq(const struct client_name *a, const struct client_name *b);
/* Writes a name in the form that client_name_read() reads; NUL-terminated, and cut if it does not
 * fit. */
void client_name_write(const struct client_name *name, char *out, size_t size);
/* Is this name plausible? False for "DNS:a", "ip:1.2.3.4" or "spiffe://a": they would be read as
 * common names, but no certificate has such a common name. */
bool client_name_valid(struct str written);
