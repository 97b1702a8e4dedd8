/*
 * Requests to one API server, with its credentials: HTTP/1.1 on kept-alive connections, or HTTP/2
 * on one connection if the access allows and the server offers it. No HTTP/2 request waits for
 * another: received bytes are taken at once, so that no stream's window closes. A client moves
 * bytes and knows no Kubernetes kind.
 *
 * Threads: everything may be called from any thread, unless a comment names others. Every callback
 * comes on the thread of the loop (kube/client/loop.h), which comments call the client's thread. A
 * callback must not block; it may start and cancel requests and timers. A function that cancels
 * returns when no callback is running or can come any more, so its caller must hold no lock that a
 * callback takes.
 *
 * Time limits: 30 s to connect, TLS included; a peer that is dead is found within 45 s by TCP
 * (keep-alive probes and TCP_USER_TIMEOUT). Redirects are not followed. .netrc and the
 * environment's proxy variables are not read: set proxy-url in a kubeconfig.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "kube/auth/access.h"
#include "kube/client/loop.h"

#include <stdbool.h>
#include <stdint.h>

struct kube_client;
struct outage;

/* Makes a client on a loop, which must live longer and may have other clients. `access` is borrowed
 * for the client's life. Returns 0, -EINVAL, -ENOMEM, or the error of reading the credentials. */
int kube_client_new_on(struct kube_loop *loop, const struct kube_access *access,
                       struct kube_client **ret, struct err *err) MUST_CHECK;
/* Makes a client with its own loop and this clock (NULL: the real clock). */
int kube_client_new(const struct kube_access *access, struct clock *clock, struct kube_client **ret,
                    struct err *err) MUST_CHECK;
/* Before it returns, every waiting timer of the client fires, and every request ends with
 * -ECANCELED, so that the owners of timers and requests can end, too. Meanwhile a newly started
 * timer never fires, and a newly started request ends at once. Any thread but the client's. NULL is
 * fine. */
void kube_client_free(struct kube_client *c);
/* The same, for CLEANUP(). */
static inline void kube_client_cleanup(struct kube_client **c) {
    kube_client_free(*c);
}

/* Calls fn(ctx) on the client's thread, between two callbacks, and waits until fn has returned. Use
 * it to end work of that thread. A caller on the client's thread calls fn at once. */
void kube_run(struct kube_client *c, void (*fn)(void *ctx), void *ctx);

/* How far a request has come. */
enum kube_stage {
    KUBE_STAGE_CREDENTIALS, /* a credential plugin runs */
    KUBE_STAGE_NAME,        /* the server's name is being resolved */
    KUBE_STAGE_CONNECTION,  /* the server has not accepted the TCP connection yet */
    KUBE_STAGE_ANSWER,      /* TCP is connected: TLS, the request, the answer */
};

/* How a request ended. Texts are valid during the callback. */
struct kube_result {
    int error;               /* 0: there is a whole answer; else -errno: -ECONNREFUSED, -ETIMEDOUT,
                                -ECANCELED, -EFBIG (more than max_body), -EIO and so on */
    const char *error_text;  /* error of libcurl or of the credentials, for people; "" */
    int status;              /* HTTP status, 0 without one */
    enum kube_stage stage;   /* the stage where the request ended, if libcurl or the credentials
                                ended it */
    bool unasked;            /* not sent: no credentials, or a refused certificate */
    int64_t retry_after_ms;  /* -1: not given; never more than five minutes */
    struct str content_type; /* "" if none */
    struct str body;         /* the answer's body, if on_data is NULL */
};

/*
 * One request. Members that the caller does not set are zero. The caller owns the struct and all
 * that it points to, and must not change them from start until on_done returns.
 */
struct kube_request {
    const char *method; /* GET, POST, PUT, PATCH, DELETE */
    const char *path;   /* "/api/v1/pods?limit=500", escaped */
    struct str body;
    const char *content_type; /* type of the body; NULL: application/json */
    int64_t timeout_ms;       /* for the whole request; 0: 60 s */
    int64_t credentials_ms;   /* longest wait for credentials, before timeout_ms begins; 0:
                                 timeout_ms includes this wait */
    int64_t silence_ms;       /* the longest wait for the next byte; 0: as timeout_ms */
    size_t max_body;          /* most bytes of an answer, if on_data is NULL; 0: LIMIT_KUBE_BODY */
    /* Called when the credentials are there and timeout_ms begins. May be NULL. */
    void (*on_begin)(void *ctx);
    /* Called when the status is known. May be NULL. */
    void (*on_head)(void *ctx, int status);
    /* Receives bytes of the body as they come. If it returns another value than 0, the request ends
     * with -ECANCELED. NULL: the body is collected. */
    int (*on_data)(void *ctx, struct str bytes);
    void (*on_done)(void *ctx, const struct kube_result *result);
    void *ctx;

    struct kube_transfer { /* for the client only */
        struct kube_client *client;
        struct kube_request *next, **link; /* link NULL: the request is not under way */
        struct loop_transfer transfer;     /* handle NULL: libcurl has no part in the request */
        void *headers;                     /* the handle's list of header lines */
        struct strbuf body;
        int64_t began_ms, until_ms;
        uint64_t tls_version;        /* version of the credentials in the request */
        struct server_clock *server; /* receives the answer's date */
        int refused;                 /* why the rest of the body is refused: -errno, or 0 */
        char error_text[256];
    } own;
};
void kube_request_start(struct kube_client *c, struct kube_request *request);
/* When this returns, on_done has been called, with -ECANCELED unless the request was over already.
 * Do not call it in an on_head or on_data: libcurl is at work there. */
void kube_request_cancel(struct kube_client *c, struct kube_request *request);
/* Returns the stage of a request that was started; KUBE_STAGE_CREDENTIALS after its end. */
enum kube_stage kube_request_stage(struct kube_client *c, const struct kube_request *request);

/* Calls timer->fn once on the client's thread, delay_ms from now. Starting a timer again replaces
 * its time. */
void kube_timer_start(struct kube_client *c, struct kube_timer *timer, int64_t delay_ms);
/* The timer is not firing when this returns (unless the caller is its fn), and will not fire. */
void kube_timer_cancel(struct kube_client *c, struct kube_timer *timer);

/* Returns the outage of this API server, for its watches: kube/client/outage.h. */
struct outage *kube_client_outage(struct kube_client *c);
/* Returns the API server's `role` (kube/auth/access.h), or NULL. */
const char *kube_client_role(const struct kube_client *c);
/* Returns the API server's time, from the Date of its answers: kube/client/server_clock.h. Any
 * thread. */
int64_t kube_server_us(struct kube_client *c);
/* Logs if this machine's clock differs from the server's. Cheap. Call it from one thread at a time.
 */
void kube_compare_clocks(struct kube_client *c);

/* Starts a request and waits for its end, from any thread but the client's. Collects the answer
 * into `body`, at most body->max bytes. Returns 0 for every answer, also for one with an error
 * status (*ret_status). */
int kube_call(struct kube_client *c, const char *method, const char *path, struct str request_body,
              struct strbuf *body, int *ret_status, struct err *err) MUST_CHECK;
/* The same for a PATCH of type application/merge-patch+json. */
int kube_merge(struct kube_client *c, const char *path, struct str patch, struct strbuf *body,
               int *ret_status, struct err *err) MUST_CHECK;

/* Returns the version of the loaded libcurl. Static string. */
const char *kube_library_version(void);
