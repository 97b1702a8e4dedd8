/* Declarations for the files that implement wire.h: protobuf-c messages, and the rule which of two
 * fields counts. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include "estimator/wire.pb-c.h"

static inline struct str wire_str(ProtobufCBinaryData bytes) {
    return (struct str){(const char *)bytes.data, bytes.len};
}

/* Unpacks a message into the arena. `what` is its name in errors. Errors as in wire.h. */
int wire_unpack(const ProtobufCMessageDescriptor *type, struct str bytes, struct arena *arena,
                const char *what, void *ret_message, struct err *err) MUST_CHECK;

/* A list of bytes, or of entries of a map. */
struct wire_list {
    ProtobufCBinaryData *items;
    size_t count;
};
struct wire_entries {
    Wire__Entry **items;
    size_t count;
};

/* Each function returns the field of bytes if it is not empty, else the older field. */
bool wire_affinity(const Wire__Claim *claim, struct str *ret_selector);
struct wire_list wire_tolerations(const Wire__Claim *claim);
struct wire_entries wire_requests(const Wire__Requirements *r);
struct wire_entries wire_component_requests(const Wire__ComponentRequirements *r);

/* Sorts a map's entries by key in place; the last of equal keys stays. Errors as in wire.h. */
int wire_entries_sort(struct wire_entries *entries, struct arena *arena,
                      struct err *err) MUST_CHECK;
