#include "grpc/internal.h"

#include <errno.h>
#include <stdlib.h>

static const uint8_t shutdown_ping[8] = {'e', 'v', 'e', 'n', 'k', 'e', 'e', 'l'};

static struct grpc_call *call_of(nghttp2_session *http2, int32_t stream) {
    return nghttp2_session_get_stream_user_data(http2, stream);
}

/* ---- what nghttp2 reports ---- */

static bool is_request(const nghttp2_frame *frame) {
    return frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
}

static int on_begin_headers(nghttp2_session *http2, const nghttp2_frame *frame, void *session) {
    if (!is_request(frame))
        return 0; /* trailers: they have no meaning here */
    struct grpc_call *call = grpc_call_begin(session, frame->hd.stream_id);
    if (call == NULL) /* REFUSED_STREAM shows that no work was done: the client may try again */
        return nghttp2_submit_rst_stream(http2, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                         NGHTTP2_REFUSED_STREAM);
    return nghttp2_session_set_stream_user_data(http2, frame->hd.stream_id, call);
}

static int on_header(nghttp2_session *http2, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_length, const uint8_t *value, size_t value_length, uint8_t flags,
                     void *session) {
    (void)flags;
    (void)session;
    struct grpc_call *call = call_of(http2, frame->hd.stream_id);
    if (call == NULL)
        return 0;
    const bool fits = grpc_call_header(call, (struct str){(const char *)name, name_length},
                                       (struct str){(const char *)value, value_length});
    return fits ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static int on_data(nghttp2_session *http2, uint8_t flags, int32_t stream, const uint8_t *bytes,
                   size_t n, void *session) {
    struct grpc_call *call = call_of(http2, stream);
    (void)flags;
    (void)session;
    if (call != NULL)
        grpc_call_data(call, (struct str){(const char *)bytes, n});
    return 0;
}

static void leave(struct grpc_session *s) {
    if (nghttp2_submit_goaway(s->http2, NGHTTP2_FLAG_NONE,
                              nghttp2_session_get_last_proc_stream_id(s->http2), NGHTTP2_NO_ERROR,
                              NULL, 0) == 0)
        s->leaving = GRPC_LEAVES;
}

static int on_frame(nghttp2_session *http2, const nghttp2_frame *frame, void *session) {
    struct grpc_session *s = session;
    if (frame->hd.type == NGHTTP2_PING) {
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0 && s->leaving == GRPC_NOTICED &&
            memcmp(frame->ping.opaque_data, shutdown_ping, sizeof shutdown_ping) == 0)
            leave(s);
        return 0;
    }
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
        return 0;
    struct grpc_call *call = call_of(http2, frame->hd.stream_id);
    if (call == NULL)
        return 0;
    if (is_request(frame))
        grpc_call_headers_end(call);
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
        grpc_call_end(call);
    return 0;
}

/* Resets the stream of a client that sends too much after it was refused. */
static int on_sent(nghttp2_session *http2, const nghttp2_frame *frame, void *session) {
    (void)session;
    if (frame->hd.type != NGHTTP2_HEADERS)
        return 0;
    const struct grpc_call *call = call_of(http2, frame->hd.stream_id);
    if (call == NULL || call->ignored <= LIMIT_GRPC_IGNORED)
        return 0;
    return nghttp2_submit_rst_stream(http2, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                     NGHTTP2_NO_ERROR);
}

static int on_close(nghttp2_session *http2, int32_t stream, uint32_t code, void *session) {
    struct grpc_call *call = call_of(http2, stream);
    (void)code;
    (void)session;
    if (call != NULL)
        grpc_call_free(call);
    return 0;
}

