/* Whose connection goes when there are too many. */
#include "unit/net/numbered.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static void test_room_for_all(void **state) {
    (void)state;
    begin(3, 3, 0);
    for (int i = 0; i < 3; i++)
        assert_false(enter(i, "10.0.0.1").evicted);
    assert_false(enter(3, "10.0.0.1").admitted); /* none of them has begun */
    leave(1);
    assert_true(enter(3, "10.0.0.1").admitted);
    end();
}

static void test_the_longest_idle_goes(void **state) {
    (void)state;
    begin(3, 3, 0);
    struct slot *first = come(0, "10.0.0.1");
    (void)come(1, "10.0.0.1");
    (void)come(2, "10.0.0.1");
    slots_busy(slots, first);
    slots_idle(slots, first); /* now it is the youngest */
    struct slots_entry entry = enter(3, "10.0.0.1");
    expect_evicted(&entry, "10.0.0.1");
    assert_int_equal(entry.reason, SLOTS_ADDRESS);
    leave(1); /* the one that was closed: it counts no more, so there is still no room */
    assert_non_null(slots_start(slots, FIRST_FD + 3));
    assert_true(enter(4, "10.0.0.1").evicted);
    end();
}

/* Who has most loses, not who has waited longest. */
static void test_the_greedy_pay(void **state) {
    (void)state;
    begin(6, 6, 0);
    (void)come(0, "10.0.1.1");
    for (int i = 1; i < 6; i++)
        (void)come(i, "10.0.2.1");
    struct slots_entry entry = enter(6, "10.0.3.1");
    expect_evicted(&entry, "10.0.2.1");
    assert_int_equal(entry.reason, SLOTS_ALL);
    end();
}

/* By networks first: four addresses of one are one crowd. */
static void test_networks(void **state) {
    (void)state;
    begin(7, 7, 0);
    for (int i = 0; i < 3; i++)
        (void)come(i, "10.0.1.1"); /* most of all addresses, but not of all networks */
    (void)come(3, "10.0.2.1");
    (void)come(4, "10.0.2.2");
    (void)come(5, "10.0.2.3");
    (void)come(6, "10.0.2.3");
    struct slots_entry entry = enter(7, "10.0.1.1");
    expect_evicted(&entry, "10.0.2.3");
    end();
}

static void test_networks_of_ipv6(void **state) {
    (void)state;
    begin(4, 4, 0);
    (void)come(0, "fd00::1");
    (void)come(1, "fd00:0:0:1::1");
    (void)come(2, "fd00:0:0:1:ffff::2");
    (void)come(3, "10.0.0.1");
    struct slots_entry entry = enter(4, "fd00::2");
    expect_evicted(&entry, "fd00:0:0:1::1");
    end();
}

/* An IPv4 client is the same through a socket for both families. */
static void test_mapped_addresses(void **state) {
    (void)state;
    begin(4, 2, 0);
    (void)come(0, "10.0.0.1");
    (void)come(1, "::ffff:10.0.0.1");
    struct slots_entry entry = enter(2, "10.0.0.1");
    expect_evicted(&entry, "10.0.0.1");
    assert_int_equal(entry.reason, SLOTS_ADDRESS);
    end();
}

/* A request under way is ended only for somebody who has less, and then the oldest one. */
static void test_busy_ones(void **state) {
    (void)state;
    begin(3, 3, 0);
    for (int i = 0; i < 3; i++)
        slots_busy(slots, come(i, i < 2 ? "10.0.0.1" : "10.0.0.2"));
    assert_false(enter(3, "10.0.0.1").admitted); /* they are the greedy one's own */
    assert_false(enter(3, "10.0.0.2").admitted); /* it would have as many as the other then */
    struct slots_entry entry = enter(3, "10.0.0.3");
    expect_evicted(&entry, "10.0.0.1");
    end();
}

