/* One call of a client: the server's answer to it, and the one reply. */
#include "grpc/client_internal.h"
#include "grpc/metadata.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct grpc_client_call *grpc_client_call_new(struct grpc_client *c,
                                              const struct grpc_call_request *request,
                                              grpc_reply_fn *reply, void *ctx) {
    const struct str message = request->message;
    const char prefix[5] = {0, (char)(message.n >> 24), (char)(message.n >> 16),
                            (char)(message.n >> 8), (char)message.n};
    struct grpc_client_call *call = calloc(1, sizeof *call);
    if (call == NULL)
        return NULL;
    *call = (struct grpc_client_call){.client = c,
                                      .deadline_ms = request->deadline_ms,
                                      .reply = reply,
                                      .ctx = ctx,
                                      .request.max = sizeof prefix + LIMIT_GRPC_MESSAGE,
                                      .incoming.message.max = LIMIT_GRPC_MESSAGE,
                                      .text.max = LIMIT_GRPC_TEXT};
    strbuf_append(&call->request, prefix, sizeof prefix);
    strbuf_append_str(&call->request, message);
    if (strbuf_failed(&call->request)) {
        strbuf_done(&call->request);
        free(call);
        return NULL;
    }
    list_append(&c->calls, &call->link);
    c->call_count++;
    return call;
}

static void reply(struct grpc_client_call *call, const struct grpc_reply *r) {
    grpc_reply_fn *const function = call->reply;
    struct grpc_client *c = call->client;
    if (function == NULL)
        return;
    call->reply = NULL;
    c->call_count--;
    function(call->ctx, r);
    grpc_incoming_drop(&call->incoming, &c->held);
}

static void reply_status(struct grpc_client_call *call, enum grpc_status status, struct str text) {
    reply(call, &(struct grpc_reply){.status = (int)status, .text = text});
}

void grpc_client_call_free(struct grpc_client_call *call) {
    reply_status(call, GRPC_UNAVAILABLE, STR("the connection was lost"));
    strbuf_done(&call->request);
    strbuf_done(&call->text);
    list_remove(&call->link);
    free(call);
}

/* If nghttp2 has no memory for the reset, the server's frames are read and dropped. */
void grpc_client_call_fail(struct grpc_client_call *call, enum grpc_status status,
                           struct str text) {
    if (call->reply == NULL)
        return;
    reply_status(call, status, text);
    (void)nghttp2_submit_rst_stream(call->client->http2, NGHTTP2_FLAG_NONE, call->stream,
                                    NGHTTP2_CANCEL);
}

/* ---- headers and trailers ---- */

static int number_of(struct str text) {
    int64_t value;
    return str_to_i64(text, &value) && value >= 0 && value <= INT32_MAX ? (int)value : -1;
}

bool grpc_client_call_header(struct grpc_client_call *call, struct str name, struct str value) {
    enum { OVERHEAD = 32 }; /* bytes counted for each header, RFC 9113 6.5.2 */
    call->header_bytes += name.n + value.n + OVERHEAD;
    if (call->header_bytes > LIMIT_GRPC_HEADERS) {
        reply_status(call, GRPC_INTERNAL, STR("the server's headers are too large"));
        return false;
    }
    if (str_eq(name, STR(":status")))
        call->http_status = number_of(value);
    else if (str_eq(name, STR("content-type")))
        call->is_grpc = grpc_content_type(value);
    else if (str_eq(name, STR("grpc-status"))) {
        call->has_status = true;
        call->status = number_of(value);
    } else if (str_eq(name, STR("grpc-message"))) {
        strbuf_clear(&call->text);
        grpc_message_decode(str_cut(value, LIMIT_GRPC_TEXT), &call->text);
    }
    return true;
}

/* https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md */
static enum grpc_status status_of_http(int status) {
    switch (status) {
    case 400:
        return GRPC_INTERNAL;
    case 401:
        return GRPC_UNAUTHENTICATED;
    case 403:
        return GRPC_PERMISSION_DENIED;
    case 404:
        return GRPC_UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504:
        return GRPC_UNAVAILABLE;
    default:
        return GRPC_UNKNOWN;
    }
}

