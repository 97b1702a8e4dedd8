/*
 * List and watch of one resource, as a state machine without threads, sockets or clocks: bytes go
 * in, the next step comes out. So a seeded simulator can play years of faults against it in
 * seconds. upstream: client-go tools/cache/reflector.go and tools/pager.
 *
 * The driver asks reflector_next() for the next step. REFLECTOR_GET: send the request, pass the
 * parts of the answer to reflector_on_head(), reflector_on_data() and reflector_on_end(), then ask
 * again. REFLECTOR_WAIT: wait for the given time, then ask again.
 *
 * The reflector begins with a *watch-list*: the server streams today's objects as ADDED events,
 * ends them with a marked bookmark and goes on as a watch. If the server knows no watch-lists, the
 * reflector lists in pages, and then watches from the list's version. A watch ends after 5 to 10
 * minutes, and a new watch begins where it stopped. If the server has forgotten a version (410), or
 * does not know it yet, the reflector lists again. Errors back off from 0.8 s to 30 s, with jitter;
 * a Retry-After counts up to two minutes. Resource versions are opaque text.
 *
 * A resource may be optional: if the server answers 404 (nobody has installed the kind), it counts
 * as empty, and is asked for again after half a minute to a minute.
 *
 * The sink receives one object at a time, between sync_begin and sync_end for a full listing; an
 * object not received in between is gone. A listing that is given up simply begins again. Unlike in
 * client-go, there is no second store to fill and swap in: every received object counts at once,
 * and an object that is gone is forgotten when a listing ends.
 *
 * Limits: one event or object at most LIMIT_KUBE_EVENT, one page of a list at most LIMIT_KUBE_PAGE;
 * beyond them the listing starts again with pages. A listing of more than max_objects, or more than
 * the sink can keep, is given up: the sink forgets objects that came only from it, and the next
 * listing waits for a back-off. A watch that would bring more than max_objects, or more than the
 * sink can keep, is given up; then a listing shows which objects exist.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct reflector_sink {
    void *ctx;
    /* A full listing begins: objects not applied until sync_end do not exist any more. */
    void (*sync_begin)(void *ctx);
    void (*sync_end)(void *ctx);
    /* Takes an object that exists. -ENOMEM: the listing begins again later, because an object would
     * be missing. -ENOSPC: the sink can keep no more; the listing or watch is given up. Any other
     * error: the object is skipped, logged and counted. */
    int (*apply)(void *ctx, struct str object, struct err *err);
    /* Removes an object that is gone, given in its last state. After an error a listing begins,
     * which removes the object. */
    int (*remove)(void *ctx, struct str object, struct err *err);
    /* A listing was too long and is given up: the sink forgets objects first applied since the last
     * sync_end. Or a watch is given up: its objects stay until a listing ends. NULL: the sink has a
     * limit of its own. */
    void (*sync_abort)(void *ctx);
};

struct reflector_options {
    const char *resource; /* for messages: "pods" */
    const char *role;     /* role of the API server, for messages; NULL: messages name no role */
    const char *path;     /* "/api/v1/pods" */
    const char *query;    /* "fieldSelector=...", escaped; NULL or "": none */
    bool optional;        /* if the server does not know the resource, it counts as empty */
    uint32_t max_objects; /* objects of a listing and its watch; 0: LIMIT_LISTED */
    struct reflector_sink sink;
    uint64_t seed; /* of jitter and watch lengths */
};

struct reflector;

/* Strings are borrowed. */
int reflector_new(const struct reflector_options *options, struct reflector **ret,
                  struct err *err) MUST_CHECK;
void reflector_free(struct reflector *r);

enum reflector_step { REFLECTOR_GET, REFLECTOR_WAIT };
struct reflector_next {
    enum reflector_step step;
    int64_t wait_ms;  /* REFLECTOR_WAIT */
    const char *path; /* REFLECTOR_GET: with query; borrowed until the next call */
    int64_t timeout_ms, silence_ms;
};
/* Call it only while no request is under way. `now_ms` of all calls comes from one monotonic clock.
 */
void reflector_next(struct reflector *r, int64_t now_ms, struct reflector_next *ret);

void reflector_on_head(struct reflector *r, int64_t now_ms, int status);
/* Returns a value other than 0 if the reflector needs no more bytes: end the request. */
int reflector_on_data(struct reflector *r, int64_t now_ms, struct str bytes);
/* The request is over: `error` 0 (a whole answer), or a negative errno as in struct kube_result.
 * `retry_after_ms` -1: not given. */
void reflector_on_end(struct reflector *r, int64_t now_ms, int error, int64_t retry_after_ms);

/* The next three are for the time after reflector_on_end(), until the next request. */

/* Did the request end because the server did not answer, or was silent for too long? */
bool reflector_unanswered(const struct reflector *r);
/* Logs why the request ended, unless this is usual. `error_text` is the client's. */
void reflector_log_end(const struct reflector *r, int64_t now_ms, const char *error_text);
/* The server answers again: the next request comes within this time. The failures still count: if
 * that request fails, too, the next wait is longer. */
void reflector_hurry(struct reflector *r, int64_t now_ms, int64_t within_ms);

/* For metrics and decisions. */
struct reflector_stats {
    bool synced;        /* a full listing has ended once, or there is nothing to be listed */
    bool absent;        /* the server does not know the resource, which is optional */
    bool known;         /* the resource was listed once: the server knew it then */
    int64_t heard_ms;   /* when the last byte of a good answer came; INT64_MIN: never */
    int64_t changed_ms; /* when the last event or bookmark came, or a listing ended */
    uint64_t listings;  /* number of listings begun */
    uint64_t watches;   /* number of watches opened */
    uint64_t events, bookmarks;
    uint64_t errors;  /* number of failed requests; a watch-list that the server does not know is
                         not counted */
    uint64_t expired; /* number of versions that the server no longer had, or did not have yet */
    uint64_t refused; /* number of objects that the sink refused */
};
void reflector_stats(const struct reflector *r, struct reflector_stats *ret);
