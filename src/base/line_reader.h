/*
 * Lines of a descriptor, one after the other, each as soon as it is there: whoever writes them may
 * wait for what is made of one before it writes the next. A line that is too long is skipped. Not
 * thread-safe.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct line_reader {
    int fd;             /* borrowed; reading blocks */
    size_t max;         /* bytes of a line, its newline not counted */
    struct strbuf text; /* owned: what has been read and not handed out */
    size_t begin;       /* of it, the next line */
    size_t looked;      /* bytes of the line that are known to be no newline */
    bool skipping;      /* the rest of a line that is too long */
    bool ended;
};

void line_reader_init(struct line_reader *l, int fd, size_t max);
void line_reader_done(struct line_reader *l);

/*
 * 1: *ret is the next line, without its newline, valid until the next call; the last one need not
 * have a newline. 0: there is none. -EFBIG: the next line has more than `max` bytes, and the call
 * after this goes on behind it. Or -errno of reading, -ENOMEM.
 */
int line_reader_next(struct line_reader *l, struct str *ret) MUST_CHECK;
