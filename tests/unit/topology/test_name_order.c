/* The order of names: byte-wise, of all slots in use, and kept until one is made or freed. */
#include "unit/unit.h"

#include "topology/name_order.h"

#include <errno.h>
#include <stdio.h>

struct fixture {
    struct intern strings;
    struct topology *topology;
};

static int setup(void **state) {
    static struct fixture f;
    f = (struct fixture){0};
    const struct topology_options options = {.strings = &f.strings};
    assert_int_equal(topology_new(&options, &f.topology, NULL), 0);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    topology_free(f->topology);
    intern_done(&f->strings);
    return 0;
}

static void add(struct fixture *f, const char *name) {
    const struct candidate candidate = {.name = str_of(name)};
    assert_int_equal(topology_apply(f->topology, &candidate), 0);
}

static void hold(struct fixture *f, const char *name) {
    topology_hold(f->topology, topology_slot_make(f->topology, str_of(name)));
}

static void let_go(struct fixture *f, const char *name) {
    const uint32_t slot = topology_slot(f->topology, str_of(name));
    topology_unhold(f->topology, slot);
    topology_settle(f->topology, slot);
}

static void close_view(struct topology_view *v) {
    while (topology_publish(v)) {
    }
    topology_view_close(v);
}

/* Names in order must be these, and ranks must agree. Returns how much was built. */
static uint32_t expect(struct fixture *f, const char *const *names, uint32_t count) {
    struct topology_view v;
    struct topology_order order;
    topology_view_open(f->topology, &v);
    assert_int_equal(topology_order(&v, &order), 0);
    assert_int_equal(order.count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_str(topology_name(f->topology, order.slots[i]), names[i]);
        assert_int_equal(order.rank_of[order.slots[i]], i);
    }
    const uint32_t built = v.built;
    close_view(&v);
    return built;
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__})

static void names_are_compared_by_bytes(void **state) {
    struct fixture *f = *state;
    (void)expect(f, NULL, 0);
    add(f, "c10");
    (void)expect(f, NAMES("c10"), 1);
    add(f, "c2");
    add(f, "c1");
    add(f, "c-1");
    add(f, "\xc3\xa9");
    (void)expect(f, NAMES("c-1", "c1", "c10", "c2", "\xc3\xa9"), 5);
}

/* Behind what all begin with, more bytes are equal than one comparison looks at. */
static void long_names_differ_late(void **state) {
    struct fixture *f = *state;
    add(f, "fleet-a-0123456789abcdef-2");
    add(f, "fleet-a-0123456789abcdef-1");
    add(f, "fleet-a-0123456789abcdef");
    add(f, "fleet-b");
    (void)expect(f,
                 NAMES("fleet-a-0123456789abcdef", "fleet-a-0123456789abcdef-1",
                       "fleet-a-0123456789abcdef-2", "fleet-b"),
                 4);
}

static void held_slots_have_a_place(void **state) {
    struct fixture *f = *state;
    add(f, "b");
    hold(f, "a");
    (void)expect(f, NAMES("a", "b"), 2);
    let_go(f, "a");
    (void)expect(f, NAMES("b"), 1);
}

static void it_is_kept_until_slots_change(void **state) {
    struct fixture *f = *state;
    add(f, "b");
    add(f, "c");
    assert_int_equal(expect(f, NAMES("b", "c"), 2), 1);
    assert_int_equal(expect(f, NAMES("b", "c"), 2), 0);
    add(f, "c"); /* is there already */
    assert_int_equal(expect(f, NAMES("b", "c"), 2), 0);
    add(f, "a");
    assert_int_equal(expect(f, NAMES("a", "b", "c"), 3), 1);
    topology_remove(f->topology, STR("b"));
    add(f, "d"); /* as many as before, and in the slot of another */
    assert_int_equal(expect(f, NAMES("a", "c", "d"), 3), 1);
    assert_int_equal(expect(f, NAMES("a", "c", "d"), 3), 0);
}

/* A view that was not the last to be published sees what is right for it. */
static void an_old_view_publishes_nothing(void **state) {
    struct fixture *f = *state;
    struct topology_view v;
    struct topology_order order;
    add(f, "b");
    topology_view_open(f->topology, &v);
    assert_int_equal(topology_order(&v, &order), 0);
    assert_int_equal(topology_order(&v, &order), 0); /* its own, again */
    assert_int_equal(v.built, 1);
    add(f, "a");
    close_view(&v);
    assert_int_equal(expect(f, NAMES("a", "b"), 2), 1);
}

static void an_unpublished_order_is_dropped(void **state) {
    struct fixture *f = *state;
    struct topology_view v;
    struct topology_order order;
    add(f, "b");
    topology_view_open(f->topology, &v);
    assert_int_equal(topology_order(&v, &order), 0);
    topology_view_close(&v);
    assert_int_equal(expect(f, NAMES("b"), 1), 1);
}

static void sorting_takes_steps(void **state) {
    struct fixture *f = *state;
    struct steps steps = {.max = 1};
    struct topology_view v;
    struct topology_order order;
    char name[16];
    for (uint32_t i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof name, "c%u", i); /* fits */
        add(f, name);
    }
    topology_view_open(f->topology, &v);
    v.steps = &steps;
    assert_int_equal(topology_order(&v, &order), -E2BIG);
    steps = (struct steps){.max = 100000};
    assert_int_equal(topology_order(&v, &order), 0);
    assert_int_equal(order.count, 100);
    close_view(&v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_are_compared_by_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(long_names_differ_late, setup, teardown),
        cmocka_unit_test_setup_teardown(held_slots_have_a_place, setup, teardown),
        cmocka_unit_test_setup_teardown(it_is_kept_until_slots_change, setup, teardown),
        cmocka_unit_test_setup_teardown(an_old_view_publishes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(an_unpublished_order_is_dropped, setup, teardown),
        cmocka_unit_test_setup_teardown(sorting_takes_steps, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
