/* The file itself is included, to set the key that is otherwise drawn at random. */
#include "base/hash.c"

#include "unit/unit.h"

#include <stdio.h>

static void test_reference_values(void **state) {
    (void)state;
    /* SipHash-1-3 with an all-zero key of the bytes 0, 1, 2, ...: CPython 3.11's own hash of such
     * bytes under PYTHONHASHSEED=0. */
    static const struct {
        size_t n;
        uint64_t hash;
    } reference[] = {
        {1, 0x68a914128e01e473},  {2, 0x010bac45c41e3669},  {3, 0x4d4c9a4a8ef6e0ad},
        {4, 0x7cc43f98813e4dbd},  {5, 0x5abe2169dff36275},  {6, 0xe3c25f87624f1cdb},
        {7, 0x2f098ab0c751325a},  {8, 0xead411e67ebe2eea},  {9, 0x75927f9d95124362},
        {10, 0xaf9f77a65ab51a1d}, {13, 0xa0cf3211850f8e0d}, {15, 0xf30eb725bb91c9ea},
        {16, 0x8972188433a5c5b7}, {63, 0x385d3e39e5f37359},
    };
    unsigned char bytes[64];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    (void)hash_bytes(bytes, 1); /* draws the key, which is then overwritten */
    uint64_t saved[2] = {key[0], key[1]};
    key[0] = key[1] = 0;
    for (size_t i = 0; i < sizeof reference / sizeof reference[0]; i++)
        assert_true(hash_bytes(bytes, reference[i].n) == reference[i].hash);
    key[0] = saved[0];
    key[1] = saved[1];
}

static void test_every_byte_and_the_length_count(void **state) {
    (void)state;
    unsigned char bytes[40] = {0};
    for (size_t n = 0; n <= sizeof bytes; n++) {
        uint64_t hash = hash_bytes(bytes, n);
        assert_true(hash == hash_bytes(bytes, n));
        if (n < sizeof bytes)
            assert_true(hash != hash_bytes(bytes, n + 1));
        for (size_t i = 0; i < sizeof bytes; i++) {
            bytes[i] = 0x80;
            assert_int_equal(hash == hash_bytes(bytes, n), i >= n);
            bytes[i] = 0;
        }
    }
}

/* Tables that take one half do not fare as those that take the other. */
static void test_halves_differ(void **state) {
    (void)state;
    struct hash128 h = hash_bytes128("abc", 3);
    assert_true(h.a != h.b);
}

static void test_empty_string_without_bytes(void **state) {
    (void)state;
    assert_true(hash_str((struct str){0}) == hash_str(STR("")));
}

static void test_unaligned_bytes(void **state) {
    (void)state;
    static const char text[] = "xxxxxxxxtopology.kubernetes.io/zone";
    char copy[64];
    for (size_t shift = 0; shift < 8; shift++) {
        memcpy(copy + shift, text + 8, sizeof text - 8);
        assert_true(hash_bytes(copy + shift, sizeof text - 8) ==
                    hash_bytes(text + 8, sizeof text - 8));
    }
}

static struct hash128 hash_of_parts(const struct str *parts, size_t count) {
    struct hash_state s = hash_begin();
    for (size_t i = 0; i < count; i++)
        hash_add(&s, parts[i]);
    assert_true(hash_end(s) == hash_end(s)); /* ending changes nothing */
    return hash_end128(s);
}

/* However the same bytes are cut into two parts, and whatever the bytes are. */
static void test_where_parts_end_counts(void **state) {
    (void)state;
    enum { BYTES = 40, BITS = 8 };
    for (int bit = -1; bit < BITS; bit++) {
        char bytes[BYTES];
        struct hash128 seen[BYTES + 2];
        size_t count = 0;
        memset(bytes, bit < 0 ? 0 : 1 << bit, sizeof bytes);
        seen[count++] = hash_of_parts(&(struct str){bytes, BYTES}, 1);
        for (size_t n = 0; n <= BYTES; n++) {
            const struct str parts[] = {{bytes, n}, {bytes + n, BYTES - n}};
            seen[count++] = hash_of_parts(parts, 2);
        }
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < i; k++)
                assert_false(seen[i].a == seen[k].a || seen[i].b == seen[k].b);
    }
}

