/*
 * CA bundles: certificates one after the other as PEM, all of which are trusted. While one
 * authority takes over from another, both are in there.
 *
 * Thread-safe.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { BUNDLE_MAX = 8 }; /* certificates of a joined bundle; what comes later is left out */

/*
 * Appends the certificates of several PEM texts, the first first, each once, and without those that
 * have ended at `now_s` (seconds since 1970). A text without certificates, or with malformed ones,
 * adds nothing. 0, -EIO or -ENOMEM.
 */
int bundle_join(const struct str *pems, size_t count, int64_t now_s, struct strbuf *ret,
                struct err *err) MUST_CHECK;

/* Returns true if both have the same certificates, in any order and number; false if they have no
 * certificate. */
bool bundle_same(struct str a, struct str b);
