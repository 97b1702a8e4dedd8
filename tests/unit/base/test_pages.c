#include "base/pages.h"

#include "unit/unit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

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

/* Resident pages of this process, without what a file backs. */
static long resident(void) {
    char text[128];
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    (void)fclose(f);
    char *at = text;
    (void)strtol(at, &at, 10); /* of its address space */
    const long all = strtol(at, &at, 10), shared = strtol(at, &at, 10);
    assert_in_range(shared, 1, all);
    return all - shared;
}

/* Holes between blocks that stay are not kept, which is what all of this is for. */
static void test_freed_pages_are_given_back(void **state) {
    enum { ARRAYS = 64, BYTES = 1 << 20 };
    static char *arrays[ARRAYS];
    char *volatile large = malloc(8 * BYTES);
    (void)state;
    free(large); /* from now on malloc() takes what is smaller from its heap */
    long before = resident();
    for (int i = 0; i < ARRAYS; i++) {
        arrays[i] = pages_resize(NULL, 0, BYTES);
        assert_non_null(arrays[i]);
        memset(arrays[i], 1, BYTES);
    }
    assert_true(resident() - before > ARRAYS / 2 * BYTES / 4096);
    for (int i = 0; i < ARRAYS - 1; i++) /* the last one stays, above all others */
        pages_free(arrays[i], BYTES);
    assert_true(resident() - before < ARRAYS / 8 * BYTES / 4096);
    pages_free(arrays[ARRAYS - 1], BYTES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_content_moves_along),
        cmocka_unit_test(test_without_memory_it_stays),
        cmocka_unit_test(test_freed_pages_are_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
