/*
 * A strict look at the head of a request: where the message ends must be clear to everybody who
 * reads it, a proxy before us as well, or a second request could hide in the body of the first.
 *
 * libmicrohttpd (0.9.75) is lenient: it takes a bare line feed for the end of a line, joins folded
 * lines, keeps blanks before a colon as part of the name, cuts values at a NUL, and knows nothing
 * of a second Host or Content-Length. But it parses in place and shows where: each name and value
 * is a pointer into the received bytes, each end of line became NULs, and it tells how long the
 * whole head was. So what it made of the head is compared with the only way a correct head can be
 * laid out: one space, one colon, CR and LF, in one piece from the method to the empty line. What
 * does not fit is refused, and so would be everything, at once, if another version did not parse in
 * place.
 *
 * One thing cannot be seen: a NUL in place of the CR that ends a line.
 */
#pragma once

#include "http/origin.h"

#include <microhttpd.h>
#include <stdint.h>

enum { FRAMING_CHUNKED = -1 };

/* What there is to know of a head before anything is decided. */
struct framing {
    const char *fault; /* a sentence; NULL: none, and the rest may be used */
    int64_t length;    /* of the body, or FRAMING_CHUNKED */
    bool expects_continue;
    struct str content_type; /* "" when absent, as the next */
    struct origin origin;
};

/* The request line as libmicrohttpd gives it. The target is as it was sent, in place; what was said
 * of it must have been found out at MHD_OPTION_URI_LOG_CALLBACK, before it was decoded. */
struct framing_line {
    const char *method, *version;
    struct str target;
    bool target_is_clean; /* framing_target_is_clean() */
};

/* Borrows from the connection's memory, for the life of the request. */
void framing_read(struct MHD_Connection *mhd, const struct framing_line *line, struct framing *ret);
/* Anything but controls, blanks and bytes above 127, and no NUL in disguise (%00)? */
bool framing_target_is_clean(struct str target);
