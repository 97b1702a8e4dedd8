/* What a door counts, under which names: whoever it refuses, whoever goes for another, and why. */
#include "net/door.h"

#include "base/log.h"
#include "unit/net/numbered.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CONNECTIONS = 3, PER_ADDRESS = 2 };

static struct door door;

static int set_up(void **state) {
    const struct door_options options = {
        .listener = "test", .connections = CONNECTIONS, .per_address = PER_ADDRESS};
    struct err err;
    (void)state;
    assert_int_equal(door_open(&door, &options, &err), 0);
    slots = door.slots;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    door_close(&door);
    door = (struct door){.slots = NULL};
    return 0;
}

static void expect(const char *series, int value) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    char line[128];
    metrics_render(&text);
    strbuf_append_char(&text, '\0');
    (void)snprintf(line, sizeof line, "\nevenkeel_http_%s %d\n", series, value); /* fits */
    if (strstr(text.p, line) == NULL)
        fail_msg("no %s in:\n%s", line, text.p);
}

/* In the order of the reasons; all of them are there from the start. */
static void expect_all(int refused_all, int refused_address, int evicted_all, int evicted_address,
                       int evicted_bytes) {
    expect("connections_refused_total{listener=\"test\",reason=\"all\"}", refused_all);
    expect("connections_refused_total{listener=\"test\",reason=\"address\"}", refused_address);
    expect("connections_evicted_total{listener=\"test\",reason=\"all\"}", evicted_all);
    expect("connections_evicted_total{listener=\"test\",reason=\"address\"}", evicted_address);
    expect("connections_evicted_total{listener=\"test\",reason=\"bytes\"}", evicted_bytes);
}

static bool admit(int number, const char *from) {
    const struct sockaddr_storage peer = peer_of(number, from);
    return door_admit(&door, FIRST_FD + number, (const struct sockaddr *)&peer);
}

static struct slot *serve(int number, const char *from) {
    assert_true(admit(number, from));
    return slots_start(slots, FIRST_FD + number);
}

static void room_for_all_counts_nothing(void **state) {
    (void)state;
    (void)serve(0, "10.0.0.1");
    (void)serve(1, "10.0.0.1");
    expect_all(0, 0, 0, 0, 0);
}

static void an_address_makes_room_for_itself(void **state) {
    (void)state;
    (void)serve(0, "10.0.0.1");
    struct slot *second = serve(1, "10.0.0.1"), *third = serve(2, "10.0.0.1");
    expect_all(0, 0, 0, 1, 0);
    leave(0);
    slots_busy(slots, second);
    slots_busy(slots, third);
    assert_false(admit(3, "10.0.0.1")); /* both have a request */
    expect_all(0, 1, 0, 1, 0);
}

static void who_has_most_makes_room_for_others(void **state) {
    struct slot *served[CONNECTIONS + 1];
    (void)state;
    served[0] = serve(0, "10.0.1.1");
    served[1] = serve(1, "10.0.1.1");
    served[2] = serve(2, "10.0.2.1");
    served[3] = serve(3, "10.0.3.1");
    expect_all(0, 0, 1, 0, 0);
    leave(0);
    for (int i = 1; i <= CONNECTIONS; i++)
        slots_busy(slots, served[i]);
    assert_false(admit(4, "10.0.4.1"));
    expect_all(1, 0, 1, 0, 0);
}

static void who_is_refused_is_hung_up_on(void **state) {
    const struct sockaddr_storage peer = peer_of(0, "10.0.0.1");
    (void)state;
    for (int i = 0; i < PER_ADDRESS; i++)
        slots_busy(slots, serve(i, "10.0.0.1"));
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_false(door_admit(&door, fd, (const struct sockaddr *)&peer));
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void who_holds_most_makes_room_for_bytes(void **state) {
    (void)state;
    struct slot *asks = serve(0, "10.0.1.1"), *holds = serve(1, "10.0.2.1");
    slots_busy(slots, asks);
    slots_busy(slots, holds);
    slots_hold(holds, 100, true);
    assert_false(door_evict_holder(&door, asks, 100)); /* it would hold as much */
    expect_all(0, 0, 0, 0, 0);
    assert_true(door_evict_holder(&door, asks, 99));
    expect_all(0, 0, 0, 0, 1);
}

/* A quarter is for clients with a certificate, where they are asked for one. */
static void strangers_do_not_get_all(void **state) {
    const struct door_options options = {
        .listener = "test", .connections = 8, .per_address = 8, .asks_for_certificates = true};
    struct err err;
    (void)state;
    door_close(&door);
    assert_int_equal(door_open(&door, &options, &err), 0);
    slots = door.slots;
    for (int i = 0; i < 6; i++)
        (void)serve(i, "10.0.0.1");
    expect_all(0, 0, 0, 0, 0);
    assert_true(admit(6, "10.0.0.1"));
    expect_all(0, 0, 1, 0, 0);
}

static void whoever_is_turned_back_counts_no_more(void **state) {
    (void)state;
    assert_true(admit(0, "10.0.0.1"));
    assert_true(admit(1, "10.0.0.1"));
    door_turn_back(&door, FIRST_FD + 1);
    assert_true(admit(2, "10.0.0.1"));
    expect_all(0, 0, 0, 0, 0);
}

static void who_is_open_and_who_is_late(void **state) {
    (void)state;
    assert_int_equal(door_count(&door, 1), 1);
    assert_int_equal(door_count(&door, 1), 2);
    expect("connections{listener=\"test\"}", 2);
    assert_int_equal(door_count(&door, -1), 1);
    expect("connections{listener=\"test\"}", 1);
    expect("deadline_closes_total{listener=\"test\"}", 0);
    door_count_late(&door);
    expect("deadline_closes_total{listener=\"test\"}", 1);
}

static void few_descriptors_are_told_of(void **state) {
    char text[512];
    const int log = memfd_create("log", MFD_CLOEXEC);
    (void)state;
    assert_true(log >= 0);
    door.scarce_fd = FIRST_FD + 1;
    log_setup(LOG_WARN, LOG_LOGFMT, log);
    assert_true(admit(0, "10.0.0.1"));
    assert_int_equal(lseek(log, 0, SEEK_END), 0);
    assert_true(admit(1, "10.0.0.1"));
    log_setup(LOG_WARN, LOG_LOGFMT, STDERR_FILENO);
    const ssize_t n = pread(log, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    assert_non_null(strstr(text, "msg=\"few files may still be opened\" listener=test"));
    (void)close(log);
}

static void a_closed_door_is_not_heard_of(void **state) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    (void)state;
    tear_down(NULL);
    metrics_render(&text);
    assert_int_equal(text.n, 0);
}

int main(void) {
#define DOOR_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        DOOR_TEST(few_descriptors_are_told_of), /* first: others log it until it is silenced */
        DOOR_TEST(room_for_all_counts_nothing),
        DOOR_TEST(an_address_makes_room_for_itself),
        DOOR_TEST(who_has_most_makes_room_for_others),
        DOOR_TEST(who_is_refused_is_hung_up_on),
        DOOR_TEST(who_holds_most_makes_room_for_bytes),
        DOOR_TEST(strangers_do_not_get_all),
        DOOR_TEST(whoever_is_turned_back_counts_no_more),
        DOOR_TEST(who_is_open_and_who_is_late),
        DOOR_TEST(a_closed_door_is_not_heard_of),
    };
    return cmocka_run_group_tests_name("door", tests, NULL, NULL);
}
