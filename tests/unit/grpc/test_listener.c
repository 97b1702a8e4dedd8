/* The listener on real sockets, over plaintext and over TLS: who is served, who makes room, who
 * stops reading, and how it ends. */
#include "grpc/listener.h"

#include "base/limits.h"
#include "unit/grpc/h2.h"
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/http/pki.h"

#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATH "/test.Service/"

#define OPEN "evenkeel_http_connections{listener=\"estimator\"}"
#define LATE "evenkeel_http_deadline_closes_total{listener=\"estimator\"}"
#define REFUSED(reason)                                                                            \
    "evenkeel_http_connections_refused_total{listener=\"estimator\",reason=\"" reason "\"}"
#define EVICTED(reason)                                                                            \
    "evenkeel_http_connections_evicted_total{listener=\"estimator\",reason=\"" reason "\"}"

enum { CONNECTIONS = 8, CONNECTIONS_PER_ADDRESS = 4 };

static void echo(void *ctx, const struct grpc_request *q, struct grpc_response *response) {
    (void)ctx;
    strbuf_append_str(&response->message, q->message);
}

/* Keeps the first one waiting until the others have come, and writes their messages down. */
static sem_t entered, leave;
static char order[16];
static size_t answered;
static void note(void *ctx, const struct grpc_request *q, struct grpc_response *response) {
    (void)ctx;
    (void)response;
    if (answered == 0) {
        (void)sem_post(&entered);
        (void)sem_wait(&leave);
    }
    order[answered++] = q->message.p[0];
}

/* The server's next reading waits for `leave`. By recvmsg(), of which the thread sanitizer knows
 * that what was sent has happened before. */
static _Atomic bool holds_reading;
ssize_t recv(int fd, void *buf, size_t n, int flags) {
    if (atomic_exchange(&holds_reading, false)) {
        (void)sem_post(&entered);
        (void)sem_wait(&leave);
    }
    struct iovec into = {buf, n};
    struct msghdr message = {.msg_iov = &into, .msg_iovlen = 1};
    return recvmsg(fd, &message, flags);
}

static const struct grpc_method methods[] = {{"Echo", echo}, {"Note", note}};
static const struct grpc_service service = {.path = PATH, .methods = methods, .method_count = 2};
static struct pki pki;
static char certificate[128], key[128];
static bool over_tls; /* this test's connections */
static struct clock_fake fake;
static struct grpc_listener *listener;

static int set_up(void **state) {
    const struct http_tls_options tls = {.cert_file = over_tls ? certificate : NULL,
                                         .key_file = over_tls ? key : NULL};
    struct err err;
    (void)state;
    clock_fake_init(&fake, 1000);
    const struct grpc_listener_options options = {
        .address = "127.0.0.1:0",
        .threads = 1,
        .connections = CONNECTIONS,
        .connections_per_address = CONNECTIONS_PER_ADDRESS,
        .service = &service,
        .tls = &tls,
    };
    if (grpc_listener_start(&options, &fake.clock, &listener, &err) != 0)
        fail_msg("%s", err.text);
    return 0;
}

static int set_up_tls(void **state) {
    over_tls = true;
    return set_up(state);
}

static int tear_down(void **state) {
    (void)state;
    grpc_listener_stop(listener, 0);
    listener = NULL;
    over_tls = false;
    return 0;
}

/* ---- a client ---- */

struct client {
    struct net net;
    struct h2_seen seen;
    uint32_t stream; /* the next one */
    bool has_part;   /* a record of TLS that is sent in part */
};

static void send_bytes(struct client *c, struct strbuf *bytes) {
    assert_true(net_send(&c->net, bytes->p, bytes->n));
    strbuf_done(bytes);
}

/* Connected, with nothing said. */
static void open_silently(struct client *c, const char *from) {
    *c = (struct client){.stream = 1};
    assert_true(net_open_from(&c->net, from, grpc_listener_address(listener)));
}

