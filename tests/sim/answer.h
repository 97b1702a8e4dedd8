/*
 * What the simulated server says to one request: bytes, and beside them what each line or item
 * means, so that a check knows what a correct reader takes from any number of them.
 *
 *     answer.c   takes a request apart, refuses it, or hands it to
 *     list.c     which writes a whole page, or to
 *     stream.c   which writes events as they happen
 */
#pragma once

#include "sim/faults.h"
#include "sim/server.h"

struct kube_watch;

/* What a request comes to, seen from the rules of list and watch. */
enum outcome {
    OUTCOME_NONE,        /* nothing wrong so far */
    OUTCOME_ENDED,       /* it ended or was cut, as connections do */
    OUTCOME_PAGE,        /* a page, and there are more */
    OUTCOME_LISTED,      /* the last page */
    OUTCOME_UNREACHED,   /* no answer at all */
    OUTCOME_SILENT,      /* given up after too long without a byte, or altogether */
    OUTCOME_EXPIRED,     /* too old */
    OUTCOME_TOO_NEW,     /* not there yet */
    OUTCOME_BUSY,        /* 429 */
    OUTCOME_UNSUPPORTED, /* the request is not understood */
    OUTCOME_ERROR,       /* any other error of the server */
    OUTCOME_GARBLED,     /* not what an API server says */
    OUTCOME_OVERSIZED,
    OUTCOME_ENDLESS, /* a listing of more objects than may be */
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
/* Takes a path with its query apart. False: it is not one that the server would understand. */
bool request_parse(const char *path, enum object_kind kind, struct request *ret);

enum line_kind {
    LINE_CHANGE,   /* an object is told: one item of a list, or an event */
    LINE_BOOKMARK, /* a version */
    LINE_LIST_END, /* the list is whole; its version and token */
    LINE_NOTHING,  /* to be passed over */
    LINE_FATAL,    /* what follows counts no more */
};

/* One thing that a reader learns once it has all bytes up to `end`. */
struct line {
    enum line_kind kind;
    uint64_t end;    /* bytes since the answer began */
    uint64_t object; /* where its bytes begin, and how many they are */
    size_t object_n;
    enum object_kind object_kind;
    uint32_t slot;
    struct thing thing;
    bool exists, initial_end;
    bool changed;         /* an event that is not ADDED */
    uint64_t revision;    /* that the reader then knows */
    enum outcome outcome; /* LINE_FATAL */
    int64_t wait_ms;      /* and how long it asks to wait */
    bool paged;           /* LINE_LIST_END: there are more */
};

enum chunks { CHUNKS_RANDOM, CHUNKS_BYTES, CHUNKS_WHOLE };

struct answer {
    struct request request;
    int error;              /* instead of an answer: negative errno */
    int status;             /* else */
    enum outcome refusal;   /* of a status other than 200 */
    int64_t head_ms;        /* when the status comes */
    int64_t retry_after_ms; /* header; -1: none */
    int64_t wait_ms;        /* the most that any header or Status asked for; -1: nothing */

    struct strbuf bytes; /* not yet sent, and what was sent of them; owned */
    size_t sent;         /* of `bytes` */
    uint64_t base;       /* sent before bytes.p[0] */
    struct line *lines;  /* owned */
    uint32_t line_count, line_cap;
    char token[128]; /* of the next page */
    bool endless;    /* it is a list whose objects come again and again */

    enum chunks chunks;
    uint64_t cut_at; /* UINT64_MAX: nowhere */
    bool stalled;    /* from cut_at on: silent instead of cut */
    bool ended;      /* all is written; it ends once that is sent */
    int end_error;
    int64_t deliver_ms; /* when the next bytes come, if there are any */

    /* of watches */
    bool live, begun; /* events come as they happen; not before its first events are out */
    uint32_t replica;
    uint64_t from;               /* events after this revision */
    int64_t end_ms, bookmark_ms; /* INT64_MAX: never */
    uint32_t bookmarks, events;
};

void answer_done(struct answer *a);
/* Answers a request, whatever goes wrong with it. Whoever plays it decides when bytes arrive. */
void answer_begin(struct sim *s, const struct request *request, struct answer *a);

/* list.c: writes a page of the things as of a revision, from slot `first` on. `lap`: so often a
 * list without end has come to the first again; 0: it has an end. */
void answer_list(struct sim *s, struct answer *a, uint64_t revision, uint32_t first, uint32_t lap,
                 enum fault fault);

/* stream.c */
/* A watch begins: what it missed since `from`, or everything if that was asked for. */
void stream_begin(struct sim *s, struct answer *a);
/* A change that the replica has come to, by its number in the history. */
void stream_change(struct sim *s, struct answer *a, uint32_t number);
/* The time for a bookmark has come. */
void stream_bookmark(struct sim *s, struct answer *a, bool initial_end);

/* For both: a piece of text; a line that says so much; a Status. */
void answer_put(struct answer *a, const char *text);
struct line *answer_line(struct answer *a, enum line_kind kind);
void answer_put_version(const struct sim *s, struct answer *a, uint64_t revision);
/* Appends a metav1.Status. `cause` and `retry_after_s` may be NULL and 0. */
void answer_put_status(struct answer *a, int code, const char *reason, const char *message,
                       const char *cause, int64_t retry_after_s);
/* Writes the object into the answer and notes where it is. */
void answer_put_object(const struct sim *s, struct answer *a, struct line *line,
                       struct thing_style style);
