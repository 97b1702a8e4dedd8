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
    bool (*wanted)(void *ctx); /* returns false if the check has no line now; NULL: the check always
                                  has a line */
    const char *good_text;     /* text of a good check; NULL: a good check has no line */
    const char *bad_text;      /* text of a bad check: its meaning, or advice */
    bool advice;               /* a replica is ready even if the check is bad */
    void *ctx;
};

struct ops {
    const struct ops_check *checks;
    size_t check_count;
    /* Appends metrics whose labels are not fixed; called with `ctx`, too. NULL: there are no such
     * metrics. All of these metrics are left out if they take more than LIMIT_MORE_METRICS, or if
     * memory runs out. */
    void (*more_metrics)(void *ctx, struct strbuf *out);
    /* Can the process still report the end of its leadership? Called with `ctx`. */
    bool (*is_alive)(void *ctx);
    void *ctx;
    int64_t handler_ms;    /* a handler that runs longer than this counts as hung; 0: no limit */
    _Atomic bool draining; /* set at SIGTERM: the process is not ready any more, but alive */
};

/* Register and unregister the metrics of the handlers themselves. */
void ops_start(void);
void ops_stop(void);

void ops_livez(void *ctx, const struct http_request *request, struct http_response *response);
void ops_readyz(void *ctx, const struct http_request *request, struct http_response *response);
void ops_metrics(void *ctx, const struct http_request *request, struct http_response *response);
void ops_version(void *ctx, const struct http_request *request, struct http_response *response);
