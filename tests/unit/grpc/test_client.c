/*
 * The client's side of gRPC over bytes: against this project's server, against a recorded server of
 * grpc-go, and against a server that does what none should. Expectations are those of gRPC's and
 * HTTP/2's specifications, and of grpc-go's client for what they leave open.
 */
#include "grpc/client_internal.h"
#include "grpc/session.h"

#include "base/file.h"
#include "base/limits.h"
#include "unit/grpc/h2.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#define PATH "/test.Service/"
enum { CALLS = 16, DEADLINE_MS = 3000, START_MS = 1000 };

static struct clock_fake fake;
static struct grpc_budget budget, server_budget;
static struct grpc_client *client;
static struct grpc_session *server;
static struct strbuf in, sent;
static struct h2_seen seen; /* of what the client sent */

struct outcome {
    int status, count;
    bool from_server;
    char message[64], text[LIMIT_GRPC_TEXT + 1];
    size_t message_length;
};
static struct outcome outcomes[CALLS];

/* ---- the server of this project ---- */

static int64_t asked_deadline_ms;
static char asked_object[64];

static void echo(void *ctx, const struct grpc_request *q, struct grpc_response *response) {
    (void)ctx;
    asked_deadline_ms = q->deadline_ms;
    (void)snprintf(asked_object, sizeof asked_object, "%.*s", STR_ARG(q->object));
    for (size_t i = q->message.n; i > 0; i--)
        strbuf_append_char(&response->message, q->message.p[i - 1]);
}

static void fail_call(void *ctx, const struct grpc_request *q, struct grpc_response *response) {
    (void)ctx;
    response->status = GRPC_UNKNOWN;
    (void)err_set(&response->err, -EINVAL, "100 %% of \"%.*s\"", STR_ARG(q->message));
}

static void answer_large(void *ctx, const struct grpc_request *q, struct grpc_response *response) {
    (void)ctx;
    (void)q;
    for (unsigned i = 0; i < LIMIT_GRPC_MESSAGE / 16; i++)
        strbuf_append_str(&response->message, STR("0123456789abcdef"));
}

static const struct grpc_method methods[] = {
    {"Echo", echo}, {"Fail", fail_call}, {"Large", answer_large}};
static const struct grpc_service service = {.path = PATH, .methods = methods, .method_count = 3};

static int set_up(void **state) {
    struct err err;
    (void)state;
    clock_fake_init(&fake, START_MS);
    budget = (struct grpc_budget){.max = 32 << 20};
    server_budget = (struct grpc_budget){.max = 32 << 20};
    memset(outcomes, 0, sizeof outcomes);
    const struct grpc_client_options options = {
        .authority = "estimator:10352", .clock = &fake.clock, .budget = &budget};
    return grpc_client_new(&options, &client, &err) != 0 ||
                   grpc_session_new(&service, &fake.clock, &server_budget, &server, &err) != 0
               ? -1
               : 0;
}

static int tear_down(void **state) {
    (void)state;
    grpc_client_free(client);
    client = NULL;
    grpc_session_free(server);
    assert_int_equal(budget.used, 0);
    strbuf_done(&in);
    strbuf_done(&sent);
    h2_seen_done(&seen);
    return 0;
}

/* ---- calls ---- */

static void keep(void *ctx, const struct grpc_reply *r) {
    struct outcome *o = ctx;
    o->count++;
    o->status = r->status;
    o->from_server = r->from_server;
    o->message_length = r->message.n;
    memcpy(o->message, r->message.n > 0 ? r->message.p : "",
           r->message.n < sizeof o->message ? r->message.n : sizeof o->message);
    assert_true(r->text.n <= LIMIT_GRPC_TEXT);
    memcpy(o->text, r->text.n > 0 ? r->text.p : "", r->text.n);
    o->text[r->text.n] = '\0';
}

