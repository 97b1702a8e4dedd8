/*
 * A table of the client and time functions that a driver (elector.c, events.c) calls. A test
 * replaces them, to play the client and to set the time.
 */
#pragma once

#include "base/time.h"
#include "kube/client/client.h"

struct kube_io {
    void (*request_start)(struct kube_client *c, struct kube_request *request);
    void (*request_cancel)(struct kube_client *c, struct kube_request *request);
    void (*timer_start)(struct kube_client *c, struct kube_timer *timer, int64_t delay_ms);
    void (*timer_cancel)(struct kube_client *c, struct kube_timer *timer);
    void (*run)(struct kube_client *c, void (*fn)(void *ctx), void *ctx);
    int64_t (*wall_us)(void);
    int64_t (*server_us)(struct kube_client *c);
};

/* Returns the given functions; the real ones if `given` is NULL. */
static inline struct kube_io kube_io_or_real(const struct kube_io *given) {
    const struct kube_io real = {
        kube_request_start, kube_request_cancel, kube_timer_start, kube_timer_cancel,
        kube_run,           kube_wall_us,        kube_server_us};
    return given != NULL ? *given : real;
}
