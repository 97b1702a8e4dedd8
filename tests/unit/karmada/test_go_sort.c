/*
 * Against Go's own sort.Sort() (1.26): for each kind of input and each length, a hash of where the
 * items of twenty arrays were in the end. All of these have equal keys, or are small enough to be
 * sorted by insertion.
 */
#include "karmada/go_sort.h"

#include "unit/unit.h"

enum { LONGEST = 5000, ARRAYS = 20 };

enum pattern {
    FEW_KEYS,
    SOME_KEYS,
    ANY_KEYS,
    ONE_KEY,
    RISING,
    FALLING,
    SAWTOOTH,
    ROOF,
    NEARLY_SORTED,
    PAIRS_RISING, /* with pairs but where pivots are looked for */
};

static struct go_sorted items[LONGEST];

static int64_t key_of(enum pattern pattern, uint32_t i, uint32_t count, uint64_t *seed) {
    int64_t key = -(int64_t)i;
    switch (pattern) {
    case FEW_KEYS:
        return (int64_t)(unit_random(seed) % 4);
    case SOME_KEYS:
        return (int64_t)(unit_random(seed) % 20);
    case ANY_KEYS:
        return (int64_t)(unit_random(seed) >> 1);
    case ONE_KEY:
        return 7;
    case RISING:
        return i / 3;
    case FALLING:
        return -(int64_t)(i / 3);
    case SAWTOOTH:
        return i % 7;
    case ROOF:
        return i < count / 2 ? i : count - i;
    case NEARLY_SORTED:
        if (unit_random(seed) % 16 == 0)
            key += (int64_t)(unit_random(seed) % 9) * 2;
        return key;
    case PAIRS_RISING:
        if (count / 4 > 0 && (i % (count / 4) <= 2 || i % (count / 4) + 2 >= count / 4))
            return i;
        return i & ~1u;
    }
    return 0;
}

/* 32-bit FNV-1a of the ids, each as four bytes, the lowest first. */
static uint32_t hash_of(uint32_t count) {
    uint32_t hash = 0x811c9dc5u;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t b = 0; b < 32; b += 8)
            hash = (hash ^ (items[i].id >> b & 255)) * 0x01000193u;
    return hash;
}

/* A permutation, in order. */
static void check_sorted(uint32_t count) {
    static bool seen[LONGEST];
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(i == 0 || items[i - 1].key >= items[i].key);
        assert_true(items[i].id < count);
        assert_false(seen[items[i].id]);
        seen[items[i].id] = true;
    }
}

