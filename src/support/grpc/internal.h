/* A session and its calls, for the files of this folder. */
#pragma once

#include "base/limits.h"
#include "base/list.h"
#include "grpc/held.h"
#include "grpc/incoming.h"
#include "grpc/output.h"
#include "grpc/session.h"

#include <nghttp2/nghttp2.h>

enum grpc_leaving { GRPC_STAYS, GRPC_NOTICED, GRPC_LEAVES };

struct grpc_session {
    nghttp2_session *http2;             /* owned */
    const struct grpc_service *service; /* borrowed, like the clock */
    struct clock *clock;
    struct list calls; /* struct grpc_call, oldest first; owned */
    bool defers;
    struct list waiting; /* complete calls, in the order in which they became complete */
    size_t waiting_count;
    size_t call_count;
    struct grpc_held held;
    struct arena arena;
    struct grpc_output output;
    enum grpc_leaving leaving;
    bool broken; /* the session takes no more input */
};

/* A stream, from its first header until it is closed. */
struct grpc_call {
    struct list link, waiting; /* waiting: in a list while the call is complete and not answered */
    struct grpc_session *session;
    int32_t stream;
    const struct grpc_method *method; /* NULL: the service has no such method */
    int64_t begun_ns, begun_ms;
    int64_t deadline_ms; /* INT64_MAX: none */
    size_t header_bytes;
    char path[LIMIT_GRPC_PATH], object[LIMIT_GRPC_OBJECT]; /* cut */
    size_t path_length, object_length;
    bool is_post, is_grpc, is_encoded, bad_timeout; /* found in its headers */

    struct grpc_incoming incoming;
    bool ended; /* the client has sent all */

    bool answered;
    bool is_refused; /* the answer follows when the client has sent all */
    struct {
        enum grpc_status status;
        int http;
        struct strbuf text;
    } refusal;
    size_t ignored; /* bytes that came after the refusal */
    int64_t answered_ms;
    uint32_t remark;     /* the response's remark */
    struct strbuf frame; /* the bytes of the response; `sent` bytes of them have left */
    size_t sent;
};

/* ---- call.c ---- */

/* Begins a call on a new stream. NULL without memory. */
struct grpc_call *grpc_call_begin(struct grpc_session *s, int32_t stream);
void grpc_call_free(struct grpc_call *call);
/* Frees the request, which is not needed any more. */
void grpc_call_drop_message(struct grpc_call *call);
/* Takes a header. Returns false if there are too many. */
bool grpc_call_header(struct grpc_call *call, struct str name, struct str value);
/* Call it when all headers have come. */
void grpc_call_headers_end(struct grpc_call *call);
void grpc_call_data(struct grpc_call *call, struct str bytes);
/* Call it when the client has sent all: runs the method, now or when it is the call's turn. */
void grpc_call_end(struct grpc_call *call);
/* Runs the call's method; it is the call's turn. */
void grpc_call_run(struct grpc_call *call);
/* Removes the call from the queue, if it is there. */
void grpc_call_leave_queue(struct grpc_call *call);
/* Ends the call if a time limit has passed. */
void grpc_call_tick(struct grpc_call *call, int64_t now_ms);

/* ---- answer.c ---- */

void grpc_answer(struct grpc_call *call, struct str message);
/* Answers with a status other than OK; `http` is 200, or the HTTP status of the error. */
void grpc_refuse(struct grpc_call *call, enum grpc_status status, int http, struct str text);
