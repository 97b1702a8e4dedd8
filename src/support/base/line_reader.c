#include "base/line_reader.h"

#include <errno.h>
#include <unistd.h>

enum { CHUNK = 64 << 10 };

void line_reader_init(struct line_reader *l, int fd, size_t max) {
    *l = (struct line_reader){.fd = fd, .max = max, .text.max = max + CHUNK};
}

void line_reader_done(struct line_reader *l) {
    strbuf_done(&l->text);
}

/* Returns the next line if it is complete. */
static bool take_line(struct line_reader *l, struct str *ret) {
    const size_t have = l->text.n - l->begin;
    if (have == l->looked) /* also when the text is empty */
        return false;
    const char *from = l->text.p + l->begin;
    const char *end = memchr(from + l->looked, '\n', have - l->looked);
    l->looked = end == NULL ? have : 0;
    if (end == NULL)
        return false;
    *ret = (struct str){from, (size_t)(end - from)};
    l->begin += ret->n + 1;
    return true;
}

/* At the end of input, returns the remaining text as a last line without a newline. */
static bool take_last(struct line_reader *l, struct str *ret) {
    *ret = (struct str){.n = l->text.n - l->begin};
    if (ret->n > 0)
        ret->p = l->text.p + l->begin;
    l->begin = l->text.n;
    l->looked = 0;
    return ret->n > 0 && !l->skipping;
}

static int read_more(struct line_reader *l) {
    const size_t have = l->text.n - l->begin;
    ssize_t n;
    if (have > 0 && l->begin > 0)
        memmove(l->text.p, l->text.p + l->begin, have);
    l->text.n = have;
    l->begin = 0;
    char *to = strbuf_reserve(&l->text, CHUNK);
    if (to == NULL)
        return -ENOMEM;
    do
        n = read(l->fd, to, CHUNK);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    l->ended = n == 0;
    l->text.n += (size_t)n;
    return 0;
}

int line_reader_next(struct line_reader *l, struct str *ret) {
    for (;;) {
        if (take_line(l, ret)) {
            if (!l->skipping)
                return ret->n > l->max ? -EFBIG : 1;
            l->skipping = false;
            continue;
        }
        const bool too_long = l->text.n - l->begin > l->max && !l->skipping;
        if (too_long || l->skipping) {
            l->begin = l->text.n;
            l->looked = 0;
        }
        l->skipping = l->skipping || too_long;
        if (too_long)
            return -EFBIG;
        if (l->ended)
            return take_last(l, ret);
        const int r = read_more(l);
        if (r != 0)
            return r;
    }
}
