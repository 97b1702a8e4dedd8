/*
 * Bytes that must not stay in memory once they are no longer needed: tokens, private keys. A secret
 * owns an allocation of exactly its size and overwrites it before it is freed. Not thread-safe.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct secret {
    char *p; /* owned */
    size_t n;
};

/* Replaces the secret by a copy of `bytes`. Returns 0, or -ENOMEM, which leaves the secret
 * unchanged. */
int secret_set(struct secret *s, struct str bytes) MUST_CHECK;
/* Wipes and frees the bytes; the secret is empty and usable again. */
void secret_done(struct secret *s);
static inline struct str secret_str(const struct secret *s) {
    return (struct str){s->p, s->n};
}

/*
 * Reserves room for `max` bytes in an empty buffer, so that it never moves and leaves no copy
 * behind. Returns -ENOMEM without memory.
 */
int secret_buffer_init(struct strbuf *b, size_t max, struct err *err) MUST_CHECK;
/* Wipes all bytes that the buffer may have held, and frees it. */
void secret_buffer_done(struct strbuf *b);

/* Reads a file of at most LIMIT_KUBE_CREDENTIAL_BYTES into `b`, which must be zero-initialised.
 * Always call secret_buffer_done(). */
int secret_read(const char *path, struct strbuf *b, struct err *err) MUST_CHECK;