static void close_client(struct client *c) {
    net_close(&c->net);
    h2_seen_done(&c->seen);
}

/* False: the connection has ended. */
static bool hear(struct client *c) {
    if (!net_receive(&c->net))
        return false;
    h2_see(&c->seen, strbuf_str(&c->net.in));
    strbuf_clear(&c->net.in);
    return true;
}

static bool is_answered(struct client *c) {
    const struct h2_answer *answer = &c->seen.answers[c->stream / 2];
    struct strbuf out = {0};
    h2_call(&out, c->stream, PATH "Echo", STR("hello"));
    if (!net_send(&c->net, out.p, out.n)) {
        strbuf_done(&out);
        return false;
    }
    strbuf_done(&out);
    while (!answer->ended)
        if (!hear(c))
            return false;
    c->stream += 2;
    return str_eq((struct str){answer->body + 5, answer->body_length - 5}, STR("hello"));
}

/* The server cannot tell a peer that says nothing from one that has yet to begin TLS. */
static void start_tls(struct client *c) {
    const struct net_tls tls = {.priorities = "NORMAL", .protocol = "h2"};
    if (over_tls)
        assert_true(net_start_tls(&c->net, &tls));
}

/* A client that is served. */
static void open_client(struct client *c, const char *from) {
    struct strbuf out = {0};
    open_silently(c, from);
    start_tls(c);
    h2_preface(&out);
    send_bytes(c, &out);
    assert_true(is_answered(c));
}

/* The server has looked at all of its connections since. */
static void ping(struct client *c) {
    const unsigned acks = c->seen.ping_acks;
    struct strbuf out = {0};
    h2_frame(&out, H2_PING, 0, 0, STR("12345678"));
    send_bytes(c, &out);
    while (c->seen.ping_acks == acks)
        assert_true(hear(c));
}

/* ---- tests ---- */

static void clients_are_answered_side_by_side(void **state) {
    struct client a, b;
    (void)state;
    open_client(&a, "127.0.0.1");
    open_client(&b, "127.0.0.1");
    assert_true(is_answered(&a));
    assert_true(is_answered(&b));
    close_client(&a);
    assert_true(is_answered(&b));
    close_client(&b);
}

static void an_address_makes_room_for_itself(void **state) {
    struct client c[CONNECTIONS_PER_ADDRESS + 1];
    (void)state;
    for (int i = 0; i <= CONNECTIONS_PER_ADDRESS; i++)
        open_client(&c[i], "127.0.0.1");
    while (hear(&c[0])) /* which has waited longest */
        continue;
    metric_becomes(EVICTED("address"), 1);
    metric_becomes(EVICTED("all"), 0);
    for (int i = 1; i <= CONNECTIONS_PER_ADDRESS; i++)
        assert_true(is_answered(&c[i]));
    for (int i = 0; i <= CONNECTIONS_PER_ADDRESS; i++)
        close_client(&c[i]);
}

static void who_has_most_makes_room_for_others(void **state) {
    struct client many[CONNECTIONS_PER_ADDRESS], few[CONNECTIONS];
    (void)state;
    for (int i = 0; i < CONNECTIONS_PER_ADDRESS; i++)
        open_client(&many[i], "127.0.1.1");
    for (int i = 0; i <= CONNECTIONS - CONNECTIONS_PER_ADDRESS; i++) {
        char from[32];
        (void)snprintf(from, sizeof from, "127.0.%d.1", i + 2); /* fits */
        open_client(&few[i], from);
    }
    while (hear(&many[0]))
        continue;
    metric_becomes(EVICTED("all"), 1);
    metric_becomes(EVICTED("address"), 0);
    for (int i = 0; i <= CONNECTIONS - CONNECTIONS_PER_ADDRESS; i++) {
        assert_true(is_answered(&few[i]));
        close_client(&few[i]);
    }
    for (int i = 0; i < CONNECTIONS_PER_ADDRESS; i++)
        close_client(&many[i]);
}

