/* A client's session and its calls, for the files of this folder. */
#pragma once

#include "base/limits.h"
#include "base/list.h"
#include "grpc/client.h"
#include "grpc/held.h"
#include "grpc/incoming.h"
#include "grpc/output.h"

struct grpc_client {
    nghttp2_session *http2; /* owned */
    struct clock *clock;
    char *authority; /* owned */
    bool secure;
    struct list calls; /* struct grpc_client_call; owned */
    size_t call_count; /* calls without a reply yet */
    struct grpc_held held;
    struct grpc_output output;
    bool greeted, broken, dismissed; /* dismissed: the server has sent GOAWAY with goaway_code */
    uint32_t goaway_code;
};

/* A stream, from the call until it is closed. */
struct grpc_client_call {
    struct list link;
    struct grpc_client *client;
    int32_t stream;
    int64_t deadline_ms;
    grpc_reply_fn *reply; /* NULL: the reply has been given */
    void *ctx;
    struct strbuf request; /* prefix and message; `sent` bytes of both have left */
    size_t sent;

    size_t header_bytes;
    int http_status;
    bool is_grpc, has_status;
    int status; /* -1: the server's status is not a number */
    struct strbuf text;

    struct grpc_incoming incoming;
};

/* ---- client_call.c ---- */

/* Returns NULL if there is no memory. */
struct grpc_client_call *grpc_client_call_new(struct grpc_client *c,
                                              const struct grpc_call_request *request,
                                              grpc_reply_fn *reply, void *ctx);
/* Replies with status 14 if the call has no reply yet. */
void grpc_client_call_free(struct grpc_client_call *call);
/* Takes a header or a trailer. Returns false if there are too many. */
bool grpc_client_call_header(struct grpc_client_call *call, struct str name, struct str value);
/* Call it when a block of headers is complete; `ends`: the server sends nothing after it. */
void grpc_client_call_headers_end(struct grpc_client_call *call, bool ends);
void grpc_client_call_data(struct grpc_client_call *call, struct str bytes);
/* Call it when the server has sent all. */
void grpc_client_call_end(struct grpc_client_call *call);
/* Call it when the stream is closed, with an error code of HTTP/2. */
void grpc_client_call_closed(struct grpc_client_call *call, uint32_t code);
/* Ends the call with this status, and resets its stream. */
void grpc_client_call_fail(struct grpc_client_call *call, enum grpc_status status, struct str text);
