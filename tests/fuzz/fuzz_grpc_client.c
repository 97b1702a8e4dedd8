/*
 * Any bytes as what a server of gRPC sends. A client with four open calls takes them in pieces,
 * whatever they are; every call is replied to exactly once; what is held is bounded and given back.
 * The first byte says how large the pieces are, and whether SETTINGS come before them.
 */
#include "fuzz/fuzz.h"

#include "base/limits.h"
#include "grpc/client.h"

enum { CALLS = 4, DEADLINE_MS = 3000 };

static struct clock_fake fake;
static unsigned replies[CALLS];

static void count_reply(void *ctx, const struct grpc_reply *r) {
    unsigned *count = ctx;
    require(++*count == 1);
    require(r->message.n <= LIMIT_GRPC_MESSAGE && r->text.n <= LIMIT_GRPC_TEXT);
    require(r->status == GRPC_OK ? r->from_server : r->message.n == 0);
    for (size_t i = 0; i < r->text.n; i++)
        require((unsigned char)r->text.p[i] >= ' ');
}

static void take_output(struct grpc_client *c, size_t most) {
    for (struct str out; (out = grpc_client_output(c)).n > 0;) {
        require(out.n <= 2 * LIMIT_GRPC_OUTPUT);
        grpc_client_sent(c, out.n < most ? out.n : most);
    }
}

static void feed(struct grpc_client *c, const struct grpc_budget *budget, struct str bytes,
                 size_t piece) {
    while (bytes.n > 0 && grpc_client_takes_input(c)) {
        const size_t n = bytes.n < piece ? bytes.n : piece;
        if (grpc_client_receive(c, (struct str){bytes.p, n}, NULL) != 0)
            require(!grpc_client_takes_input(c) && !grpc_client_takes_calls(c));
        bytes = (struct str){bytes.p + n, bytes.n - n};
        require(grpc_client_calls(c) <= CALLS);
        require(budget->used <= LIMIT_GRPC_SESSION_BYTES && budget->used <= budget->max);
        take_output(c, piece * 100);
        fake.at_ms += 1;
        const int64_t next_ms = grpc_client_tick(c);
        require(next_ms > fake.at_ms);
        require((next_ms == INT64_MAX) == (grpc_client_calls(c) == 0));
    }
}

static void begin_calls(struct grpc_client *c) {
    for (unsigned i = 0; i < CALLS; i++) {
        const struct grpc_call_request request = {
            .path = STR("/s/M"), .message = STR("question"), .deadline_ms = DEADLINE_MS * (i + 1)};
        replies[i] = 0;
        require(grpc_client_call(c, &request, count_reply, &replies[i], NULL) == 0);
    }
    take_output(c, SIZE_MAX);
}

static int try_input(const uint8_t *bytes, size_t n) {
    static const char settings[] = "\0\0\0\4\0\0\0\0";
    struct grpc_budget budget = {.max = 1 << 20};
    struct grpc_client *c;
    if (n == 0)
        return 0;
    clock_fake_init(&fake, 0);
    const struct grpc_client_options options = {
        .authority = "a:1", .clock = &fake.clock, .budget = &budget};
    require(grpc_client_new(&options, &c, NULL) == 0);
    begin_calls(c);
    if ((bytes[0] & 1) != 0)
        feed(c, &budget, (struct str){settings, sizeof settings}, sizeof settings);
    feed(c, &budget, (struct str){(const char *)bytes + 1, n - 1}, 1 + bytes[0] / 2);
    fake.at_ms = (int64_t)DEADLINE_MS * CALLS;
    require(grpc_client_tick(c) == INT64_MAX && grpc_client_calls(c) == 0);
    take_output(c, SIZE_MAX);
    grpc_client_free(c);
    require(budget.used == 0);
    for (unsigned i = 0; i < CALLS; i++)
        require(replies[i] == 1);
    return 0;
}