/* A client with a call under way, which the server knows of: the worker notes it when it has sent
 * what it had to, so the first answer may come before, and the second may not. */
static void open_busy(struct client *c, const char *from) {
    struct strbuf out = {0};
    open_client(c, from);
    h2_request(&out, c->stream, PATH "Echo", NULL);
    send_bytes(c, &out);
    ping(c);
    ping(c);
}

/* One with a call under way is not idle: others of its address go before it. */
static void a_call_under_way_keeps_its_connection(void **state) {
    struct client c[CONNECTIONS_PER_ADDRESS + 1];
    struct strbuf out = {0};
    (void)state;
    open_busy(&c[0], "127.0.0.1");
    for (int i = 1; i <= CONNECTIONS_PER_ADDRESS; i++)
        open_client(&c[i], "127.0.0.1");
    while (hear(&c[1]))
        continue;
    h2_message(&out, c[0].stream, STR("late"));
    send_bytes(&c[0], &out);
    while (!c[0].seen.answers[c[0].stream / 2].ended)
        assert_true(hear(&c[0]));
    for (int i = 0; i <= CONNECTIONS_PER_ADDRESS; i++)
        close_client(&c[i]);
}

static void expect_refused(const char *from) {
    struct client c;
    open_silently(&c, from);
    while (hear(&c))
        continue;
    close_client(&c);
}

/* All that could go have a call under way. */
static void who_finds_no_room_is_refused(void **state) {
    struct client of_one[CONNECTIONS_PER_ADDRESS], of_many[CONNECTIONS];
    (void)state;
    for (int i = 0; i < CONNECTIONS_PER_ADDRESS; i++)
        open_busy(&of_one[i], "127.0.0.1");
    expect_refused("127.0.0.1");
    metric_becomes(REFUSED("address"), 1);
    metric_becomes(REFUSED("all"), 0);
    for (int i = 0; i < CONNECTIONS_PER_ADDRESS; i++)
        close_client(&of_one[i]);
    metric_becomes(OPEN, 0);
    for (int i = 0; i < CONNECTIONS; i++) {
        char from[32];
        (void)snprintf(from, sizeof from, "127.0.%d.1", i); /* fits */
        open_busy(&of_many[i], from);
    }
    expect_refused("127.0.100.1"); /* it would have as much as anybody */
    metric_becomes(REFUSED("all"), 1);
    metric_becomes(REFUSED("address"), 1);
    for (int i = 0; i < CONNECTIONS; i++)
        close_client(&of_many[i]);
}

/* The same counters as those of HTTP's listeners. */
static void silent_connections_are_counted(void **state) {
    enum { MORE = 3 };
    struct client c[CONNECTIONS_PER_ADDRESS + MORE], last;
    (void)state;
    for (int i = 0; i < CONNECTIONS_PER_ADDRESS + MORE; i++)
        open_silently(&c[i], "127.0.0.1");
    open_client(&last, "127.0.1.1"); /* it is accepted when all of them have begun */
    assert_true(is_answered(&last));
    close_client(&last);
    for (int i = 0; i < MORE; i++)
        while (hear(&c[i]))
            continue;
    metric_becomes(EVICTED("address"), MORE);
    metric_becomes(OPEN, CONNECTIONS_PER_ADDRESS);
    metric_becomes("evenkeel_estimator_connections", CONNECTIONS_PER_ADDRESS);
    assert_int_equal((int)metric_now(LATE), 0);
    atomic_fetch_add(&fake.at_ms, LIMIT_GRPC_BEGIN_MS + 1);
    for (int i = MORE; i < CONNECTIONS_PER_ADDRESS + MORE; i++)
        while (hear(&c[i]))
            continue;
    metric_becomes(LATE, CONNECTIONS_PER_ADDRESS);
    metric_becomes(OPEN, 0);
    metric_becomes("evenkeel_estimator_connections", 0);
    assert_int_equal((int)metric_now(REFUSED("address")), 0);
    for (int i = 0; i < CONNECTIONS_PER_ADDRESS + MORE; i++)
        close_client(&c[i]);
}

