/*
 * A CA bundle is a PEM text with one certificate after the other; its users trust all of them.
 * While one authority replaces another, both are in the bundle.
 *
 * Thread-safe.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Maximal number of certificates in a joined bundle; later certificates are left out. */
enum { BUNDLE_MAX = 8 };

/*
 * Appends the certificates of several PEM texts in their order. Appends each certificate once, and
 * leaves out certificates that have ended at `now_s` (seconds since 1970). A text without
 * certificates, or with malformed certificates, adds nothing. Returns 0, -EIO or -ENOMEM.
 */
int bundle_join(const struct str *pems, size_t count, int64_t now_s, struct strbuf *ret,
                struct err *err) MUST_CHECK;

/* Returns true if both bundles have the same certificates, in any order; repeated certificates
 * count once. Returns false if a bundle has no certificate or cannot be read. */
bool bundle_same(struct str a, struct str b);