static int begin(unsigned number, const char *path, struct str message) {
    struct err err;
    const struct grpc_call_request request = {.path = str_of(path),
                                              .object = STR("kind=Deployment, name=a/b"),
                                              .message = message,
                                              .deadline_ms = fake.at_ms + DEADLINE_MS};
    return grpc_client_call(client, &request, keep, &outcomes[number], &err);
}

static void assert_message(unsigned number, const char *message) {
    const struct outcome *o = &outcomes[number];
    if (o->status != GRPC_OK)
        fail_msg("status %d: %s", o->status, o->text);
    assert_int_equal(o->count, 1);
    assert_true(o->from_server);
    assert_int_equal(o->message_length, strlen(message));
    assert_memory_equal(o->message, message, strlen(message));
}

static void assert_failed(unsigned number, int status, const char *text) {
    const struct outcome *o = &outcomes[number];
    assert_int_equal(o->count, 1);
    if (o->status != status)
        fail_msg("status %d: %s", o->status, o->text);
    assert_contains(o->text, text);
    assert_int_equal(o->message_length, 0);
}

static void assert_problem(int code, const char *text) {
    struct err err;
    assert_int_equal(grpc_client_problem(client, &err), code);
    assert_contains(err.text, text);
}

/* Until neither has anything to say. */
static void exchange(size_t piece) {
    struct err err;
    for (bool more = true; more;) {
        const struct str out = grpc_client_output(client);
        const size_t n = out.n < piece ? out.n : piece;
        more = n > 0;
        if (n > 0) {
            assert_int_equal(grpc_session_receive(server, (struct str){out.p, n}, &err), 0);
            grpc_client_sent(client, n);
        }
        const struct str back = grpc_session_output(server);
        const size_t m = back.n < piece ? back.n : piece;
        more = more || m > 0;
        if (m > 0) {
            assert_int_equal(grpc_client_receive(client, (struct str){back.p, m}, &err), 0);
            grpc_session_sent(server, m);
        }
    }
}

static void a_call_is_answered(void **state) {
    (void)state;
    assert_false(grpc_client_is_greeted(client));
    assert_int_equal(begin(0, PATH "Echo", STR("abc")), 0);
    assert_int_equal(grpc_client_calls(client), 1);
    exchange(SIZE_MAX);
    assert_message(0, "cba");
    assert_true(grpc_client_is_greeted(client));
    assert_int_equal(grpc_client_calls(client), 0);
    assert_int_equal(asked_deadline_ms, START_MS + DEADLINE_MS);
    assert_string_equal(asked_object, "kind=Deployment, name=a/b");
    assert_false(grpc_client_is_over(client));
    assert_int_equal(grpc_client_tick(client), INT64_MAX);
}

static void bytes_may_come_one_by_one(void **state) {
    (void)state;
    assert_int_equal(begin(0, PATH "Echo", STR("")), 0);
    assert_int_equal(begin(1, PATH "Fail", STR("it")), 0);
    exchange(1);
    assert_message(0, "");
    assert_failed(1, GRPC_UNKNOWN, "100 % of \"it\"");
    assert_true(outcomes[1].from_server);
    assert_int_equal(begin(2, PATH "None", STR("")), 0);
    exchange(1);
    assert_failed(2, GRPC_UNIMPLEMENTED, "there is no method");
}

/* 64 KiB of flow control are opened as they are read; the message is as large as it may be. */
static void large_messages(void **state) {
    CLEANUP(strbuf_done) struct strbuf message = {0};
    (void)state;
    assert_int_equal(begin(0, PATH "Large", STR("")), 0);
    exchange(SIZE_MAX);
    assert_int_equal(outcomes[0].status, GRPC_OK);
    assert_int_equal(outcomes[0].message_length, LIMIT_GRPC_MESSAGE);
    while (message.n < LIMIT_GRPC_MESSAGE)
        strbuf_append_str(&message, STR("fedcba9876543210"));
    assert_int_equal(begin(1, PATH "Echo", strbuf_str(&message)), 0);
    exchange(16 << 10);
    assert_int_equal(outcomes[1].message_length, LIMIT_GRPC_MESSAGE);
    assert_memory_equal(outcomes[1].message, "0123456789abcdef", 16);
    strbuf_append_char(&message, 'x');
    assert_int_equal(begin(2, PATH "Echo", strbuf_str(&message)), -ENOMEM);
    assert_int_equal(outcomes[2].count, 0);
    assert_int_equal(grpc_client_calls(client), 0);
}

