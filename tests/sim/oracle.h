/*
 * The behaviour that the rules of list and watch demand of a client, computed from the server's
 * answers and the bytes of them that arrived; upstream: client-go tools/cache/reflector.go,
 * tools/pager.
 *
 * Of the sink: which objects it is told, byte for byte and in which order, when a listing begins
 * and when it ends. Of requests: which must come next, at which version, and not too soon. It sees
 * only the calls of the reflector.
 */
#pragma once

#include "sim/answer.h"

enum {
    ORACLE_REQUESTS = 100,
    ORACLE_LISTED = 60, /* the limit of objects in a listing; the server has at most SIM_SLOTS */
};

enum next { NEXT_LISTING, NEXT_PAGE, NEXT_WHOLE, NEXT_WATCH };

struct oracle {
    enum next next;
    bool plain;         /* the listing must not be a watch-list */
    bool no_watch_list; /* no later listing may be a watch-list */
    bool unavailable;   /* the version is not available: the client must ask for the newest */
    bool paginated, pages_only;
    bool known, synced; /* known: there is a version; synced: a listing has ended */
    uint64_t revision;
    uint32_t epoch;         /* number of the history from which the version is */
    bool page_unavailable;  /* as `unavailable` was when the listing began */
    uint64_t list_revision; /* revision of the first page */
    bool list_paged;        /* the listing asks with a limit */
    uint32_t page_objects;  /* the limit that each page must ask for */
    char token[128];
    uint32_t shown; /* objects of the listing under way, and of the watch after it, less those that
                       this says are gone; of a stream, those that are added */
    uint32_t aborted; /* calls of sync_abort since the last request */

    /* the request under way */
    bool listing; /* the request still lists; it does not watch yet */
    int64_t began_ms;
    uint64_t heard;  /* bytes of the answer that the reflector has */
    uint64_t before; /* offset of the line of which only a part has arrived */
    uint32_t line;   /* index of the next line of the answer */
    enum outcome fatal;

    /* haste */
    /* times of the last requests, without later pages; a ring */
    int64_t requests_ms[ORACLE_REQUESTS];
    uint64_t requests;
    int64_t ended_ms, wait_ms; /* the end of the last request, and the shortest wait after it */
    int64_t failing_since_ms;  /* INT64_MAX: requests succeed */

    /* the expected result of reflector_stats() */
    uint64_t listings, watches, bookmarks, events, refused;
    int64_t heard_ms;
    uint32_t begun; /* calls of sync_begin since the last request */
};

struct kube_watch;

void oracle_init(struct oracle *o);
/* Call it when a request begins. */
void oracle_request(struct kube_watch *w, const struct request *request);
/* Call it before the reflector gets the answer's bytes up to offset `heard`. */
void oracle_hear(struct kube_watch *w, uint64_t heard);
/* Call it when the reflector has read these bytes: it must have passed on all their objects. */
void oracle_heard(struct kube_watch *w);
/* Call it when the reflector stops a list, which is allowed only if the list is too long. */
void oracle_enough(struct kube_watch *w);
/* Call it when the request has ended; `error` is the driver's error. */
void oracle_ended(struct kube_watch *w, int error);

/* Call it when the sink gets an object. Returns the line that has this object, or NULL if no line
 * has it; then the sink must not take the object. */
const struct line *oracle_told(struct kube_watch *w, bool exists, struct str object);
/* Call it with the sink's result. */
void oracle_taken(struct kube_watch *w, const struct line *line, int result);
void oracle_sync_end(struct kube_watch *w);
/* Call it when the sink learns that the listing, or the watch after it, was given up. */
void oracle_sync_abort(struct kube_watch *w);
