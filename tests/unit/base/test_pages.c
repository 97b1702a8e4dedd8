#include "base/pages.h"

#include "unit/unit.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Up to sizes at which malloc() has long left the array to the kernel, and back. */
static void test_content_moves_along(void **state) {
    static const size_t sizes[] = {1,      100,    131071,  131072, 131073, 5000000,
                                   400000, 131072, 4096000, 131071, 64,     300000};
    unsigned char *p = NULL;
    size_t had = 0;
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t kept = had < sizes[i] ? had : sizes[i];
        p = pages_resize(p, had, sizes[i]);
        assert_non_null(p);
        for (size_t at = 0; at < kept; at++)
            if (p[at] != (unsigned char)(at * 7 + i))
                fail_msg("byte %zu of %zu, resized from %zu, is another", at, sizes[i], had);
        had = sizes[i];
        for (size_t at = 0; at < had; at++)
            p[at] = (unsigned char)(at * 7 + i + 1);
    }
    pages_free(p, had);
    pages_free(NULL, 0);
    pages_free(NULL, 1 << 20);
}

static void test_without_memory_it_stays(void **state) {
    const size_t few = 10, many = 1 << 20, too_many = SIZE_MAX / 4;
    (void)state;
    unsigned char *p = pages_resize(NULL, 0, few);
    p[9] = 9;
    assert_null(pages_resize(p, few, too_many));
    assert_int_equal(p[9], 9);
    p = pages_resize(p, few, many);
    p[many - 1] = 8;
    assert_null(pages_resize(p, many, too_many));
    assert_int_equal(p[9], 9);
    assert_int_equal(p[many - 1], 8);
    pages_free(p, many);
}

static bool is_mapped(uintptr_t address) {
    unsigned char in_memory;
    return mincore((void *)address, 4096, &in_memory) == 0;
}

/* The kernel has them back at once, though blocks around them stay, which is what all of this is
 * for. */
static void test_freed_pages_are_given_back(void **state) {
    enum { ARRAYS = 64, BYTES = 1 << 20 };
    char *arrays[ARRAYS];
    char *volatile large = malloc(8 * BYTES);
    (void)state;
    free(large); /* from now on malloc() takes what is smaller from its heap */
    for (int i = 0; i < ARRAYS; i++) {
        arrays[i] = pages_resize(NULL, 0, BYTES);
        assert_non_null(arrays[i]);
        memset(arrays[i], 1, BYTES);
    }
    for (int i = 0; i < ARRAYS; i += 2) {
        const uintptr_t first = (uintptr_t)arrays[i], last = first + BYTES - 4096;
        assert_true(is_mapped(first) && is_mapped(last));
        pages_free(arrays[i], BYTES);
        assert_false(is_mapped(first) || is_mapped(last));
    }
    for (int i = 1; i < ARRAYS; i += 2) {
        assert_int_equal(arrays[i][BYTES - 1], 1);
        pages_free(arrays[i], BYTES);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_content_moves_along),
        cmocka_unit_test(test_without_memory_it_stays),
        cmocka_unit_test(test_freed_pages_are_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
