#include "base/pool.h"

#include "unit/unit.h"

struct record {
    uint32_t number;
    unsigned char rest[20];
};

static void test_ids_are_dense_and_records_zeroed(void **state) {
    (void)state;
    static const struct record zero = {0};
    struct pool p;
    pool_init(&p, sizeof(struct record));
    for (uint32_t i = 0; i < 2000; i++) {
        assert_int_equal(pool_take(&p), i);
        assert_memory_equal(pool_at(&p, i), &zero, sizeof zero);
        memset(pool_at(&p, i), 0xff, sizeof zero);
    }
    assert_int_equal(p.count, 2000);
    assert_int_equal(p.end, 2000);
    pool_done(&p);
    assert_int_equal(p.count, 0);
    assert_int_equal(pool_take(&p), 0);
    pool_done(&p);
}

static void test_ids_are_reused_and_zeroed_again(void **state) {
    (void)state;
    static const struct record zero = {0};
    struct pool p;
    pool_init(&p, sizeof(struct record));
    for (int i = 0; i < 3; i++)
        memset(pool_at(&p, pool_take(&p)), 0xff, sizeof zero);
    pool_give(&p, 1);
    assert_false(pool_live(&p, 1));
    assert_int_equal(pool_take(&p), 1);
    assert_true(pool_live(&p, 1));
    assert_memory_equal(pool_at(&p, 1), &zero, sizeof zero);
    assert_int_equal(p.end, 3);
    pool_done(&p);
}

static void test_records_do_not_move(void **state) {
    (void)state;
    struct pool p;
    pool_init(&p, sizeof(struct record));
    struct record *first = pool_at(&p, pool_take(&p));
    first->number = 7;
    for (int i = 0; i < 100000; i++)
        (void)pool_take(&p); /* only growing counts */
    assert_ptr_equal(pool_at(&p, 0), first);
    assert_int_equal(first->number, 7);
    pool_done(&p);
}

static void test_an_empty_pool(void **state) {
    (void)state;
    struct pool p;
    pool_init(&p, 4);
    assert_false(pool_live(&p, 0));
    assert_int_equal(pool_next(&p, 0), POOL_NONE);
    pool_done(&p);
    pool_done(&p);
}

static void test_giving_back_while_visiting(void **state) {
    (void)state;
    struct pool p;
    pool_init(&p, sizeof(struct record));
    for (int i = 0; i < 700; i++)
        (void)pool_take(&p); /* ids 0 to 699 */
    uint32_t visited = 0;
    for (POOL_EACH(&p, id)) {
        assert_int_equal(id, visited);
        visited++;
        if (id % 3 != 0)
            pool_give(&p, id);
    }
    assert_int_equal(visited, 700);
    assert_int_equal(p.count, 234);
    uint32_t expected = 0;
    for (POOL_EACH(&p, id)) {
        assert_int_equal(id, expected);
        expected += 3;
    }
    assert_int_equal(expected, 702);
    pool_done(&p);
}

static void test_like_a_model(void **state) {
    (void)state;
    enum { RECORDS = 3000, OPERATIONS = 60000 };
    uint64_t random = unit_seed();
    static bool live[RECORDS];
    memset(live, 0, sizeof live);
    struct pool p;
    pool_init(&p, sizeof(struct record));
    uint32_t count = 0;
    for (int i = 0; i < OPERATIONS; i++) {
        uint32_t victim = unit_below(&random, RECORDS);
        if (count < RECORDS && unit_below(&random, 100) < (i / 10000 % 2 == 0 ? 80u : 20u)) {
            uint32_t id = pool_take(&p);
            assert_true(id < RECORDS && !live[id]);
            ((struct record *)pool_at(&p, id))->number = id;
            live[id] = true;
            count++;
        } else if (live[victim]) {
            assert_int_equal(((struct record *)pool_at(&p, victim))->number, victim);
            pool_give(&p, victim);
            live[victim] = false;
            count--;
        }
        assert_int_equal(p.count, count);
        assert_int_equal(pool_live(&p, victim), live[victim]);
    }
    uint32_t visited = 0;
    for (POOL_EACH(&p, id)) {
        assert_true(live[id]);
        assert_int_equal(((struct record *)pool_at(&p, id))->number, id);
        visited++;
    }
    assert_int_equal(visited, count);
    pool_done(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_are_dense_and_records_zeroed),
        cmocka_unit_test(test_ids_are_reused_and_zeroed_again),
        cmocka_unit_test(test_records_do_not_move),
        cmocka_unit_test(test_an_empty_pool),
        cmocka_unit_test(test_giving_back_while_visiting),
        cmocka_unit_test(test_like_a_model),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
