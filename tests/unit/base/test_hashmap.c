#include "base/hashmap.h"

#include "base/hash.h"
#include "unit/unit.h"

/* The records of these tests: id is the index, key the value. */
enum { RECORDS = 4000 };
struct records {
    uint32_t keys[RECORDS];
};

static bool record_equal(const void *ctx, uint32_t id, const void *key) {
    const struct records *records = ctx;
    const uint32_t *wanted = key;
    assert_true(id < RECORDS);
    return records->keys[id] == *wanted;
}

typedef uint64_t hash_key_fn(uint32_t key);

static uint64_t good_hash(uint32_t key) {
    return hash_bytes(&key, sizeof key);
}

/* Long runs of colliding slots, which go beyond the last home of the table. */
static uint64_t clustered_hash(uint32_t key) {
    return UINT32_MAX - key % 5;
}

static uint64_t constant_hash(uint32_t key) {
    (void)key;
    return 0;
}

/* Random operations, compared with a plain array of what is in the map. */
static void compare_with_model(hash_key_fn *hash, uint32_t records_used, int operations) {
    uint64_t random = unit_seed();
    static struct records records;
    static bool present[RECORDS];
    memset(present, 0, sizeof present);
    /* keys differ from ids, so that a mix-up shows */
    for (uint32_t id = 0; id < records_used; id++)
        records.keys[id] = 1000000 + id;
    struct hashmap m = {0};
    uint32_t count = 0;
    for (int i = 0; i < operations; i++) {
        uint32_t id = unit_below(&random, records_used), key = records.keys[id];
        /* phases of mostly growing and mostly shrinking */
        bool grow = unit_below(&random, 100) < (i / (operations / 4) % 2 == 0 ? 70u : 30u);
        if (grow && !present[id]) {
            assert_int_equal(hashmap_reserve(&m), 0);
            hashmap_insert(&m, hash(key), id);
            present[id] = true;
            count++;
        } else if (!grow && present[id]) {
            hashmap_remove(&m, hash(key), id);
            present[id] = false;
            count--;
        }
        uint32_t other = unit_below(&random, records_used);
        uint32_t found = hashmap_find(&m, hash(records.keys[other]), record_equal, &records,
                                      &records.keys[other]);
        assert_int_equal(found, present[other] ? other : HASHMAP_NONE);
        assert_int_equal(m.count, count);
    }
    for (uint32_t id = 0; id < records_used; id++) {
        uint32_t key = records.keys[id];
        uint32_t found = hashmap_find(&m, hash(key), record_equal, &records, &key);
        assert_int_equal(found, present[id] ? id : HASHMAP_NONE);
        if (present[id])
            hashmap_remove(&m, hash(key), id);
    }
    assert_int_equal(m.count, 0);
    hashmap_done(&m);
}

static void test_like_a_model(void **state) {
    (void)state;
    compare_with_model(good_hash, RECORDS, 100000);
}

static void test_like_a_model_when_keys_cluster(void **state) {
    (void)state;
    compare_with_model(clustered_hash, 60, 20000);
}

static void test_like_a_model_when_all_collide(void **state) {
    (void)state;
    compare_with_model(constant_hash, 60, 20000);
}

/* Of thousands of entries, each takes at most 12 bytes: the slots are two thirds full or more. */
static void test_large_maps_are_nearly_full(void **state) {
    (void)state;
    struct hashmap m = {0};
    for (uint32_t id = 0; id < 100000; id++) {
        assert_int_equal(hashmap_reserve(&m), 0);
        hashmap_insert(&m, good_hash(id), id);
        if (id > 5000)
            assert_true(m.cap <= (id + 1) * 3 / 2);
    }
    hashmap_done(&m);
}

/* Up to 67 % of a small map are used, and up to 88 % of one of thousands. */
static void test_how_full_a_map_is(void **state) {
    (void)state;
    struct hashmap m = {0};
    for (uint32_t id = 0; id < 100000; id++) {
        assert_int_equal(hashmap_reserve(&m), 0);
        hashmap_insert(&m, good_hash(id), id);
        assert_true((uint64_t)m.count * 100 <= (uint64_t)m.cap * (m.count < 2000 ? 67 : 88));
    }
    hashmap_done(&m);
}

