/* Who waits for a connection, and who is refused at once. */
#include "base/clock.h"
#include "unit/net/numbered.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

/* The test's thread, as the kernel has it: asleep, so it waits for a condition. */
static bool is_asleep(pid_t thread) {
    char path[64], text[256], *end;
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread); /* fits */
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    (void)close(fd);
    text[n > 0 ? n : 0] = '\0';
    end = strrchr(text, ')'); /* behind the name */
    return end != NULL && end[1] == ' ' && end[2] == 'S';
}

static struct {
    pid_t newcomer;
    int number; /* whose turn it is to be served */
    atomic_bool over;
} waiting;

/* Serves a connection once the newcomer waits, or has been refused without a wait. */
static void *serve_late(void *unused) {
    while (!atomic_load(&waiting.over) && !is_asleep(waiting.newcomer))
        (void)sched_yield();
    if (!atomic_load(&waiting.over))
        (void)slots_start(slots, FIRST_FD + waiting.number);
    return unused;
}

/* A newcomer that comes while a connection is on its way in; its owner serves that in between.
 * Returns whether it was admitted. */
static bool comes_while(int number, const char *from, int served) {
    pthread_t thread;
    waiting.newcomer = gettid();
    waiting.number = served;
    atomic_store(&waiting.over, false);
    assert_int_equal(pthread_create(&thread, NULL, serve_late, NULL), 0);
    bool admitted = enter(number, from).admitted;
    atomic_store(&waiting.over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return admitted;
}

/* A wait ends when what is waited for comes, within SLOTS_WAIT_MS: where the machine is busy it may
 * be too late, and it is tried again. */
static bool newcomers_wait(void) {
    begin(2, 2, 0);
    assert_true(enter(0, "10.0.1.1").admitted);
    assert_true(enter(1, "10.0.1.1").admitted);
    bool first = comes_while(2, "10.0.2.1", 0);
    end();
    return first;
}

/* After a wait in vain newcomers are refused at once, until a connection has arrived. */
static bool newcomers_wait_again(void) {
    begin(3, 3, 0);
    for (int i = 0; i < 3; i++)
        assert_true(enter(i, "10.0.1.1").admitted);
    assert_false(enter(3, "10.0.2.1").admitted); /* nothing came */
    slots_busy(slots, slots_start(slots, FIRST_FD + 0));
    slots_busy(slots, slots_start(slots, FIRST_FD + 1));
    bool again = comes_while(3, "10.0.1.1", 2); /* its own, once it is served, goes */
    end();
    return again;
}

static void test_newcomers_wait(void **state) {
    bool (*const all[])(void) = {newcomers_wait, newcomers_wait_again};
    (void)state;
    for (int i = 0; i < 2; i++) {
        int tries = 50;
        while (!all[i]())
            assert_true(--tries > 0);
    }
}

/* Where descriptors are scarce a newcomer waits while SLOTS_FEW connections are on their way: each
 * that comes in, and each that goes for it. */
static void test_few_are_on_their_way(void **state) {
    (void)state;
    enum { THERE = 32 };
    slots = slots_new(&(struct slots_limits){
        .connections = 100, .per_address = 100, .scarce_fd = FIRST_FD + THERE});
    assert_non_null(slots);
    for (int i = 0; i < THERE; i++)
        (void)come(i, "10.0.1.1");
    for (int i = 0; i < SLOTS_FEW / 2; i++)
        assert_true(enter(THERE + i, "10.0.2.1").evicted);
    assert_false(enter(90, "10.0.3.1").admitted);
    leave(0); /* one of those that had to go */
    assert_true(enter(90, "10.0.3.1").evicted);
    end();
}

/* Returns whether the newcomer was refused in half the time of a wait. `gone`: one of its address
 * had come and went before it was served. */
static bool is_refused_at_once(bool gone) {
    begin(10, 2, 0);
    if (gone) {
        assert_true(enter(9, "10.0.1.1").admitted);
        slots_busy(slots, come(0, "10.0.1.1"));
        leave(9);
    } else {
        slots_busy(slots, come(0, "10.0.1.1"));
    }
    slots_busy(slots, come(1, "10.0.1.1"));
    assert_true(enter(2, "10.0.2.1").admitted); /* on its way in for as long as it likes */
    const int64_t began_ns = clock_now_ns();
    struct slots_entry entry = enter(3, "10.0.1.1");
    assert_false(entry.admitted);
    assert_int_equal(entry.reason, SLOTS_ADDRESS);
    const bool at_once = clock_now_ns() - began_ns < SLOTS_WAIT_MS / 2 * 1000000ll;
    end();
    return at_once;
}

/* Nobody waits for what cannot help: all of the address's connections have requests. A test that
 * has no processor for a while looks as if it had waited, so it tries again. */
static void test_no_wait_for_others(void **state) {
    (void)state;
    for (int gone = 0; gone < 2; gone++) {
        int tries = 20;
        while (!is_refused_at_once(gone != 0))
            assert_true(--tries > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_newcomers_wait),
        cmocka_unit_test(test_few_are_on_their_way),
        cmocka_unit_test(test_no_wait_for_others),
    };
    return cmocka_run_group_tests_name("waiting for slots", tests, NULL, NULL);
}
