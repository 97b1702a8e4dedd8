/*
 * gRPC over HTTP/2: unary calls, without compression. A service is a const table of methods, each a
 * function from a request message to a response message. Messages are bytes here; what is in them
 * is the handler's, or the caller's (grpc/client.h).
 *
 * gRPC: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md; where that leaves something
 * open, as grpc-go does it.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* The status codes that are used. */
enum grpc_status {
    GRPC_OK = 0,
    GRPC_CANCELLED = 1,
    GRPC_UNKNOWN = 2, /* the handler's errors */
    GRPC_INVALID_ARGUMENT = 3,
    GRPC_DEADLINE_EXCEEDED = 4,
    GRPC_PERMISSION_DENIED = 7,
    GRPC_RESOURCE_EXHAUSTED = 8,
    GRPC_UNIMPLEMENTED = 12,
    GRPC_INTERNAL = 13,
    GRPC_UNAVAILABLE = 14,
    GRPC_UNAUTHENTICATED = 16,
};

/* Bytes of calls and messages that all sessions hold beyond their own. */
struct grpc_budget {
    _Atomic size_t used;
    size_t max;
};

struct grpc_request {
    struct str message;
    struct str object;   /* metadata `object`, of which a log may speak; cut; "" without */
    int64_t deadline_ms; /* of the server's clock; INT64_MAX: none */
    struct arena *arena; /* for the time of the call */
};

/* A response message, or a status that is not OK with a sentence. */
struct grpc_response {
    struct strbuf message; /* to be appended to */
    enum grpc_status status;
    struct err err;  /* its text, if the status is not OK */
    uint32_t remark; /* the handler's own, for the report */
};

/* Runs on the connection's thread and must not block. Everything in `request` is borrowed. */
typedef void grpc_handler_fn(void *ctx, const struct grpc_request *request,
                             struct grpc_response *response);

struct grpc_method {
    const char *name; /* "MaxAvailableReplicas" */
    grpc_handler_fn *handle;
};

/* How a call ended, for logs and metrics. */
struct grpc_report {
    const struct grpc_method *method; /* NULL: no such method */
    enum grpc_status status;
    int64_t duration_ns; /* from the first byte of its headers to its answer */
    struct str object;
    uint32_t remark; /* of the response; 0 where no handler has run */
};

struct grpc_service {
    const char *path; /* "/package.Service/" */
    const struct grpc_method *methods;
    size_t method_count;
    void (*observe)(void *ctx, const struct grpc_report *report); /* may be NULL */
    void *ctx;                                                    /* of all functions; borrowed */
};
