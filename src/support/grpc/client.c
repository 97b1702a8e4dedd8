#include "grpc/client_internal.h"
#include "grpc/metadata.h"

#include "base/version.h"

#include <errno.h>
#include <stdlib.h>

static struct grpc_client_call *call_of(nghttp2_session *http2, int32_t stream) {
    return nghttp2_session_get_stream_user_data(http2, stream);
}

/* ---- what nghttp2 reports ---- */

static int on_header(nghttp2_session *http2, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_length, const uint8_t *value, size_t value_length, uint8_t flags,
                     void *client) {
    (void)flags;
    (void)client;
    struct grpc_client_call *call = call_of(http2, frame->hd.stream_id);
    if (call == NULL)
        return 0;
    const bool fits = grpc_client_call_header(call, (struct str){(const char *)name, name_length},
                                              (struct str){(const char *)value, value_length});
    return fits ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* resets the stream */
}

static int on_data(nghttp2_session *http2, uint8_t flags, int32_t stream, const uint8_t *bytes,
                   size_t n, void *client) {
    (void)flags;
    (void)client;
    struct grpc_client_call *call = call_of(http2, stream);
    if (call != NULL)
        grpc_client_call_data(call, (struct str){(const char *)bytes, n});
    return 0;
}

static int on_frame(nghttp2_session *http2, const nghttp2_frame *frame, void *client) {
    struct grpc_client *c = client;
    const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (frame->hd.type == NGHTTP2_SETTINGS && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0)
        c->greeted = true;
    if (frame->hd.type == NGHTTP2_GOAWAY) {
        c->dismissed = true;
        c->goaway_code = frame->goaway.error_code;
    }
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
        return 0;
    struct grpc_client_call *call = call_of(http2, frame->hd.stream_id);
    if (call == NULL)
        return 0;
    if (frame->hd.type == NGHTTP2_HEADERS)
        grpc_client_call_headers_end(call, ends);
    if (ends)
        grpc_client_call_end(call);
    return 0;
}

static int on_close(nghttp2_session *http2, int32_t stream, uint32_t code, void *client) {
    (void)client;
    struct grpc_client_call *call = call_of(http2, stream);
    if (call != NULL) {
        grpc_client_call_closed(call, code);
        grpc_client_call_free(call);
    }
    return 0;
}

/* ---- beginning and end ---- */

static nghttp2_session *make_http2(struct grpc_client *c) {
    nghttp2_session *http2 = NULL;
    nghttp2_option *option = NULL;
    nghttp2_session_callbacks *callbacks = NULL;
    if (nghttp2_session_callbacks_new(&callbacks) == 0 && nghttp2_option_new(&option) == 0) {
        nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
        nghttp2_option_set_no_closed_streams(option, 1);
        if (nghttp2_session_client_new2(&http2, callbacks, c, option) != 0)
            http2 = NULL;
    }
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return http2;
}

int grpc_client_new(const struct grpc_client_options *options, struct grpc_client **ret,
                    struct err *err) {
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, LIMIT_GRPC_HEADERS},
    };
    struct grpc_client *c = calloc(1, sizeof *c);
    if (c == NULL)
        return err_set(err, -ENOMEM, "no memory for a connection");
    *c = (struct grpc_client){.clock = options->clock,
                              .held.budget = options->budget,
                              .authority = strdup(options->authority),
                              .secure = options->secure};
    list_init(&c->calls);
    grpc_output_init(&c->output);
    c->http2 = make_http2(c);
    if (c->authority == NULL || c->http2 == NULL ||
        nghttp2_submit_settings(c->http2, NGHTTP2_FLAG_NONE, settings,
                                sizeof settings / sizeof settings[0]) != 0) {
        grpc_client_free(c);
        return err_set(err, -ENOMEM, "no memory for a connection");
    }
    *ret = c;
    return 0;
}

void grpc_client_free(struct grpc_client *c) {
    if (c == NULL)
        return;
    nghttp2_session_del(c->http2); /* this calls no callbacks */
    while (!list_empty(&c->calls))
        grpc_client_call_free(LIST_ITEM(struct grpc_client_call, link, c->calls.next));
    grpc_output_done(&c->output);
    free(c->authority);
    free(c);
}

/* ---- calls ---- */

static nghttp2_nv header(const char *name, struct str value) {
    /* nghttp2 only reads the name and the value */
    return (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name,
                        .namelen = strlen(name),
                        .value = (uint8_t *)(uintptr_t)(value.n > 0 ? value.p : ""),
                        .valuelen = value.n};
}

/* nghttp2 calls this for up to `room` bytes of the request. */
static ssize_t read_request(nghttp2_session *http2, int32_t stream, uint8_t *to, size_t room,
                            uint32_t *flags, nghttp2_data_source *source, void *client) {
    struct grpc_client_call *call = source->ptr;
    const size_t left = call->request.n - call->sent, n = left < room ? left : room;
    (void)http2, (void)stream, (void)client;
    memcpy(to, call->request.p + call->sent, n);
    call->sent += n;
    if (call->sent == call->request.n) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        strbuf_done(&call->request);
        call->sent = 0;
    }
    return (ssize_t)n;
}

