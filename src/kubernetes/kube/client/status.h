/*
 * metav1.Status: an API server's report of an error, as the body of an answer or in a watch.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct kube_status {
    int code;               /* the HTTP status; 0: not given */
    struct str reason;      /* "Expired", "Forbidden"; "": not given */
    struct str message;     /* for people */
    int64_t retry_after_ms; /* details.retryAfterSeconds; -1: not given */
    bool version_too_large; /* has the cause ResourceVersionTooLarge, or the message of older
                               servers */
};

/* Reads a Status. If the body is no Status (an HTML page, or empty), `code` is `http_status`, and
 * the message is made from the body. Never fails. Strings are in the body or the arena. */
void kube_status_read(struct str body, int http_status, struct arena *arena,
                      struct kube_status *ret);

/* Is the requested version too old: code 410, or reason Expired or Gone? */
bool kube_status_expired(const struct kube_status *status);
