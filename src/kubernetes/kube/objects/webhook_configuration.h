/*
 * The parts of a MutatingWebhookConfiguration or ValidatingWebhookConfiguration that concern CA
 * bundles: the host of each webhook, the CAs that API servers trust there, and the last writer.
 * Both kinds have the same parts.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { WEBHOOK_ENTRIES_MAX = 1024 };

enum webhook_kind { WEBHOOK_MUTATING, WEBHOOK_VALIDATING, WEBHOOK_KINDS };
extern const struct webhook_kind_row {
    const char *kind, *resource;
    const char *path; /* path of the list of all such configurations */
} webhook_kinds[WEBHOOK_KINDS];

struct webhook_entry {
    struct str name;   /* "pods.evenkeel.io": unique within the configuration */
    struct str host;   /* the name that the certificate must have: "name.namespace.svc", or the
                          URL's host; "": neither is there */
    struct str bundle; /* PEM; "": none, or malformed */
    bool wrong;        /* set by the caller: the bundle must be replaced */
};

struct webhook_configuration {
    struct str uid, version;
    struct webhook_entry *entries;
    uint32_t entry_count;
    /* The field manager that wrote last, if possible one that owns a caBundle; "" if only `self`
     * has written. API servers do not record the manager that removes a field: after a removal, any
     * manager may have written last. */
    struct str writer;
    bool writer_owns_bundle;
};

/* Strings are in the text or the arena. `self` is our own field manager. -EINVAL or -ENOMEM. */
int webhook_configuration_read(struct str object, struct str self, struct arena *arena,
                               struct webhook_configuration *ret, struct err *err) MUST_CHECK;

/* Appends the body of a strategic merge patch that gives every wrong entry this bundle, and
 * succeeds only on the version that was read. A failure stays in the buffer. */
void webhook_configuration_put_patch(struct strbuf *out, const struct webhook_configuration *c,
                                     struct str bundle);