static nghttp2_session_callbacks *make_callbacks(void) {
    nghttp2_session_callbacks *c;
    if (nghttp2_session_callbacks_new(&c) != 0)
        return NULL;
    nghttp2_session_callbacks_set_on_begin_headers_callback(c, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(c, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(c, on_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(c, on_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(c, on_close);
    return c;
}

/* ---- life ---- */

/* Makes an nghttp2 session that keeps no closed streams, because we need no priorities. */
static nghttp2_session *make_http2(struct grpc_session *s) {
    nghttp2_session *http2 = NULL;
    nghttp2_option *option = NULL;
    nghttp2_session_callbacks *callbacks = make_callbacks();
    if (callbacks != NULL && nghttp2_option_new(&option) == 0) {
        nghttp2_option_set_no_closed_streams(option, 1);
        if (nghttp2_session_server_new2(&http2, callbacks, s, option) != 0)
            http2 = NULL;
    }
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return http2;
}

int grpc_session_new(const struct grpc_service *service, struct clock *clock,
                     struct grpc_budget *budget, struct grpc_session **ret, struct err *err) {
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, LIMIT_GRPC_STREAMS},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, LIMIT_GRPC_HEADERS},
    };
    struct grpc_session *s = calloc(1, sizeof *s);
    if (s == NULL)
        return err_set(err, -ENOMEM, "no memory for a connection");
    *s = (struct grpc_session){.service = service, .clock = clock, .held.budget = budget};
    list_init(&s->calls);
    list_init(&s->waiting);
    grpc_output_init(&s->output);
    arena_init(&s->arena, LIMIT_GRPC_ARENA);
    s->http2 = make_http2(s);
    if (s->http2 == NULL || nghttp2_submit_settings(s->http2, NGHTTP2_FLAG_NONE, settings,
                                                    sizeof settings / sizeof settings[0]) != 0) {
        grpc_session_free(s);
        return err_set(err, -ENOMEM, "no memory for a connection");
    }
    *ret = s;
    return 0;
}

void grpc_session_free(struct grpc_session *s) {
    if (s == NULL)
        return;
    nghttp2_session_del(s->http2); /* this calls no callbacks */
    while (!list_empty(&s->calls))
        grpc_call_free(LIST_ITEM(struct grpc_call, link, s->calls.next));
    arena_done(&s->arena);
    grpc_output_done(&s->output);
    free(s);
}

/* ---- output ---- */

/* Takes nghttp2's output, up to the limit; further output waits in nghttp2. */
static void fill_output(struct grpc_session *s) {
    s->broken = !grpc_output_fill(&s->output, s->http2) || s->broken;
}

struct str grpc_session_output(struct grpc_session *s) {
    fill_output(s);
    return grpc_output_rest(&s->output);
}

void grpc_session_sent(struct grpc_session *s, size_t n) {
    grpc_output_sent(&s->output, n);
}

/* ---- input ---- */

bool grpc_session_takes_input(const struct grpc_session *s) {
    return !s->broken && grpc_output_has_room(&s->output) &&
           s->waiting_count < LIMIT_GRPC_WAITING && nghttp2_session_want_read(s->http2) != 0;
}

int grpc_session_receive(struct grpc_session *s, struct str bytes, struct err *err) {
    if (s->broken)
        return err_set(err, -EPROTO, "the connection is over");
    const ssize_t n = nghttp2_session_mem_recv(s->http2, (const uint8_t *)bytes.p, bytes.n);
    fill_output(s);
    if (n < 0) {
        s->broken = true;
        return err_set(err, -EPROTO, "%s", nghttp2_strerror((int)n));
    }
    return 0;
}

/* ---- turns ---- */

void grpc_session_defer(struct grpc_session *s) {
    s->defers = true;
}

bool grpc_session_has_work(const struct grpc_session *s) {
    return !s->broken && s->waiting_count > 0;
}

void grpc_session_work(struct grpc_session *s) {
    grpc_call_run(LIST_ITEM(struct grpc_call, waiting, s->waiting.next));
}

/* ---- time and the end ---- */

bool grpc_session_tick(struct grpc_session *s) {
    const int64_t now_ms = s->clock->now_ms(s->clock);
    for (struct list *l = s->calls.next; l != &s->calls; l = l->next)
        grpc_call_tick(LIST_ITEM(struct grpc_call, link, l), now_ms);
    if (s->leaving == GRPC_NOTICED)
        leave(s); /* the client does not answer the PING */
    return grpc_output_waits_ms(&s->output, now_ms) < LIMIT_GRPC_SEND_MS;
}

void grpc_session_shutdown(struct grpc_session *s) {
    if (s->leaving != GRPC_STAYS)
        return;
    s->leaving = GRPC_NOTICED;
    if (nghttp2_submit_shutdown_notice(s->http2) != 0 ||
        nghttp2_submit_ping(s->http2, NGHTTP2_FLAG_NONE, shutdown_ping) != 0)
        leave(s);
}

size_t grpc_session_calls(const struct grpc_session *s) {
    return s->call_count;
}

bool grpc_session_is_over(const struct grpc_session *s) {
    if (grpc_output_rest(&s->output).n > 0)
        return false;
    return s->broken ||
           (!nghttp2_session_want_read(s->http2) && !nghttp2_session_want_write(s->http2));
}
