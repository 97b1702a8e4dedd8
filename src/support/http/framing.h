/*
 * Checks the head of a request strictly. We and every proxy before us must agree where the message
 * ends; otherwise a second request could hide in the body of the first (request smuggling).
 *
 * libmicrohttpd (0.9.75) is lenient: it takes a bare line feed for the end of a line, joins folded
 * lines, keeps blanks before a colon as part of the name, cuts values at a NUL, and knows nothing
 * of a second Host or Content-Length. But it parses in place and shows where: each name and value
 * is a pointer into the received bytes, each end of line became NULs, and it reports the length of
 * the whole head. So we compare its result with the only layout that a correct head can have: one
 * space, one colon, CR and LF, in one piece from the method to the empty line. A head with another
 * layout is refused. If a later libmicrohttpd did not parse in place, every request would be
 * refused.
 *
 * This check cannot see a NUL in place of the CR that ends a line.
 */
#pragma once

#include "http/origin.h"

#include <microhttpd.h>
#include <stdint.h>

enum { FRAMING_CHUNKED = -1 };

/* The result of checking a head, before any decision. */
struct framing {
    const char *fault; /* a sentence; NULL: no fault, and only then the other members are valid */
    int64_t length;    /* length of the body, or FRAMING_CHUNKED */
    bool expects_continue;
    struct str content_type; /* "" if absent */
    struct origin origin;
};

/* The request line as libmicrohttpd gives it. The target is in place; target_is_clean must have
 * been found at MHD_OPTION_URI_LOG_CALLBACK, before the target was decoded. */
struct framing_line {
    const char *method, *version;
    struct str target;
    bool target_is_clean; /* framing_target_is_clean() */
};

/* Checks the head. The strings of `ret` are borrowed from the connection for the life of the
 * request. */
void framing_read(struct MHD_Connection *mhd, const struct framing_line *line, struct framing *ret);
/* Is the target free of controls, blanks, bytes above 127 and an escaped NUL (%00)? */
bool framing_target_is_clean(struct str target);
