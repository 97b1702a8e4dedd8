/*
 * Base64 with padding and the standard alphabet (RFC 4648), as Go's encoding/json uses it for
 * []byte. Thread-safe.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/* Decodes into the arena; skips CR and LF. Returns false if the text is malformed or the arena
 * failed. */
bool base64_decode(struct str text, struct arena *arena, struct str *ret);

/* Appends the encoded bytes. */
void base64_append(struct strbuf *out, struct str bytes);