static void who_says_nothing_is_hung_up_on(void **state) {
    struct client speaks, silent;
    (void)state;
    open_silently(&silent, "127.0.0.1");
    open_client(&speaks, "127.0.0.1"); /* it is accepted after the silent one */
    atomic_fetch_add(&fake.at_ms, LIMIT_GRPC_BEGIN_MS + 1);
    while (hear(&silent)) /* the server's settings */
        continue;
    metric_becomes(LATE, 1);
    assert_true(is_answered(&speaks));
    close_client(&silent);
    close_client(&speaks);
}

/* Handshaken, and nothing after. */
static void who_begins_tls_and_says_no_more(void **state) {
    struct client speaks, silent;
    (void)state;
    open_silently(&silent, "127.0.0.1");
    start_tls(&silent);
    open_client(&speaks, "127.0.0.1");
    atomic_fetch_add(&fake.at_ms, LIMIT_GRPC_BEGIN_MS);
    ping(&speaks);
    ping(&speaks);
    atomic_fetch_add(&fake.at_ms, 1000);
    while (hear(&silent))
        continue;
    metric_becomes(LATE, 1);
    assert_true(is_answered(&speaks));
    close_client(&silent);
    close_client(&speaks);
}

/* Nobody is served over an older TLS, or without h2. */
static void who_speaks_another_language_is_refused(void **state) {
    static const struct net_tls others[] = {
        {.priorities = "NORMAL:-VERS-ALL:+VERS-TLS1.2", .protocol = "h2"},
        {.priorities = "NORMAL", .protocol = "http/1.1"},
        {.priorities = "NORMAL"},
    };
    struct client other, speaks;
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        open_silently(&other, "127.0.0.1");
        if (net_start_tls(&other.net, &others[i])) { /* TLS 1.3: the refusal comes behind it */
            while (hear(&other))
                continue;
            assert_int_equal(other.seen.settings, 0);
        }
        close_client(&other);
    }
    open_client(&speaks, "127.0.0.1");
    close_client(&speaks);
}

static void who_does_not_read_keeps_nobody_waiting(void **state) {
    static char large[12 << 10];
    struct client deaf, other;
    struct strbuf out = {0};
    (void)state;
    memset(large, 'x', sizeof large);
    open_client(&deaf, "127.0.0.1");
    open_client(&other, "127.0.0.1");
    for (uint32_t i = 0; i < 4; i++) /* within the window that a connection begins with */
        h2_call(&out, deaf.stream + 2 * i, PATH "Echo", (struct str){large, sizeof large});
    send_bytes(&deaf, &out);
    assert_true(is_answered(&other));
    close_client(&deaf);
    assert_true(is_answered(&other));
    close_client(&other);
}

/* Sends what goes without waiting, up to a record of TLS; 0: nothing does. A record that goes in
 * part counts whole; the next call sends its rest first, and so does flush(). */
static size_t send_now(struct client *c, struct str bytes) {
    if (c->net.tls == NULL) {
        const ssize_t n = send(c->net.fd, bytes.p, bytes.n, MSG_DONTWAIT | MSG_NOSIGNAL);
        return n > 0 ? (size_t)n : 0;
    }
    const bool had_part = c->has_part;
    assert_int_equal(fcntl(c->net.fd, F_SETFL, O_NONBLOCK), 0);
    ssize_t n = had_part ? gnutls_record_send(c->net.tls, NULL, 0) : 0;
    if (n >= 0)
        n = gnutls_record_send(c->net.tls, bytes.p, bytes.n);
    else
        bytes.n = 0;
    assert_int_equal(fcntl(c->net.fd, F_SETFL, 0), 0);
    c->has_part = n == GNUTLS_E_AGAIN;
    assert_true(c->has_part || n == (ssize_t)bytes.n);
    return bytes.n;
}

