/*
 * metav1.Status: how an API server says what went wrong, as the body of an answer or in a watch.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct kube_status {
    int code;               /* HTTP status it stands for; 0: not said */
    struct str reason;      /* "Expired", "Forbidden"; "" */
    struct str message;     /* for people */
    int64_t retry_after_ms; /* details.retryAfterSeconds; -1: not said */
    bool version_too_large; /* a cause ResourceVersionTooLarge, or the old message */
};

/* Reads a Status; a body that is something else (an HTML page, nothing) gives `code` from
 * `http_status` and a message made of it. Never fails. Strings: text or arena. */
void kube_status_read(struct str body, int http_status, struct arena *arena,
                      struct kube_status *ret);

/* code 410, or reason Expired or Gone: what was asked for is too old. */
bool kube_status_expired(const struct kube_status *status);