static void the_budget_is_shared(void **state) {
    (void)state;
    budget.max = LIMIT_GRPC_MESSAGE - LIMIT_GRPC_SESSION_OWN_BYTES - 1;
    assert_int_equal(begin(0, PATH "Large", STR("")), 0);
    exchange(SIZE_MAX);
    assert_failed(0, GRPC_RESOURCE_EXHAUSTED, "no memory");
    assert_int_equal(budget.used, 0);
    budget.used = budget.max; /* by other servers, which keep nobody from a small answer */
    assert_int_equal(begin(1, PATH "Echo", STR("abc")), 0);
    exchange(SIZE_MAX);
    assert_message(1, "cba");
    assert_int_equal(budget.used, budget.max);
    budget.used = 0;
}

static void calls_have_a_limit(void **state) {
    static struct outcome many;
    struct err err;
    const struct grpc_call_request request = {
        .path = STR(PATH "Echo"), .message = STR("x"), .deadline_ms = START_MS + 1};
    (void)state;
    many = (struct outcome){.count = 0};
    for (unsigned i = 0; i < LIMIT_GRPC_STREAMS; i++)
        assert_int_equal(grpc_client_call(client, &request, keep, &many, &err), 0);
    assert_int_equal(grpc_client_call(client, &request, keep, &many, &err), -EBUSY);
    exchange(SIZE_MAX);
    assert_int_equal(many.count, LIMIT_GRPC_STREAMS);
    assert_int_equal(begin(0, PATH "Echo", STR("abc")), 0);
    exchange(SIZE_MAX);
    assert_message(0, "cba");
}

/* ---- time ---- */

static void deadlines(void **state) {
    (void)state;
    assert_int_equal(begin(0, PATH "Echo", STR("late")), 0);
    fake.at_ms += 1000;
    assert_int_equal(begin(1, PATH "Echo", STR("in time")), 0);
    assert_int_equal(grpc_client_tick(client), START_MS + DEADLINE_MS);
    fake.at_ms = START_MS + DEADLINE_MS - 1;
    assert_int_equal(grpc_client_tick(client), START_MS + DEADLINE_MS);
    assert_int_equal(outcomes[0].count, 0);
    fake.at_ms = START_MS + DEADLINE_MS;
    assert_int_equal(grpc_client_tick(client), START_MS + DEADLINE_MS + 1000);
    assert_failed(0, GRPC_DEADLINE_EXCEEDED, "before the deadline");
    assert_false(outcomes[0].from_server);
    exchange(SIZE_MAX); /* the call was never sent */
    assert_message(1, "emit ni");
    assert_int_equal(outcomes[0].count, 1);
    assert_int_equal(grpc_session_calls(server), 0);
}

static void see_client(void) {
    for (struct str out; (out = grpc_client_output(client)).n > 0;) {
        strbuf_append_str(&sent, out);
        grpc_client_sent(client, out.n);
    }
    const size_t preface = 24;
    assert_true(sent.n >= preface);
    h2_see(&seen, (struct str){sent.p + preface, sent.n - preface});
    sent.n = preface; /* which comes once, but is asked for each time */
}

static int hear(void) {
    struct err err;
    int r = 0;
    for (size_t at = 0; r == 0 && at < in.n; at += 1000) {
        const size_t n = in.n - at < 1000 ? in.n - at : 1000;
        r = grpc_client_receive(client, (struct str){in.p + at, n}, &err);
        see_client();
    }
    strbuf_clear(&in);
    return r;
}

