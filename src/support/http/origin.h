/*
 * Distinguishes a program from a browser that shows another web page. A page can make its visitor's
 * browser send requests to 127.0.0.1, and with a name that resolves to it (DNS rebinding) the page
 * can read the answer. Headers that browsers always send reveal both.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>

/* Headers of a request; "" for absent ones. */
struct origin {
    struct str host;           /* the Host header */
    struct str origin;         /* Origin */
    struct str sec_fetch_site; /* Sec-Fetch-Site */
};

/* Does the request come from a web page of another server? */
bool origin_is_foreign(const struct origin *o);
/* Does Host name this machine as a loopback: localhost, 127.0.0.1 or [::1], with any port? */
bool origin_is_loopback(const struct origin *o);
