/*
 * A gRPC session over bytes: calls, statuses, limits, abuse, and its end. Expectations are those of
 * the fleet contract, 7, of gRPC's and HTTP/2's specifications, and of nghttp2's documentation for
 * the limits that are its own.
 */
#include "grpc/session.h"

#include "base/limits.h"
#include "unit/grpc/h2.h"

#include <errno.h>

#define PATH "/test.Service/"
#define OWN LIMIT_GRPC_SESSION_OWN_BYTES
#define PUT(literal, out) strbuf_append_str(out, STR(literal))

static struct clock_fake fake;
static struct grpc_budget budget;
static struct grpc_session *session;
static struct strbuf in;
static struct h2_seen seen;
static size_t calls;
static struct grpc_report reported;
static char reported_object[LIMIT_GRPC_OBJECT + 1];

/* Answers what it was asked, backwards where that can be seen. */
static void echo(void *ctx, const struct grpc_request *q, struct grpc_response *response) {
    (void)ctx;
    calls++;
    for (size_t i = q->message.n; i > 0; i--)
        strbuf_append_char(&response->message, q->message.p[i - 1]);
}

static void fail_call(void *ctx, const struct grpc_request *q, struct grpc_response *response) {
    (void)ctx;
    calls++;
    strbuf_append_str(&response->message, STR("not sent"));
    response->status = GRPC_UNKNOWN;
    (void)err_set(&response->err, -EINVAL, "100 %% of \"%.*s\"\n", STR_ARG(q->message));
}

static void count_bytes(void *ctx, const struct grpc_request *q, struct grpc_response *response) {
    (void)ctx;
    calls++;
    strbuf_appendf(&response->message, "%zu", q->message.n);
}

static void answer_too_much(void *ctx, const struct grpc_request *q,
                            struct grpc_response *response) {
    (void)ctx;
    (void)q;
    calls++;
    while (!strbuf_failed(&response->message))
        strbuf_append_str(&response->message, STR("0123456789abcdef"));
}

static void observe(void *ctx, const struct grpc_report *report) {
    (void)ctx;
    reported = *report;
    memcpy(reported_object, report->object.p, report->object.n);
    reported_object[report->object.n] = '\0';
}

static const struct grpc_method methods[] = {
    {"Echo", echo}, {"Fail", fail_call}, {"Count", count_bytes}, {"Much", answer_too_much}};
static const struct grpc_service service = {
    .path = PATH, .methods = methods, .method_count = 4, .observe = observe};

static int set_up(void **state) {
    struct err err;
    (void)state;
    clock_fake_init(&fake, 1000);
    budget = (struct grpc_budget){.max = 32 << 20};
    calls = 0;
    reported = (struct grpc_report){.method = NULL};
    if (grpc_session_new(&service, &fake.clock, &budget, &session, &err) != 0)
        return -1;
    h2_preface(&in);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    grpc_session_free(session);
    assert_int_equal(budget.used, 0);
    strbuf_done(&in);
    h2_seen_done(&seen);
    return 0;
}

static void take_output(void) {
    for (;;) {
        const struct str out = grpc_session_output(session);
        if (out.n == 0)
            return;
        h2_see(&seen, out);
        grpc_session_sent(session, out.n);
    }
}

/* Sends what is in `in`, 1000 bytes at a time. Returns what the session said last. */
static int send_all(void) {
    struct err err;
    int r = 0;
    for (size_t at = 0; r == 0 && at < in.n; at += 1000) {
        const size_t n = in.n - at < 1000 ? in.n - at : 1000;
        r = grpc_session_receive(session, (struct str){in.p + at, n}, &err);
        take_output();
    }
    strbuf_clear(&in);
    take_output();
    return r;
}

static void assert_answer(uint32_t stream, const char *message) {
    const struct h2_answer *a = &seen.answers[stream / 2];
    const size_t n = strlen(message);
    assert_string_equal(a->status, "200");
    assert_string_equal(a->type, "application/grpc");
    assert_string_equal(a->grpc_status, "0");
    assert_string_equal(a->grpc_message, "");
    assert_true(a->ended);
    assert_false(a->reset);
    assert_int_equal(a->header_frames, 2);
    assert_int_equal(a->body_length, 5 + n);
    assert_memory_equal(a->body, "\0\0\0", 3);
    assert_int_equal((unsigned char)a->body[4], n);
    assert_memory_equal(a->body + 5, message, n);
}

static void assert_refused(uint32_t stream, const char *http, const char *status,
                           const char *message) {
    const struct h2_answer *a = &seen.answers[stream / 2];
    assert_string_equal(a->status, http);
    assert_string_equal(a->type, "application/grpc");
    assert_string_equal(a->grpc_status, status);
    assert_string_equal(a->grpc_message, message);
    assert_true(a->ended);
    assert_int_equal(a->header_frames, 1);
    assert_int_equal(a->body_length, 0);
}

/* ---- calls ---- */

static void a_call_is_answered(void **state) {
    (void)state;
    h2_call(&in, 1, PATH "Echo", STR("abc"));
    assert_int_equal(send_all(), 0);
    assert_answer(1, "cba");
    assert_int_equal(seen.settings, 1);
    assert_int_equal(seen.settings_acks, 1);
    assert_int_equal(grpc_session_calls(session), 0);
    assert_string_equal(reported.method->name, "Echo");
    assert_int_equal(reported.status, GRPC_OK);
    assert_false(grpc_session_is_over(session));
}