static void flush(struct client *c) {
    if (c->has_part)
        assert_true(gnutls_record_send(c->net.tls, NULL, 0) > 0);
    c->has_part = false;
}

enum { PING_BYTES = 17, PINGS = 900 /* less than a record of TLS */ };

/* PINGs that say their numbers. */
static void number_pings(struct strbuf *out, unsigned from) {
    char number[16];
    for (unsigned i = from; i < from + PINGS; i++) {
        (void)snprintf(number, sizeof number, "%08u", i); /* fits */
        h2_frame(out, H2_PING, 0, 0, (struct str){number, 8});
    }
}

/* Sends PINGs, numbered from 0, until the server reads no more of them. Returns the bytes. */
static size_t fill(struct client *deaf, struct client *other) {
    enum { LOOKS = 3 };
    CLEANUP(strbuf_done) struct strbuf out = {0};
    size_t sent = 0, total = 0, n;
    for (int looks = 0; looks < LOOKS; looks++) {
        do {
            if (sent == out.n) {
                sent = 0;
                strbuf_clear(&out);
                number_pings(&out, (unsigned)(total / PING_BYTES));
            }
            n = send_now(deaf, (struct str){out.p + sent, out.n - sent});
            sent += n;
            total += n;
            looks = n > 0 ? 0 : looks;
        } while (n > 0);
        ping(other);
    }
    return total;
}

/* It stops in the middle of what it is sent, and goes on: nothing is lost, and nothing comes twice.
 */
static void who_reads_again_gets_the_rest(void **state) {
    struct client slow, other;
    (void)state;
    open_client(&slow, "127.0.0.1");
    open_client(&other, "127.0.0.1");
    const unsigned sent = (unsigned)(fill(&slow, &other) / PING_BYTES);
    const unsigned whole = over_tls ? sent - PINGS : sent; /* the server has them without flush() */
    while (slow.seen.ping_acks < sent) {
        char number[16];
        if (slow.seen.ping_acks >= whole)
            flush(&slow);
        assert_true(hear(&slow));
        if (slow.seen.ping_acks == 0)
            continue;
        (void)snprintf(number, sizeof number, "%08u", slow.seen.ping_acks - 1); /* fits */
        assert_memory_equal(slow.seen.ping_ack, number, 8);
    }
    assert_true(sent > LIMIT_GRPC_OUTPUT / PING_BYTES);
    close_client(&slow);
    close_client(&other);
}

/* More calls than may wait at a time, in one piece: what is left in the socket, or in TLS, is read
 * when some of them are answered, though nothing more comes. */
static void calls_in_one_piece_are_all_answered(void **state) {
    enum { CALLS = LIMIT_GRPC_WAITING * 5 / 2 };
    struct client c;
    struct strbuf out = {0};
    (void)state;
    open_client(&c, "127.0.0.1");
    for (uint32_t i = 0; i < CALLS; i++)
        h2_call(&out, c.stream + 2 * i, PATH "Echo", STR("hello"));
    send_bytes(&c, &out);
    for (uint32_t i = 0; i < CALLS; i++, c.stream += 2) {
        const struct h2_answer *answer = &c.seen.answers[c.stream / 2];
        while (!answer->ended)
            assert_true(hear(&c));
        assert_string_equal(answer->grpc_status, "0");
    }
    close_client(&c);
}

