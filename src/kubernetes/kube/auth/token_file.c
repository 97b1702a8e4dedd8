#include "kube/auth/token_file.h"

#include "kube/auth/exec_credential.h"

#include <errno.h>

enum {
    AGE_MS = 50000,  /* the greatest age of a copy; upstream: a minute less 10 s */
    RETRY_MS = 1000, /* time between two tries after a failure */
};

/* Reads the file. Returns 0, perhaps with another token, or the error of the file. */
static int read_token(struct token_file *t, bool *ret_changed, struct err *err) {
    CLEANUP(secret_buffer_done) struct strbuf text = {0};
    int r = secret_read(t->path, &text, err);
    if (r != 0)
        return r;
    struct str token = str_trim(strbuf_str(&text));
    if (token.n == 0)
        return err_set(err, -EINVAL, "token file '%s' is empty", t->path);
    if (!token_valid(token))
        return err_set(err, -EINVAL, "token file '%s' holds more than a token", t->path);
    if (str_eq(token, secret_str(&t->token)))
        return 0;
    *ret_changed = true;
    r = secret_set(&t->token, token);
    return r == 0 ? 0 : err_set(err, r, "no memory for the token in '%s'", t->path);
}

int token_file_init(struct token_file *t, const struct kube_access *access, struct str fallback,
                    int64_t now_ms, struct err *err) {
    struct err why = {0};
    bool changed;
    t->path = access->token_file;
    t->read_ms = t->tried_ms = now_ms;
    int r = read_token(t, &changed, &why);
    if (r != 0 && fallback.n == 0) {
        if (err != NULL)
            *err = why;
        return r;
    }
    reload_init(&t->reload, RELOAD_TOKEN, access);
    if (r == 0)
        return 0;
    reload_refused(&t->reload, &why);
    t->stale = true;
    r = secret_set(&t->token, fallback);
    return r == 0 ? 0 : err_set(err, r, "no memory for a token");
}

void token_file_done(struct token_file *t) {
    reload_done(&t->reload);
    secret_done(&t->token);
}

void token_file_poll(struct token_file *t, int64_t now_ms) {
    struct err err = {0};
    bool changed = false;
    if (t->path == NULL || (!t->stale && now_ms < t->read_ms + AGE_MS) ||
        (t->reload.failing && now_ms < t->tried_ms + RETRY_MS))
        return;
    t->tried_ms = now_ms;
    if (read_token(t, &changed, &err) != 0) {
        reload_refused(&t->reload, &err);
        return;
    }
    t->read_ms = now_ms;
    t->stale = false;
    if (changed)
        reload_ok(&t->reload);
    else
        reload_same(&t->reload);
}

void token_file_refused(struct token_file *t, int64_t began_ms) {
    if (t->path != NULL && began_ms >= t->read_ms)
        t->stale = true;
}