/* What was sent is cancelled, and an answer that comes all the same is dropped. */
static void a_late_answer_is_dropped(void **state) {
    CLEANUP(strbuf_done) struct strbuf block = {0};
    (void)state;
    assert_int_equal(begin(0, PATH "Echo", STR("a")), 0);
    see_client();
    fake.at_ms += DEADLINE_MS;
    assert_int_equal(grpc_client_tick(client), INT64_MAX);
    see_client();
    assert_true(seen.answers[0].reset);
    assert_int_equal(seen.answers[0].reset_code, 8); /* CANCEL */
    h2_frame(&in, H2_SETTINGS, 0, 0, STR(""));
    h2_field(&block, ":status", "200");
    h2_field(&block, "content-type", "application/grpc");
    h2_frame(&in, H2_HEADERS, H2_END_HEADERS, 1, strbuf_str(&block));
    h2_message(&in, 1, STR("late"));
    assert_int_equal(hear(), 0);
    assert_failed(0, GRPC_DEADLINE_EXCEEDED, "");
    assert_true(grpc_client_takes_calls(client));
}

/* ---- a server of any kind ---- */

struct field {
    const char *name, *value;
};

static void answer_headers(uint32_t stream, unsigned flags, const struct field *fields) {
    CLEANUP(strbuf_done) struct strbuf block = {0};
    for (; fields->name != NULL; fields++)
        h2_field(&block, fields->name, fields->value);
    h2_frame(&in, H2_HEADERS, H2_END_HEADERS | flags, stream, strbuf_str(&block));
}
#define HEADERS(stream, flags, ...)                                                                \
    answer_headers(stream, flags, (const struct field[]){__VA_ARGS__, {NULL, NULL}})
#define GOOD                                                                                       \
    {":status", "200"}, {                                                                          \
        "content-type", "application/grpc"                                                         \
    }

/* The server's first frame is sent, and the client's call `number` is open on its stream. */
static void open_call(unsigned number) {
    if (number == 0) {
        h2_frame(&in, H2_SETTINGS, 0, 0, STR(""));
        h2_frame(&in, H2_SETTINGS, H2_ACK, 0, STR(""));
        see_client();
    }
    assert_int_equal(begin(number, PATH "Echo", STR("a")), 0);
    see_client();
}

static void trailers_only(void **state) {
    (void)state;
    open_call(0);
    HEADERS(1, H2_END_STREAM, GOOD, {"grpc-status", "14"},
            {"grpc-message", "go%20away%0a100%25%2"});
    assert_int_equal(hear(), 0);
    assert_failed(0, 14, "");
    assert_string_equal(outcomes[0].text, "go away 100%%2");
    assert_true(outcomes[0].from_server);
    open_call(1);
    HEADERS(3, H2_END_STREAM, GOOD, {"grpc-status", "99"});
    assert_int_equal(hear(), 0);
    assert_failed(1, 99, "");
    open_call(2);
    HEADERS(5, H2_END_STREAM, GOOD, {"grpc-status", "x"});
    assert_int_equal(hear(), 0);
    assert_failed(2, GRPC_INTERNAL, "no number");
    open_call(3);
    HEADERS(7, H2_END_STREAM, GOOD);
    assert_int_equal(hear(), 0);
    assert_failed(3, GRPC_INTERNAL, "without a status");
    open_call(4);
    HEADERS(9, H2_END_STREAM, GOOD, {"grpc-status", "0"});
    assert_int_equal(hear(), 0);
    assert_failed(4, GRPC_INTERNAL, "not complete");
    assert_false(outcomes[4].from_server);
}

static void informational_headers_are_passed_over(void **state) {
    (void)state;
    open_call(0);
    HEADERS(1, 0, {":status", "100"});
    HEADERS(1, 0, {":status", "103"});
    HEADERS(1, 0, GOOD);
    h2_frame(&in, H2_DATA, 0, 1, (struct str){"\0\0\0\0\1z", 6});
    HEADERS(1, H2_END_STREAM, {"grpc-status", "0"});
    assert_int_equal(hear(), 0);
    assert_message(0, "z");
}