/* Who makes answers and takes none is hung up on. */
static void who_does_not_read_is_left(void **state) {
    struct client deaf, other;
    (void)state;
    open_client(&deaf, "127.0.0.1");
    open_client(&other, "127.0.0.1");
    (void)fill(&deaf, &other);
    assert_int_equal((int)metric_now(LATE), 0);
    /* The server ends it with what it has not read: a reset. What is on its way may still move. */
    enum { ROUNDS = 10000 };
    struct pollfd p = {.fd = deaf.net.fd};
    for (int i = 0; (p.revents & POLLHUP) == 0; (void)poll(&p, 1, 0)) {
        assert_true(i++ < ROUNDS);
        atomic_fetch_add(&fake.at_ms, LIMIT_GRPC_SEND_MS);
        ping(&other);
    }
    metric_becomes(LATE, 1);
    close_client(&deaf);
    close_client(&other);
}

static void who_asks_much_waits_for_itself(void **state) {
    struct client greedy[3], other;
    struct strbuf out = {0};
    (void)state;
    (void)sem_init(&entered, 0, 0);
    (void)sem_init(&leave, 0, 0);
    answered = 0;
    memset(order, 0, sizeof order);
    for (int i = 0; i < 3; i++)
        open_client(&greedy[i], "127.0.0.1");
    open_client(&other, "127.0.0.2");
    for (int i = 0; i < 3; i++) {
        h2_call(&out, greedy[i].stream, PATH "Note", STR("g"));
        send_bytes(&greedy[i], &out);
        if (i == 0)
            (void)sem_wait(&entered);
    }
    h2_call(&out, other.stream, PATH "Note", STR("o"));
    send_bytes(&other, &out);
    (void)sem_post(&leave);
    while (!other.seen.answers[other.stream / 2].ended)
        assert_true(hear(&other));
    for (int i = 0; i < 3; i++)
        while (!greedy[i].seen.answers[greedy[i].stream / 2].ended)
            assert_true(hear(&greedy[i]));
    assert_true(order[1] == 'o' || order[2] == 'o'); /* after one of theirs at most */
    for (int i = 0; i < 3; i++)
        close_client(&greedy[i]);
    close_client(&other);
}

static void who_says_no_more_is_answered(void **state) {
    struct client c;
    struct strbuf out = {0};
    (void)state;
    open_client(&c, "127.0.0.1");
    h2_call(&out, c.stream, PATH "Echo", STR("hello"));
    send_bytes(&c, &out);
    if (over_tls)
        assert_int_equal(gnutls_bye(c.net.tls, GNUTLS_SHUT_WR), 0);
    assert_int_equal(shutdown(c.net.fd, SHUT_WR), 0);
    while (hear(&c))
        continue;
    assert_true(c.seen.answers[c.stream / 2].ended);
    close_client(&c);
}

static void draining_answers_what_is_open(void **state) {
    struct client c, newcomer = {.stream = 1};
    struct strbuf out = {0};
    (void)state;
    open_client(&c, "127.0.0.1");
    h2_request(&out, c.stream, PATH "Echo", NULL);
    h2_frame(&out, H2_PING, 0, 0, STR("12345678"));
    send_bytes(&c, &out);
    while (c.seen.ping_acks == 0)
        assert_true(hear(&c));
    grpc_listener_drain(listener);
    assert_false(net_open(&newcomer.net, grpc_listener_address(listener)));
    while (c.seen.goaways == 0)
        assert_true(hear(&c));
    h2_message(&out, c.stream, STR("hello"));
    send_bytes(&c, &out);
    while (!c.seen.answers[c.stream / 2].ended)
        assert_true(hear(&c));
    close_client(&c);
}

/* One that has come just before, and that the worker has not seen yet. */
static void draining_tells_who_has_just_come(void **state) {
    struct client c, newcomer;
    struct strbuf out = {0};
    (void)state;
    (void)sem_init(&entered, 0, 0);
    (void)sem_init(&leave, 0, 0);
    open_client(&c, "127.0.0.1");
    atomic_store(&holds_reading, true);
    h2_frame(&out, H2_PING, 0, 0, STR("12345678"));
    send_bytes(&c, &out);
    (void)sem_wait(&entered);
    open_silently(&newcomer, "127.0.0.1");
    grpc_listener_drain(listener);
    (void)sem_post(&leave);
    h2_preface(&out);
    send_bytes(&newcomer, &out);
    while (newcomer.seen.goaways == 0)
        assert_true(hear(&newcomer));
    close_client(&c);
    close_client(&newcomer);
}

