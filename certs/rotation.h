/*
 * What the certificates of a server that issues its own must be at a given time: an authority of
 * ten years, whose certificate clients are told to trust, and a leaf of 90 days, renewed when two
 * thirds of them are over. A decision only: it knows neither where they are kept nor a clock.
 *
 * An authority that has a year left is followed by a new one, and signs a last leaf at that moment;
 * the new one signs the leaves from the next one on, and until the old one has ended both are in
 * the bundle. So every client has 60 days to learn of an authority before the first leaf of it is
 * shown, unless the leaf must be replaced earlier, for other hosts.
 *
 * A clock that jumped, forwards or back, makes certificates look ended or not begun: both are
 * replaced by ones that begin a little before the present time. So the time should be that of those
 * who judge them, not of the machine: kube/client/server_clock.h.
 *
 * Thread-safe. Times are seconds since 1970.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { ROTATION_LEAF_DAYS = 90, ROTATION_AUTHORITY_LEFT_DAYS = 365 };

/* As PEM; "": there is none. */
struct rotation_texts {
    struct str ca, ca_key; /* the bundle, the present authority first, and that one's key */
    struct str certificate, key;
};

struct rotation_request {
    struct rotation_texts now;
    struct str trusted; /* a bundle that clients trust, though now.ca may have lost it; "": none */
    const struct str *hosts; /* what the server is called by: DNS names and IP addresses */
    size_t host_count;
    int64_t now_s;
};

struct rotation {
    const char *why; /* a static sentence: what was wrong; NULL: all is well, and the rest empty */
    bool authority_is_new, leaf_is_new;
    struct strbuf ca, ca_key, certificate, key; /* all four as they should be */
};

/* 0, -EINVAL (a host that is none), -EIO or -ENOMEM. `ret` is to be given to rotation_done(), also
 * after a failure, and zero-initialised. */
int rotation_plan(const struct rotation_request *request, struct rotation *ret,
                  struct err *err) MUST_CHECK;
/*
 * The certificate of a client that this server asks for one, signed by the server's own authority.
 * It is renewed when two thirds of its time are over. What a client gets has no authority's key.
 */
struct rotation_client_request {
    struct str ca, ca_key;     /* of the server's Secret: what clients are checked against */
    struct rotation_texts now; /* what the client has; without ca_key */
    struct str common_name;    /* by which the server knows the client */
    int days;                  /* of a new certificate: 1 to CERTIFICATE_DAYS_MAX */
    int64_t now_s;
};

/* As rotation_plan(), but ret->ca_key stays empty. Nothing is to be done while the authority itself
 * is broken, ended or missing: it must be made first. */
int rotation_plan_client(const struct rotation_client_request *request, struct rotation *ret,
                         struct err *err) MUST_CHECK;
/* Overwrites the keys and frees everything. */
void rotation_done(struct rotation *r);
