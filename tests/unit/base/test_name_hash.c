#include "base/name_hash.h"
#include "unit/unit.h"

#include <stdio.h>

enum { LONGEST = NAME_HASH_BYTES + 20 };

static bool equal(struct hash128 a, struct hash128 b) {
    return a.a == b.a && a.b == b.b;
}

/* The bits that a name table keeps. */
static bool kept_equal(struct hash128 a, struct hash128 b) {
    return a.a == b.a && (uint32_t)a.b == (uint32_t)b.b;
}

/* ---- NH by the book: 128-bit sums of products made of 32-bit halves ---- */

struct wide {
    uint64_t high, low;
};

static struct wide add(struct wide a, struct wide b) {
    struct wide sum = {a.high + b.high, a.low + b.low};
    sum.high += sum.low < a.low;
    return sum;
}

static struct wide times(uint64_t a, uint64_t b) {
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    struct wide sum = {ah * bh, al * bl};
    sum = add(sum, (struct wide){al * bh >> 32, al * bh << 32});
    return add(sum, (struct wide){ah * bl >> 32, ah * bl << 32});
}

static uint64_t word_at(const char *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* Words for strings of more than 16 bytes: blocks from the front, and the last 16 bytes. */
static struct wide book(const struct name_hash_key *key, struct str s) {
    struct wide sum = times(s.n + key->masks[0], key->masks[1]);
    size_t mask = 2;
    for (size_t from = 0;; from += 16, mask += 2) {
        size_t at = from + 16 < s.n ? from : s.n - 16;
        sum = add(sum, times(word_at(s.p + at) + key->masks[mask],
                             word_at(s.p + at + 8) + key->masks[mask + 1]));
        if (at == s.n - 16)
            return sum;
    }
}

static void test_is_the_sum_of_masked_products(void **state) {
    (void)state;
    const struct name_hash_key *key = name_hash_key();
    uint64_t seed = unit_seed();
    char bytes[NAME_HASH_BYTES];
    for (int round = 0; round < 2000; round++) {
        struct str s = {bytes, 17 + unit_random(&seed) % (sizeof bytes - 16)};
        for (size_t i = 0; i < s.n; i++)
            bytes[i] = (char)unit_random(&seed);
        struct wide sum = book(key, s);
        struct wide product = times(sum.low, key->factor_low);
        product.high += sum.low * key->factor_high + sum.high * key->factor_low;
        uint64_t a = (product.high ^ product.high >> 32) * 0x9e3779b97f4a7c15u;
        struct hash128 hash = name_hash(key, s);
        assert_true(hash.a == (a ^ a >> 29));
        assert_true(hash.b == (product.low >> 32 | product.low << 32));
    }
}

static void test_the_key_is_random_and_its_factor_odd(void **state) {
    (void)state;
    const struct name_hash_key *key = name_hash_key();
    assert_ptr_equal(key, name_hash_key());
    assert_true((key->factor_low & 1) == 1);
    size_t words = sizeof key->masks / sizeof key->masks[0];
    for (size_t i = 0; i < words; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(key->masks[i] != key->masks[j]);
}

static void test_every_byte_and_the_length_count(void **state) {
    (void)state;
    const struct name_hash_key *key = name_hash_key();
    char bytes[LONGEST] = {0};
    for (size_t n = 0; n <= sizeof bytes; n++) {
        struct hash128 hash = name_hash(key, (struct str){bytes, n});
        assert_true(equal(hash, name_hash(key, (struct str){bytes, n})));
        if (n < sizeof bytes)
            assert_false(kept_equal(hash, name_hash(key, (struct str){bytes, n + 1})));
        for (size_t i = 0; i < sizeof bytes; i++) {
            bytes[i] = (char)0x80;
            assert_int_equal(kept_equal(hash, name_hash(key, (struct str){bytes, n})), i >= n);
            bytes[i] = 0;
        }
    }
}

static void test_empty_string_without_bytes(void **state) {
    (void)state;
    const struct name_hash_key *key = name_hash_key();
    assert_true(equal(name_hash(key, (struct str){0}), name_hash(key, STR(""))));
}

static void test_reads_its_own_bytes_only(void **state) {
    (void)state;
    const struct name_hash_key *key = name_hash_key();
    for (size_t n = 0; n <= LONGEST; n++) {
        char *alone = malloc(n + 1); /* sanitizers and valgrind see what is read behind it */
        char among[LONGEST + 16];
        assert_non_null(alone);
        memset(among, 'x', sizeof among);
        memset(among + 5, 'y', n);
        memset(alone, 'y', n);
        assert_true(equal(name_hash(key, (struct str){alone, n}),
                          name_hash(key, (struct str){among + 5, n})));
        free(alone);
    }
}

/* Where a table begins to look: names that differ in one place only, wherever that is. */
static void test_low_bits_spread_similar_names(void **state) {
    (void)state;
    enum { NAMES = 40000, BUCKETS = 256 };
    static const char *const places[][2] = {{"node-", ""},
                                            {"", ".nodes.cluster.example.internal"},
                                            {"ip-10-0-", ".eu-west-1.compute.internal"},
                                            {"a-very-long-pool-name-of-some-cloud-", ""}};
    for (size_t f = 0; f < sizeof places / sizeof places[0]; f++) {
        unsigned count[BUCKETS] = {0};
        for (int i = 0; i < NAMES; i++) {
            char name[64];
            int n = snprintf(name, sizeof name, "%s%05d%s", places[f][0], i, places[f][1]);
            count[name_hash(name_hash_key(), (struct str){name, (size_t)n}).a % BUCKETS]++;
        }
        /* mean 156, standard deviation 12.5: sixteen of them, because the key is random and the
         * hash is not an ideal one */
        for (int i = 0; i < BUCKETS; i++)
            assert_in_range(count[i], 1, 356);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_the_sum_of_masked_products),
        cmocka_unit_test(test_the_key_is_random_and_its_factor_odd),
        cmocka_unit_test(test_every_byte_and_the_length_count),
        cmocka_unit_test(test_empty_string_without_bytes),
        cmocka_unit_test(test_reads_its_own_bytes_only),
        cmocka_unit_test(test_low_bits_spread_similar_names),
    };
    return cmocka_run_group_tests_name("name_hash", tests, NULL, NULL);
}