/* As a process has them that was just made, and has not closed them yet. */
static void hold_descriptors(int *held, int count) {
    for (int fd = 0; fd < count; fd++)
        held[fd] = fcntl(fd, F_DUPFD_CLOEXEC, count);
}

static void what_is_closed_is_not_heard_of_again(void **state) {
    enum { DESCRIPTORS = 256 };
    static int held[DESCRIPTORS];
    struct client gone, other;
    struct strbuf out = {0};
    (void)state;
    open_client(&gone, "127.0.0.1");
    open_client(&other, "127.0.0.1");
    hold_descriptors(held, DESCRIPTORS);
    strbuf_append_str(&out, STR("this ends a connection"));
    send_bytes(&gone, &out);
    while (gone.seen.goaways == 0)
        assert_true(hear(&gone));
    strbuf_append_str(&out, STR("and makes it readable"));
    (void)net_send(&gone.net, out.p, out.n);
    strbuf_done(&out);
    for (int i = 0; i < 20; i++)
        assert_true(is_answered(&other));
    for (int i = 0; i < DESCRIPTORS; i++)
        if (held[i] >= 0)
            (void)close(held[i]);
    close_client(&gone);
    close_client(&other);
}

static void the_end_waits_for_nobody_beyond_its_limit(void **state) {
    struct client c;
    (void)state;
    open_client(&c, "127.0.0.1");
    grpc_listener_stop(listener, 0);
    listener = NULL;
    while (hear(&c))
        continue;
    close_client(&c);
}

static void make_certificate(void) {
    pki_init(&pki);
    pki_make(&pki, &(struct pki_wish){.name = "server", .cn = "server", .for_servers = true});
    (void)snprintf(certificate, sizeof certificate, "%s", pki_path(&pki, "server.pem")); /* fits */
    (void)snprintf(key, sizeof key, "%s", pki_path(&pki, "server.key"));                 /* fits */
}

int main(void) {
#define PLAINTEXT_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
#define TLS_TEST(f)                                                                                \
    { #f "_over_tls", f, set_up_tls, tear_down, NULL }
#define LISTENER_TEST(f) PLAINTEXT_TEST(f), TLS_TEST(f)
    const struct CMUnitTest tests[] = {
        LISTENER_TEST(clients_are_answered_side_by_side),
        LISTENER_TEST(an_address_makes_room_for_itself),
        LISTENER_TEST(who_has_most_makes_room_for_others),
        LISTENER_TEST(a_call_under_way_keeps_its_connection),
        LISTENER_TEST(who_finds_no_room_is_refused),
        LISTENER_TEST(silent_connections_are_counted),
        LISTENER_TEST(who_says_nothing_is_hung_up_on),
        LISTENER_TEST(who_does_not_read_keeps_nobody_waiting),
        LISTENER_TEST(who_reads_again_gets_the_rest),
        LISTENER_TEST(who_does_not_read_is_left),
        LISTENER_TEST(calls_in_one_piece_are_all_answered),
        LISTENER_TEST(who_asks_much_waits_for_itself),
        LISTENER_TEST(who_says_no_more_is_answered),
        LISTENER_TEST(draining_answers_what_is_open),
        LISTENER_TEST(what_is_closed_is_not_heard_of_again),
        LISTENER_TEST(the_end_waits_for_nobody_beyond_its_limit),
        PLAINTEXT_TEST(draining_tells_who_has_just_come), /* TLS is refused then */
        TLS_TEST(who_begins_tls_and_says_no_more),
        TLS_TEST(who_speaks_another_language_is_refused),
    };
    make_certificate();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pki_done(&pki);
    return failed;
}