static void messages_may_be_empty(void **state) {
    (void)state;
    h2_call(&in, 1, PATH "Echo", STR(""));
    assert_int_equal(send_all(), 0);
    assert_answer(1, "");
}

static void bytes_may_come_one_by_one(void **state) {
    struct err err;
    (void)state;
    h2_call(&in, 1, PATH "Echo", STR("abc"));
    for (size_t i = 0; i < in.n; i++)
        assert_int_equal(grpc_session_receive(session, (struct str){in.p + i, 1}, &err), 0);
    take_output();
    assert_answer(1, "cba");
}

static void a_message_may_come_in_any_frames(void **state) {
    (void)state;
    h2_request(&in, 1, PATH "Echo", NULL);
    h2_frame(&in, H2_DATA, 0, 1, (struct str){"\0\0", 2});
    h2_frame(&in, H2_DATA, 0, 1, STR(""));
    h2_frame(&in, H2_DATA, 0, 1, (struct str){"\0\0\4ab", 5});
    h2_frame(&in, H2_DATA, 0, 1, STR("cd"));
    assert_int_equal(send_all(), 0);
    assert_int_equal(calls, 0); /* not before the client has ended it */
    h2_frame(&in, H2_DATA, H2_END_STREAM, 1, STR(""));
    assert_int_equal(send_all(), 0);
    assert_answer(1, "dcba");
}

static void calls_are_independent(void **state) {
    (void)state;
    h2_request(&in, 1, PATH "Echo", NULL);
    h2_request(&in, 3, PATH "Echo", NULL);
    h2_message(&in, 3, STR("three"));
    h2_call(&in, 5, PATH "Fail", STR("five"));
    h2_message(&in, 1, STR("one"));
    assert_int_equal(send_all(), 0);
    assert_answer(1, "eno");
    assert_answer(3, "eerht");
    assert_refused(5, "200", "2", "100 %25 of \"five\"%0A");
    assert_int_equal(calls, 3);
}

static void trailers_of_a_client_may_end_a_call(void **state) {
    CLEANUP(strbuf_done) struct strbuf block = {0};
    (void)state;
    h2_request(&in, 1, PATH "Echo", NULL);
    h2_frame(&in, H2_DATA, 0, 1, (struct str){"\0\0\0\0\1x", 6});
    h2_field(&block, "a", "b");
    h2_frame(&in, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, 1, strbuf_str(&block));
    assert_int_equal(send_all(), 0);
    assert_answer(1, "x");
}

static void the_object_is_reported(void **state) {
    CLEANUP(strbuf_done) struct strbuf more = {0};
    char object[LIMIT_GRPC_OBJECT + 2];
    (void)state;
    memset(object, 'o', sizeof object);
    object[LIMIT_GRPC_OBJECT + 1] = '\0';
    h2_field(&more, "object", object);
    h2_request(&in, 1, PATH "Echo", &more);
    h2_message(&in, 1, STR("x"));
    assert_int_equal(send_all(), 0);
    assert_int_equal(strlen(reported_object), LIMIT_GRPC_OBJECT);
}

/* ---- statuses ---- */

static void unknown_methods_are_status_12(void **state) {
    static const char *const paths[] = {PATH,    PATH "echo", PATH "Echo2",         PATH "Ech",
                                        "/Echo", "/x",        "/test.Service2/Echo"};
    (void)state;
    for (uint32_t i = 0; i < 7; i++) {
        CLEANUP(strbuf_done) struct strbuf want = {0};
        h2_call(&in, 2 * i + 1, paths[i], STR("x"));
        assert_int_equal(send_all(), 0);
        strbuf_appendf(&want, "there is no method %s", paths[i]);
        strbuf_append_char(&want, '\0');
        assert_refused(2 * i + 1, "200", "12", want.p);
        assert_null(reported.method);
    }
    assert_int_equal(calls, 0);
}

static void a_request_of_other_headers(struct strbuf *block, uint32_t stream) {
    h2_frame(&in, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, stream, strbuf_str(block));
    assert_int_equal(send_all(), 0);
}

static void what_is_no_grpc_is_refused(void **state) {
    static const struct {
        const char *method, *type, *http, *status;
    } rows[] = {
        {"GET", "application/grpc", "405", "13"},
        {"POST", "application/json", "415", "3"},
        {"POST", "application/grpc-web", "415", "3"},
        {"POST", "application/grp", "415", "3"},
        {"POST", "application/grpc+proto", "200", "13"}, /* only that there is no message */
        {"POST", "Application/GRPC;charset=x", "200", "13"},
    };
    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        CLEANUP(strbuf_done) struct strbuf block = {0};
        h2_field(&block, ":method", rows[i].method);
        h2_field(&block, ":scheme", "http");
        h2_field(&block, ":path", PATH "Echo");
        h2_field(&block, ":authority", "estimator");
        h2_field(&block, "content-type", rows[i].type);
        a_request_of_other_headers(&block, 2 * i + 1);
        assert_string_equal(seen.answers[i].status, rows[i].http);
        assert_string_equal(seen.answers[i].grpc_status, rows[i].status);
    }
    CLEANUP(strbuf_done) struct strbuf block = {0};
    h2_field(&block, ":method", "POST");
    h2_field(&block, ":scheme", "http");
    h2_field(&block, ":path", PATH "Echo");
    h2_field(&block, ":authority", "estimator");
    a_request_of_other_headers(&block, 13); /* no type at all */
    assert_string_equal(seen.answers[6].status, "415");
    assert_int_equal(calls, 0);
}

