/*
 * List and watch of one resource, as a state machine without threads, sockets or clocks: bytes go
 * in, what to do next comes out. So a seeded simulator can play years of faults against it in
 * seconds. upstream: client-go tools/cache/reflector.go and tools/pager.
 *
 * The driver asks reflector_next() what to do. REFLECTOR_GET: send that request, hand over what
 * comes with reflector_on_head(), reflector_on_data() and reflector_on_end(), ask again.
 * REFLECTOR_WAIT: ask again after that time.
 *
 * What it does, in one paragraph: a *watch-list* (the server streams today's objects as ADDED
 * events, ends them with a marked bookmark and goes on as a watch); where the server does not know
 * that, a plain list, paged, and then a watch from the list's version. Watches end after 5 to 10
 * minutes and are opened again where they stopped. A version that the server has forgotten (410) or
 * does not know yet means listing again. Errors back off from 0.8 s to 30 s, with jitter; a
 * Retry-After is heeded up to two minutes. Resource versions are opaque text.
 *
 * A resource may be optional: where the server answers 404 there is none of it (a kind that nobody
 * has installed), and it is asked again after half a minute to a minute.
 *
 * The sink is told one object at a time, between sync_begin and sync_end for a full listing; what
 * was not told in between is gone. A listing that is given up is simply begun again. There is no
 * second store that is filled and then swapped in, as client-go has: every object that is told is
 * the truth already, and one that is gone is forgotten a listing later.
 *
 * Limits: one event or object at most LIMIT_KUBE_EVENT, one page of a list at most LIMIT_KUBE_PAGE;
 * beyond them the listing starts again with pages. A listing that shows more than max_objects, or
 * more than the sink can keep, does not end: the sink forgets what only that has shown, and the
 * next one is backed off from. So with a watch after which there would be more than max_objects, or
 * more than the sink can keep: it is given up for a listing, which has the truth.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct reflector_sink {
    void *ctx;
    /* A full listing begins: what is not applied until sync_end does not exist any more. */
    void (*sync_begin)(void *ctx);
    void (*sync_end)(void *ctx);
    /* An object that exists. -ENOMEM: the listing begins again later, because something would be
     * missing. -ENOSPC: so much is kept that the listing or the watch has no end. Any other
     * error: the object is passed over, logged and counted. */
    int (*apply)(void *ctx, struct str object, struct err *err);
    /* An object that is gone, as it was. An error: only a listing gets rid of it, so one begins. */
    int (*remove)(void *ctx, struct str object, struct err *err);
    /* A listing is given up, because it does not end: what such have applied for the first time
     * since the last sync_end is forgotten. Or a watch is, whose objects stay until a listing ends.
     * NULL: what is kept has a limit of its own. */
    void (*sync_abort)(void *ctx);
};

struct reflector_options {
    const char *resource; /* for messages: "pods" */
    const char *role;     /* of the API server, likewise; NULL: nothing is said of it */
    const char *path;     /* "/api/v1/pods" */
    const char *query;    /* "fieldSelector=...", escaped; NULL or "": none */
    bool optional;        /* that the server does not know it is no error: there is none of it */
    uint32_t max_objects; /* of a listing and its watch; 0: LIMIT_LISTED */
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
/* Only while no request is under way. `now_ms` of all calls comes from one monotonic clock. */
void reflector_next(struct reflector *r, int64_t now_ms, struct reflector_next *ret);

void reflector_on_head(struct reflector *r, int64_t now_ms, int status);
/* Not 0: it has seen enough; end the request. */
int reflector_on_data(struct reflector *r, int64_t now_ms, struct str bytes);
/* The request is over: `error` 0 (a whole answer), or a negative errno as in struct kube_result.
 * `retry_after_ms` -1: not said. */
void reflector_on_end(struct reflector *r, int64_t now_ms, int error, const char *error_text,
                      int64_t retry_after_ms);

/* For metrics and decisions. */
struct reflector_stats {
    bool synced;        /* a full listing has ended once, or there is nothing to be listed */
    bool absent;        /* the server does not know the resource, which is optional */
    bool known;         /* it has been listed once: the server knew the resource then */
    int64_t heard_ms;   /* when the last byte of a good answer came; INT64_MIN: never */
    int64_t changed_ms; /* when the last event or bookmark came, or a listing ended */
    uint64_t listings;  /* begun */
    uint64_t watches;   /* opened */
    uint64_t events, bookmarks;
    uint64_t errors;  /* requests that failed; no watch-lists that the server does not know */
    uint64_t expired; /* versions the server did not have any more, or not yet */
    uint64_t refused; /* objects that the sink would not take */
};
void reflector_stats(const struct reflector *r, struct reflector_stats *ret);
