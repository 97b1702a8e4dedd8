/*
 * Plans the certificates of a server that issues its own, for a given time: an authority of ten
 * years, which clients must trust, and a leaf of 90 days, renewed after two thirds of that time. It
 * only decides: it stores nothing and reads no clock.
 *
 * An authority with a year left gets a successor, and signs a last leaf at that moment; the
 * successor signs the next leaves, and until the old authority has ended both are in the bundle. So
 * every client has 60 days to load a new authority before the server shows its first leaf, unless
 * the leaf must be replaced earlier, for other hosts.
 *
 * After a clock has jumped, certificates look expired or not yet valid: in both cases new ones
 * replace them, valid from a little before the present time. So pass the time of the clients that
 * check them, not the machine's: kube/client/server_clock.h.
 *
 * Thread-safe. Times are seconds since 1970.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { ROTATION_LEAF_DAYS = 90, ROTATION_AUTHORITY_LEFT_DAYS = 365 };

/* The certificates and keys as PEM texts; "": absent. */
struct rotation_texts {
    struct str ca, ca_key; /* the bundle, the present authority first; that authority's key */
    struct str certificate, key;
};

struct rotation_request {
    struct rotation_texts now;
    struct str trusted; /* a bundle that clients trust, in case now.ca has lost its certificates;
                           "": none */
    const struct str *hosts; /* the server's DNS names and IP addresses */
    size_t host_count;
    int64_t now_s;
};

struct rotation {
    const char *why; /* the reason for the change, a static sentence; NULL: no change, and the other
                        members are empty */
    bool authority_is_new, leaf_is_new;
    struct strbuf ca, ca_key, certificate, key; /* all four texts after the change */
};

/* Returns 0, -EINVAL (an invalid host), -EIO or -ENOMEM. `ret` must be zero-initialised; give it to
 * rotation_done(), also after a failure. */
int rotation_plan(const struct rotation_request *request, struct rotation *ret,
                  struct err *err) MUST_CHECK;
/*
 * The certificate of a client of this server, signed by the server's own authority. It is renewed
 * after two thirds of its validity. A client's texts have no authority key.
 */
struct rotation_client_request {
    struct str ca, ca_key;     /* authority in the server's Secret, which clients need */
    struct rotation_texts now; /* the client's present texts; without ca_key */
    struct str common_name;    /* name by which the server knows the client */
    int days;                  /* validity of a new certificate: 1 to CERTIFICATE_DAYS_MAX */
    int64_t now_s;
};

/* As rotation_plan(), but ret->ca_key stays empty. Plans no change while the authority itself is
 * broken, ended or missing: it must be made first. */
int rotation_plan_client(const struct rotation_client_request *request, struct rotation *ret,
                         struct err *err) MUST_CHECK;
/* Overwrites the keys and frees everything. */
void rotation_done(struct rotation *r);