static void malformed_frames_are_status_13(void **state) {
    static const struct {
        const char *bytes;
        size_t n;
        const char *message;
    } rows[] = {
        {"", 0, "the message is not complete"},
        {"\0\0\0\0", 4, "the message is not complete"},
        {"\0\0\0\0\2a", 6, "the message is not complete"},
        {"\0\0\0\0\1ab", 7, "there is more than one message"},
        {"\0\0\0\0\0\0", 6, "there is more than one message"},
        {"\1\0\0\0\1a", 6, "compressed messages are not read"},
        {"\2\0\0\0\1a", 6, "compressed messages are not read"},
    };
    (void)state;
    for (uint32_t i = 0; i < 7; i++) {
        h2_request(&in, 2 * i + 1, PATH "Echo", NULL);
        h2_frame(&in, H2_DATA, H2_END_STREAM, 2 * i + 1, (struct str){rows[i].bytes, rows[i].n});
        assert_int_equal(send_all(), 0);
        assert_refused(2 * i + 1, "200", "13", rows[i].message);
    }
    assert_int_equal(calls, 0);
}

static void compression_is_status_12(void **state) {
    CLEANUP(strbuf_done) struct strbuf gzip = {0}, identity = {0};
    (void)state;
    h2_field(&gzip, "grpc-encoding", "gzip");
    h2_field(&identity, "grpc-encoding", "identity");
    h2_request(&in, 1, PATH "Echo", &gzip);
    h2_frame(&in, H2_DATA, H2_END_STREAM, 1, (struct str){"\1\0\0\0\1a", 6});
    h2_request(&in, 3, PATH "Echo", &identity);
    h2_frame(&in, H2_DATA, H2_END_STREAM, 3, (struct str){"\1\0\0\0\1a", 6});
    h2_request(&in, 5, PATH "Echo", &gzip); /* announced, and not done */
    h2_message(&in, 5, STR("a"));
    assert_int_equal(send_all(), 0);
    assert_refused(1, "200", "12", "compressed messages are not read");
    assert_refused(3, "200", "13", "compressed messages are not read");
    assert_answer(5, "a");
}

static void a_response_that_is_too_large_is_status_8(void **state) {
    (void)state;
    h2_call(&in, 1, PATH "Much", STR(""));
    assert_int_equal(send_all(), 0);
    assert_refused(1, "200", "8", "the response is too large");
}

/* ---- time ---- */

static void call_with_timeout(uint32_t stream, const char *timeout) {
    CLEANUP(strbuf_done) struct strbuf more = {0};
    h2_field(&more, "grpc-timeout", timeout);
    h2_request(&in, stream, PATH "Echo", &more);
    assert_int_equal(send_all(), 0);
}

static void a_deadline_is_status_4(void **state) {
    (void)state;
    call_with_timeout(1, "2999u"); /* 3 ms */
    call_with_timeout(3, "2999u");
    fake.at_ms += 2;
    h2_message(&in, 1, STR("x"));
    assert_int_equal(send_all(), 0);
    assert_answer(1, "x");
    fake.at_ms += 1;
    h2_message(&in, 3, STR("x"));
    assert_int_equal(send_all(), 0);
    assert_refused(3, "200", "4", "the deadline is over");
    assert_int_equal(calls, 1);
}

static void a_call_that_waits_ends_at_its_deadline(void **state) {
    (void)state;
    call_with_timeout(1, "3S");
    h2_request(&in, 3, PATH "Echo", NULL); /* without one */
    assert_int_equal(send_all(), 0);
    fake.at_ms += 2999;
    assert_true(grpc_session_tick(session));
    take_output();
    assert_false(seen.answers[0].ended);
    fake.at_ms += 1;
    assert_true(grpc_session_tick(session));
    take_output();
    assert_refused(1, "200", "4", "the request did not come in time");
    assert_false(seen.answers[0].reset); /* the client may still send the rest */
    fake.at_ms += LIMIT_GRPC_RECEIVE_MS - 3001;
    assert_true(grpc_session_tick(session));
    take_output();
    assert_false(seen.answers[1].ended);
    fake.at_ms += 1;
    assert_true(grpc_session_tick(session));
    take_output();
    assert_refused(3, "200", "4", "the request did not come in time");
    fake.at_ms += LIMIT_GRPC_SEND_MS;
    assert_true(grpc_session_tick(session));
    take_output();
    assert_int_equal(grpc_session_calls(session), 0);
}

static void a_malformed_timeout_is_status_13(void **state) {
    (void)state;
    call_with_timeout(1, "3");
    h2_message(&in, 1, STR("a"));
    assert_int_equal(send_all(), 0);
    assert_refused(1, "200", "13", "grpc-timeout is malformed");
}

