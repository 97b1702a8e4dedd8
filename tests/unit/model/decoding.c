#include "unit/model/decoding.h"

#include <errno.h>

struct arena decoding_arena;

int decoding_setup(void **state) {
    (void)state;
    arena_init(&decoding_arena, 64u << 20);
    return 0;
}

int decoding_teardown(void **state) {
    (void)state;
    arena_done(&decoding_arena);
    return 0;
}

struct json_reader decoding_reader(const char *json) {
    struct json_reader r;
    json_reader_init(&r, str_of(json), &decoding_arena, "doc");
    return r;
}

void decoding_good(const struct json_reader *reader) {
    struct json_reader r = *reader;
    struct err err;
    if (json_finish(&r, &err) != 0)
        fail_msg("%s", err.text);
}

void decoding_refused(const struct json_reader *reader, const char *words) {
    struct err err = {0};
    const int r = json_check(reader, &err);
    assert_true(r == -EINVAL || r == -EDOM); /* -EDOM: a quantity cannot be read */
    assert_contains(err.text, words);
}