/* gRPC's http-grpc-status-mapping.md */
static void other_http_statuses(void **state) {
    static const struct {
        const char *http;
        int status;
    } rows[] = {{"400", 13}, {"401", 16}, {"403", 7}, {"404", 12}, {"429", 14}, {"502", 14},
                {"503", 14}, {"504", 14}, {"500", 2}, {"302", 2},  {"200", 2}};
    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        open_call(i);
        HEADERS(2 * i + 1, 0, {":status", rows[i].http}, {"content-type", "text/html"});
        h2_frame(&in, H2_DATA, H2_END_STREAM, 2 * i + 1, STR("<html>"));
        assert_int_equal(hear(), 0);
        assert_failed(i, rows[i].status, rows[i].http);
        assert_false(outcomes[i].from_server);
    }
    open_call(CALLS - 1); /* the connection is as good as before */
    const uint32_t stream = 2 * (sizeof rows / sizeof rows[0]) + 1;
    HEADERS(stream, 0, GOOD);
    h2_frame(&in, H2_DATA, 0, stream, (struct str){"\0\0\0\0\1z", 6});
    HEADERS(stream, H2_END_STREAM, {"grpc-status", "0"});
    assert_int_equal(hear(), 0);
    assert_message(CALLS - 1, "z");
}

static void wrong_messages(void **state) {
    static const struct {
        struct str data;
        int status;
        const char *text;
    } rows[] = {
        {{"\1\0\0\0\1z", 6}, 13, "compressed"},
        {{"\2\0\0\0\1z", 6}, 13, "compressed"},
        {{"\0\0\0\0\1zz", 7}, 13, "more than one"},
        {{"\0\0\0\0\1z\0\0\0\0\1z", 12}, 13, "more than one"},
        {{"\0\0\0\0\2z", 6}, 13, "not complete"},
        {{"\0\0\0\0", 4}, 13, "not complete"},
        {{"\0\0\x40\0\1", 5}, 8, "4194305 bytes, of 4194304"},
        {{"\0\xff\xff\xff\xff", 5}, 8, "4294967295 bytes"},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        open_call(i);
        HEADERS(2 * i + 1, 0, GOOD);
        h2_frame(&in, H2_DATA, 0, 2 * i + 1, rows[i].data);
        HEADERS(2 * i + 1, H2_END_STREAM, {"grpc-status", "0"});
        assert_int_equal(hear(), 0);
        assert_failed(i, rows[i].status, rows[i].text);
        assert_int_equal(budget.used, 0);
    }
}

static void no_trailers(void **state) {
    (void)state;
    open_call(0);
    HEADERS(1, 0, GOOD);
    h2_frame(&in, H2_DATA, H2_END_STREAM, 1, (struct str){"\0\0\0\0\1z", 6});
    assert_int_equal(hear(), 0);
    assert_failed(0, GRPC_INTERNAL, "without a status");
}

static void resets(void **state) {
    static const struct {
        char code;
        int status;
    } rows[] = {{0, 13}, {1, 13}, {2, 13}, {7, 14}, {8, 1}, {11, 8}, {12, 7}};
    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        open_call(i);
        HEADERS(2 * i + 1, 0, GOOD);
        h2_frame(&in, H2_RST_STREAM, 0, 2 * i + 1,
                 (struct str){(char[]){0, 0, 0, rows[i].code}, 4});
        assert_int_equal(hear(), 0);
        assert_failed(i, rows[i].status, "HTTP/2's error");
    }
}

static struct str goaway(uint32_t last, struct strbuf *payload) {
    strbuf_append(payload, (char[]){0, 0, (char)(last >> 8), (char)last, 0, 0, 0, 11},
                  8); /* ENHANCE_YOUR_CALM */
    return strbuf_str(payload);
}