/* ---- limits ---- */

/* DATA of these many bytes, the prefix of the message not counted, in frames of 16 KiB; windows are
 * opened by the session. */
static void send_large_rest(uint32_t stream, size_t n) {
    static char zeros[16384];
    while (n > 0) {
        const size_t part = n < sizeof zeros ? n : sizeof zeros;
        h2_frame(&in, H2_DATA, 0, stream, (struct str){zeros, part});
        assert_int_equal(send_all(), 0);
        n -= part;
    }
}

static void send_large(uint32_t stream, uint32_t announced, size_t n) {
    const char prefix[] = {0, (char)(announced >> 24), (char)(announced >> 16),
                           (char)(announced >> 8), (char)announced};
    h2_frame(&in, H2_DATA, 0, stream, (struct str){prefix, sizeof prefix});
    assert_int_equal(send_all(), 0);
    send_large_rest(stream, n);
}

static void a_message_has_4_mib_at_most(void **state) {
    (void)state;
    h2_request(&in, 1, PATH "Count", NULL);
    send_large(1, LIMIT_GRPC_MESSAGE, LIMIT_GRPC_MESSAGE);
    assert_int_equal(budget.used, LIMIT_GRPC_MESSAGE + LIMIT_GRPC_CALL_BYTES - OWN);
    h2_frame(&in, H2_DATA, H2_END_STREAM, 1, STR(""));
    assert_int_equal(send_all(), 0);
    assert_answer(1, "4194304");
    assert_true(seen.window_updates > 0);
    assert_int_equal(budget.used, 0);
    h2_request(&in, 3, PATH "Count", NULL); /* refused by what it announces */
    send_large(3, LIMIT_GRPC_MESSAGE + 1, 0);
    send_large_rest(3, LIMIT_GRPC_IGNORED);
    assert_false(seen.answers[1].ended);
    send_large_rest(3, 1);
    assert_refused(3, "200", "8", "the message has 4194305 bytes, of 4194304 at most");
    assert_true(seen.answers[1].reset); /* the client need not send the rest */
    assert_int_equal(seen.answers[1].reset_code, 0);
    assert_int_equal(calls, 1);
}

static void memory_is_taken_as_bytes_arrive(void **state) {
    (void)state;
    for (uint32_t stream = 1; stream < 80; stream += 2) {
        h2_request(&in, stream, PATH "Count", NULL);
        send_large(stream, LIMIT_GRPC_MESSAGE, 10);
    }
    assert_int_equal(budget.used, 40 * (LIMIT_GRPC_CALL_BYTES + 10) - OWN);
}

static void a_session_holds_16_mib_at_most(void **state) {
    (void)state;
    enum { CALLS = 5 * LIMIT_GRPC_CALL_BYTES };
    for (uint32_t stream = 1; stream <= 7; stream += 2)
        h2_request(&in, stream, PATH "Count", NULL);
    for (uint32_t stream = 1; stream <= 5; stream += 2)
        send_large(stream, LIMIT_GRPC_MESSAGE, LIMIT_GRPC_MESSAGE);
    send_large(7, LIMIT_GRPC_MESSAGE, LIMIT_GRPC_MESSAGE - CALLS);
    h2_request(&in, 9, PATH "Count", NULL);
    assert_int_equal(send_all(), 0);
    assert_int_equal(budget.used, LIMIT_GRPC_SESSION_BYTES - OWN);
    send_large(9, 1, 1);
    h2_frame(&in, H2_DATA, H2_END_STREAM, 9, STR(""));
    assert_int_equal(send_all(), 0);
    assert_refused(9, "200", "8", "too many requests are under way");
    h2_frame(&in, H2_DATA, H2_END_STREAM, 1, STR("")); /* makes room */
    h2_call(&in, 11, PATH "Count", STR("x"));
    assert_int_equal(send_all(), 0);
    assert_answer(1, "4194304");
    assert_answer(11, "1");
}

static void all_sessions_share_a_budget(void **state) {
    enum { FIRST = OWN - LIMIT_GRPC_CALL_BYTES };
    (void)state;
    budget.max = 100;
    budget.used = 98; /* others' */
    h2_request(&in, 1, PATH "Count", NULL);
    send_large(1, FIRST + 2, FIRST + 2); /* its own, and what is left */
    h2_frame(&in, H2_DATA, H2_END_STREAM, 1, STR(""));
    h2_request(&in, 3, PATH "Count", NULL);
    assert_int_equal(send_all(), 0);
    assert_answer(1, "31746");
    send_large(3, FIRST + 3, FIRST + 3);
    assert_false(seen.answers[1].ended); /* before all has come */
    h2_frame(&in, H2_DATA, H2_END_STREAM, 3, STR(""));
    assert_int_equal(send_all(), 0);
    assert_refused(3, "200", "8", "too many requests are under way");
    assert_int_equal(budget.used, 98);
    budget.used = 0;
}

