/*
 * The simulated server's answer to one request: its bytes, and the meaning of each line or item. So
 * a check knows the result of a correct reader after any number of bytes.
 *
 *     answer.c   takes a request apart, refuses it, or hands it to
 *     list.c     which writes a whole page, or to
 *     stream.c   which writes events as they happen
 */
#pragma once

#include "sim/faults.h"
#include "sim/server.h"

struct kube_watch;

/* The result of a request by the rules of list and watch. */
enum outcome {
    OUTCOME_NONE,        /* no error so far */
    OUTCOME_ENDED,       /* the connection ended or was cut */
    OUTCOME_PAGE,        /* a page, with more pages to come */
    OUTCOME_LISTED,      /* the last page */
    OUTCOME_UNREACHED,   /* no answer at all */
    OUTCOME_SILENT,      /* given up: no byte came for too long, or the request took too long */
    OUTCOME_EXPIRED,     /* the version is too old */
    OUTCOME_TOO_NEW,     /* the server does not have the version yet */
    OUTCOME_BUSY,        /* 429 */
    OUTCOME_UNSUPPORTED, /* the server does not support the request */
    OUTCOME_ERROR,       /* any other error of the server */
    OUTCOME_GARBLED,     /* an API server does not send such an answer */
    OUTCOME_OVERSIZED,
    OUTCOME_ENDLESS, /* a listing with more objects than the limit */
    OUTCOME_NO_MEMORY,
};
const char *outcome_name(enum outcome outcome);

struct request {
    enum object_kind kind;
    bool watch, watch_list, has_version, has_limit;
    uint32_t limit;
    char version[128], token[128]; /* unescaped; "" : none or empty */
    int64_t timeout_s;
};
/* Parses a path with its query. Returns false if the server would not understand it. */
bool request_parse(const char *path, enum object_kind kind, struct request *ret);

enum line_kind {
    LINE_CHANGE,   /* an object: one item of a list, or an event */
    LINE_BOOKMARK, /* a version */
    LINE_LIST_END, /* the list is complete; its version and token */
    LINE_NOTHING,  /* the reader ignores it */
    LINE_FATAL,    /* the reader ignores all later lines */
};

/* One fact that a reader has when it has all bytes up to `end`. */
struct line {
    enum line_kind kind;
    uint64_t end;    /* offset in the answer, in bytes */
    uint64_t object; /* offset and number of the object's bytes */
    size_t object_n;
    enum object_kind object_kind;
    uint32_t slot;
    struct thing thing;
    bool exists, initial_end;
    bool changed;         /* an event that is not ADDED */
    uint64_t revision;    /* the revision that the reader then knows */
    enum outcome outcome; /* LINE_FATAL */
    int64_t wait_ms;      /* the time that the server asks the reader to wait */
    bool paged;           /* LINE_LIST_END: there are more pages */
};

enum chunks { CHUNKS_RANDOM, CHUNKS_BYTES, CHUNKS_WHOLE };

struct answer {
    struct request request;
    int error;              /* negative errno instead of an answer */
    int status;             /* status of HTTP if there is no error */
    enum outcome refusal;   /* the outcome if the status is not 200 */
    int64_t head_ms;        /* when the status comes */
    int64_t retry_after_ms; /* time in the Retry-After header; -1: no such header */
    int64_t wait_ms;        /* the longest wait that a header or Status asks for; -1: no wait */

    struct strbuf bytes; /* sent and unsent bytes; owned */
    size_t sent;         /* of `bytes` */
    uint64_t base;       /* number of bytes that were sent before bytes.p[0] */
    struct line *lines;  /* owned */
    uint32_t line_count, line_cap;
    char token[128]; /* the token of the next page */
    bool endless;    /* the list never ends: its objects are repeated */

    enum chunks chunks;
    uint64_t cut_at; /* offset in bytes; UINT64_MAX: the answer is not cut */
    bool stalled;    /* at cut_at the answer stops without a cut */
    bool ended;      /* all bytes are written; the answer ends when they are sent */
    int end_error;
    int64_t deliver_ms; /* when the next bytes arrive, if there are any */

    /* of watches */
    bool live, begun; /* live: events are sent when they happen, after the first events are sent */
    uint32_t replica;
    uint64_t from;               /* the watch sends events after this revision */
    int64_t end_ms, bookmark_ms; /* INT64_MAX: never */
    uint32_t bookmarks, events;
};

void answer_done(struct answer *a);
/* Begins the answer to a request, with its faults. The caller decides when bytes arrive. */
void answer_begin(struct sim *s, const struct request *request, struct answer *a);

/* list.c: writes a page of the things at a revision, from slot `first` on. `lap`: how often an
 * endless list has begun again with the first thing; 0: the list has an end. */
void answer_list(struct sim *s, struct answer *a, uint64_t revision, uint32_t first, uint32_t lap,
                 enum fault fault);

/* stream.c */
/* Begins a watch: writes the changes since `from`, or all objects if the request asks for them. */
void stream_begin(struct sim *s, struct answer *a);
/* Writes a change that the replica has reached; `number` is its index in the history. */
void stream_change(struct sim *s, struct answer *a, uint32_t number);
/* Writes a bookmark; its time has come. */
void stream_bookmark(struct sim *s, struct answer *a, bool initial_end);

/* For both files: append a text, or note a line. */
void answer_put(struct answer *a, const char *text);
struct line *answer_line(struct answer *a, enum line_kind kind);
void answer_put_version(const struct sim *s, struct answer *a, uint64_t revision);
/* Appends a metav1.Status. `cause` and `retry_after_s` may be NULL and 0. */
void answer_put_status(struct answer *a, int code, const char *reason, const char *message,
                       const char *cause, int64_t retry_after_s);
/* Writes the object into the answer and notes its offset and length. */
void answer_put_object(const struct sim *s, struct answer *a, struct line *line,
                       struct thing_style style);
