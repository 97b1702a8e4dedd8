/*
 * Where a plain run ends: by words, and as fast as this processor can, beside one byte after the
 * other. Each text lies in memory of its own, so that sanitizers see a byte that is read behind it.
 */
#include "base/plain_run.h"

#include "unit/unit.h"

enum { LONGEST = 70 };

static size_t byte_by_byte(const char *p, size_t n) {
    size_t i = 0;
    while (i < n && (unsigned char)p[i] - 0x20u < 0x60 && p[i] != '"' && p[i] != '\\')
        i++;
    return i;
}

static void agree(const char *p, size_t n) {
    size_t expected = byte_by_byte(p, n);
    assert_int_equal(plain_run(p, p + n) - p, expected);
    assert_int_equal(plain_run_by_words(p, p + n) - p, expected);
}

/* Each of the 256 bytes, at each place of texts of each length. */
static void test_any_byte_anywhere(void **state) {
    (void)state;
    for (size_t n = 1; n <= LONGEST; n++) {
        char *text = malloc(n);
        assert_non_null(text);
        memset(text, 'a', n);
        agree(text, n);
        for (size_t at = 0; at < n; at++) {
            for (int byte = 0; byte < 256; byte++) {
                text[at] = (char)byte;
                agree(text, n);
            }
            text[at] = 'a';
        }
        free(text);
    }
}

/* Several odd bytes at once: the first counts. */
static void test_random_texts(void **state) {
    (void)state;
    uint64_t random = unit_seed();
    for (int i = 0; i < 20000; i++) {
        size_t n = unit_below(&random, LONGEST);
        char *text = malloc(n + 1);
        assert_non_null(text);
        for (size_t at = 0; at < n; at++)
            text[at] = unit_below(&random, 20) == 0 ? (char)unit_below(&random, 256)
                                                    : (char)(' ' + unit_below(&random, 95));
        agree(text, n);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_byte_anywhere),
        cmocka_unit_test(test_random_texts),
    };
    return cmocka_run_group_tests_name("plain_run", tests, NULL, NULL);
}
