/*
 * Base64 (RFC 4648: the usual alphabet, padded), as Go's encoding/json reads and writes []byte.
 * Thread-safe.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/* Decodes into the arena; skips CR and LF. Returns false if malformed, or the arena failed. */
bool base64_decode(struct str text, struct arena *arena, struct str *ret);

/* Appends the encoded bytes. */
void base64_append(struct strbuf *out, struct str bytes);
