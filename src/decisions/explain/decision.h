/*
 * A decision as the members of a JSON object: the verb, the object, the time and the result. The
 * other members depend on the decision's kind; each kind has a file beside this one (scheduling.h,
 * admission.h) with functions that add its members:
 *
 *     struct decision d;
 *     decision_begin(&d, &out, &about, LIMIT_DECISION_NODES);
 *     decision_put_filter(&d, &candidates, &result);
 *     decision_end(&d);
 *
 * The buffer's maximum (at least DECISION_ROOM) bounds the object: items that do not fit are left
 * out as a whole, and then there is "cut": true. Not thread-safe.
 */
#pragma once

#include "base/json_writer.h"
#include "explain/subject.h"

enum {
    DECISION_ROOM = 64,           /* bytes kept free to close the object */
    DECISION_MESSAGE_SHOWN = 256, /* at most so many bytes of a sentence */
};

/* The age of the data that a decision used, by kind; -1: data of this kind was not used, or has no
 * age. */
struct decision_ages {
    int64_t nodes_ms, pods_ms;
    int64_t workloads_ms; /* Services, ReplicaSets and so on: defaults use their selectors */
};

/* The members that every decision has. Strings are borrowed for the call. */
struct decision_about {
    const char *verb; /* "filter" */
    struct subject subject;
    struct str generate_name; /* if the subject has no name yet */
    struct str uid;
    int64_t at_us, took_us; /* wall clock, microseconds since 1970; duration */
    int64_t data_age_ms;
    const struct decision_ages *ages; /* NULL: not written */
    bool dry_run;                     /* a dry run: all dry runs share one part of the ring */
    const char *result;               /* "answered", "no opinion", "bound", ... */
    struct str message;               /* why, in a sentence, or "" */
};

struct decision {
    struct json_writer w;
    uint32_t nodes; /* the most nodes to name for each reason, and the most scores to write */
    bool cut;       /* something did not fit */
};

/* Appends to `out`, which is borrowed until decision_end(). */
void decision_begin(struct decision *d, struct strbuf *out, const struct decision_about *about,
                    uint32_t nodes);
void decision_end(struct decision *d);

/* ---- for the files that add members ---- */

/* A position in the text written so far. */
struct decision_mark {
    size_t n;
    bool comma;
};
struct decision_mark decision_mark(const struct decision *d);
/* Call after writing an item. Returns true if there is still room for the decision's end; otherwise
 * takes back everything written since the mark. */
bool decision_keep(struct decision *d, struct decision_mark before);

/* Write a member as a whole or not at all. An empty string is not written. */
void decision_put_string(struct decision *d, struct str key, struct str s);
void decision_put_number(struct decision *d, struct str key, int64_t number);
/* Begins an array; call decision_keep() after each item. Returns false if there is no room for the
 * array: then do not end it. */
bool decision_begin_list(struct decision *d, struct str key);

/* Returns the first bytes of a text: at most `max`, and whole characters of UTF-8. */
struct str decision_first_bytes(struct str s, size_t max);
