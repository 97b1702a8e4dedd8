/* One call: its headers, its message byte by byte, and its method. */
#include "grpc/internal.h"
#include "grpc/metadata.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the beginning and end of a call ---- */

struct grpc_call *grpc_call_begin(struct grpc_session *s, int32_t stream) {
    if (!grpc_hold(&s->held, LIMIT_GRPC_CALL_BYTES))
        return NULL;
    struct grpc_call *call = calloc(1, sizeof *call);
    if (call == NULL) {
        grpc_let_go(&s->held, LIMIT_GRPC_CALL_BYTES);
        return NULL;
    }
    call->session = s;
    call->stream = stream;
    call->begun_ns = clock_ns(s->clock);
    call->begun_ms = s->clock->now_ms(s->clock);
    call->deadline_ms = INT64_MAX;
    call->incoming.message.max = LIMIT_GRPC_MESSAGE;
    list_init(&call->waiting);
    list_append(&s->calls, &call->link);
    s->call_count++;
    return call;
}

void grpc_call_drop_message(struct grpc_call *call) {
    grpc_incoming_drop(&call->incoming, &call->session->held);
}

void grpc_call_leave_queue(struct grpc_call *call) {
    if (list_empty(&call->waiting))
        return;
    list_remove(&call->waiting);
    call->session->waiting_count--;
}

void grpc_call_free(struct grpc_call *call) {
    grpc_call_leave_queue(call);
    grpc_call_drop_message(call);
    strbuf_done(&call->frame);
    strbuf_done(&call->refusal.text);
    list_remove(&call->link);
    call->session->call_count--;
    grpc_let_go(&call->session->held, LIMIT_GRPC_CALL_BYTES);
    free(call);
}

/* ---- headers ---- */

static void keep_cut(struct str value, char *to, size_t size, size_t *ret_length) {
    const struct str cut = str_cut(value, size);
    if (cut.n > 0)
        memcpy(to, cut.p, cut.n);
    *ret_length = cut.n;
}

static const struct grpc_method *method_of(const struct grpc_service *service, struct str path) {
    const struct str prefix = str_of(service->path);
    if (!str_has_prefix(path, prefix))
        return NULL;
    const struct str name = {path.p + prefix.n, path.n - prefix.n};
    for (size_t i = 0; i < service->method_count; i++)
        if (str_eq(name, str_of(service->methods[i].name)))
            return &service->methods[i];
    return NULL;
}

static void timeout_header(struct grpc_call *call, struct str value) {
    int64_t timeout_ms;
    call->bad_timeout = !grpc_timeout_parse(value, &timeout_ms);
    if (!call->bad_timeout)
        call->deadline_ms = call->begun_ms + timeout_ms;
}

bool grpc_call_header(struct grpc_call *call, struct str name, struct str value) {
    enum { OVERHEAD = 32 }; /* bytes counted for each header, RFC 9113 6.5.2 */
    call->header_bytes += name.n + value.n + OVERHEAD;
    if (call->header_bytes > LIMIT_GRPC_HEADERS)
        return false;
    if (str_eq(name, STR(":path"))) {
        call->method = method_of(call->session->service, value);
        keep_cut(value, call->path, sizeof call->path, &call->path_length);
    } else if (str_eq(name, STR(":method")))
        call->is_post = str_eq(value, STR("POST"));
    else if (str_eq(name, STR("content-type")))
        call->is_grpc = grpc_content_type(value);
    else if (str_eq(name, STR("grpc-timeout")))
        timeout_header(call, value);
    else if (str_eq(name, STR("grpc-encoding")))
        call->is_encoded = !str_eq(value, STR("identity"));
    else if (str_eq(name, STR("object")))
        keep_cut(value, call->object, sizeof call->object, &call->object_length);
    return true;
}

/* ---- refusing incomplete requests ---- */

static void refuse_now(struct grpc_call *call) {
    grpc_refuse(call, call->refusal.status, call->refusal.http, strbuf_str(&call->refusal.text));
}

/* Refuses a call. Some clients lose an answer that comes before they have sent all, so the answer
 * waits for the rest of the request. Only few bytes of the rest are accepted. */
static void refuse(struct grpc_call *call, enum grpc_status status, int http, struct str text) {
    call->is_refused = true;
    call->refusal.status = status;
    call->refusal.http = http;
    strbuf_append_str(&call->refusal.text, text); /* if memory runs out, the text is missing */
    grpc_call_drop_message(call);
}

static void ignore(struct grpc_call *call, size_t n) {
    const bool was_enough = call->ignored > LIMIT_GRPC_IGNORED;
    call->ignored += n;
    if (was_enough || call->ignored <= LIMIT_GRPC_IGNORED)
        return;
    if (!call->answered)
        refuse_now(call); /* after the answer is sent, the stream is reset */
    else
        (void)nghttp2_submit_rst_stream(call->session->http2, NGHTTP2_FLAG_NONE, call->stream,
                                        NGHTTP2_NO_ERROR);
}

/* upstream: grpc-go internal/transport http2_server.go operateHeaders(), server.go handleStream().
 */