struct recorded {
    enum pattern pattern;
    uint32_t count, hash;
};
static const struct recorded recorded[] = {
    /* clang-format off */
    {FEW_KEYS, 12, 0x634db5b0}, {FEW_KEYS, 13, 0x2d19bb00}, {FEW_KEYS, 33, 0xa48435c0},
    {FEW_KEYS, 49, 0x277e7f20}, {FEW_KEYS, 50, 0xb54f9b80}, {FEW_KEYS, 51, 0x87766460},
    {FEW_KEYS, 72, 0x594bbb80}, {FEW_KEYS, 400, 0x2daef0cc}, {FEW_KEYS, 5000, 0x8d7a7aa8},
    {SOME_KEYS, 12, 0x01195f70}, {SOME_KEYS, 13, 0x5515cbf0}, {SOME_KEYS, 33, 0x66ac0ae0},
    {SOME_KEYS, 49, 0x5eb35c90}, {SOME_KEYS, 50, 0x1e9883b0}, {SOME_KEYS, 51, 0xcc364f70},
    {SOME_KEYS, 72, 0x7ae06890}, {SOME_KEYS, 400, 0xd4d9fa4c}, {SOME_KEYS, 5000, 0x289b8748},
    {ANY_KEYS, 12, 0x60030850}, {ANY_KEYS, 13, 0xfece7a50}, {ANY_KEYS, 33, 0xa35bafb0},
    {ANY_KEYS, 49, 0xaccb3b70}, {ANY_KEYS, 50, 0x988a4e40}, {ANY_KEYS, 51, 0xf027d260},
    {ANY_KEYS, 72, 0xe410fc40}, {ANY_KEYS, 400, 0x2c1e739c}, {ANY_KEYS, 5000, 0x1b518394},
    {ONE_KEY, 12, 0x41ebbe40}, {ONE_KEY, 13, 0x61af1740}, {ONE_KEY, 33, 0x99649a40},
    {ONE_KEY, 49, 0x98412e40}, {ONE_KEY, 50, 0xc1ace100}, {ONE_KEY, 51, 0x3e704f80},
    {ONE_KEY, 72, 0xa6c8ee40}, {ONE_KEY, 400, 0x78dee240}, {ONE_KEY, 5000, 0x687a5a40},
    {RISING, 12, 0xe7231e40}, {RISING, 13, 0x0db3bf40}, {RISING, 33, 0x2967c640},
    {RISING, 49, 0x62baa640}, {RISING, 50, 0xa9495d00}, {RISING, 51, 0x2675eb80},
    {RISING, 72, 0x89e05a40}, {RISING, 400, 0x8668ee40}, {RISING, 5000, 0xc6a93d40},
    {FALLING, 12, 0x41ebbe40}, {FALLING, 13, 0x61af1740}, {FALLING, 33, 0x99649a40},
    {FALLING, 49, 0x98412e40}, {FALLING, 50, 0xc1ace100}, {FALLING, 51, 0x3e704f80},
    {FALLING, 72, 0xa6c8ee40}, {FALLING, 400, 0x78dee240}, {FALLING, 5000, 0x687a5a40},
    {SAWTOOTH, 12, 0x06d9c640}, {SAWTOOTH, 13, 0x8b826f40}, {SAWTOOTH, 33, 0x9b4b4240},
    {SAWTOOTH, 49, 0x1849ae40}, {SAWTOOTH, 50, 0x6596c100}, {SAWTOOTH, 51, 0xd51d0f80},
    {SAWTOOTH, 72, 0x5b5f7a40}, {SAWTOOTH, 400, 0xe2373c40}, {SAWTOOTH, 5000, 0x4cc01740},
    {ROOF, 12, 0x2169b240}, {ROOF, 13, 0x6b9b8f40}, {ROOF, 33, 0xf38c7640},
    {ROOF, 49, 0x37dcc240}, {ROOF, 50, 0x2af43d00}, {ROOF, 51, 0x9b385380},
    {ROOF, 72, 0x731c7e40}, {ROOF, 400, 0x947af240}, {ROOF, 5000, 0xb30e2940},
    {NEARLY_SORTED, 12, 0x6b6f9720}, {NEARLY_SORTED, 13, 0xdc4f9e20},
    {NEARLY_SORTED, 33, 0x89d80da0},
    {NEARLY_SORTED, 49, 0x3c3ec010}, {NEARLY_SORTED, 50, 0xe4d3b470},
    {NEARLY_SORTED, 51, 0x7f8f3890},
    {NEARLY_SORTED, 72, 0xabd16070}, {NEARLY_SORTED, 400, 0x99618f4c},
    {NEARLY_SORTED, 5000, 0x818535f8},
    {PAIRS_RISING, 12, 0xc2c73e40}, {PAIRS_RISING, 13, 0x15751740}, {PAIRS_RISING, 33, 0x00fd3640},
    {PAIRS_RISING, 49, 0x95dc6240}, {PAIRS_RISING, 50, 0x3b2a5500}, {PAIRS_RISING, 51, 0xbf600f80},
    {PAIRS_RISING, 72, 0x90cc6e40}, {PAIRS_RISING, 400, 0x74946240},
    {PAIRS_RISING, 5000, 0x841c5640},
    /* clang-format on */
};

