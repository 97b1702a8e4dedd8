/*
 * A GET that a person waits for. The caller can ask how far the GET has come, and can give it up.
 * The error names the part that took too long: the credential plugin, the server's name, the
 * connection or the answer.
 *
 * Threads: one thread, but not the client's.
 */
#pragma once

#include "base/mutex.h"
#include "kube/client/client.h"

struct kube_get {
    struct kube_client *client; /* borrowed until kube_get_end() */
    struct kube_request request;
    struct strbuf *body; /* borrowed until kube_get_end(); takes at most body->max bytes */
    int64_t waited_ms;   /* length of the last wait that ran out of time, for messages */
    struct mutex lock;   /* guards the members below */
    struct condition changed;
    bool has_begun, is_done; /* the credentials are there; the request is over */
    enum kube_stage stage;   /* the stage at which the request ended */
    int status;
    struct err error; /* code 0: there is an answer */
};

/* Starts a GET of `path` (borrowed until kube_get_end()): at most `credentials_ms` for the
 * credentials, and then at most `timeout_ms`. With `credentials_ms` 0, `timeout_ms` is for both. */
void kube_get_start(struct kube_get *g, struct kube_client *client, const char *path,
                    int64_t credentials_ms, int64_t timeout_ms, struct strbuf *body);
/* Waits until there are credentials, or the request is over; at most `wait_ms`. Returns false if
 * the time ran out first. */
bool kube_get_wait_credentials(struct kube_get *g, int64_t wait_ms);
/* Waits until the request is over, at most `wait_ms`. Returns false if the request is not over. */
bool kube_get_wait(struct kube_get *g, int64_t wait_ms);
/* Returns how far the request has come, or where it ended. */
enum kube_stage kube_get_stage(struct kube_get *g);
/* Appends why a time limit has passed. The sentence calls the server "it": "it does not accept the
 * connection within 1500 ms". */
void kube_get_say_late(struct kube_get *g, struct strbuf *out);
/* Gives the request up if it is not over, and frees everything but the body. Returns 0 for every
 * answer, also for one with an error status (*ret_status); -ETIMEDOUT with the reason of
 * kube_get_say_late(); or another error. Call it once for each start. */
int kube_get_end(struct kube_get *g, int *ret_status, struct err *err) MUST_CHECK;

/* Waits `timeout_ms` for a GET, credentials included, and then gives it up. */
int kube_get_within(struct kube_client *client, const char *path, int64_t timeout_ms,
                    struct strbuf *body, int *ret_status, struct err *err) MUST_CHECK;
