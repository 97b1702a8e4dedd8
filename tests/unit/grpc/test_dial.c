/*
 * Connections that are kept: to servers that are slow, that leave, that break the rules, and to
 * names with several addresses. Time is the tests': what must come without waiting comes though no
 * clock goes on.
 */
#include "grpc/dial.h"

#include "base/limits.h"
#include "net/address.h"
#include "unit/grpc/h2.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { GUARD_MS = 60000 };

static struct clock_fake fake;
static struct grpc_dialer *dialer;
static int listening = -1; /* where the peers are to find their server */
static char address[ADDRESS_TEXT_SIZE];

static int64_t now_ms(void) {
    return clock_real()->now_ms(clock_real());
}

static int set_up(void **state) {
    static const struct grpc_dial_tls plaintext = {.ca_file = NULL};
    const struct timeval guard = {.tv_sec = GUARD_MS / 1000};
    struct err err;
    (void)state;
    clock_fake_init(&fake, 1000);
    return address_listen("127.0.0.1:0", address, &listening, &err) != 0 ||
                   fcntl(listening, F_SETFL, 0) != 0 ||
                   setsockopt(listening, SOL_SOCKET, SO_RCVTIMEO, &guard, sizeof guard) != 0 ||
                   grpc_dialer_start(&plaintext, &fake.clock, &dialer, &err) != 0
               ? -1
               : 0;
}

static int tear_down(void **state) {
    (void)state;
    grpc_dialer_stop(dialer);
    (void)close(listening);
    return 0;
}

/* ---- names ---- */

/* "two.test" has an address where nothing answers, and then the server's; each look-up of others
 * waits for `answers`. */
static sem_t answers;
static _Atomic unsigned asked;
static struct sockaddr_in found[2];
static struct addrinfo list[2];
int getaddrinfo(const char *name, const char *service, const struct addrinfo *req,
                struct addrinfo **pai) {
    const bool is_first = strcmp(name, "two.test") == 0;
    typeof(getaddrinfo) *real = (typeof(getaddrinfo) *)dlsym(RTLD_NEXT, "getaddrinfo");
    if (strstr(name, ".test") == NULL || (req->ai_flags & AI_NUMERICHOST) != 0)
        return real(name, service, req, pai);
    if (!is_first) {
        atomic_fetch_add(&asked, 1);
        (void)sem_wait(&answers);
    }
    *pai = &list[is_first ? 0 : 1];
    return 0;
}
void freeaddrinfo(struct addrinfo *ai) {
    typeof(freeaddrinfo) *real = (typeof(freeaddrinfo) *)dlsym(RTLD_NEXT, "freeaddrinfo");
    if (ai != &list[0] && ai != &list[1])
        real(ai);
}

static void set_address(int number, const char *host, uint16_t port) {
    found[number] = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
    assert_int_equal(inet_pton(AF_INET, host, &found[number].sin_addr), 1);
    list[number] = (struct addrinfo){.ai_family = AF_INET,
                                     .ai_socktype = SOCK_STREAM,
                                     .ai_addr = (struct sockaddr *)&found[number],
                                     .ai_addrlen = sizeof found[number],
                                     .ai_next = number == 0 ? &list[1] : NULL};
}

static uint16_t port_of(const char *text) {
    return (uint16_t)strtoul(strrchr(text, ':') + 1, NULL, 10);
}

/* ---- a server ---- */

/* Accepts, and sends frames. */
static int greet(const struct strbuf *frames) {
    const int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(send(fd, frames->p, frames->n, MSG_NOSIGNAL), frames->n);
    return fd;
}

static int greet_well(void) {
    CLEANUP(strbuf_done) struct strbuf frames = {0};
    h2_frame(&frames, H2_SETTINGS, 0, 0, STR(""));
    return greet(&frames);
}

static struct grpc_peer *add(const char *where) {
    struct grpc_peer *peer;
    struct err err;
    if (grpc_peer_add(dialer, &where, 1, &peer, &err) != 0)
        fail_msg("%s", err.text);
    return peer;
}