static void test_as_go(void **state) {
    (void)state;
    for (size_t n = 0; n < sizeof recorded / sizeof recorded[0]; n++) {
        const struct recorded *want = &recorded[n];
        uint32_t hash = 0;
        for (uint64_t first = 1; first <= ARRAYS; first++) {
            uint64_t seed = first;
            for (uint32_t i = 0; i < want->count; i++)
                items[i] = (struct go_sorted){key_of(want->pattern, i, want->count, &seed), i};
            go_sort_descending(items, want->count);
            check_sorted(want->count);
            hash = hash * 31 + hash_of(want->count);
        }
        if (hash != want->hash)
            print_error("pattern %d, %u items\n", want->pattern, want->count);
        assert_int_equal(hash, want->hash);
    }
}

/* Made by an adversary of Go's sort (McIlroy, "A Killer Adversary for Quicksort", 1999), three of a
 * key: splits are lopsided until the rest is sorted as a heap. */
static void test_killer(void **state) {
    (void)state;
    /* clang-format off */
    const uint8_t keys[] = {2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8,
    9, 9, 9, 10, 10, 10, 11, 11, 11, 12, 12, 12, 13, 13, 13, 14, 14, 14, 15, 15, 15, 16, 16,
    16, 17, 17, 17, 18, 0, 0, 18, 18, 19, 19, 19, 20, 20, 20, 21, 21, 21, 22, 22, 22, 23,
    23, 23, 24, 24, 24, 25, 25, 25, 26, 26, 26, 27, 27, 27, 28, 28, 28, 29, 29, 29, 30, 30,
    30, 31, 31, 31, 32, 32, 32, 33, 33, 33, 34, 0, 1, 34, 34, 35, 35, 35, 36, 36, 36, 37,
    37, 37, 38, 38, 38, 39, 39, 39, 40, 40, 40, 41, 41, 41, 42, 42, 42, 43, 43, 43, 44, 44,
    44, 45, 45, 45, 46, 46, 46, 47, 47, 47, 48, 48, 48, 49, 49, 49, 50, 1, 1, 65, 63, 55,
    64, 55, 54, 52, 62, 63, 54, 65, 200, 51, 65, 51, 62, 52, 53, 53, 52, 58, 54, 55, 50, 50,
    51, 61, 53, 64, 63, 62, 66, 61, 64, 61, 60, 60, 60, 59, 59, 59, 56, 58, 58, 57, 57, 57,
    56, 56};
    /* clang-format on */
    const uint32_t count = sizeof keys;
    assert_int_equal(count, 200);
    for (uint32_t i = 0; i < count; i++)
        items[i] = (struct go_sorted){-keys[i], i};
    go_sort_descending(items, count);
    check_sorted(count);
    assert_int_equal(hash_of(count), 0x86759b55);
}

static void test_short(void **state) {
    (void)state;
    go_sort_descending(NULL, 0);
    items[0] = (struct go_sorted){5, 9};
    go_sort_descending(items, 1);
    assert_int_equal(items[0].id, 9);
    items[1] = (struct go_sorted){INT64_MAX, 0};
    items[2] = (struct go_sorted){INT64_MIN, 1};
    items[3] = (struct go_sorted){5, 2};
    go_sort_descending(items, 4);
    assert_int_equal(items[0].id, 0);
    assert_int_equal(items[1].id, 9);
    assert_int_equal(items[2].id, 2);
    assert_int_equal(items[3].id, 1);
}

/* Any length there may be, and any number of equal keys. */
static void test_any(void **state) {
    (void)state;
    uint64_t seed = unit_seed();
    for (uint32_t n = 0; n < 2000; n++) {
        const uint32_t count = unit_below(&seed, 600), keys = 1 + unit_below(&seed, 600);
        for (uint32_t i = 0; i < count; i++)
            items[i] = (struct go_sorted){unit_below(&seed, keys), i};
        go_sort_descending(items, count);
        check_sorted(count);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_go),
        cmocka_unit_test(test_killer),
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