static void a_server_that_leaves_answers_what_it_has_taken(void **state) {
    CLEANUP(strbuf_done) struct strbuf payload = {0};
    (void)state;
    open_call(0);
    open_call(1);
    open_call(2);
    h2_frame(&in, H2_GOAWAY, 0, 0, goaway(3, &payload));
    assert_int_equal(hear(), 0);
    assert_failed(2, GRPC_UNAVAILABLE, "");
    assert_int_equal(outcomes[0].count + outcomes[1].count, 0);
    assert_false(grpc_client_takes_calls(client));
    assert_int_equal(begin(3, PATH "Echo", STR("")), -ENOTCONN);
    assert_false(grpc_client_is_over(client));
    for (uint32_t stream = 1; stream <= 3; stream += 2) {
        HEADERS(stream, 0, GOOD);
        h2_frame(&in, H2_DATA, 0, stream, (struct str){"\0\0\0\0\1z", 6});
        HEADERS(stream, H2_END_STREAM, {"grpc-status", "0"});
    }
    assert_int_equal(hear(), 0);
    assert_message(0, "z");
    assert_message(1, "z");
    assert_true(grpc_client_is_over(client));
    assert_problem(-ECONNRESET, "the server is leaving (ENHANCE_YOUR_CALM)");
}

static void our_own_server_leaves_gracefully(void **state) {
    (void)state;
    assert_int_equal(begin(0, PATH "Echo", STR("ab")), 0);
    exchange(SIZE_MAX);
    grpc_session_shutdown(server);
    exchange(SIZE_MAX);
    assert_false(grpc_client_takes_calls(client));
    assert_true(grpc_client_is_over(client));
    assert_true(grpc_session_is_over(server));
    assert_message(0, "ba");
}

static void a_lost_connection_ends_calls(void **state) {
    enum { PIECE = 8 << 10 };
    static const char piece[PIECE] = {0, 0, 1, 0, 0}; /* of a message of 64 KiB */
    (void)state;
    open_call(0);
    open_call(1);
    HEADERS(1, 0, GOOD);
    for (size_t n = 0; n <= LIMIT_GRPC_SESSION_OWN_BYTES; n += PIECE)
        h2_frame(&in, H2_DATA, 0, 1, (struct str){piece, PIECE});
    assert_int_equal(hear(), 0);
    assert_int_equal(budget.used, PIECE - 5);
    grpc_client_free(client);
    client = NULL;
    assert_failed(0, GRPC_UNAVAILABLE, "lost");
    assert_failed(1, GRPC_UNAVAILABLE, "lost");
}

/* Who answers before the request is there, and lets it be, does not make the call stay. */
static void a_request_that_is_not_wanted_is_cancelled(void **state) {
    (void)state;
    h2_frame(&in, H2_SETTINGS, 0, 0, (struct str){"\0\4\0\0\0\0", 6}); /* no window */
    assert_int_equal(grpc_client_output(client).n > 0, true);
    see_client();
    assert_int_equal(hear(), 0);
    assert_int_equal(begin(0, PATH "Echo", STR("a")), 0);
    assert_int_equal(begin(1, PATH "Echo", STR("a")), 0);
    see_client();
    HEADERS(1, H2_END_STREAM, GOOD, {"grpc-status", "0"});
    HEADERS(3, H2_END_STREAM, GOOD, {"grpc-status", "8"}, {"grpc-message", "no"});
    assert_int_equal(hear(), 0);
    assert_failed(0, GRPC_INTERNAL, "not complete");
    assert_failed(1, GRPC_RESOURCE_EXHAUSTED, "no");
    for (int i = 0; i < 2; i++) {
        assert_true(seen.answers[i].reset);
        assert_int_equal(seen.answers[i].reset_code, 8); /* CANCEL */
    }
    assert_true(list_empty(&client->calls));
}