static void test_verified_ones_stay(void **state) {
    (void)state;
    begin(4, 2, 1);
    for (int i = 0; i < 3; i++) {
        struct slot *slot = come(i, "10.0.0.1"); /* more than one address may have */
        slots_busy(slots, slot);
        slots_verified(slots, slot);
        slots_idle(slots, slot);
    }
    (void)come(3, "10.0.0.1");
    struct slots_entry entry = enter(4, "10.0.0.2");
    expect_evicted(&entry, "10.0.0.1"); /* the stranger's */
    struct slot *fourth = slots_start(slots, FIRST_FD + 4);
    slots_busy(slots, fourth);
    slots_verified(slots, fourth);
    assert_false(enter(5, "10.0.0.3").admitted); /* all are verified */
    leave(0);
    assert_true(enter(5, "10.0.0.3").admitted);
    end();
}

static void test_reserved_ones(void **state) {
    (void)state;
    begin(4, 4, 2);
    (void)come(0, "10.0.0.1");
    struct slot *second = come(1, "10.0.0.1");
    assert_true(enter(2, "10.0.0.1").evicted); /* there are two more, but not for strangers */
    slots_busy(slots, second);
    slots_verified(slots, second);
    assert_false(enter(3, "10.0.0.1").evicted);
    end();
}

/* A connection that was closed for another may still be served for a moment. */
static void test_evicted_ones_change_nothing(void **state) {
    (void)state;
    begin(1, 1, 0);
    struct slot *slot = come(0, "10.0.0.1");
    assert_true(enter(1, "10.0.0.2").evicted);
    slots_busy(slots, slot);
    slots_verified(slots, slot);
    slots_idle(slots, slot);
    assert_false(enter(2, "10.0.0.3").admitted); /* two are open, which is twice the limit */
    leave(0);
    assert_non_null(slots_start(slots, FIRST_FD + 1));
    assert_true(enter(2, "10.0.0.3").evicted);
    end();
}

/* ... and counts for nobody, also if its client is verified in that moment. */
static void test_evicted_ones_are_not_counted(void **state) {
    (void)state;
    begin(2, 2, 0);
    struct slot *slot = come(0, "10.0.1.1");
    (void)come(1, "10.0.2.1");
    struct slots_entry entry = enter(2, "10.0.3.1");
    expect_evicted(&entry, "10.0.1.1");
    assert_non_null(slots_start(slots, FIRST_FD + 2));
    slots_busy(slots, slot);
    slots_verified(slots, slot);
    leave(1);
    assert_false(enter(3, "10.0.4.1").evicted); /* there is room for one */
    end();
}

/* A descriptor that comes again was closed without slots_leave(). */
static void test_lost_ones(void **state) {
    (void)state;
    begin(2, 2, 0);
    for (int i = 0; i < 10; i++) {
        struct slots_entry entry = enter(0, "10.0.0.1");
        assert_true(entry.admitted && !entry.evicted);
    }
    assert_true(enter(1, "10.0.0.1").admitted);
    end();
}

/* Against a plain model: the sizes of random addresses, in random order. */
static void test_random(void **state) {
    (void)state;
    enum { CONNECTIONS = 40, ADDRESSES = 30, ROUNDS = 5000 };
    static unsigned held[ADDRESSES], networks[ADDRESSES];
    static int who[ROUNDS];
    unsigned seed = 7, open = 0;
    begin(CONNECTIONS, CONNECTIONS, 0);
    for (int i = 0; i < ROUNDS; i++) {
        seed = seed * 1103515245 + 12345;
        int a = (int)(seed >> 16) % ADDRESSES;
        char from[32];
        (void)snprintf(from, sizeof from, "10.0.%d.%d", a / 5, a % 5 + 1);
        struct slots_entry entry = enter(i, from);
        assert_true(entry.admitted);
        assert_int_equal(entry.evicted, open == CONNECTIONS);
        if (entry.evicted) {
            const unsigned char *key = entry.whose.bytes;
            int victim = key[14] * 5 + key[15] - 1;
            for (int k = 0; k < ADDRESSES; k++) {
                assert_true(networks[k / 5] <= networks[victim / 5]);
                assert_true(k / 5 != victim / 5 || held[k] <= held[victim]);
            }
            int oldest = 0;
            while (who[oldest] != victim + 1)
                oldest++;
            who[oldest] = 0;
            leave(oldest);
            held[victim]--;
            networks[victim / 5]--;
            open--;
        }
        assert_non_null(slots_start(slots, FIRST_FD + i));
        who[i] = a + 1;
        held[a]++;
        networks[a / 5]++;
        open++;
    }
    end();
}