static void test_every_byte_of_a_part_counts(void **state) {
    (void)state;
    char bytes[40] = {0};
    for (size_t n = 0; n <= sizeof bytes; n++) {
        const struct hash128 plain = hash_of_parts(&(struct str){bytes, n}, 1);
        assert_true(plain.a != hash_bytes128(bytes, n).a); /* in a table of both */
        if (n < sizeof bytes)                              /* and their number does */
            assert_true(plain.a != hash_of_parts(&(struct str){bytes, n + 1}, 1).a);
        for (size_t i = 0; i < sizeof bytes; i++) {
            bytes[i] = (char)0x80;
            const struct hash128 other = hash_of_parts(&(struct str){bytes, n}, 1);
            assert_int_equal(plain.a == other.a, i >= n);
            assert_int_equal(plain.b == other.b, i >= n);
            bytes[i] = 0;
        }
    }
}

static void test_numbers_are_parts(void **state) {
    (void)state;
    struct hash_state a = hash_begin(), b = hash_begin(), c = hash_begin();
    hash_add_number(&a, 1);
    hash_add_number(&a, 2);
    hash_add_number(&b, 2);
    hash_add_number(&b, 1);
    hash_add_number(&c, 1);
    assert_true(hash_end(a) != hash_end(b));
    assert_true(hash_end(a) != hash_end(c));
    hash_add_number(&c, 2);
    assert_true(hash_end(a) == hash_end(c));
}

static void test_names_are_two_parts(void **state) {
    (void)state;
    const struct str parts[] = {STR("ab"), STR("c")};
    const struct hash128 hash = hash_names128(parts[0], parts[1]);
    assert_true(hash128_equal(hash, hash_of_parts(parts, 2)));
    assert_false(hash128_equal(hash, hash_names128(STR("ab"), STR("d"))));
    assert_false(hash128_equal(hash, hash_names128(STR("ad"), STR("c"))));
    assert_false(hash128_equal(hash, (struct hash128){hash.a, hash.b + 1}));
    assert_false(hash128_equal(hash, (struct hash128){hash.a + 1, hash.b}));
}

static void test_spreads_similar_names(void **state) {
    (void)state;
    enum { NAMES = 40000, BUCKETS = 256 };
    unsigned count[BUCKETS] = {0};
    for (int i = 0; i < NAMES; i++) {
        char name[32];
        int n = snprintf(name, sizeof name, "node-%05d", i);
        count[hash_bytes(name, (size_t)n) % BUCKETS]++;
    }
    /* mean 156, standard deviation 12.5: eight of them are as good as never */
    for (int i = 0; i < BUCKETS; i++)
        assert_in_range(count[i], 56, 256);
}

static void test_mix_depends_on_hash_number_and_order(void **state) {
    (void)state;
    assert_true(hash_mix(hash_mix(7, 1), 2) != hash_mix(hash_mix(7, 2), 1));
    assert_true(hash_mix(1, 2) != hash_mix(1, 3));
    assert_true(hash_mix(1, 2) != hash_mix(4, 2));
    assert_true(hash_mix(1, 2) == hash_mix(1, 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_values),
        cmocka_unit_test(test_every_byte_and_the_length_count),
        cmocka_unit_test(test_halves_differ),
        cmocka_unit_test(test_empty_string_without_bytes),
        cmocka_unit_test(test_unaligned_bytes),
        cmocka_unit_test(test_where_parts_end_counts),
        cmocka_unit_test(test_every_byte_of_a_part_counts),
        cmocka_unit_test(test_numbers_are_parts),
        cmocka_unit_test(test_names_are_two_parts),
        cmocka_unit_test(test_spreads_similar_names),
        cmocka_unit_test(test_mix_depends_on_hash_number_and_order),
    };
    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
