/*
 * The results of reading one kind of credential again: counted
 * (evenkeel_kube_credential_reloads_total), and logged once when it begins to fail and once when it
 * works again, not each time. One thread.
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
    const char *role;   /* of the API server, borrowed; NULL: not named */
    char labels[2][80]; /* of the two metrics */
    struct metric ok, refused;
};

/* Registers its metrics, unless the access is unmeasured; it must stay where it is until
 * reload_done(). The access's role becomes their label `server`. */
void reload_init(struct reload *r, enum reload_kind kind, const struct kube_access *access);
/* Does nothing for an all-zero struct. */
void reload_done(struct reload *r);

/* The credential was read and taken into use. */
void reload_ok(struct reload *r);
/* The credential was read and is unchanged: ends a failure, counts nothing. */
void reload_same(struct reload *r);
/* The new credential could not be used, for the reason in `err`; the old one stays in use. */
void reload_refused(struct reload *r, const struct err *err);
/* The same, if the caller returns the error instead of logging it. */
void reload_refused_quietly(struct reload *r);
