/*
 * Writes objects for controllers: a queue (kube/write/queue.h has its rules) on a client. A
 * controller names an object that wants a write; when its turn comes, make() makes the write from
 * the object as the controller then knows it, and done() receives the result.
 *
 * Every write names a field manager: "evenkeel", or the owner's own. A write that must replace
 * exactly the seen version has metadata.resourceVersion in its body.
 *
 * Metrics: evenkeel_writes_total{what,result}, evenkeel_writes_waiting{what}.
 *
 * Threads: everything on the client's thread, unless a comment names others. make() and done() are
 * called there, and may call all functions that must be called there.
 */
#pragma once

#include "kube/client/io.h"
#include "kube/write/queue.h"

struct writer;

struct writer_options {
    struct kube_client *client; /* borrowed until writer_free() */
    struct clock *clock;        /* likewise; NULL: the real clock */
    const struct kube_io *io;   /* NULL: the client's */
    /* All zero: 4 requests at the same time; 10 writes at once and then 5 a second. upstream:
     * client-go rest/config.go, QPS and Burst. At most LIMIT_WRITES_IN_FLIGHT are under way. */
    struct write_limits limits;
};

/* 0 or -ENOMEM. Any thread. */
int writer_new(const struct writer_options *options, struct writer **ret,
               struct err *err) MUST_CHECK;
/* Frees the writer; all its controllers must have left before. Any thread. NULL is fine. */
void writer_free(struct writer *w);

enum write_verb {
    WRITE_NOTHING,   /* there is nothing to write */
    WRITE_CREATE,    /* POST to the collection */
    WRITE_REPLACE,   /* PUT */
    WRITE_MERGE,     /* PATCH, a JSON merge patch */
    WRITE_STRATEGIC, /* PATCH, a strategic merge patch */
    WRITE_APPLY,     /* PATCH, server-side apply; takes fields over from other managers */
    WRITE_DELETE,    /* DELETE; WRITE_GONE (no such object) is as good as success */
};

/* One write, to be filled in; WRITE_NOTHING at first. Both texts are wiped at the end; a text that
 * did not fit is a failure. */
struct write {
    enum write_verb verb;
    struct strbuf path; /* "/api/v1/namespaces/a/secrets/b", escaped, without a query */
    struct strbuf body; /* may hold LIMIT_KUBE_BODY bytes */
};

/* Makes the write a deletion of the object with this uid ("": of any object with its path). Another
 * object of that name is a conflict. */
void write_delete(struct write *write, struct str uid);

/* How a write ended. Texts are valid during the call. */
struct write_result {
    enum write_end end; /* any but WRITE_NEEDLESS */
    int status;         /* HTTP status; 0: there was no answer, or it was not sent */
    struct str problem; /* what was wrong, for people; "" if nothing */
};

/* A controller that writes objects of one kind. */
struct write_owner {
    const char *what;    /* label of the metrics: "secrets"; borrowed, different for each owner */
    const char *manager; /* field manager; borrowed; NULL: "evenkeel" */
    struct write_lane_options lane;
    /* Returns 0 or -errno. After an error the object waits as long as after a failed write. */
    int (*make)(void *ctx, struct str name, struct write *ret, struct err *err);
    /* After every attempt, unless there was nothing to write. */
    void (*done)(void *ctx, struct str name, const struct write_result *result);
    void *ctx;
};

struct write_handle; /* of an owner that has joined */

/* 0 or -ENOMEM. Any thread. */
int writer_join(struct writer *w, const struct write_owner *owner, struct write_handle **ret,
                struct err *err) MUST_CHECK;
/* Cancels the owner's writes under way. When this returns, the owner is not being called and will
 * not be. Any thread that holds no lock which make() or done() takes; not from these two. NULL is
 * fine. */
void writer_leave(struct write_handle *h);

/* The object wants a write, in delay_ms at the earliest: see write_lane_want(). The write may begin
 * before this returns. An object beyond `lane.objects` is counted as dropped, and must be wanted
 * again. */
void writer_want(struct write_handle *h, struct str name, int64_t delay_ms);
/* The same without a delay for each of many objects: a NUL is after each name. */
void writer_want_each(struct write_handle *h, struct str names);
/* The same without a delay for one object; `urgent` is as in write_lane_rank(). */
void writer_want_by_rank(struct write_handle *h, struct str name, bool urgent);
void writer_drop(struct write_handle *h, struct str name);
/* The controller has a fresh version of the object: see write_lane_refresh(). */
void writer_refresh(struct write_handle *h, struct str name);
