/*
 * Who really asks: a program, or a browser for a web page that somebody else wrote. A page may have
 * its visitor's browser ask 127.0.0.1, and a name that resolves to it (DNS rebinding) makes the
 * answer readable; both are told by what browsers cannot leave out.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>

/* "" for what a request does not have. */
struct origin {
    struct str host;           /* the Host header */
    struct str origin;         /* Origin */
    struct str sec_fetch_site; /* Sec-Fetch-Site */
};

/* Does a web page ask that is not of this listener? */
bool origin_is_foreign(const struct origin *o);
/* Does Host name this machine as a loopback: localhost, 127.0.0.1 or [::1], with any port? */
bool origin_is_loopback(const struct origin *o);