/* The last of 2^30: then another connection is needed. */
static void numbers_of_streams_end(void **state) {
    (void)state;
    exchange(SIZE_MAX);
    assert_int_equal(nghttp2_session_set_next_stream_id(client->http2, INT32_MAX), 0);
    assert_int_equal(begin(0, PATH "Echo", STR("a")), 0);
    assert_false(grpc_client_takes_calls(client));
    assert_int_equal(begin(1, PATH "Echo", STR("a")), -ENOTCONN);
    assert_false(grpc_client_is_over(client));
    exchange(SIZE_MAX);
    assert_message(0, "a");
    assert_true(grpc_client_is_over(client));
    assert_problem(-ECONNRESET, "no stream number left");
}

static void pings_are_answered(void **state) {
    (void)state;
    open_call(0);
    h2_frame(&in, H2_PING, 0, 0, STR("12345678"));
    assert_int_equal(hear(), 0);
    assert_int_equal(seen.ping_acks, 1);
    assert_int_equal(seen.settings_acks, 1);
}

/* ---- limits ---- */

static void headers_have_a_limit(void **state) {
    enum { GOOD_BYTES = 7 + 3 + 32 + 12 + 16 + 32, OVERHEAD = 1 + 32, STATUS_BYTES = 11 + 1 + 32 };
    static char value[LIMIT_GRPC_HEADERS];
    (void)state;
    const size_t most = LIMIT_GRPC_HEADERS - GOOD_BYTES - STATUS_BYTES - OVERHEAD;
    memset(value, 'v', sizeof value);
    value[most] = '\0';
    open_call(0);
    HEADERS(1, H2_END_STREAM, GOOD, {"grpc-status", "5"}, {"x", value});
    assert_int_equal(hear(), 0);
    assert_failed(0, 5, "");
    value[most] = 'v';
    value[most + 1] = '\0';
    open_call(1);
    HEADERS(3, H2_END_STREAM, GOOD, {"grpc-status", "5"}, {"x", value});
    assert_int_equal(hear(), 0);
    assert_failed(1, GRPC_INTERNAL, "too large");
    open_call(2); /* trailers count with them */
    value[most / 2] = '\0';
    HEADERS(5, 0, GOOD, {"x", value});
    HEADERS(5, H2_END_STREAM, {"grpc-status", "5"}, {"x", value});
    assert_int_equal(hear(), 0);
    assert_failed(2, GRPC_INTERNAL, "too large");
    assert_true(grpc_client_takes_calls(client));
}

static void long_texts_are_cut(void **state) {
    static char text[2 * LIMIT_GRPC_TEXT];
    (void)state;
    memset(text, 't', sizeof text - 1);
    open_call(0);
    HEADERS(1, H2_END_STREAM, GOOD, {"grpc-status", "5"}, {"grpc-message", text});
    assert_int_equal(hear(), 0);
    assert_int_equal(strlen(outcomes[0].text), LIMIT_GRPC_TEXT);
}

/* Each ends the session; the call ends with it. */
static void wrong_frames(void **state) {
    static const struct {
        enum h2_type type;
        unsigned flags;
        uint32_t stream;
        struct str payload;
    } rows[] = {
        {H2_PUSH_PROMISE, H2_END_HEADERS, 1, {"\0\0\0\2\x88", 5}},
        {H2_DATA, 0, 0, {"x", 1}},
        {H2_HEADERS, H2_END_HEADERS, 1, {"\xff\xff\xff\xff\xff\xff\xff", 7}},
        {H2_HEADERS, H2_END_HEADERS, 2, {"\x88", 1}},
        {H2_CONTINUATION, H2_END_HEADERS, 1, {"\x88", 1}},
        {H2_SETTINGS, 0, 0, {"x", 1}},
        {H2_PING, 0, 0, {"1234567", 7}},
        {H2_WINDOW_UPDATE, 0, 0, {"\0\0\0\0", 4}},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *none = NULL;
        print_message("# row %u\n", i);
        open_call(0);
        h2_frame(&in, rows[i].type, rows[i].flags, rows[i].stream, rows[i].payload);
        (void)hear(); /* what is wrong is told by GOAWAY, too */
        assert_int_equal(seen.goaways, 1);
        assert_false(grpc_client_takes_calls(client));
        assert_true(grpc_client_is_over(client));
        assert_problem(-EPROTO, "broke a rule");
        (void)tear_down(&none);
        assert_int_equal(outcomes[0].count, 1);
        assert_int_not_equal(outcomes[0].status, 0);
        assert_int_equal(set_up(&none), 0);
    }
}

