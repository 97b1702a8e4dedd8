/*
 * gRPC over HTTP/2: unary calls, without compression. A service is a const table of methods, each a
 * function from a request message to a response message. Here messages are only bytes: the handler,
 * or the caller (grpc/client.h), knows their contents.
 *
 * gRPC: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md; where it leaves a choice,
 * we do the same as grpc-go.
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

/* Bytes of calls and messages that all sessions hold together, beyond the bytes that each session
 * has for itself. */
struct grpc_budget {
    _Atomic size_t used;
    size_t max;
};

struct grpc_request {
    struct str message;
    struct str object;   /* metadata `object`, for logs; cut; "" if absent */
    int64_t deadline_ms; /* by the server's clock; INT64_MAX: no deadline */
    struct arena *arena; /* for memory that lives during the call */
};

/* A response message, or a status that is not OK with a sentence. */
struct grpc_response {
    struct strbuf message; /* the handler appends to it */
    enum grpc_status status;
    struct err err;  /* the sentence, if the status is not OK */
    uint32_t remark; /* a number from the handler for the report */
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
    const struct grpc_method *method; /* NULL: the service has no such method */
    enum grpc_status status;
    int64_t duration_ns; /* from the first byte of the headers to the answer */
    struct str object;
    uint32_t remark; /* the response's remark; 0 if no handler ran */
};

struct grpc_service {
    const char *path; /* "/package.Service/" */
    const struct grpc_method *methods;
    size_t method_count;
    void (*observe)(void *ctx, const struct grpc_report *report); /* may be NULL */
    void *ctx; /* passed to all functions; borrowed */
};
