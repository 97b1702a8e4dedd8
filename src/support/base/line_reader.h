/*
 * Lines of a descriptor, one after the other, each as soon as it is there: the writer may wait for
 * the answer to one line before it writes the next. A line that is too long is skipped. Not
 * thread-safe.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct line_reader {
    int fd;             /* borrowed; reading blocks */
    size_t max;         /* bytes of a line, its newline not counted */
    struct strbuf text; /* owned: what has been read and not handed out */
    size_t begin;       /* of the next line in `text` */
    size_t looked;      /* bytes of that line that are known not to be a newline */
    bool skipping;      /* the rest of a line that is too long */
    bool ended;
};

void line_reader_init(struct line_reader *l, int fd, size_t max);
void line_reader_done(struct line_reader *l);

/*
 * Returns 1 and the next line, without its newline, valid until the next call; the last line need
 * not have a newline. 0: the input has ended. -EFBIG: the next line has more than `max` bytes; the
 * next call reads the line after it. Or -errno of reading, -ENOMEM.
 */
int line_reader_next(struct line_reader *l, struct str *ret) MUST_CHECK;
