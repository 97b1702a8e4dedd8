#include "base/lru.h"

#include "unit/unit.h"

#include <stddef.h>

struct record {
    uint32_t number;
    struct lru_entry entry;
};

struct fixture {
    struct pool pool;
    struct lru lru;
    uint64_t tick;
};

static void free_record(void *context, uint32_t id) {
    struct fixture *f = context;
    lru_remove(&f->lru, id);
    pool_give(&f->pool, id);
}

static void open_with(struct fixture *f, struct lru_limits limits) {
    *f = (struct fixture){.tick = 1};
    pool_init(&f->pool, sizeof(struct record));
    f->lru = (struct lru){.pool = &f->pool,
                          .entry_offset = offsetof(struct record, entry),
                          .limits = limits,
                          .free = free_record,
                          .context = f};
    lru_init(&f->lru);
}

static void close_it(struct fixture *f) {
    for (POOL_EACH(&f->pool, id))
        free_record(f, id);
    assert_int_equal(f->lru.all.count, 0);
    assert_int_equal(f->lru.all.cost.bytes, 0);
    assert_int_equal(f->lru.all.cost.steps, 0);
    assert_int_equal(f->lru.owners.count, 0);
    lru_done(&f->lru);
    pool_done(&f->pool);
}

/* Returns whether it was kept. */
static bool put(struct fixture *f, uint64_t owner, uint32_t number, struct cost cost) {
    if (!lru_make_room(&f->lru, owner, &cost))
        return false;
    uint32_t id = pool_take(&f->pool);
    assert_int_not_equal(id, POOL_NONE);
    ((struct record *)pool_at(&f->pool, id))->number = number;
    assert_int_equal(lru_add(&f->lru, id, owner, &cost, f->tick++), 0);
    return true;
}

static bool has(const struct fixture *f, uint32_t number) {
    for (POOL_EACH(&f->pool, id))
        if (((const struct record *)pool_at(&f->pool, id))->number == number)
            return true;
    return false;
}

static void use(struct fixture *f, uint32_t number) {
    for (POOL_EACH(&f->pool, id)) {
        struct record *record = pool_at(&f->pool, id);
        if (record->number == number)
            record->entry.used = f->tick++;
    }
}

static void the_oldest_makes_room(void **state) {
    struct fixture f;
    (void)state;
    open_with(&f, (struct lru_limits){.count = 4});
    for (uint32_t i = 0; i < 4; i++)
        assert_true(put(&f, i, i, (struct cost){1, 1}));
    use(&f, 0);
    assert_true(put(&f, 9, 9, (struct cost){1, 1}));
    assert_false(has(&f, 1));
    assert_true(has(&f, 0) && has(&f, 2) && has(&f, 3) && has(&f, 9));
    close_it(&f);
}

static void bytes_count_as_numbers_do(void **state) {
    struct fixture f;
    (void)state;
    open_with(&f, (struct lru_limits){.count = 100, .bytes = 400});
    for (uint32_t i = 0; i < 4; i++)
        assert_true(put(&f, i, i, (struct cost){1, 100}));
    assert_int_equal(f.lru.all.cost.bytes, 400);
    assert_true(put(&f, 9, 9, (struct cost){1, 50}));
    assert_false(has(&f, 0));
    assert_int_equal(f.lru.all.cost.bytes, 350);
    lru_grow(&f.lru, 3, 40); /* number 3 has more than a share then */
    assert_true(put(&f, 9, 10, (struct cost){1, 20}));
    assert_true(has(&f, 1) && !has(&f, 3));
    assert_int_equal(f.lru.all.cost.bytes, 270);
    close_it(&f);
}

static void an_owner_fills_what_nobody_wants(void **state) {
    struct fixture f;
    (void)state;
    open_with(&f, (struct lru_limits){.count = 8});
    for (uint32_t i = 0; i < 8; i++)
        assert_true(put(&f, 1, i, (struct cost){1, 1}));
    assert_int_equal(f.lru.all.count, 8);
    close_it(&f);
}

/* The greedy one was there first, asks all the time, and uses all that it has. */
static void an_owner_beyond_its_share_forgets_its_own(void **state) {
    enum { GREEDY = 1, MODEST = 2 };
    struct fixture f;
    (void)state;
    open_with(&f, (struct lru_limits){.count = 8});
    for (uint32_t i = 0; i < 8; i++)
        assert_true(put(&f, GREEDY, i, (struct cost){1, 1}));
    assert_true(put(&f, MODEST, 100, (struct cost){1, 1}));
    assert_true(put(&f, MODEST, 101, (struct cost){1, 1}));
    for (uint32_t i = 8; i < 200; i++) {
        assert_true(put(&f, GREEDY, i == 100 || i == 101 ? 1000 : i, (struct cost){1, 1}));
        assert_true(has(&f, 100) && has(&f, 101));
    }
    assert_int_equal(f.lru.all.count, 8);
    close_it(&f);
}

