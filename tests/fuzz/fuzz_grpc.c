/*
 * Any bytes as what a client of gRPC sends. A session takes them in pieces and answers, whatever
 * they are; what it holds is bounded and given back; a session that is over takes no more. The
 * first byte says how large the pieces are, whether the preface is to be sent before them, and
 * whether calls wait for their turn.
 */
#include "fuzz/fuzz.h"

#include "base/limits.h"
#include "grpc/session.h"

static struct clock_fake fake;

static void echo(void *ctx, const struct grpc_request *q, struct grpc_response *response) {
    (void)ctx;
    require(q->message.n <= LIMIT_GRPC_MESSAGE && q->object.n <= LIMIT_GRPC_OBJECT);
    if (q->message.n % 2 == 0)
        strbuf_append_str(&response->message, q->message);
    else {
        response->status = GRPC_UNKNOWN;
        (void)err_set(&response->err, -1, "odd: %.*s", STR_ARG(q->message));
    }
}

static void observe(void *ctx, const struct grpc_report *report) {
    (void)ctx;
    require(report->duration_ns >= 0);
}

static const struct grpc_method methods[] = {{"Echo", echo}};
static const struct grpc_service service = {
    .path = "/s/", .methods = methods, .method_count = 1, .observe = observe};

static void take_output(struct grpc_session *s, size_t most) {
    for (;;) {
        const struct str out = grpc_session_output(s);
        require(out.n <= 2 * LIMIT_GRPC_OUTPUT);
        if (out.n == 0)
            return;
        grpc_session_sent(s, out.n < most ? out.n : most);
    }
}

static void feed(struct grpc_session *s, struct grpc_budget *budget, struct str bytes,
                 size_t piece) {
    while (bytes.n > 0 && grpc_session_takes_input(s)) {
        const size_t n = bytes.n < piece ? bytes.n : piece;
        if (grpc_session_receive(s, (struct str){bytes.p, n}, NULL) != 0)
            require(!grpc_session_takes_input(s));
        bytes = (struct str){bytes.p + n, bytes.n - n};
        require(grpc_session_calls(s) <= LIMIT_GRPC_STREAMS);
        require(budget->used <= LIMIT_GRPC_SESSION_BYTES && budget->used <= budget->max);
        take_output(s, piece * 100);
        if (grpc_session_has_work(s))
            grpc_session_work(s);
        fake.at_ms += 100;
        (void)!grpc_session_tick(s);
    }
}

static int try_input(const uint8_t *bytes, size_t n) {
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0";
    struct grpc_budget budget = {.max = 1 << 20};
    struct grpc_session *s;
    if (n == 0)
        return 0;
    clock_fake_init(&fake, 0);
    require(grpc_session_new(&service, &fake.clock, &budget, &s, NULL) == 0);
    if ((bytes[0] & 0x80) != 0)
        grpc_session_defer(s);
    if ((bytes[0] & 1) != 0)
        feed(s, &budget, (struct str){preface, sizeof preface}, sizeof preface);
    feed(s, &budget, (struct str){(const char *)bytes + 1, n - 1}, 1 + bytes[0] / 2);
    grpc_session_shutdown(s);
    while (grpc_session_has_work(s))
        grpc_session_work(s);
    take_output(s, SIZE_MAX);
    fake.at_ms += LIMIT_GRPC_RECEIVE_MS;
    (void)!grpc_session_tick(s); /* calls that wait are answered */
    take_output(s, SIZE_MAX);
    fake.at_ms += LIMIT_GRPC_SEND_MS;
    (void)!grpc_session_tick(s); /* what the client does not take is reset */
    take_output(s, SIZE_MAX);
    require(grpc_session_calls(s) == 0 || !grpc_session_takes_input(s));
    require(grpc_session_is_over(s));
    grpc_session_free(s);
    require(budget.used == 0);
    return 0;
}