void grpc_call_headers_end(struct grpc_call *call) {
    char text[64 + LIMIT_GRPC_PATH];
    if (!call->is_post)
        refuse(call, GRPC_INTERNAL, 405, STR("calls are made with POST"));
    else if (!call->is_grpc)
        refuse(call, GRPC_INVALID_ARGUMENT, 415, STR("the content-type is not application/grpc"));
    else if (call->bad_timeout)
        refuse(call, GRPC_INTERNAL, 200, STR("grpc-timeout is malformed"));
    else if (call->method == NULL) {
        (void)snprintf(text, sizeof text, "there is no method %.*s", (int)call->path_length,
                       call->path); /* fits */
        refuse(call, GRPC_UNIMPLEMENTED, 200, str_of(text));
    }
}

/* ---- the message ---- */

/* Call it when the prefix is complete. */
static void check_prefix(struct grpc_call *call) {
    const uint8_t flag = call->incoming.prefix[0];
    const uint32_t length = grpc_incoming_length(&call->incoming);
    char text[96];
    if (flag != 0)
        refuse(call, flag == 1 && call->is_encoded ? GRPC_UNIMPLEMENTED : GRPC_INTERNAL, 200,
               STR("compressed messages are not read"));
    else if (length > LIMIT_GRPC_MESSAGE) {
        (void)snprintf(text, sizeof text, "the message has %u bytes, of %u at most", length,
                       LIMIT_GRPC_MESSAGE); /* fits */
        refuse(call, GRPC_RESOURCE_EXHAUSTED, 200, str_of(text));
    }
}

void grpc_call_data(struct grpc_call *call, struct str bytes) {
    if (call->is_refused || call->answered)
        ignore(call, bytes.n);
    else if (grpc_incoming_prefix(&call->incoming, &bytes))
        check_prefix(call);
    if (call->is_refused || call->answered || bytes.n == 0)
        return;
    switch (grpc_incoming_add(&call->incoming, &call->session->held, bytes)) {
    case 0:
        return;
    case -EMSGSIZE:
        refuse(call, GRPC_INTERNAL, 200, STR("there is more than one message"));
        return;
    case -EDQUOT:
        refuse(call, GRPC_RESOURCE_EXHAUSTED, 200, STR("too many requests are under way"));
        return;
    default:
        refuse(call, GRPC_RESOURCE_EXHAUSTED, 200, STR("out of memory"));
    }
}

/* ---- the method ---- */

static void run_method(struct grpc_call *call) {
    struct grpc_session *s = call->session;
    struct grpc_response response = {.message.max = LIMIT_GRPC_MESSAGE};
    s->arena.steps = (struct steps){.max = LIMIT_GRPC_STEPS};
    call->method->handle(s->service->ctx,
                         &(struct grpc_request){.message = strbuf_str(&call->incoming.message),
                                                .object = {call->object, call->object_length},
                                                .deadline_ms = call->deadline_ms,
                                                .arena = &s->arena},
                         &response);
    call->remark = response.remark;
    if (response.status != GRPC_OK)
        grpc_refuse(call, response.status, 200, str_of(response.err.text));
    else if (strbuf_failed(&response.message))
        grpc_refuse(call, GRPC_RESOURCE_EXHAUSTED, 200, STR("the response is too large"));
    else
        grpc_answer(call, strbuf_str(&response.message));
    strbuf_done(&response.message);
    arena_reset(&s->arena); /* a connection that waits keeps no memory of the call */
}

void grpc_call_run(struct grpc_call *call) {
    grpc_call_leave_queue(call);
    if (call->session->clock->now_ms(call->session->clock) >= call->deadline_ms)
        grpc_refuse(call, GRPC_DEADLINE_EXCEEDED, 200, STR("the deadline is over"));
    else
        run_method(call);
}

static void wait_for_turn(struct grpc_call *call) {
    list_append(&call->session->waiting, &call->waiting);
    call->session->waiting_count++;
}

void grpc_call_end(struct grpc_call *call) {
    call->ended = true;
    if (call->answered)
        return;
    if (call->is_refused)
        refuse_now(call);
    else if (!grpc_incoming_complete(&call->incoming))
        grpc_refuse(call, GRPC_INTERNAL, 200, STR("the message is not complete"));
    else if (call->session->defers)
        wait_for_turn(call);
    else
        grpc_call_run(call);
}

void grpc_call_tick(struct grpc_call *call, int64_t now_ms) {
    if (!call->answered) {
        const bool late = !call->ended && now_ms - call->begun_ms >= LIMIT_GRPC_RECEIVE_MS;
        if (now_ms < call->deadline_ms && !late)
            return;
        grpc_call_leave_queue(call);
        if (call->is_refused)
            refuse_now(call);
        else
            grpc_refuse(call, GRPC_DEADLINE_EXCEEDED, 200,
                        call->ended ? STR("the deadline is over")
                                    : STR("the request did not come in time"));
    } else if (now_ms - call->answered_ms >= LIMIT_GRPC_SEND_MS) {
        call->answered_ms = now_ms; /* so that the reset is tried again if it fails */
        (void)nghttp2_submit_rst_stream(call->session->http2, NGHTTP2_FLAG_NONE, call->stream,
                                        NGHTTP2_CANCEL);
    }
}
