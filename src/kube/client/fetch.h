/*
 * A GET whose answer is taken by a thread that looks once in a while: for an object that is read
 * again and again in the background. What it held of an answer is wiped, for it may be a secret.
 *
 * Threads: one, which is not the client's.
 */
#pragma once

#include "kube/client/client.h"

#include <stdatomic.h>

struct kube_fetch {
    struct kube_client *client; /* borrowed */
    struct kube_request request;
    struct strbuf path;
    bool under_way;
    _Atomic bool done; /* on_done has been called; what follows is the reader's then */
    int error, status; /* as in struct kube_result */
    struct strbuf body;
};

/* Answers of more than `max_body` bytes are an error. */
void kube_fetch_init(struct kube_fetch *f, struct kube_client *client, size_t max_body);
/* Cancels it if it is under way, and frees what it has. */
void kube_fetch_end(struct kube_fetch *f);

/* Begins; it must not be under way. The path is copied. 0 or -ENOMEM. */
int kube_fetch_start(struct kube_fetch *f, struct str path, int64_t timeout_ms) MUST_CHECK;
/* Asks nothing any more. One that is not under way is fine. */
void kube_fetch_cancel(struct kube_fetch *f);
/* True once after each start, when it is over: then error and status are its, and the body of a
 * status 200 until kube_fetch_forget(), the next start or the end. */
bool kube_fetch_ended(struct kube_fetch *f);
void kube_fetch_forget(struct kube_fetch *f);
