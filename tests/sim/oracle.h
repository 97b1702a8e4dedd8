/*
 * What the rules of list and watch demand of a client, worked out from what the server has said and
 * how much of it arrived; upstream: client-go tools/cache/reflector.go, tools/pager.
 *
 * Of the sink: which objects it is told, byte for byte and in which order, when a listing begins
 * and when it ends. Of requests: which must come next, at which version, and not too soon. It knows
 * nothing of the reflector but its calls.
 */
#pragma once

#include "sim/answer.h"

enum {
    ORACLE_REQUESTS = 100,
    ORACLE_LISTED = 60, /* objects that there may be; there are SIM_SLOTS at most */
};

enum next { NEXT_LISTING, NEXT_PAGE, NEXT_WHOLE, NEXT_WATCH };

struct oracle {
    enum next next;
    bool plain;         /* the listing must not be a watch-list */
    bool no_watch_list; /* none must be any more */
    bool unavailable;   /* the version is not to be had: the newest */
    bool paginated, pages_only;
    bool known, synced; /* there is a version; a listing has ended */
    uint64_t revision;
    uint32_t epoch;         /* of the server's history that it is from */
    bool page_unavailable;  /* as `unavailable` was when the listing began */
    uint64_t list_revision; /* of the first page */
    bool list_paged;        /* the listing asks with a limit */
    uint32_t page_objects;  /* which must be this one */
    char token[128];
    uint32_t shown; /* objects of the listing under way, and of the watch after it, less those that
                       this says are gone; of a stream, those that are added */
    uint32_t aborted; /* calls of sync_abort since the last request */

    /* the request under way */
    bool listing; /* it still lists: no watch yet */
    int64_t began_ms;
    uint64_t heard;  /* bytes of the answer that the reflector has */
    uint64_t before; /* where the line begins of which it has only a part */
    uint32_t line;   /* the next of the answer's lines */
    enum outcome fatal;

    /* haste */
    int64_t requests_ms[ORACLE_REQUESTS]; /* the last ones, later pages apart; a ring */
    uint64_t requests;
    int64_t ended_ms, wait_ms; /* how the last request ended: not again sooner than this after */
    int64_t failing_since_ms;  /* INT64_MAX: all is well */

    /* what reflector_stats() must say */
    uint64_t listings, watches, bookmarks, events, refused;
    int64_t heard_ms;
    uint32_t begun; /* calls of sync_begin since the last request */
};

struct kube_watch;

void oracle_init(struct oracle *o);
/* A request begins. */
void oracle_request(struct kube_watch *w, const struct request *request);
/* The reflector is about to be given the answer's bytes up to `heard`. */
void oracle_hear(struct kube_watch *w, uint64_t heard);
/* It has read them: nothing may be left untold. */
void oracle_heard(struct kube_watch *w);
/* It has enough of a list, which it may only have of one that is too long. */
void oracle_enough(struct kube_watch *w);
/* The request is over; `error` as the driver tells it. */
void oracle_ended(struct kube_watch *w, int error);

/* The sink is told an object. The line that says so, or NULL: nothing does, and the sink must not
 * take it. */
const struct line *oracle_told(struct kube_watch *w, bool exists, struct str object);
/* What the sink made of it. */
void oracle_taken(struct kube_watch *w, const struct line *line, int result);
void oracle_sync_end(struct kube_watch *w);
/* The sink is told that the listing, or the watch after it, has no end. */
void oracle_sync_abort(struct kube_watch *w);
