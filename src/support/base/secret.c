#include "base/secret.h"

#include "base/file.h"
#include "base/limits.h"

#include <errno.h>
#include <stdlib.h>

enum {
    READ_AHEAD = 2
}; /* file_read() reads up to this many bytes more, to find the end of the file */

int secret_set(struct secret *s, struct str bytes) {
    char *copy = malloc(bytes.n + 1);
    if (copy == NULL)
        return -ENOMEM;
    if (bytes.n > 0)
        memcpy(copy, bytes.p, bytes.n);
    secret_done(s);
    *s = (struct secret){copy, bytes.n};
    return 0;
}

void secret_done(struct secret *s) {
    if (s->p != NULL)
        explicit_bzero(s->p, s->n);
    free(s->p);
    *s = (struct secret){0};
}

int secret_buffer_init(struct strbuf *b, size_t max, struct err *err) {
    *b = (struct strbuf){.max = max};
    return strbuf_reserve(b, max) != NULL
               ? 0
               : err_set(err, -ENOMEM, "no memory for %zu bytes of credentials", max);
}

void secret_buffer_done(struct strbuf *b) {
    if (b->p != NULL)
        explicit_bzero(b->p, b->cap);
    strbuf_done(b);
}

int secret_read(const char *path, struct strbuf *b, struct err *err) {
    int r = secret_buffer_init(b, LIMIT_KUBE_CREDENTIAL_BYTES + READ_AHEAD, err);
    return r == 0 ? file_read(path, LIMIT_KUBE_CREDENTIAL_BYTES, b, err) : r;
}