/* All in the last place there is, where a map of thousands has few slots to spare. */
static void test_thousands_with_the_last_hash(void **state) {
    (void)state;
    struct hashmap m = {0};
    static struct records records;
    for (uint32_t id = 0; id < RECORDS; id++) {
        records.keys[id] = id + 1;
        assert_int_equal(hashmap_reserve(&m), 0);
        hashmap_insert(&m, UINT32_MAX, id);
    }
    for (uint32_t key = 1; key <= RECORDS; key += RECORDS / 10) {
        assert_int_equal(hashmap_find(&m, UINT32_MAX, record_equal, &records, &key), key - 1);
        hashmap_remove(&m, UINT32_MAX, key - 1);
        assert_int_equal(hashmap_find(&m, UINT32_MAX, record_equal, &records, &key), HASHMAP_NONE);
    }
    hashmap_done(&m);
}

static void test_empty_map(void **state) {
    (void)state;
    struct hashmap m = {0};
    struct records records = {{1}};
    uint32_t key = 1;
    assert_int_equal(hashmap_find(&m, 1, record_equal, &records, &key), HASHMAP_NONE);
    hashmap_done(&m);
    assert_int_equal(hashmap_reserve(&m), 0);
    assert_int_equal(hashmap_find(&m, 1, record_equal, &records, &key), HASHMAP_NONE);
    hashmap_done(&m);
    hashmap_done(&m);
    assert_null(m.slots);
}

static void test_equal_hashes_ask_for_the_key(void **state) {
    (void)state;
    struct hashmap m = {0};
    struct records records = {{10, 20, 30}};
    for (uint32_t id = 0; id < 3; id++) {
        assert_int_equal(hashmap_reserve(&m), 0);
        hashmap_insert(&m, 7, id);
    }
    uint32_t key = 20, stranger = 40;
    assert_int_equal(hashmap_find(&m, 7, record_equal, &records, &key), 1);
    assert_int_equal(hashmap_find(&m, 7, record_equal, &records, &stranger), HASHMAP_NONE);
    assert_int_equal(hashmap_find(&m, 8, record_equal, &records, &key), HASHMAP_NONE);
    hashmap_remove(&m, 7, 0);
    assert_int_equal(hashmap_find(&m, 7, record_equal, &records, &key), 1);
    hashmap_done(&m);
}

static void test_removal_leaves_nothing_behind(void **state) {
    (void)state;
    struct hashmap m = {0};
    struct records records = {{5}};
    uint32_t key = 5;
    uint32_t cap = 0;
    for (int i = 0; i < 100000; i++) {
        assert_int_equal(hashmap_reserve(&m), 0);
        hashmap_insert(&m, (uint64_t)i, 0);
        hashmap_remove(&m, (uint64_t)i, 0);
        cap = i == 0 ? m.cap : cap;
    }
    /* no tombstones: the table did not grow, and a search in it ends */
    assert_int_equal(m.cap, cap);
    assert_int_equal(hashmap_find(&m, 1, record_equal, &records, &key), HASHMAP_NONE);
    hashmap_done(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_a_model),
        cmocka_unit_test(test_like_a_model_when_keys_cluster),
        cmocka_unit_test(test_like_a_model_when_all_collide),
        cmocka_unit_test(test_large_maps_are_nearly_full),
        cmocka_unit_test(test_how_full_a_map_is),
        cmocka_unit_test(test_thousands_with_the_last_hash),
        cmocka_unit_test(test_empty_map),
        cmocka_unit_test(test_equal_hashes_ask_for_the_key),
        cmocka_unit_test(test_removal_leaves_nothing_behind),
    };
    return cmocka_run_group_tests_name("hashmap", tests, NULL, NULL);
}
