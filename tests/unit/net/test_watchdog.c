/* The watchdog alone: a clock that stands still, socket pairs for connections. */
#include "net/watchdog.h"
#include "unit/unit.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

struct wire {
    int ours, theirs; /* the watchdog watches ours */
    struct watchdog_entry entry;
};

static void wire_open(struct wire *wire) {
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    *wire = (struct wire){.ours = fds[0], .theirs = fds[1]};
}

static void wire_close(struct wire *wire) {
    assert_int_equal(close(wire->ours), 0);
    assert_int_equal(close(wire->theirs), 0);
}

/* Has the other side seen the end of the stream (waiting at most this long)? */
static bool ended(const struct wire *wire, int wait_ms) {
    struct pollfd p = {wire->theirs, POLLIN, 0};
    char byte;
    return poll(&p, 1, wait_ms) == 1 && recv(wire->theirs, &byte, 1, MSG_DONTWAIT) == 0;
}

static void count(void *ctx) {
    (void)atomic_fetch_add((_Atomic unsigned *)ctx, 1);
}

static void test_deadlines_are_absolute(void **state) {
    (void)state;
    struct clock_fake clock;
    struct watchdog *w = NULL;
    struct wire wires[3];
    _Atomic unsigned closed = 0;
    clock_fake_init(&clock, 1000);
    assert_int_equal(watchdog_start(&clock.clock, count, &closed, &w, NULL), 0);
    for (int i = 0; i < 3; i++) {
        wire_open(&wires[i]);
        watchdog_watch(w, &wires[i].entry, wires[i].ours, 100000 * (unsigned)(i + 1));
    }
    clock.at_ms += 99999;
    assert_int_equal(watchdog_check(w), 0);
    assert_false(ended(&wires[0], 0));
    watchdog_rearm(w, &wires[1].entry, 100000); /* at 199,999 now instead of 200,000 */
    clock.at_ms += 1;
    assert_int_equal(watchdog_check(w), 1);
    assert_true(ended(&wires[0], 0));
    assert_false(ended(&wires[1], 0));
    assert_int_equal(watchdog_check(w), 0); /* once is enough */
    watchdog_rearm(w, &wires[0].entry, 1);  /* and it stays so */
    clock.at_ms += 99999;
    assert_int_equal(watchdog_check(w), 1);
    assert_true(ended(&wires[1], 0));
    watchdog_forget(w, &wires[2].entry);
    clock.at_ms += 1000000;
    assert_int_equal(watchdog_check(w), 0);
    assert_false(ended(&wires[2], 0));
    assert_int_equal(closed, 2);
    watchdog_forget(w, &wires[2].entry); /* twice is harmless */
    watchdog_forget(w, &wires[0].entry);
    watchdog_forget(w, &wires[1].entry);
    watchdog_stop(w);
    for (int i = 0; i < 3; i++)
        wire_close(&wires[i]);
}

static void test_thread_wakes_for_the_earliest(void **state) {
    (void)state;
    struct watchdog *w = NULL;
    struct wire late, soon;
    wire_open(&late);
    wire_open(&soon);
    assert_int_equal(watchdog_start(clock_real(), NULL, NULL, &w, NULL), 0);
    watchdog_watch(w, &late.entry, late.ours, 3600000);
    int64_t begun_ms = clock_real()->now_ms(clock_real());
    watchdog_watch(w, &soon.entry, soon.ours, 20); /* earlier than what the thread sleeps for */
    assert_true(ended(&soon, 5000));
    assert_true(clock_real()->now_ms(clock_real()) - begun_ms >= 20);
    assert_false(ended(&late, 0));
    watchdog_rearm(w, &late.entry, 1); /* the same by rearming */
    assert_true(ended(&late, 5000));
    watchdog_forget(w, &late.entry);
    watchdog_forget(w, &soon.entry);
    watchdog_stop(w);
    wire_close(&late);
    wire_close(&soon);
}

/* A descriptor that was given to somebody else must never be shut down. */
static void test_forgotten_descriptors_are_safe(void **state) {
    (void)state;
    struct watchdog *w = NULL;
    assert_int_equal(watchdog_start(clock_real(), NULL, NULL, &w, NULL), 0);
    for (int i = 0; i < 2000; i++) {
        struct wire first, second;
        wire_open(&first);
        watchdog_watch(w, &first.entry, first.ours, (unsigned)i % 2); /* may close it, or not */
        watchdog_forget(w, &first.entry);
        wire_close(&first);
        wire_open(&second); /* has the number of the first */
        assert_int_equal(second.ours, first.ours);
        assert_int_equal(send(second.ours, "x", 1, MSG_NOSIGNAL), 1);
        assert_int_equal(send(second.theirs, "x", 1, MSG_NOSIGNAL), 1);
        wire_close(&second);
    }
    watchdog_stop(w);
}

static void test_stop_without_work(void **state) {
    (void)state;
    struct watchdog *w = NULL;
    watchdog_stop(NULL);
    assert_int_equal(watchdog_start(clock_real(), NULL, NULL, &w, NULL), 0);
    watchdog_stop(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deadlines_are_absolute),
        cmocka_unit_test(test_thread_wakes_for_the_earliest),
        cmocka_unit_test(test_forgotten_descriptors_are_safe),
        cmocka_unit_test(test_stop_without_work),
    };
    return cmocka_run_group_tests_name("watchdog", tests, NULL, NULL);
}
