/*
 * Counts the results of reading one kind of credential again
 * (evenkeel_kube_credential_reloads_total). Logs once when this begins to fail, and once when it
 * works again. One thread.
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
    const char *role;   /* role of the API server, borrowed; NULL: no name */
    char labels[2][80]; /* labels of the two metrics */
    struct metric ok, refused;
};

/* Registers the metrics, unless the access is unmeasured; the struct must not move until
 * reload_done(). The access's role becomes their label `server`. */
void reload_init(struct reload *r, enum reload_kind kind, const struct kube_access *access);
/* Does nothing for an all-zero struct. */
void reload_done(struct reload *r);

/* Call it when the credential was read and is now used. */
void reload_ok(struct reload *r);
/* Call it when the credential was read and is unchanged: ends a failure, counts nothing. */
void reload_same(struct reload *r);
/* Call it when the new credential could not be used, for the reason in `err`; the old one stays. */
void reload_refused(struct reload *r, const struct err *err);
/* The same, if the caller returns the error instead of logging it. */
void reload_refused_quietly(struct reload *r);
