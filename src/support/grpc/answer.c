/*
 * Answers: HEADERS, DATA and trailers for a response, or trailers alone for a status. nghttp2
 * copies headers when they are submitted. If nghttp2 has no memory, the stream stays open until its
 * time is over.
 */
#include "grpc/internal.h"
#include "grpc/metadata.h"

#include <stdio.h>

static nghttp2_nv header(const char *name, struct str value) {
    /* nghttp2 only reads the name and the value */
    return (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name,
                        .namelen = strlen(name),
                        .value = (uint8_t *)(uintptr_t)(value.n > 0 ? value.p : ""),
                        .valuelen = value.n};
}

static void report(struct grpc_call *call, enum grpc_status status) {
    const struct grpc_service *service = call->session->service;
    call->answered = true;
    grpc_call_drop_message(call);
    call->answered_ms = call->session->clock->now_ms(call->session->clock);
    if (service->observe != NULL)
        service->observe(
            service->ctx,
            &(struct grpc_report){.method = call->method,
                                  .status = status,
                                  .duration_ns = clock_ns(call->session->clock) - call->begun_ns,
                                  .object = {call->object, call->object_length},
                                  .remark = call->remark});
}

/* nghttp2 calls this for up to `room` bytes of the response; the trailers follow the last bytes. */
static ssize_t read_frame(nghttp2_session *http2, int32_t stream, uint8_t *to, size_t room,
                          uint32_t *flags, nghttp2_data_source *source, void *session) {
    struct grpc_call *call = source->ptr;
    const size_t left = call->frame.n - call->sent, n = left < room ? left : room;
    (void)session;
    memcpy(to, call->frame.p + call->sent, n);
    call->sent += n;
    if (call->sent < call->frame.n)
        return (ssize_t)n;
    const nghttp2_nv trailers[] = {header("grpc-status", STR("0")),
                                   header("grpc-message", STR(""))};
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    const int r = nghttp2_submit_trailer(http2, stream, trailers, 2);
    return r == 0 ? (ssize_t)n : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

void grpc_answer(struct grpc_call *call, struct str message) {
    const nghttp2_nv headers[] = {header(":status", STR("200")),
                                  header("content-type", STR("application/grpc"))};
    const nghttp2_data_provider body = {.source.ptr = call, .read_callback = read_frame};
    const char prefix[5] = {0, (char)(message.n >> 24), (char)(message.n >> 16),
                            (char)(message.n >> 8), (char)message.n};
    strbuf_append(&call->frame, prefix, sizeof prefix);
    strbuf_append_str(&call->frame, message);
    if (strbuf_failed(&call->frame)) {
        strbuf_done(&call->frame);
        grpc_refuse(call, GRPC_RESOURCE_EXHAUSTED, 200, STR("out of memory"));
        return;
    }
    report(call, GRPC_OK);
    (void)nghttp2_submit_response(call->session->http2, call->stream, headers, 2, &body);
}

void grpc_refuse(struct grpc_call *call, enum grpc_status status, int http, struct str text) {
    CLEANUP(strbuf_done) struct strbuf message = {0};
    char http_text[4], status_text[4];
    (void)snprintf(http_text, sizeof http_text, "%d", http); /* fits, as the next */
    (void)snprintf(status_text, sizeof status_text, "%d", (int)status);
    grpc_message_encode(text, &message);
    const nghttp2_nv headers[] = {
        header(":status", str_of(http_text)), header("content-type", STR("application/grpc")),
        header("grpc-status", str_of(status_text)), header("grpc-message", strbuf_str(&message))};
    report(call, status);
    (void)nghttp2_submit_response(call->session->http2, call->stream, headers, 4, NULL);
}
