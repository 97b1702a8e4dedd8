/*
 * What the two halves of the reflector share: reflector.c decides what to ask next, and
 * reflector_read.c reads what comes. Only they include it.
 */
#pragma once

#include "base/arena.h"
#include "kube/client/status.h"
#include "kube/watch/reflector.h"

enum request { REQUEST_WATCH_LIST, REQUEST_LIST, REQUEST_WATCH };

/* Why a request did not do what it should. */
enum problem {
    PROBLEM_NONE,
    PROBLEM_UNREACHED,   /* no HTTP answer at all */
    PROBLEM_CUT,         /* the answer ended early */
    PROBLEM_SILENT,      /* or was waited for in vain */
    PROBLEM_EXPIRED,     /* 410: the version, or the next page, is too old */
    PROBLEM_TOO_NEW,     /* the server has not come to this version, and perhaps never will */
    PROBLEM_BUSY,        /* 429 */
    PROBLEM_UNSUPPORTED, /* 4xx that says the request itself is not understood */
    PROBLEM_ABSENT,      /* 404 for an optional resource */
    PROBLEM_SERVER,      /* any other error that it answers */
    PROBLEM_GARBLED,     /* not what an API server sends */
    PROBLEM_OVERSIZED,   /* beyond our limits */
    PROBLEM_ENDLESS,     /* the listing as a whole is */
    PROBLEM_UNREMOVED,   /* the sink could not let go of what is gone */
    PROBLEM_MEMORY,
};

struct reflector {
    struct reflector_options options;
    struct reflector_stats stats;
    uint64_t random;

    /* what is known */
    struct strbuf version;    /* of what the sink has; "" before the first listing. Opaque. */
    bool version_unavailable; /* the server would not list at it: ask for the newest */
    bool paginated;           /* the server pages even when asked for "0" */
    bool pages_only;          /* the list is too long for one answer */
    uint32_t page_objects;    /* to ask for per page: fewer where objects are large */
    bool no_watch_list;       /* the server does not know it */

    /* what to do next */
    enum request request; /* or under way */
    int64_t wait_until_ms;
    uint32_t failures, quick; /* in a row: with and without a back-off */
    int64_t troubled_ms;      /* when the last of both was over */

    /* the listing under way */
    bool syncing;               /* sync_begin was told and sync_end was not */
    uint64_t shown;             /* its objects; of a stream, those that are added. Goes on in the
                                   watch that follows, where those that are gone count no more */
    struct strbuf list_version; /* of its first page */
    struct strbuf token;        /* of its next page; "": the first */
    bool whole;                 /* the next page had expired: everything in one answer */

    /* the request under way */
    struct strbuf path;
    int64_t began_ms;
    int status; /* 0: no answer yet */
    uint64_t lines;
    bool initial;         /* a watch from "" or "0": its first events are in no order */
    enum problem problem; /* found in the middle of the answer */
    int64_t retry_after_ms;
    struct strbuf in;     /* bytes not yet read */
    size_t searched;      /* how many of them hold no end of line */
    struct arena arena;   /* of the object that is read */
    struct strbuf reason; /* for the log: what the server said */
};

/* reflector.c */
/* The listing's end: the sink has everything as of `version`. */
void reflector_synced(struct reflector *r, int64_t now_ms, struct str version);
/* Replaces the text of a buffer. */
void reflector_keep(struct strbuf *to, struct str text);
void reflector_say(struct reflector *r, struct str what);

/* reflector_read.c */
/* Reads the lines that are complete. What is wrong is in r->problem. */
void reflector_read_lines(struct reflector *r, int64_t now_ms);
/* Reads a page of a list that is complete in r->in; its version and token. */
enum problem reflector_read_page(struct reflector *r, struct str *ret_version,
                                 struct str *ret_token);
/* What an error answer means. */
enum problem reflector_classify(struct reflector *r, const struct kube_status *status);