void grpc_client_call_headers_end(struct grpc_client_call *call, bool ends) {
    char text[96];
    if (call->http_status >= 100 && call->http_status < 200 && !ends)
        return; /* more headers will follow */
    if (call->is_grpc && (call->http_status == 200 || call->has_status))
        return;
    (void)snprintf(text, sizeof text, "the server does not speak gRPC: HTTP status %d%s",
                   call->http_status, call->is_grpc ? "" : ", another content-type"); /* fits */
    grpc_client_call_fail(call, status_of_http(call->http_status), str_of(text));
}

/* ---- the message ---- */

/* Call it when the prefix is complete. */
static void check_prefix(struct grpc_client_call *call) {
    const uint32_t length = grpc_incoming_length(&call->incoming);
    char text[96];
    if (call->incoming.prefix[0] != 0)
        grpc_client_call_fail(call, GRPC_INTERNAL, STR("the server's message is compressed"));
    else if (length > LIMIT_GRPC_MESSAGE) {
        (void)snprintf(text, sizeof text, "the server's message has %u bytes, of %u at most",
                       length, LIMIT_GRPC_MESSAGE); /* fits */
        grpc_client_call_fail(call, GRPC_RESOURCE_EXHAUSTED, str_of(text));
    }
}

void grpc_client_call_data(struct grpc_client_call *call, struct str bytes) {
    if (call->reply != NULL && grpc_incoming_prefix(&call->incoming, &bytes))
        check_prefix(call);
    if (call->reply == NULL || bytes.n == 0)
        return;
    const int r = grpc_incoming_add(&call->incoming, &call->client->held, bytes);
    if (r == -EMSGSIZE)
        grpc_client_call_fail(call, GRPC_INTERNAL, STR("the server sends more than one message"));
    else if (r != 0)
        grpc_client_call_fail(call, GRPC_RESOURCE_EXHAUSTED,
                              STR("there is no memory for the server's message"));
}

/* ---- the end ---- */

void grpc_client_call_end(struct grpc_client_call *call) {
    if (!call->has_status)
        reply_status(call, GRPC_INTERNAL, STR("the server ended the call without a status"));
    else if (call->status < 0)
        reply_status(call, GRPC_INTERNAL, STR("the server's grpc-status is no number"));
    else if (call->status != GRPC_OK)
        reply(call, &(struct grpc_reply){.status = call->status,
                                         .from_server = true,
                                         .text = strbuf_str(&call->text)});
    else if (!grpc_incoming_complete(&call->incoming))
        reply_status(call, GRPC_INTERNAL, STR("the server's message is not complete"));
    else
        reply(call, &(struct grpc_reply){.from_server = true,
                                         .message = strbuf_str(&call->incoming.message)});
    /* If the server answered before it read the whole request, the stream stays open: reset it. */
    if (call->request.p != NULL)
        (void)nghttp2_submit_rst_stream(call->client->http2, NGHTTP2_FLAG_NONE, call->stream,
                                        NGHTTP2_CANCEL);
}

void grpc_client_call_closed(struct grpc_client_call *call, uint32_t code) {
    char text[128];
    const enum grpc_status status = code == NGHTTP2_REFUSED_STREAM        ? GRPC_UNAVAILABLE
                                    : code == NGHTTP2_CANCEL              ? GRPC_CANCELLED
                                    : code == NGHTTP2_ENHANCE_YOUR_CALM   ? GRPC_RESOURCE_EXHAUSTED
                                    : code == NGHTTP2_INADEQUATE_SECURITY ? GRPC_PERMISSION_DENIED
                                                                          : GRPC_INTERNAL;
    (void)snprintf(text, sizeof text, "the call was ended by HTTP/2's error %s",
                   nghttp2_http2_strerror(code)); /* fits */
    reply_status(call, status, str_of(text));
}