/* Returns the stream's number, or a negative error of nghttp2. */
static int32_t submit(struct grpc_client *c, const struct grpc_call_request *request,
                      struct grpc_client_call *call) {
    CLEANUP(strbuf_done) struct strbuf timeout = {0};
    const nghttp2_data_provider body = {.source.ptr = call, .read_callback = read_request};
    const int64_t now_ms = c->clock->now_ms(c->clock);
    grpc_timeout_write(request->deadline_ms - now_ms, &timeout);
    const nghttp2_nv headers[] = {
        header(":method", STR("POST")),
        header(":scheme", c->secure ? STR("https") : STR("http")),
        header(":path", request->path),
        header(":authority", str_of(c->authority)),
        header("content-type", STR("application/grpc")),
        header("user-agent", STR("evenkeel/" EVENKEEL_VERSION)),
        header("te", STR("trailers")),
        header("grpc-timeout", strbuf_str(&timeout)),
        header("object", request->object),
    };
    const size_t count = sizeof headers / sizeof headers[0];
    return nghttp2_submit_request(c->http2, NULL, headers,
                                  str_empty(request->object) ? count - 1 : count, &body, call);
}

int grpc_client_call(struct grpc_client *c, const struct grpc_call_request *request,
                     grpc_reply_fn *reply, void *ctx, struct err *err) {
    if (!grpc_client_takes_calls(c))
        return err_set(err, -ENOTCONN, "the connection takes no more calls");
    if (c->call_count >= LIMIT_GRPC_STREAMS)
        return err_set(err, -EBUSY, "%u calls are open", LIMIT_GRPC_STREAMS);
    struct grpc_client_call *call = grpc_client_call_new(c, request, reply, ctx);
    if (call == NULL)
        return err_set(err, -ENOMEM, "no memory for a call");
    call->stream = submit(c, request, call);
    if (call->stream > 0)
        return 0;
    call->reply = NULL; /* the caller gets the error as the return value */
    c->call_count--;
    grpc_client_call_free(call);
    return err_set(err, -ENOMEM, "no memory for a call");
}

bool grpc_client_takes_calls(const struct grpc_client *c) {
    return !c->broken && nghttp2_session_check_request_allowed(c->http2) != 0;
}

bool grpc_client_is_greeted(const struct grpc_client *c) {
    return c->greeted;
}

size_t grpc_client_calls(const struct grpc_client *c) {
    return c->call_count;
}

/* ---- bytes ---- */

static void fill_output(struct grpc_client *c) {
    c->broken = !grpc_output_fill(&c->output, c->http2) || c->broken;
}

bool grpc_client_takes_input(const struct grpc_client *c) {
    return !c->broken && grpc_output_has_room(&c->output) &&
           nghttp2_session_want_read(c->http2) != 0;
}

int grpc_client_receive(struct grpc_client *c, struct str bytes, struct err *err) {
    if (c->broken)
        return err_set(err, -EPROTO, "the connection is over");
    const ssize_t n = nghttp2_session_mem_recv(c->http2, (const uint8_t *)bytes.p, bytes.n);
    fill_output(c);
    if (n >= 0)
        return 0;
    c->broken = true;
    return err_set(err, -EPROTO, "%s", nghttp2_strerror((int)n));
}

struct str grpc_client_output(struct grpc_client *c) {
    fill_output(c);
    return grpc_output_rest(&c->output);
}

void grpc_client_sent(struct grpc_client *c, size_t n) {
    grpc_output_sent(&c->output, n);
}

bool grpc_client_is_over(const struct grpc_client *c) {
    if (grpc_output_rest(&c->output).n > 0)
        return false;
    return c->broken ||
           (!nghttp2_session_want_read(c->http2) && !nghttp2_session_want_write(c->http2)) ||
           (!grpc_client_takes_calls(c) && list_empty(&c->calls));
}

int grpc_client_problem(const struct grpc_client *c, struct err *err) {
    if (!c->greeted)
        return err_set(err, -EPROTO, "the server does not speak HTTP/2");
    if (c->dismissed)
        return err_set(err, -ECONNRESET, "the server is leaving (%s)",
                       nghttp2_http2_strerror(c->goaway_code));
    if (nghttp2_session_get_next_stream_id(c->http2) > INT32_MAX)
        return err_set(err, -ECONNRESET,
                       "the connection has no stream number left for another call");
    return err_set(err, -EPROTO, "the server broke a rule of HTTP/2");
}

int64_t grpc_client_tick(struct grpc_client *c) {
    const int64_t now_ms = c->clock->now_ms(c->clock);
    int64_t next_ms = INT64_MAX;
    for (struct list *l = c->calls.next; l != &c->calls; l = l->next) {
        struct grpc_client_call *call = LIST_ITEM(struct grpc_client_call, link, l);
        if (call->reply == NULL)
            continue;
        if (now_ms >= call->deadline_ms)
            grpc_client_call_fail(call, GRPC_DEADLINE_EXCEEDED,
                                  STR("there was no answer before the deadline"));
        else if (call->deadline_ms < next_ms)
            next_ms = call->deadline_ms;
    }
    return next_ms;
}