static void await_ready(struct grpc_peer *peer) {
    struct grpc_peer_report report;
    for (const int64_t until_ms = now_ms() + GUARD_MS; now_ms() < until_ms;) {
        grpc_peer_report(peer, &report);
        if (report.stage == GRPC_PEER_READY)
            return;
        (void)usleep(1000);
    }
    fail_msg("not ready: stage %d, %u failures, %s", (int)report.stage, report.failures,
             report.failure.text);
}

/* Until it has failed so often. */
static void await_failures(struct grpc_peer *peer, unsigned count, struct grpc_peer_report *ret) {
    const int64_t until_ms = now_ms() + GUARD_MS;
    do {
        (void)usleep(1000);
        grpc_peer_report(peer, ret);
    } while (ret->failures < count && now_ms() < until_ms);
    assert_true(ret->failures >= count);
}

/* ---- calls ---- */

static sem_t replied;
static int reply_status;

static void keep(void *ctx, const struct grpc_reply *reply) {
    (void)ctx;
    reply_status = reply->status;
    (void)sem_post(&replied);
}

static void begin_call(struct grpc_peer *peer) {
    const struct grpc_call_request request = {
        .path = STR("/test.Service/Echo"), .message = STR("a"), .deadline_ms = fake.at_ms + 3000};
    struct err err;
    (void)sem_init(&replied, 0, 0);
    assert_int_equal(grpc_peer_call(peer, &request, keep, NULL, &err), 0);
}

/* A server that takes no calls at all: SETTINGS_MAX_CONCURRENT_STREAMS 0. */
static void calls_that_never_leave_end_at_their_deadline(void **state) {
    CLEANUP(strbuf_done) struct strbuf frames = {0};
    (void)state;
    struct grpc_peer *peer = add(address);
    h2_frame(&frames, H2_SETTINGS, 0, 0, (struct str){"\0\3\0\0\0\0", 6});
    const int fd = greet(&frames);
    await_ready(peer);
    begin_call(peer);
    atomic_fetch_add(&fake.at_ms, 3000);
    for (const int64_t until_ms = now_ms() + GUARD_MS; sem_trywait(&replied) != 0;) {
        assert_true(now_ms() < until_ms);
        (void)usleep(1000);
    }
    assert_int_equal(reply_status, GRPC_DEADLINE_EXCEEDED);
    (void)close(fd);
}

/* ---- connections ---- */

static void the_next_address_of_a_name_is_tried(void **state) {
    struct err err;
    char elsewhere[ADDRESS_TEXT_SIZE];
    int full, waiting[4];
    (void)state;
    /* A queue that is full: who connects is not answered. */
    assert_int_equal(address_listen("127.0.0.1:0", elsewhere, &full, &err), 0);
    assert_int_equal(listen(full, 0), 0);
    set_address(0, "127.0.0.1", port_of(elsewhere));
    set_address(1, "127.0.0.1", port_of(address));
    for (int i = 0; i < 4; i++) {
        waiting[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)connect(waiting[i], (struct sockaddr *)&found[0], sizeof found[0]);
    }
    struct grpc_peer *peer = add("two.test:1");
    struct grpc_peer_report report;
    do {
        (void)usleep(1000);
        grpc_peer_report(peer, &report);
    } while (report.stage != GRPC_PEER_CONNECTS);
    atomic_fetch_add(&fake.at_ms, LIMIT_GRPC_DIAL_MS);
    const int fd = greet_well();
    await_ready(peer);
    (void)close(fd);
    for (int i = 0; i < 4; i++)
        (void)close(waiting[i]);
    (void)close(full);
}

/* Of what went wrong at several addresses, what came furthest tells most. */
static void the_failure_that_came_furthest_is_told(void **state) {
    struct err err;
    char nobody[ADDRESS_TEXT_SIZE];
    int closed;
    struct grpc_peer_report report;
    (void)state;
    assert_int_equal(address_listen("127.0.0.1:0", nobody, &closed, &err), 0);
    (void)close(closed);
    set_address(0, "127.0.0.1", port_of(address));
    set_address(1, "127.0.0.1", port_of(nobody));
    struct grpc_peer *peer = add("two.test:1");
    const int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    assert_int_equal(send(fd, "HTTP/1.1 400 Bad Request\r\n\r\n", 28, MSG_NOSIGNAL), 28);
    await_failures(peer, 1, &report);
    assert_int_equal(report.failures, 1);
    assert_int_equal(report.failed_at, GRPC_PEER_GREETS);
    assert_contains(report.failure.text, "HTTP/2");
    (void)close(fd);
}

