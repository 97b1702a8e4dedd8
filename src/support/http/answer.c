/*
 * Makes simple answers for handlers, and hands responses to libmicrohttpd.
 *
 * A text is handed over as it is, and libmicrohttpd frees it. Pieces are copied block by block,
 * only when the connection can send them. So an answer made of ten thousand pieces of a 47 MB body
 * does not need that memory again. (libmicrohttpd's own vectors do not help: it copies the vector
 * into its 32 KiB per connection, and over TLS it sends every piece as a separate record.)
 */
#include "base/limits.h"
#include "base/log.h"
#include "http/exchange.h"
#include "http/listener.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK_BYTES = 64 << 10 };

static const char text_plain[] = "text/plain; charset=utf-8";

void http_answer_text(struct http_response *response, int status, const char *fmt, ...) {
    char line[1024];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    strbuf_clear(&response->text);
    strbuf_appendf(&response->text, "%s%s\n", line, n >= (int)sizeof line ? "..." : "");
    response->status = status;
    response->content_type = text_plain;
    response->pieces = NULL;
    response->piece_count = 0;
}

void http_answer_json(struct http_response *response, int status) {
    response->status = status;
    response->content_type = "application/json";
}

/* libmicrohttpd calls this for up to `max` bytes of the answer, in order. */
static ssize_t read_pieces(void *ctx, uint64_t position, char *to, size_t max) {
    (void)position; /* always where we stopped */
    struct exchange *x = ctx;
    const struct http_response *response = &x->response;
    size_t done = 0;
    while (done < max && x->piece < response->piece_count) {
        struct str piece = response->pieces[x->piece];
        size_t n = piece.n - x->piece_at;
        if (n > max - done)
            n = max - done;
        if (n > 0)
            memcpy(to + done, piece.p + x->piece_at, n);
        done += n;
        x->piece_at += n;
        if (x->piece_at == piece.n) {
            x->piece++;
            x->piece_at = 0;
        }
    }
    return (ssize_t)done;
}

static struct MHD_Response *make_from_pieces(struct exchange *x) {
    uint64_t total = 0;
    for (size_t i = 0; i < x->response.piece_count; i++)
        total += x->response.pieces[i].n;
    x->piece = x->piece_at = 0;
    return MHD_create_response_from_callback(total, BLOCK_BYTES, read_pieces, x, NULL);
}

static struct MHD_Response *make_from_text(struct strbuf *text) {
    static char nothing[] = "";
    if (text->n == 0)
        return MHD_create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT);
    struct MHD_Response *made =
        MHD_create_response_from_buffer(text->n, text->p, MHD_RESPMEM_MUST_FREE);
    if (made != NULL)
        *text = (struct strbuf){.max = text->max}; /* libmicrohttpd frees the bytes */
    return made;
}

/* A client that does not know our paths, or has no accepted certificate, must not keep one of the
 * few connections. */
static bool is_stranger(int status) {
    return status == MHD_HTTP_UNAUTHORIZED || status == MHD_HTTP_FORBIDDEN ||
           status == MHD_HTTP_NOT_FOUND;
}

static bool add_headers(const struct connection *c, struct MHD_Response *made) {
    const struct http_response *response = &c->exchange.response;
    char seconds[16], age[32];
    bool ok = true;
    if (response->content_type != NULL)
        ok = MHD_add_response_header(made, "Content-Type", response->content_type) == MHD_YES;
    if (response->allow != NULL)
        ok = ok && MHD_add_response_header(made, "Allow", response->allow) == MHD_YES;
    if (response->etag != NULL)
        ok = ok && MHD_add_response_header(made, "ETag", response->etag) == MHD_YES;
    if (response->retry_after_s > 0) {
        (void)snprintf(seconds, sizeof seconds, "%d", response->retry_after_s);
        ok = ok && MHD_add_response_header(made, "Retry-After", seconds) == MHD_YES;
    }
    if (response->data_age_ms > 0) {
        (void)snprintf(age, sizeof age, "%lld.%03d", (long long)(response->data_age_ms / 1000),
                       (int)(response->data_age_ms % 1000));
        ok = ok && MHD_add_response_header(made, "Evenkeel-Data-Age", age) == MHD_YES;
    }
    if (c->exchange.last || is_stranger(response->status) ||
        atomic_load_explicit(&c->listener->draining, memory_order_relaxed))
        ok = ok && MHD_add_response_header(made, "Connection", "close") == MHD_YES;
    return ok;
}

/* Replaces the answer if it did not fit, or if the handler forgot to answer. */
static void check_response(struct connection *c) {
    struct http_response *response = &c->exchange.response;
    bool failed = strbuf_failed(&response->text) && response->pieces == NULL;
    if (!failed && response->status >= 200 && response->status <= 599)
        return;
    LOG_E("a handler failed to answer", LOG_CSTR("listener", c->listener->options.name),
          LOG_STR("path", c->exchange.request.path), LOG_INT("status", response->status));
    strbuf_done(&response->text);
    response->text.max = 1024; /* the old maximum may have been too small */
    http_answer_text(response, MHD_HTTP_INTERNAL_SERVER_ERROR,
                     failed ? "internal error: the answer did not fit into memory"
                            : "internal error: no answer");
}

/*
 * Charges the bytes that the answer holds until it is sent, because a client that does not read can
 * delay that. An answer as text no longer needs the request's body and arena. Small answers, such
 * as refusals and probes, are charged but always sent.
 */
static void charge_answer(struct connection *c) {
    struct exchange *x = &c->exchange;
    struct http_response *response = &x->response;
    struct byte_budget *budget = &c->listener->budget;
    const bool in_pieces = response->pieces != NULL;
    size_t n = response->text.cap + (in_pieces ? x->arena.total : 0);
    if (!in_pieces)
        body_done(&x->body);
    if (n <= LIMIT_HTTP_SMALL_ANSWER) {
        byte_budget_force(budget, n);
    } else if (byte_budget_charge(budget, n, x->body.n)) {
        /* charged */
    } else if (exchange_make_room(c, n, x->body.n + n)) {
        byte_budget_force(budget, n);
    } else {
        n = 0;
        strbuf_done(&response->text);
        *response = (struct http_response){.text.max = 1024, .retry_after_s = 1};
        http_answer_text(response, MHD_HTTP_SERVICE_UNAVAILABLE,
                         "too many answers are being read at the moment: try again");
        body_done(&x->body);
    }
    x->charged = n;
}

enum MHD_Result answer_send(struct connection *c) {
    struct exchange *x = &c->exchange;
    stopwatch_lap(&x->stopwatch, LAP_SENDING);
    check_response(c);
    charge_answer(c);
    slots_hold(c->slot, x->body.n + x->charged, true);
    struct MHD_Response *made =
        x->response.pieces != NULL ? make_from_pieces(x) : make_from_text(&x->response.text);
    if (made == NULL)
        return MHD_NO;
    enum MHD_Result queued = MHD_NO;
    if (add_headers(c, made))
        queued = MHD_queue_response(c->mhd, (unsigned)x->response.status, made);
    MHD_destroy_response(made); /* gives back our reference; a queued response lives on */
    if (x->response.pieces == NULL)
        arena_reset(&x->arena); /* headers are copied */
    if (queued == MHD_YES)
        x->phase = EXCHANGE_ANSWERED;
    return queued;
}
