/*
 * A GET in the background, for an object that is read again and again: a thread polls for the end
 * of the request. The buffer of the answer is wiped, because it may hold a secret.
 *
 * Threads: one thread, but not the client's.
 */
#pragma once

#include "kube/client/client.h"

#include <stdatomic.h>

struct kube_fetch {
    struct kube_client *client; /* borrowed */
    struct kube_request request;
    struct strbuf path;
    bool under_way;
    _Atomic bool done; /* on_done has been called: from then on the reader may use the members below
                        */
    int error, status; /* as in struct kube_result */
    struct strbuf body;
};

/* Answers of more than `max_body` bytes are an error. */
void kube_fetch_init(struct kube_fetch *f, struct kube_client *client, size_t max_body);
/* Cancels the request if it is under way, and frees the buffers. */
void kube_fetch_end(struct kube_fetch *f);

/* Begins a request; none may be under way. The path is copied. 0 or -ENOMEM. */
int kube_fetch_start(struct kube_fetch *f, struct str path, int64_t timeout_ms) MUST_CHECK;
/* Cancels the request, if one is under way. */
void kube_fetch_cancel(struct kube_fetch *f);
/* Returns true once after each start, when the request is over. Then error and status are set, and
 * with status 200 the body, until kube_fetch_forget(), the next start or the end. */
bool kube_fetch_ended(struct kube_fetch *f);
void kube_fetch_forget(struct kube_fetch *f);
