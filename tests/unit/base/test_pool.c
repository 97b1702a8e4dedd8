#include "base/pool.h"

#include "base/err.h"
#include "base/str.h"
#include "unit/short_memory.h"
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

/* ---- listings ---- */

static void drop_record(void *owner, uint32_t kind, uint32_t id) {
    assert_int_equal(kind, 7);
    pool_give(owner, id);
}

/* Its object is gone, and others refer to it. */
static void drop_object(void *owner, uint32_t kind, uint32_t id) {
    assert_int_equal(kind, 7);
    pool_hide(owner, id);
}

/* "0 3": whose objects are there. */
static void has(const struct pool *p, const char *ids) {
    CLEANUP(strbuf_done) struct strbuf got = {0};
    for (uint32_t id = pool_next_known(p, 0); id != POOL_NONE; id = pool_next_known(p, id + 1)) {
        assert_true(pool_is_known(p, id));
        strbuf_appendf(&got, "%s%u", got.n > 0 ? " " : "", id);
    }
    assert_str(strbuf_str(&got), ids);
}

static void open_pool(struct pool *p, uint32_t count) {
    pool_init(p, sizeof(struct record));
    for (uint32_t i = 0; i < count; i++)
        (void)pool_take(p); /* ids from 0 on */
}

static void test_what_a_listing_does_not_show_is_gone(void **state) {
    (void)state;
    struct pool p;
    open_pool(&p, 5);
    has(&p, "");
    pool_show(&p, 0); /* by a watch */
    pool_listing_begin(&p);
    pool_show(&p, 1);
    pool_show(&p, 2);
    pool_show(&p, 2);
    pool_show(&p, 3);
    pool_give(&p, 3); /* deleted meanwhile */
    has(&p, "0 1 2");
    pool_listing_end(&p, true, drop_record, &p, 7);
    has(&p, "1 2");
    assert_false(pool_live(&p, 0));
    assert_true(pool_live(&p, 4)); /* never was shown: nobody lists it */
    pool_listing_begin(&p);
    pool_show(&p, 2);
    pool_listing_begin(&p); /* the one before was given up */
    pool_show(&p, 1);
    pool_listing_end(&p, true, drop_object, &p, 7);
    has(&p, "1");
    assert_true(pool_live(&p, 2));
    pool_done(&p);
}

static void test_what_a_listing_without_end_brought_is_gone(void **state) {
    (void)state;
    struct pool p;
    open_pool(&p, 6);
    pool_show(&p, 0);
    pool_listing_begin(&p);
    pool_show(&p, 1);
    pool_listing_begin(&p); /* the one before was given up */
    pool_show(&p, 2);
    pool_show(&p, 3);
    pool_hide(&p, 3);
    pool_listing_end(&p, false, drop_object, &p, 7);
    has(&p, "0");     /* which it has not shown, and which was there */
    pool_show(&p, 4); /* by a watch */
    pool_listing_end(&p, false, drop_object, &p, 7);
    has(&p, "0 4");
    pool_listing_begin(&p);
    pool_show(&p, 0);
    pool_show(&p, 5);
    pool_listing_end(&p, true, drop_object, &p, 7);
    has(&p, "0 5");
    pool_listing_begin(&p);
    pool_listing_end(&p, false, drop_object, &p, 7);
    has(&p, "0 5"); /* both have been shown by one that ended */
    pool_done(&p);
}

static void test_a_record_that_is_used_anew_has_no_marks(void **state) {
    (void)state;
    struct pool p;
    open_pool(&p, 1);
    pool_listing_begin(&p);
    pool_show(&p, 0);
    pool_give(&p, 0);
    assert_int_equal(pool_take(&p), 0);
    assert_false(pool_is_known(&p, 0));
    pool_listing_end(&p, false, drop_record, &p, 7);
    assert_true(pool_live(&p, 0));
    pool_show(&p, 0); /* by a watch */
    pool_listing_end(&p, false, drop_record, &p, 7);
    has(&p, "0");
    pool_done(&p);
    assert_false(pool_is_known(&p, 0));
}

/* The Nth allocation of a new chunk fails: marks of what is there stay, and the next attempt is
 * good. */
static void test_marks_without_memory(void **state) {
    (void)state;
    struct pool p;
    long n = 0;
    if (!can_fail())
        skip();
    do {
        open_pool(&p, POOL_CHUNK);
        pool_show(&p, 0);
        pool_listing_begin(&p);
        pool_show(&p, 1);
        arm(n, n % 2 == 0);
        n++;
        armed = true;
        const uint32_t taken = pool_take(&p);
        armed = false;
        assert_int_equal(taken, has_failed ? POOL_NONE : POOL_CHUNK);
        has(&p, "0 1");
        if (taken == POOL_NONE)
            assert_int_equal(pool_take(&p), POOL_CHUNK);
        assert_false(pool_is_known(&p, POOL_CHUNK));
        pool_show(&p, POOL_CHUNK);
        has(&p, "0 1 256");
        pool_listing_end(&p, false, drop_record, &p, 7);
        has(&p, "0");
        pool_done(&p);
    } while (has_failed);
    assert_int_equal(n, 5); /* a chunk needs four allocations */
}

struct object {
    bool known, shown, fresh;
};

/* Many objects against the rules, written down object by object. */
static void test_listings_like_a_model(void **state) {
    (void)state;
    enum { OBJECTS = 700, OPERATIONS = 40000 };
    static struct object model[OBJECTS];
    uint64_t random = unit_seed();
    bool listing = false;
    struct pool p;
    memset(model, 0, sizeof model);
    open_pool(&p, OBJECTS);
    for (int i = 0; i < OPERATIONS; i++) {
        const uint32_t id = unit_below(&random, OBJECTS), what = unit_below(&random, 1000);
        struct object *o = &model[id];
        if (what < 5) {
            pool_listing_begin(&p);
            listing = true;
            for (uint32_t k = 0; k < OBJECTS; k++)
                model[k].shown = false;
        } else if (what < 10) {
            const bool complete = what < 7;
            pool_listing_end(&p, complete, drop_object, &p, 7);
            listing = false;
            for (uint32_t k = 0; k < OBJECTS; k++) {
                if (complete ? !model[k].shown : model[k].fresh)
                    model[k] = (struct object){.known = false};
                model[k].fresh = model[k].fresh && !complete;
            }
        } else if (what < 200) {
            pool_hide(&p, id);
            *o = (struct object){.known = false};
        } else {
            pool_show(&p, id);
            *o = (struct object){true, true, o->known ? o->fresh : listing};
        }
        assert_int_equal(pool_is_known(&p, id), model[id].known);
        if (what < 10)
            for (uint32_t k = 0; k < OBJECTS; k++)
                assert_int_equal(pool_is_known(&p, k), model[k].known);
    }
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
        cmocka_unit_test(test_what_a_listing_does_not_show_is_gone),
        cmocka_unit_test(test_what_a_listing_without_end_brought_is_gone),
        cmocka_unit_test(test_a_record_that_is_used_anew_has_no_marks),
        cmocka_unit_test(test_listings_like_a_model),
        cmocka_unit_test(test_marks_without_memory),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