static void the_oldest_of_the_greedy_goes_before_the_oldest(void **state) {
    struct fixture f;
    (void)state;
    open_with(&f, (struct lru_limits){.count = 8});
    assert_true(put(&f, 2, 100, (struct cost){1, 1})); /* the oldest of all */
    for (uint32_t i = 0; i < 7; i++)
        assert_true(put(&f, 1, i, (struct cost){1, 1}));
    assert_true(put(&f, 3, 200, (struct cost){1, 1}));
    assert_true(has(&f, 100) && has(&f, 200) && !has(&f, 0));
    close_it(&f);
}

/* Both have more than a share: the one that asks forgets its own, though the other's are older. */
static void of_two_greedy_ones_the_asker_forgets_its_own(void **state) {
    struct fixture f;
    (void)state;
    open_with(&f, (struct lru_limits){.count = 8});
    for (uint32_t i = 0; i < 3; i++)
        assert_true(put(&f, 1, i, (struct cost){1, 1}));
    for (uint32_t i = 10; i < 15; i++)
        assert_true(put(&f, 2, i, (struct cost){1, 1}));
    assert_true(put(&f, 2, 15, (struct cost){1, 1}));
    assert_true(has(&f, 0) && !has(&f, 10) && has(&f, 15));
    close_it(&f);
}

static void what_is_more_than_a_share_is_not_kept(void **state) {
    struct fixture f;
    (void)state;
    open_with(&f, (struct lru_limits){.count = 8, .bytes = 400, .steps = 40});
    assert_true(put(&f, 1, 1, (struct cost){1, 10}));
    assert_false(put(&f, 1, 2, (struct cost){1, 101}));
    assert_false(put(&f, 1, 2, (struct cost){11, 1}));
    assert_int_equal(f.lru.refused, 2);
    assert_true(has(&f, 1)); /* and nothing went for it */
    assert_true(put(&f, 1, 3, (struct cost){10, 100}));
    close_it(&f);
}

static void steps_of_one_owner_are_limited_always(void **state) {
    struct fixture f;
    (void)state;
    open_with(&f, (struct lru_limits){.count = 100, .owner_steps = 10});
    for (uint32_t i = 0; i < 5; i++)
        assert_true(put(&f, 1, i, (struct cost){4, 1}));
    assert_int_equal(f.lru.all.count, 2);
    assert_true(has(&f, 3) && has(&f, 4));
    assert_true(put(&f, 2, 100, (struct cost){10, 1}));
    assert_int_equal(f.lru.all.count, 3);
    assert_false(put(&f, 2, 101, (struct cost){11, 1}));
    close_it(&f);
}

/* A record that would need hundreds of others to go is kept by and by. */
static void not_too_much_goes_at_a_time(void **state) {
    struct fixture f;
    (void)state;
    open_with(&f, (struct lru_limits){.count = 1000, .bytes = 400});
    for (uint32_t i = 0; i < 400; i++)
        assert_true(put(&f, i, i, (struct cost){1, 1}));
    uint32_t before = f.lru.all.count, tries = 1;
    assert_false(put(&f, 1000, 1000, (struct cost){1, 100}));
    assert_int_equal(f.lru.all.count, before - LRU_AT_A_TIME);
    while (!put(&f, 1000, 1000, (struct cost){1, 100}))
        tries++;
    assert_int_equal(tries, 100 / LRU_AT_A_TIME);
    close_it(&f);
}

static void what_is_idle_is_forgotten(void **state) {
    struct fixture f;
    (void)state;
    open_with(&f, (struct lru_limits){.count = 1000});
    for (uint32_t i = 0; i < 100; i++)
        assert_true(put(&f, 1, i, (struct cost){1, 1}));
    uint64_t tick = f.tick - 1;
    use(&f, 7);
    lru_forget(&f.lru, tick);
    assert_int_equal(f.lru.all.count, 100 - LRU_AT_A_TIME);
    for (uint32_t i = 0; i < 4; i++)
        lru_forget(&f.lru, tick);
    assert_int_equal(f.lru.all.count, 1);
    assert_true(has(&f, 7));
    close_it(&f);
}

/* A share is a quarter, rounded up: of five, two. */
static void a_share_is_rounded_up(void **state) {
    struct fixture f;
    (void)state;
    open_with(&f, (struct lru_limits){.count = 5});
    assert_true(put(&f, 1, 10, (struct cost){1, 1}));
    assert_true(put(&f, 1, 11, (struct cost){1, 1}));
    for (uint32_t i = 20; i < 23; i++)
        assert_true(put(&f, 2, i, (struct cost){1, 1}));
    assert_true(put(&f, 3, 30, (struct cost){1, 1}));
    assert_true(has(&f, 10) && has(&f, 11) && !has(&f, 20));
    close_it(&f);
}

