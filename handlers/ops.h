/*
 * The ops listener's endpoints: liveness, readiness, metrics and version. `ctx` of every handler is
 * a struct ops.
 */
#pragma once

#include "http/http.h"

#include <stdatomic.h>
#include <stddef.h>

/* One condition of readiness, and its line in /readyz. Functions are called with ctx, on the
 * listener's thread. */
struct ops_check {
    const char *name;
    bool (*good)(void *ctx);
    bool (*wanted)(void *ctx); /* false: no line now; NULL: always a line */
    const char *good_text;     /* NULL: no line while it is good */
    const char *bad_text;      /* the meaning, or advice */
    bool advice;               /* only advice: a replica is ready without it */
    void *ctx;
};

struct ops {
    const struct ops_check *checks;
    size_t check_count;
    /* Appends metrics whose labels are not fixed; called with `ctx`, likewise. NULL: no such
     * metrics. All of them are left out if they take more than LIMIT_MORE_METRICS, or if memory
     * runs out. */
    void (*more_metrics)(void *ctx, struct strbuf *out);
    /* Can the process still report the end of its leadership? Called as above. */
    bool (*is_alive)(void *ctx);
    void *ctx;
    int64_t handler_ms;    /* a handler that runs longer counts as hung; 0: no limit */
    _Atomic bool draining; /* set at SIGTERM: not ready any more, still alive */
};

/* Register and unregister the metrics of the handlers themselves. */
void ops_start(void);
void ops_stop(void);

void ops_livez(void *ctx, const struct http_request *request, struct http_response *response);
void ops_readyz(void *ctx, const struct http_request *request, struct http_response *response);
void ops_metrics(void *ctx, const struct http_request *request, struct http_response *response);
void ops_version(void *ctx, const struct http_request *request, struct http_response *response);