/* ---- threads: one accepts, others serve; for the thread sanitizer too ---- */

enum { PAIRS = 3000, WORKERS = 3 };
static _Atomic int accepted_fd[PAIRS]; /* 0: not there yet */

struct worker {
    int first; /* of its pairs */
    unsigned unclosed;
    pthread_t thread;
};

static void *serve(void *arg) {
    struct worker *worker = arg;
    for (int i = worker->first; i < PAIRS; i += WORKERS) {
        int fd;
        while ((fd = atomic_load(&accepted_fd[i])) == 0)
            (void)sched_yield();
        if (fd < 0)
            continue; /* it was refused */
        struct slot *slot = slots_start(slots, fd);
        slots_busy(slots, slot);
        if (i % 7 == 0)
            slots_verified(slots, slot);
        slots_idle(slots, slot);
        slots_leave(slots, fd);
        worker->unclosed += close(fd) != 0;
    }
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    struct worker workers[WORKERS];
    begin(4, 3, 1);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){.first = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, serve, &workers[i]), 0);
    }
    for (int i = 0; i < PAIRS; i++) {
        int ends[2];
        struct sockaddr_in from = {.sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(0x0a000000u + (unsigned)(i % 5))};
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        assert_int_equal(close(ends[1]), 0);
        bool admitted = slots_enter(slots, ends[0], (struct sockaddr *)&from).admitted;
        if (!admitted)
            assert_int_equal(close(ends[0]), 0);
        atomic_store(&accepted_fd[i], admitted ? ends[0] : -1);
    }
    for (int i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].unclosed, 0);
    }
    for (int i = 0; i < 3; i++)
        assert_false(enter(i, "10.0.0.1").evicted); /* nothing is left over */
    end();
}

static void *close_all(void *unused) {
    slots_close_all(slots);
    return unused;
}

/* A connection between sockets, so that one end sees the other one closed. */
static int enter_pair(int *ret_far) {
    int ends[2];
    const struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x0a000001)};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_true(slots_enter(slots, ends[0], (const struct sockaddr *)&from).admitted);
    *ret_far = ends[1];
    return ends[0];
}

static void expect_end(int far) {
    char byte;
    assert_int_equal(read(far, &byte, 1), 0);
}

/* All that are served are closed and waited for, and so is one that arrives in the meantime. */
static void test_the_end_of_all(void **state) {
    (void)state;
    enum { IDLE, BUSY, VERIFIED, LATE, MANY };
    int near[MANY], far[MANY];
    pthread_t thread;
    begin(MANY, MANY, 0);
    for (int i = 0; i < MANY; i++)
        near[i] = enter_pair(&far[i]);
    (void)slots_start(slots, near[IDLE]);
    slots_busy(slots, slots_start(slots, near[BUSY]));
    slots_verified(slots, slots_start(slots, near[VERIFIED]));
    assert_int_equal(pthread_create(&thread, NULL, close_all, NULL), 0);
    for (int i = IDLE; i <= VERIFIED; i++)
        expect_end(far[i]);
    (void)slots_start(slots, near[LATE]);
    expect_end(far[LATE]);
    for (int i = 0; i < MANY; i++)
        slots_leave(slots, near[i]);
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(close(near[i]), 0);
        assert_int_equal(close(far[i]), 0);
    }
    end();
}

/* Whoever serves it may be late. */
static void test_the_end_waits(void **state) {
    (void)state;
    enum { LATE_MS = 500 };
    struct timespec until;
    pthread_t thread;
    begin(2, 2, 0);
    (void)come(0, "10.0.0.1");
    assert_true(enter(1, "10.0.0.1").admitted);
    assert_int_equal(pthread_create(&thread, NULL, close_all, NULL), 0);
    leave(1); /* it was never served */
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &until), 0);
    until.tv_sec += (until.tv_nsec + LATE_MS * 1000000L) / 1000000000;
    until.tv_nsec = (until.tv_nsec + LATE_MS * 1000000L) % 1000000000;
    assert_int_equal(pthread_timedjoin_np(thread, NULL, &until), ETIMEDOUT);
    leave(0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    end();
}