/* Whoever has too many steps forgets its own, though another's record is older. */
static void steps_of_one_owner_are_its_own(void **state) {
    struct fixture f;
    (void)state;
    open_with(&f, (struct lru_limits){.count = 100, .owner_steps = 10});
    assert_true(put(&f, 2, 100, (struct cost){4, 1}));
    for (uint32_t i = 0; i < 3; i++)
        assert_true(put(&f, 1, i, (struct cost){4, 1}));
    assert_true(has(&f, 100) && !has(&f, 0) && has(&f, 1) && has(&f, 2));
    close_it(&f);
}

static void pin(struct fixture *f, uint32_t number, bool pinned) {
    for (POOL_EACH(&f->pool, id)) {
        struct record *record = pool_at(&f->pool, id);
        if (record->number == number)
            record->entry.pinned = pinned;
    }
}

/* One that is pinned makes room for nobody, its own owner included, and counts all the same. */
static void pinned_ones_make_no_room(void **state) {
    struct fixture f;
    (void)state;
    open_with(&f, (struct lru_limits){.count = 4});
    for (uint32_t i = 0; i < 4; i++)
        assert_true(put(&f, 1, i, (struct cost){1, 1}));
    pin(&f, 0, true);
    assert_true(put(&f, 1, 10, (struct cost){1, 1})); /* of the same owner */
    assert_true(has(&f, 0) && !has(&f, 1));
    assert_true(put(&f, 2, 11, (struct cost){1, 1})); /* of another */
    assert_true(has(&f, 0) && !has(&f, 2));
    for (uint32_t i = 0; i < 12; i++)
        pin(&f, i, true);
    assert_false(put(&f, 3, 12, (struct cost){1, 1}));
    assert_int_equal(f.lru.all.count, 4);
    assert_int_equal(f.lru.refused, 1);
    pin(&f, 3, false);
    assert_true(put(&f, 3, 12, (struct cost){1, 1}));
    assert_true(has(&f, 0) && !has(&f, 3));
    close_it(&f);
}

static void pinned_ones_do_not_age(void **state) {
    struct fixture f;
    (void)state;
    open_with(&f, (struct lru_limits){.count = 100});
    for (uint32_t i = 0; i < LRU_AT_A_TIME + 3; i++)
        assert_true(put(&f, 1, i, (struct cost){1, 1}));
    for (uint32_t i = 0; i < 3; i++)
        pin(&f, i, true);
    lru_forget(&f.lru, f.tick); /* as many as may go at a time, and none of the pinned */
    assert_int_equal(f.lru.all.count, 3);
    lru_forget(&f.lru, f.tick);
    assert_true(has(&f, 0) && has(&f, 1) && has(&f, 2));
    pin(&f, 1, false);
    lru_forget(&f.lru, f.tick);
    assert_true(has(&f, 0) && !has(&f, 1) && has(&f, 2));
    close_it(&f);
}

/* What was used at that very moment is as old. */
static void the_moment_itself(void **state) {
    struct fixture f;
    (void)state;
    open_with(&f, (struct lru_limits){.count = 100});
    for (uint32_t i = 0; i < 3; i++)
        assert_true(put(&f, 1, i, (struct cost){1, 1})); /* at 1, 2 and 3 */
    lru_forget(&f.lru, 2);
    assert_true(!has(&f, 0) && !has(&f, 1) && has(&f, 2));
    close_it(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_makes_room),
        cmocka_unit_test(bytes_count_as_numbers_do),
        cmocka_unit_test(an_owner_fills_what_nobody_wants),
        cmocka_unit_test(an_owner_beyond_its_share_forgets_its_own),
        cmocka_unit_test(the_oldest_of_the_greedy_goes_before_the_oldest),
        cmocka_unit_test(of_two_greedy_ones_the_asker_forgets_its_own),
        cmocka_unit_test(what_is_more_than_a_share_is_not_kept),
        cmocka_unit_test(steps_of_one_owner_are_limited_always),
        cmocka_unit_test(not_too_much_goes_at_a_time),
        cmocka_unit_test(what_is_idle_is_forgotten),
        cmocka_unit_test(a_share_is_rounded_up),
        cmocka_unit_test(steps_of_one_owner_are_its_own),
        cmocka_unit_test(pinned_ones_make_no_room),
        cmocka_unit_test(pinned_ones_do_not_age),
        cmocka_unit_test(the_moment_itself),
    };
    return cmocka_run_group_tests_name("lru", tests, NULL, NULL);
}