/* More than may be looked up at a time: places go from one to the next. */
static void names_wait_for_their_turn(void **state) {
    enum { PEERS = 4 * LIMIT_LOOKUPS };
    static struct grpc_peer *peers[PEERS];
    static int fds[PEERS];
    char name[32];
    (void)state;
    set_address(1, "127.0.0.1", port_of(address));
    (void)sem_init(&answers, 0, 0);
    for (unsigned i = 0; i < PEERS; i++) {
        (void)snprintf(name, sizeof name, "n%u.test:1", i); /* fits */
        peers[i] = add(name);
    }
    struct grpc_peer *last = add(address); /* when it is ready, the others have been begun */
    const int fd = greet_well();
    await_ready(last);
    while (atomic_load(&asked) < LIMIT_LOOKUPS)
        (void)usleep(1000);
    for (unsigned i = 0; i < PEERS; i++)
        (void)sem_post(&answers);
    for (unsigned i = 0; i < PEERS; i++)
        fds[i] = greet_well();
    for (unsigned i = 0; i < PEERS; i++)
        await_ready(peers[i]);
    for (unsigned i = 0; i < PEERS; i++)
        (void)close(fds[i]);
    (void)close(fd);
}

/* Another server takes its place. */
static void a_server_that_leaves_is_followed_at_once(void **state) {
    CLEANUP(strbuf_done) struct strbuf frames = {0};
    struct grpc_peer_report report;
    (void)state;
    struct grpc_peer *peer = add(address);
    int fd = greet_well();
    await_ready(peer);
    atomic_fetch_add(&fake.at_ms, LIMIT_GRPC_REDIAL_MS);
    h2_frame(&frames, H2_GOAWAY, 0, 0, (struct str){"\0\0\0\0\0\0\0\0", 8});
    assert_int_equal(send(fd, frames.p, frames.n, MSG_NOSIGNAL), frames.n);
    const int next = greet_well();
    await_ready(peer);
    (void)close(fd);
    /* But not one that leaves as soon as it has come. */
    assert_int_equal(send(next, frames.p, frames.n, MSG_NOSIGNAL), frames.n);
    await_failures(peer, 1, &report);
    assert_int_equal(report.stage, GRPC_PEER_WAITS);
    assert_contains(report.failure.text, "the server is leaving (NO_ERROR)");
    (void)close(next);
    atomic_fetch_add(&fake.at_ms, LIMIT_GRPC_REDIAL_MS);
    fd = greet_well();
    await_ready(peer);
    (void)close(fd);
}

/* As a process has them that was just made, and has not closed them yet. */
static void what_is_closed_is_not_heard_of_again(void **state) {
    enum { DESCRIPTORS = 256 };
    static int held[DESCRIPTORS];
    struct grpc_peer_report report;
    (void)state;
    struct grpc_peer *peer = add(address);
    const int fd = greet_well();
    await_ready(peer);
    for (int i = 0; i < DESCRIPTORS; i++)
        held[i] = fcntl(i, F_DUPFD_CLOEXEC, DESCRIPTORS);
    assert_int_equal(send(fd, "this is no HTTP/2", 17, MSG_NOSIGNAL), 17);
    await_failures(peer, 1, &report);
    assert_int_equal(send(fd, "and this is more", 16, MSG_NOSIGNAL), 16);
    grpc_peer_remove(peer);
    struct grpc_peer *other = add(address);
    const int next = greet_well();
    await_ready(other);
    for (int i = 0; i < DESCRIPTORS; i++)
        if (held[i] >= 0)
            (void)close(held[i]);
    (void)close(fd);
    (void)close(next);
}

int main(void) {
#define DIAL_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        DIAL_TEST(calls_that_never_leave_end_at_their_deadline),
        DIAL_TEST(the_next_address_of_a_name_is_tried),
        DIAL_TEST(the_failure_that_came_furthest_is_told),
        DIAL_TEST(names_wait_for_their_turn),
        DIAL_TEST(a_server_that_leaves_is_followed_at_once),
        DIAL_TEST(what_is_closed_is_not_heard_of_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