/* One that has been closed before anybody was told of it is not waited for, also if another file
 * has its descriptor. */
static void test_the_end_without_lost_ones(void **state) {
    (void)state;
    int far[2], lost, reused;
    begin(2, 2, 0);
    lost = enter_pair(&far[0]);
    reused = enter_pair(&far[1]);
    assert_int_equal(close(lost), 0);
    assert_int_equal(dup2(STDERR_FILENO, reused), reused);
    slots_close_all(slots);
    assert_int_equal(close(reused), 0);
    assert_int_equal(close(far[0]), 0);
    assert_int_equal(close(far[1]), 0);
    end();
}

/* The same where high descriptors are in use, and lower ones free. */
static void test_few_descriptors_with_holes(void **state) {
    (void)state;
    slots = slots_new(
        &(struct slots_limits){.connections = 100, .per_address = 100, .scarce_fd = 1000});
    assert_non_null(slots);
    for (int i = 0; i < SLOTS_FEW - 1; i++)
        (void)come(i, "10.0.1.1");
    struct slots *other = slots;
    slots = slots_new(&(struct slots_limits){.connections = 2000, .per_address = 2000});
    assert_non_null(slots);
    for (int i = SLOTS_FEW - 1; i < 999; i++)
        (void)come(i, "10.0.1.1"); /* another listener's */
    struct slots *many = slots;
    slots = other;
    assert_false(enter(700 - FIRST_FD, "10.0.2.1").evicted);
    struct slots_entry entry = enter(701 - FIRST_FD, "10.0.2.1");
    expect_evicted(&entry, "10.0.1.1");
    slots_free(many);
    assert_false(enter(702 - FIRST_FD, "10.0.2.1").evicted);
    end();
}

/* Where few descriptors are left a listener does not grow beyond a few connections. */
static void test_few_descriptors(void **state) {
    (void)state;
    const int scarce = FIRST_FD + 20;
    slots = slots_new(
        &(struct slots_limits){.connections = 100, .per_address = 100, .scarce_fd = scarce});
    assert_non_null(slots);
    for (int i = 0; i < 20; i++) {
        assert_false(enter(i, "10.0.1.1").evicted);
        assert_non_null(slots_start(slots, FIRST_FD + i));
    }
    struct slots_entry entry = enter(20, "10.0.2.1");
    expect_evicted(&entry, "10.0.1.1");
    for (int i = 0; i < 20; i++)
        leave(i);
    for (int i = 21; i < 21 + SLOTS_FEW - 1; i++) { /* as many as every listener may have */
        struct slots_entry more = enter(i, "10.0.1.1");
        assert_true(more.admitted && !more.evicted);
        assert_non_null(slots_start(slots, FIRST_FD + i));
    }
    entry = enter(50, "10.0.2.1");
    expect_evicted(&entry, "10.0.1.1");
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room_for_all),
        cmocka_unit_test(test_the_longest_idle_goes),
        cmocka_unit_test(test_the_greedy_pay),
        cmocka_unit_test(test_networks),
        cmocka_unit_test(test_networks_of_ipv6),
        cmocka_unit_test(test_mapped_addresses),
        cmocka_unit_test(test_busy_ones),
        cmocka_unit_test(test_verified_ones_stay),
        cmocka_unit_test(test_reserved_ones),
        cmocka_unit_test(test_evicted_ones_change_nothing),
        cmocka_unit_test(test_evicted_ones_are_not_counted),
        cmocka_unit_test(test_lost_ones),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_few_descriptors),
        cmocka_unit_test(test_the_end_of_all),
        cmocka_unit_test(test_the_end_waits),
        cmocka_unit_test(test_the_end_without_lost_ones),
        cmocka_unit_test(test_few_descriptors_with_holes),
    };
    return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