/* Others hold all of the budget. */
static void a_session_has_room_of_its_own(void **state) {
    enum { CALLS = OWN / LIMIT_GRPC_CALL_BYTES };
    static const char cancel[4] = {0, 0, 0, 8};
    (void)state;
    budget.max = 100;
    budget.used = 101; /* of one that is about to be refused */
    for (uint32_t i = 0; i < CALLS; i++)
        h2_request(&in, 2 * i + 1, PATH "Count", NULL);
    assert_int_equal(send_all(), 0);
    assert_int_equal(grpc_session_calls(session), CALLS);
    h2_request(&in, 2 * CALLS + 1, PATH "Count", NULL);
    assert_int_equal(send_all(), 0);
    assert_int_equal(grpc_session_calls(session), CALLS);
    assert_true(seen.answers[CALLS].reset);
    assert_int_equal(seen.answers[CALLS].reset_code, 7); /* REFUSED_STREAM: to be tried again */
    h2_frame(&in, H2_RST_STREAM, 0, 1, (struct str){cancel, sizeof cancel});
    h2_request(&in, 2 * CALLS + 3, PATH "Count", NULL);
    assert_int_equal(send_all(), 0);
    assert_int_equal(grpc_session_calls(session), CALLS);
    assert_false(seen.answers[CALLS + 1].reset);
    assert_int_equal(budget.used, 101);
    budget.used = 0;
}

/* A value that makes the header list of h2_request() these many bytes long. */
static void request_of_size(uint32_t stream, size_t size) {
    CLEANUP(strbuf_done) struct strbuf more = {0}, value = {0};
    const size_t others = sizeof ":methodPOST" + sizeof ":schemehttp" + sizeof ":path" PATH "Echo" +
                          sizeof ":authorityestimator" + sizeof "content-typeapplication/grpc" +
                          sizeof "tetrailers" - 6 + 7 * 32;
    for (size_t n = size - others - 1; n > 0; n--)
        strbuf_append_char(&value, 'v');
    strbuf_append_char(&value, '\0');
    h2_field(&more, "x", value.p);
    h2_request(&in, stream, PATH "Echo", &more);
}

static void headers_have_16_kib_at_most(void **state) {
    (void)state;
    request_of_size(1, LIMIT_GRPC_HEADERS);
    h2_message(&in, 1, STR("x"));
    assert_int_equal(send_all(), 0);
    assert_answer(1, "x");
    request_of_size(3, LIMIT_GRPC_HEADERS + 1);
    assert_int_equal(send_all(), 0);
    assert_true(seen.answers[1].reset);
    assert_int_equal(seen.answers[1].header_frames, 0);
    h2_call(&in, 5, PATH "Echo", STR("y")); /* the connection goes on */
    assert_int_equal(send_all(), 0);
    assert_answer(5, "y");
}

static void streams_beyond_the_limit_are_refused(void **state) {
    enum { REFUSED_STREAM = 7 };
    (void)state;
    for (uint32_t i = 0; i < LIMIT_GRPC_STREAMS; i++)
        h2_request(&in, 2 * i + 1, PATH "Echo", NULL);
    assert_int_equal(send_all(), 0);
    assert_int_equal(grpc_session_calls(session), LIMIT_GRPC_STREAMS);
    struct str out;
    h2_request(&in, 2 * LIMIT_GRPC_STREAMS + 1, PATH "Echo", NULL);
    struct err err;
    assert_int_equal(grpc_session_receive(session, strbuf_str(&in), &err), 0);
    out = grpc_session_output(session);
    assert_int_equal(out.n, 13); /* RST_STREAM, REFUSED_STREAM */
    assert_int_equal(out.p[3], H2_RST_STREAM);
    assert_int_equal(out.p[12], REFUSED_STREAM);
    grpc_session_sent(session, out.n);
    strbuf_clear(&in);
    assert_int_equal(grpc_session_calls(session), LIMIT_GRPC_STREAMS);
    h2_message(&in, 1, STR("x"));
    assert_int_equal(send_all(), 0);
    assert_answer(1, "x");
}

/* Once the client has said that it knows how many there may be. */
static void more_streams_than_the_client_knows_of_end_the_session(void **state) {
    (void)state;
    h2_frame(&in, H2_SETTINGS, H2_ACK, 0, STR(""));
    for (uint32_t i = 0; i < LIMIT_GRPC_STREAMS; i++)
        h2_request(&in, 2 * i + 1, PATH "Echo", NULL);
    assert_int_equal(send_all(), 0);
    assert_int_equal(seen.goaways, 0);
    h2_request(&in, 2 * LIMIT_GRPC_STREAMS + 1, PATH "Echo", NULL);
    (void)send_all();
    assert_int_equal(seen.goaways, 1);
    assert_int_equal(seen.goaway_code, 1); /* PROTOCOL_ERROR */
    assert_true(grpc_session_is_over(session));
}

/* A client that sends and does not read. */
static void nothing_is_read_while_output_waits(void **state) {
    struct err err;
    (void)state;
    for (int i = 0; i < 10000 && grpc_session_takes_input(session); i++) {
        strbuf_clear(&in);
        if (i == 0)
            h2_preface(&in);
        h2_frame(&in, H2_PING, 0, 0, STR("12345678"));
        assert_int_equal(grpc_session_receive(session, strbuf_str(&in), &err), 0);
        assert_true(grpc_session_output(session).n <= LIMIT_GRPC_OUTPUT + 17);
    }
    assert_false(grpc_session_takes_input(session));
    h2_see(&seen, (struct str){grpc_session_output(session).p, 1000});
    grpc_session_sent(session, 1000);
    assert_true(grpc_session_takes_input(session));
    strbuf_clear(&in);
    take_output();
}

