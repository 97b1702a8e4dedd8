/* The mode --lines: answers each line's question before it reads the next. */
#include "cli/simulate.h"

#include "base/limits.h"
#include "base/line_reader.h"
#include "lines/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void refuse_long(struct strbuf *out) {
    const struct line_question unknown = {.id = STR("null")};
    struct err err;
    (void)err_set(&err, -EFBIG, "a line of more than %u MiB", LIMIT_LINE_BYTES >> 20);
    line_question_refuse(&unknown, &err, out);
}

/* Writes the answer and flushes, because the caller may wait for it. */
static bool put_answer(struct strbuf *out) {
    strbuf_append_char(out, '\n');
    return !strbuf_failed(out) && fwrite(out->p, 1, out->n, stdout) == out->n &&
           fflush(stdout) == 0;
}

/* Returns the exit code: 1 if a line was refused, or a line could not be read or answered. */
static int answer_lines(struct line_reader *lines, const char *path) {
    CLEANUP(strbuf_done) struct strbuf out = {.max = LIMIT_LINE_ARENA};
    CLEANUP(arena_done) struct arena arena;
    struct str line;
    bool good = true;
    int r;
    arena_init(&arena, LIMIT_LINE_ARENA);
    while ((r = line_reader_next(lines, &line)) == 1 || r == -EFBIG) {
        arena_reset(&arena);
        arena.steps = (struct steps){.max = LIMIT_LINE_STEPS};
        strbuf_clear(&out);
        if (r == -EFBIG)
            refuse_long(&out);
        good = r == 1 && line_answer(line, &arena, &out) && good;
        if (!put_answer(&out))
            return simulate_fail("cannot write to standard output");
    }
    if (r == 0)
        return good ? 0 : 1;
    struct err err;
    (void)err_set_errno(&err, -r, "cannot read '%s'", path);
    return simulate_fail(err.text);
}

int simulate_lines(struct simulate_request *request, const struct configuration *c,
                   struct arena *arena) {
    const bool is_input = strcmp(request->lines, "-") == 0;
    const int fd = is_input ? STDIN_FILENO : open(request->lines, O_RDONLY | O_CLOEXEC);
    struct line_reader lines;
    (void)c; /* a line has all the data that its question needs */
    (void)arena;
    if (fd < 0) {
        struct err err;
        (void)err_set_errno(&err, errno, "cannot open '%s'", request->lines);
        return simulate_fail(err.text);
    }
    line_reader_init(&lines, fd, LIMIT_LINE_BYTES);
    const int status = answer_lines(&lines, is_input ? "standard input" : request->lines);
    line_reader_done(&lines);
    if (!is_input)
        (void)close(fd); /* only read from */
    return status;
}
