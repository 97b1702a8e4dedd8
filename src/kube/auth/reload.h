/*
 * What became of one kind of credential each time it was read again: counted
 * (evenkeel_kube_credential_reloads_total), and logged once when it begins to fail and once when it
 * is well again, not each time. One thread.
 */
#pragma once

#include "base/err.h"
#include "base/metrics.h"
#include "kube/auth/access.h"

#include <stdbool.h>

enum reload_kind { RELOAD_TOKEN, RELOAD_CA, RELOAD_CLIENT_CERTIFICATE, RELOAD_EXEC };

struct reload {
    enum reload_kind kind;
    bool registered;
    bool failing;       /* the last attempt was refused */
    const char *role;   /* of the API server, borrowed; NULL: nothing is said of it */
    char labels[2][80]; /* of these: */
    struct metric ok, refused;
};

/* Registers its metrics, unless the access is unmeasured; it must stay where it is until
 * reload_done(). The access's role becomes their label `server`. */
void reload_init(struct reload *r, enum reload_kind kind, const struct kube_access *access);
/* Nothing happens to one that is all zero. */
void reload_done(struct reload *r);

/* It was read and taken into use. */
void reload_ok(struct reload *r);
/* It was read and is what it was: ends a failure, counts nothing. */
void reload_same(struct reload *r);
/* It could not be used, for the reason in `err`; what there was before goes on. */
void reload_refused(struct reload *r, const struct err *err);
/* The same, where the caller hands the error on instead. */
void reload_refused_quietly(struct reload *r);