static void pings(unsigned count) {
    for (unsigned i = 0; i < count; i++)
        h2_frame(&in, H2_PING, 0, 0, STR("12345678"));
    struct err err;
    assert_int_equal(grpc_session_receive(session, strbuf_str(&in), &err), 0);
    strbuf_clear(&in);
}

/* Slowly is good enough, as long as all that waited has left in time. */
static void who_takes_nothing_is_left(void **state) {
    (void)state;
    take_output();
    pings(100);
    assert_true(grpc_session_tick(session));
    fake.at_ms += LIMIT_GRPC_SEND_MS - 1;
    assert_true(grpc_session_tick(session));
    const size_t waited = grpc_session_output(session).n;
    pings(100);
    grpc_session_sent(session, waited);
    fake.at_ms += 1;
    assert_true(grpc_session_tick(session)); /* from now on the others wait */
    fake.at_ms += LIMIT_GRPC_SEND_MS - 1;
    grpc_session_sent(session, grpc_session_output(session).n - 1);
    assert_true(grpc_session_tick(session));
    fake.at_ms += 1;
    assert_false(grpc_session_tick(session));
    grpc_session_sent(session, grpc_session_output(session).n);
    assert_true(grpc_session_tick(session));
    fake.at_ms += LIMIT_GRPC_SEND_MS;
    assert_true(grpc_session_tick(session)); /* nothing waits */
}

/* An answer that has been given is no leave to send for ever. */
static void what_comes_after_the_answer_has_a_limit(void **state) {
    static char much[LIMIT_GRPC_IGNORED];
    (void)state;
    h2_request(&in, 1, PATH "Echo", NULL);
    h2_frame(&in, H2_DATA, 0, 1, (struct str){"\0\0\1\0\0", 5});
    assert_int_equal(send_all(), 0);
    fake.at_ms += LIMIT_GRPC_RECEIVE_MS;
    assert_true(grpc_session_tick(session));
    take_output();
    assert_refused(1, "200", "4", "the request did not come in time");
    h2_frame(&in, H2_DATA, 0, 1, (struct str){much, sizeof much});
    assert_int_equal(send_all(), 0);
    assert_false(seen.answers[0].reset);
    h2_frame(&in, H2_DATA, 0, 1, (struct str){much, 1});
    assert_int_equal(send_all(), 0);
    assert_true(seen.answers[0].reset);
    assert_int_equal(seen.answers[0].reset_code, 0); /* NO_ERROR */
    assert_int_equal(grpc_session_calls(session), 0);
}

static void an_answer_that_is_not_taken_is_reset(void **state) {
    enum { CANCEL = 8 };
    /* SETTINGS_INITIAL_WINDOW_SIZE 0: no DATA may be sent */
    (void)state;
    h2_frame(&in, H2_SETTINGS, 0, 0, (struct str){"\0\4\0\0\0\0", 6});
    h2_call(&in, 1, PATH "Echo", STR("x"));
    assert_int_equal(send_all(), 0);
    assert_int_equal(seen.answers[0].body_length, 0);
    fake.at_ms += LIMIT_GRPC_SEND_MS - 1;
    assert_true(grpc_session_tick(session));
    take_output();
    assert_false(seen.answers[0].reset);
    fake.at_ms += 1;
    assert_true(grpc_session_tick(session));
    take_output();
    assert_true(seen.answers[0].reset);
    assert_int_equal(seen.answers[0].reset_code, CANCEL);
    assert_int_equal(grpc_session_calls(session), 0);
}

/* ---- abuse ---- */

static void assert_ended(uint32_t code) {
    assert_int_equal(seen.goaways, 1);
    assert_int_equal(seen.goaway_code, code);
    assert_true(grpc_session_is_over(session));
}

static void what_is_no_http2_ends_the_connection(void **state) {
    (void)state;
    strbuf_clear(&in);
    PUT("GET / HTTP/1.1\r\nHost: a\r\n\r\n", &in);
    assert_int_equal(send_all(), -EPROTO);
    assert_true(grpc_session_is_over(session));
    assert_false(grpc_session_takes_input(session));
    PUT("x", &in);
    assert_int_equal(send_all(), -EPROTO);
}

static void errors_of_the_connection_are_told(void **state) {
    enum { PROTOCOL_ERROR = 1 };
    (void)state;
    h2_frame(&in, H2_DATA, 0, 1, STR("x")); /* of a stream that is not open */
    assert_int_equal(send_all(), 0);
    assert_ended(PROTOCOL_ERROR);
}

static void frames_have_16_kib_at_most(void **state) {
    enum { FRAME_SIZE_ERROR = 6 };
    static char large[16385];
    (void)state;
    h2_request(&in, 1, PATH "Echo", NULL);
    h2_frame(&in, H2_DATA, 0, 1, (struct str){large, sizeof large});
    (void)send_all(); /* it has ended in the middle */
    assert_ended(FRAME_SIZE_ERROR);
}

