/* The order of bindings: first come, first served, namespace by namespace. */
#include "extender/bind_order.h"

#include "unit/unit.h"

struct binding {
    struct bind_ticket ticket;
    const char *name;
};

static bool yes(struct bind_ticket *t) {
    (void)t;
    return true;
}

static bool no(struct bind_ticket *t) {
    (void)t;
    return false;
}

static enum bind_turn join(struct bind_queue *q, struct binding *b, const char *namespace,
                           const char *name) {
    *b = (struct binding){.ticket = {.namespace = str_of(namespace)}, .name = name};
    return bind_queue_join(q, &b->ticket, yes);
}

static const char *name_of(const struct bind_ticket *t) {
    return t == NULL ? "" : ((const struct binding *)t)->name;
}

static char undone[40];

static void note_undone(struct bind_ticket *list) {
    for (undone[0] = '\0'; list != NULL; list = list->next)
        strncat(undone, name_of(list), sizeof undone - strlen(undone) - 1);
}

/* Others of the namespace wait for their turn, those of another one do not. */
static void each_namespace_has_its_order(void **state) {
    struct bind_queue *q;
    struct binding b[6];
    (void)state;
    assert_int_equal(bind_queue_new(&q), 0);
    assert_int_equal(join(q, &b[0], "x", "a"), BIND_FIRST);
    assert_int_equal(join(q, &b[1], "y", "b"), BIND_FIRST);
    assert_int_equal(join(q, &b[2], "x", "c"), BIND_WAITS);
    assert_int_equal(join(q, &b[3], "x", "d"), BIND_WAITS);
    assert_int_equal(bind_queue_join(q, &b[4].ticket, no), BIND_REFUSED);
    assert_string_equal(name_of(bind_queue_next(q, &b[0].ticket)), "c");
    assert_string_equal(name_of(bind_queue_next(q, &b[1].ticket)), "");
    assert_int_equal(join(q, &b[5], "y", "e"), BIND_FIRST);
    assert_string_equal(name_of(bind_queue_next(q, &b[2].ticket)), "d");
    assert_string_equal(name_of(bind_queue_next(q, &b[3].ticket)), "");
    assert_string_equal(name_of(bind_queue_next(q, &b[5].ticket)), "");
    bind_queue_free(q);
    bind_queue_free(NULL);
}

/* The last ticket goes, and others come: nothing is lost, whoever was the last. */
static void tickets_come_after_the_last_has_gone(void **state) {
    struct bind_queue *q;
    struct binding b[5];
    (void)state;
    assert_int_equal(bind_queue_new(&q), 0);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(join(q, &b[0], "x", "a"), BIND_FIRST);
        assert_int_equal(join(q, &b[1], "y", "b"), BIND_FIRST);
        assert_string_equal(name_of(bind_queue_next(q, &b[1].ticket)), ""); /* the last one */
        assert_int_equal(join(q, &b[2], "x", "c"), BIND_WAITS);
        assert_int_equal(join(q, &b[3], "y", "d"), BIND_FIRST);
        assert_int_equal(join(q, &b[4], "y", "e"), BIND_WAITS);
        assert_string_equal(name_of(bind_queue_next(q, &b[3].ticket)), "e");
        assert_string_equal(name_of(bind_queue_next(q, &b[0].ticket)), "c");
        assert_string_equal(name_of(bind_queue_next(q, &b[4].ticket)), "");
        assert_string_equal(name_of(bind_queue_next(q, &b[2].ticket)), "");
    }
    bind_queue_free(q);
}

/* One that fails takes those that wait behind it along, and no other namespace's. */
static void a_failure_takes_those_behind_it(void **state) {
    struct bind_queue *q;
    struct binding b[6];
    (void)state;
    assert_int_equal(bind_queue_new(&q), 0);
    (void)!join(q, &b[0], "x", "a");
    (void)!join(q, &b[1], "y", "b");
    (void)!join(q, &b[2], "x", "c");
    (void)!join(q, &b[3], "y", "d");
    (void)!join(q, &b[4], "x", "e");
    bind_queue_abandon(q, &b[0].ticket, note_undone);
    assert_string_equal(undone, "ace");
    assert_int_equal(join(q, &b[5], "x", "f"), BIND_FIRST);
    assert_string_equal(name_of(bind_queue_next(q, &b[1].ticket)), "d");
    bind_queue_abandon(q, &b[3].ticket, note_undone);
    assert_string_equal(undone, "d");
    assert_string_equal(name_of(bind_queue_next(q, &b[5].ticket)), "");
    bind_queue_free(q);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_namespace_has_its_order),
        cmocka_unit_test(tickets_come_after_the_last_has_gone),
        cmocka_unit_test(a_failure_takes_those_behind_it),
    };
    return cmocka_run_group_tests_name("bind_order", tests, NULL, NULL);
}
