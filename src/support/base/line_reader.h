/*
 * Reads lines from a descriptor, and returns each line as soon as it is complete: the writer may
 * wait for the answer to a line before it writes the next line. Skips a line that is too long. Not
 * thread-safe.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct line_reader {
    int fd;             /* borrowed; reading blocks */
    size_t max;         /* bytes of a line without its newline */
    struct strbuf text; /* owned: bytes that were read and not returned */
    size_t begin;       /* offset of the next line in `text` */
    size_t looked;      /* bytes of that line that were searched for a newline */
    bool skipping;      /* skips the rest of a line that is too long */
    bool ended;
};

void line_reader_init(struct line_reader *l, int fd, size_t max);
void line_reader_done(struct line_reader *l);

/*
 * Returns 1 and the next line, without its newline, valid until the next call; the last line may
 * lack a newline. Returns 0 at the end of input. -EFBIG: the next line has more than `max` bytes;
 * the next call reads the line after it. Or -errno of reading, or -ENOMEM.
 */
int line_reader_next(struct line_reader *l, struct str *ret) MUST_CHECK;