static void continuations_are_bounded(void **state) {
    int r = 0;
    struct err err;
    (void)state;
    h2_frame(&in, H2_HEADERS, 0, 1, STR(""));
    assert_int_equal(send_all(), 0);
    int sent = 0;
    for (; sent < 100 && r == 0; sent++) {
        h2_frame(&in, H2_CONTINUATION, 0, 1, STR(""));
        r = grpc_session_receive(session, strbuf_str(&in), &err);
        strbuf_clear(&in);
    }
    assert_int_equal(r, -EPROTO);
    assert_int_equal(sent, 9);
    take_output();
    assert_true(grpc_session_is_over(session));
}

/* RST_STREAM right behind each request: a thousand at once, then the session ends. */
static void rapid_resets_end_the_connection(void **state) {
    (void)state;
    struct err err;
    int sent = 0;
    assert_int_equal(send_all(), 0);
    for (; sent < 20000 && !grpc_session_is_over(session); sent++) {
        const uint32_t stream = (uint32_t)sent * 2 + 1;
        strbuf_clear(&in);
        h2_request(&in, stream, PATH "Echo", NULL);
        h2_frame(&in, H2_RST_STREAM, 0, stream, (struct str){"\0\0\0\10", 4});
        if (grpc_session_receive(session, strbuf_str(&in), &err) != 0)
            break;
        const struct str out = grpc_session_output(session);
        grpc_session_sent(session, out.n);
        (void)grpc_session_output(session);
        assert_true(grpc_session_calls(session) <= 1);
    }
    assert_true(sent >= 1000 && sent < 1200);
    strbuf_clear(&in);
}

static void settings_have_32_entries_at_most(void **state) {
    enum { ENHANCE_YOUR_CALM = 11 };
    char entries[33 * 6];
    (void)state;
    for (size_t i = 0; i < sizeof entries; i += 6)
        memcpy(entries + i, "\0\3\0\0\0\5", 6);
    h2_frame(&in, H2_SETTINGS, 0, 0, (struct str){entries, 32 * 6});
    assert_int_equal(send_all(), 0);
    assert_int_equal(seen.settings_acks, 2);
    h2_frame(&in, H2_SETTINGS, 0, 0, (struct str){entries, 33 * 6});
    assert_int_equal(send_all(), 0);
    assert_ended(ENHANCE_YOUR_CALM);
}

/* ---- the end ---- */

static void a_shutdown_answers_what_is_open(void **state) {
    (void)state;
    h2_request(&in, 1, PATH "Echo", NULL);
    assert_int_equal(send_all(), 0);
    grpc_session_shutdown(session);
    grpc_session_shutdown(session); /* once is enough */
    take_output();
    assert_int_equal(seen.goaways, 1);
    assert_int_equal(seen.goaway_stream, INT32_MAX);
    assert_int_equal(seen.goaway_code, 0);
    assert_int_equal(seen.pings, 1);
    h2_call(&in, 3, PATH "Echo", STR("three"));         /* was on its way */
    h2_frame(&in, H2_PING, H2_ACK, 0, STR("????????")); /* of another */
    assert_int_equal(send_all(), 0);
    assert_answer(3, "eerht");
    assert_int_equal(seen.goaways, 1);
    h2_frame(&in, H2_PING, H2_ACK, 0, (struct str){seen.ping, 8});
    assert_int_equal(send_all(), 0);
    assert_int_equal(seen.goaways, 2);
    assert_int_equal(seen.goaway_stream, 3);
    h2_call(&in, 5, PATH "Echo", STR("five")); /* too late */
    assert_int_equal(send_all(), 0);
    assert_int_equal(seen.answers[2].header_frames, 0);
    assert_false(grpc_session_is_over(session));
    h2_message(&in, 1, STR("one"));
    assert_int_equal(send_all(), 0);
    assert_answer(1, "eno");
    assert_true(grpc_session_is_over(session));
}

static void a_shutdown_does_not_wait_for_a_ping(void **state) {
    (void)state;
    assert_int_equal(send_all(), 0);
    grpc_session_shutdown(session);
    take_output();
    assert_false(grpc_session_is_over(session));
    assert_true(grpc_session_tick(session));
    take_output();
    assert_int_equal(seen.goaways, 2);
    assert_true(grpc_session_is_over(session));
}

static void a_client_may_leave(void **state) {
    (void)state;
    h2_request(&in, 1, PATH "Echo", NULL);
    h2_frame(&in, H2_GOAWAY, 0, 0, (struct str){"\0\0\0\0\0\0\0\0", 8});
    assert_int_equal(send_all(), 0);
    assert_false(grpc_session_is_over(session));
    h2_message(&in, 1, STR("x"));
    assert_int_equal(send_all(), 0);
    assert_answer(1, "x");
    assert_true(grpc_session_is_over(session));
}

static void calls_may_be_open_at_the_end(void **state) {
    (void)state;
    h2_request(&in, 1, PATH "Echo", NULL);
    send_large(1, 100000, OWN);
    assert_int_equal(grpc_session_calls(session), 1);
    assert_int_equal(budget.used,
                     LIMIT_GRPC_CALL_BYTES); /* tear_down() sees that it is given back */
}