static void http1_is_no_answer(void **state) {
    (void)state;
    open_call(0);
    strbuf_clear(&in);
    strbuf_append_str(&in, STR("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"));
    (void)hear();
    assert_false(grpc_client_is_greeted(client));
    assert_true(grpc_client_is_over(client));
    assert_problem(-EPROTO, "does not speak HTTP/2");
}

static void floods_end_the_session(void **state) {
    struct err err;
    int r = 0;
    (void)state;
    h2_frame(&in, H2_SETTINGS, 0, 0, STR(""));
    for (int i = 0; i < 100000; i++)
        h2_frame(&in, H2_PING, 0, 0, STR("12345678"));
    for (size_t at = 0; r == 0 && at < in.n && grpc_client_takes_input(client); at += 1000)
        r = grpc_client_receive(client,
                                (struct str){in.p + at, in.n - at < 1000 ? in.n - at : 1000}, &err);
    assert_true(r != 0 || !grpc_client_takes_input(client));
    assert_true(grpc_client_output(client).n <= 2 * LIMIT_GRPC_OUTPUT);
}

/* ---- grpc-go's bytes ---- */

static unsigned hex_of(char c) {
    return (unsigned)(isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10);
}

/* A line of the capture: its bytes, if the server has sent them. */
static void append_line(struct str line, struct strbuf *out) {
    const struct str from_server = STR("S>C ");
    if (!str_has_prefix(line, from_server))
        return;
    for (size_t i = from_server.n; i + 1 < line.n; i += 2)
        strbuf_append_char(out, (char)(hex_of(line.p[i]) * 16 + hex_of(line.p[i + 1])));
}

/* Calls of the capture are on streams 1 to 11: good, a wrong cluster, good, good, a wrong kind. */
static void recorded_answers_of_grpc_go(void **state) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = 1 << 20};
    struct err err;
    (void)state;
    assert_int_equal(
        file_read("tests/conformance/data/karmada/grpc_capture.txt", 1 << 20, &text, &err), 0);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(begin(i, PATH "Echo", STR("a")), 0);
    see_client();
    for (struct str rest = strbuf_str(&text); rest.n > 0;) {
        const size_t at = str_find(rest, '\n');
        const struct str line = {rest.p, at < rest.n ? at : rest.n};
        append_line(line, &in);
        rest = at < rest.n ? (struct str){rest.p + at + 1, rest.n - at - 1} : STR("");
    }
    assert_int_equal(hear(), 0);
    assert_message(0, "\x08\x10");
    assert_failed(1, GRPC_UNKNOWN, "");
    assert_string_equal(outcomes[1].text, "cluster name does not match, got: other, desire: fake");
    assert_message(2, "\x08\x10");
    assert_message(3, "\x08\x10");
    assert_failed(4, GRPC_UNKNOWN, "");
    assert_string_equal(outcomes[4].text,
                        "no matches for kind \"StatefulSet\" in version \"apps/v1\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_call_is_answered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bytes_may_come_one_by_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(large_messages, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_budget_is_shared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(calls_have_a_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(deadlines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_late_answer_is_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(trailers_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(informational_headers_are_passed_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_http_statuses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_messages, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_trailers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(resets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_server_that_leaves_answers_what_it_has_taken, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(our_own_server_leaves_gracefully, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lost_connection_ends_calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_request_that_is_not_wanted_is_cancelled, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(numbers_of_streams_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pings_are_answered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(headers_have_a_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_texts_are_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_frames, set_up, tear_down),
        cmocka_unit_test_setup_teardown(http1_is_no_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(floods_end_the_session, set_up, tear_down),
        cmocka_unit_test_setup_teardown(recorded_answers_of_grpc_go, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
