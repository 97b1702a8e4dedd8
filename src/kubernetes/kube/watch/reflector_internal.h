/*
 * Shared by the two halves of the reflector: reflector.c decides the next request, and
 * reflector_read.c reads the answer. Only they include this file.
 */
#pragma once

#include "base/arena.h"
#include "kube/client/status.h"
#include "kube/watch/reflector.h"

enum request { REQUEST_WATCH_LIST, REQUEST_LIST, REQUEST_WATCH };

/* Why a request failed. */
enum problem {
    PROBLEM_NONE,
    PROBLEM_UNREACHED,   /* no HTTP answer at all */
    PROBLEM_CUT,         /* the answer ended early */
    PROBLEM_SILENT,      /* no byte came for too long */
    PROBLEM_EXPIRED,     /* 410: the version, or the next page, is too old */
    PROBLEM_TOO_NEW,     /* the server has not reached this version, and perhaps never will */
    PROBLEM_BUSY,        /* 429 */
    PROBLEM_UNSUPPORTED, /* 4xx: the server does not understand the request itself */
    PROBLEM_ABSENT,      /* 404 for an optional resource */
    PROBLEM_SERVER,      /* any other error status */
    PROBLEM_GARBLED,     /* the answer is not one of an API server */
    PROBLEM_OVERSIZED,   /* an object, an event or a page is beyond our limits */
    PROBLEM_ENDLESS,     /* the listing as a whole is beyond our limits */
    PROBLEM_UNREMOVED,   /* the sink could not remove an object that is gone */
    PROBLEM_MEMORY,
};

struct reflector {
    struct reflector_options options;
    struct reflector_stats stats;
    uint64_t random;

    /* what is known */
    struct strbuf version;    /* version of the sink's objects; "" before the first listing.
                                 Opaque. */
    bool version_unavailable; /* the server refused to list at `version`: ask for the newest version
                               */
    bool paginated;           /* the server sends pages even if asked for version "0" */
    bool pages_only;          /* the list is too long for one answer */
    uint32_t page_objects;    /* number of objects to ask for per page: fewer if objects are
                                 large */
    bool no_watch_list;       /* the server does not know watch-lists */

    /* what to do next */
    enum request request; /* the next request, or the request under way */
    int64_t wait_until_ms;
    uint32_t failures, quick; /* numbers of failures in a row: followed by a back-off, and by no
                                 wait */
    int64_t troubled_ms;      /* the end of the wait after the last failure */

    /* the listing under way */
    bool syncing;               /* sync_begin was called and sync_end was not */
    uint64_t shown;             /* number of objects so far; in a stream only added objects count.
                                   The watch that follows goes on counting, and subtracts removed
                                   objects */
    struct strbuf list_version; /* version of the listing's first page */
    struct strbuf token;        /* token of the listing's next page; "": the first page */
    bool whole;                 /* the next page had expired, so the whole list is asked for in one
                                   answer */

    /* the request under way */
    struct strbuf path;
    int64_t began_ms;
    int status; /* 0: no answer yet */
    uint64_t lines;
    bool initial;         /* a watch from "" or "0": its first events are in no order */
    enum problem problem; /* problem found in the middle of the answer */
    int64_t retry_after_ms;
    struct strbuf in;     /* bytes not yet read */
    size_t searched;      /* number of these bytes that were searched and have no end of line */
    struct arena arena;   /* memory for the object that is read */
    struct strbuf reason; /* for the log: the server's message */

    struct {
        enum request request;
        enum problem problem;
    } ended; /* the last request that is over */
};

/* reflector.c */
/* Ends the listing: the sink has everything as of `version`. */
void reflector_synced(struct reflector *r, int64_t now_ms, struct str version);
/* Replaces the text of a buffer. */
void reflector_keep(struct strbuf *to, struct str text);
void reflector_say(struct reflector *r, struct str what);

/* reflector_read.c */
/* Reads the lines that are complete. Errors are left in r->problem. */
void reflector_read_lines(struct reflector *r, int64_t now_ms);
/* Reads a complete page of a list from r->in; returns its version and token. */
enum problem reflector_read_page(struct reflector *r, struct str *ret_version,
                                 struct str *ret_token);
/* Returns the problem that an error answer means. */
enum problem reflector_classify(struct reflector *r, const struct kube_status *status);