/* ---- turns ---- */

static void calls_wait_for_their_turn(void **state) {
    (void)state;
    grpc_session_defer(session);
    h2_call(&in, 1, PATH "Echo", STR("ab"));
    h2_call(&in, 3, PATH "Echo", STR("cd"));
    assert_int_equal(send_all(), 0);
    assert_int_equal(calls, 0);
    assert_true(grpc_session_has_work(session));
    grpc_session_work(session);
    take_output();
    assert_answer(1, "ba");
    assert_false(seen.answers[1].ended);
    grpc_session_work(session);
    take_output();
    assert_answer(3, "dc");
    assert_false(grpc_session_has_work(session));
}

static void a_call_that_is_reset_waits_no_more(void **state) {
    static const char cancel[4] = {0, 0, 0, 8};
    (void)state;
    grpc_session_defer(session);
    h2_call(&in, 1, PATH "Echo", STR("ab"));
    h2_call(&in, 3, PATH "Echo", STR("cd"));
    h2_frame(&in, H2_RST_STREAM, 0, 1, (struct str){cancel, sizeof cancel});
    assert_int_equal(send_all(), 0);
    grpc_session_work(session);
    take_output();
    assert_answer(3, "dc");
    assert_int_equal(calls, 1);
    assert_false(grpc_session_has_work(session));
}

static void a_deadline_may_pass_while_a_call_waits(void **state) {
    (void)state;
    grpc_session_defer(session);
    call_with_timeout(1, "3S");
    h2_message(&in, 1, STR("a"));
    call_with_timeout(3, "4S");
    h2_message(&in, 3, STR("a"));
    call_with_timeout(5, "9H");
    h2_message(&in, 5, STR("a"));
    assert_int_equal(send_all(), 0);
    fake.at_ms += 3000;
    assert_true(grpc_session_tick(session)); /* its time is over before its turn */
    fake.at_ms += 1000;
    grpc_session_work(session); /* its time is over when it is its turn */
    take_output();
    assert_refused(1, "200", "4", "the deadline is over");
    assert_refused(3, "200", "4", "the deadline is over");
    fake.at_ms += LIMIT_GRPC_RECEIVE_MS; /* which it has received in time */
    assert_true(grpc_session_tick(session));
    take_output();
    assert_false(seen.answers[2].ended);
    grpc_session_work(session);
    take_output();
    assert_answer(5, "a");
    assert_false(grpc_session_has_work(session));
}

static void few_calls_wait(void **state) {
    (void)state;
    grpc_session_defer(session);
    for (uint32_t i = 0; i < LIMIT_GRPC_WAITING; i++) {
        assert_int_equal(send_all(), 0);
        assert_true(grpc_session_takes_input(session));
        h2_call(&in, 2 * (i % 30) + 1 + 60 * (i / 30), PATH "Echo", STR(""));
    }
    assert_int_equal(send_all(), 0);
    assert_false(grpc_session_takes_input(session));
    grpc_session_work(session);
    assert_true(grpc_session_takes_input(session));
    grpc_session_shutdown(session);
    take_output();
    assert_false(grpc_session_is_over(session));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_call_is_answered),
        TEST(messages_may_be_empty),
        TEST(bytes_may_come_one_by_one),
        TEST(a_message_may_come_in_any_frames),
        TEST(calls_are_independent),
        TEST(trailers_of_a_client_may_end_a_call),
        TEST(the_object_is_reported),
        TEST(unknown_methods_are_status_12),
        TEST(what_is_no_grpc_is_refused),
        TEST(malformed_frames_are_status_13),
        TEST(compression_is_status_12),
        TEST(a_response_that_is_too_large_is_status_8),
        TEST(a_deadline_is_status_4),
        TEST(a_call_that_waits_ends_at_its_deadline),
        TEST(a_malformed_timeout_is_status_13),
        TEST(a_message_has_4_mib_at_most),
        TEST(memory_is_taken_as_bytes_arrive),
        TEST(a_session_holds_16_mib_at_most),
        TEST(all_sessions_share_a_budget),
        TEST(a_session_has_room_of_its_own),
        TEST(headers_have_16_kib_at_most),
        TEST(streams_beyond_the_limit_are_refused),
        TEST(more_streams_than_the_client_knows_of_end_the_session),
        TEST(nothing_is_read_while_output_waits),
        TEST(who_takes_nothing_is_left),
        TEST(what_comes_after_the_answer_has_a_limit),
        TEST(an_answer_that_is_not_taken_is_reset),
        TEST(what_is_no_http2_ends_the_connection),
        TEST(errors_of_the_connection_are_told),
        TEST(frames_have_16_kib_at_most),
        TEST(continuations_are_bounded),
        TEST(rapid_resets_end_the_connection),
        TEST(settings_have_32_entries_at_most),
        TEST(calls_wait_for_their_turn),
        TEST(a_call_that_is_reset_waits_no_more),
        TEST(a_deadline_may_pass_while_a_call_waits),
        TEST(few_calls_wait),
        TEST(a_shutdown_answers_what_is_open),
        TEST(a_shutdown_does_not_wait_for_a_ping),
        TEST(a_client_may_leave),
        TEST(calls_may_be_open_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
