/*
 * A decision as the members of a JSON object: what was asked about which object, when, and the
 * result. What else there is to say of a decision depends on its kind; each kind has a file beside
 * this one (scheduling.h, admission.h) with functions that add their members:
 *
 *     struct decision d;
 *     decision_begin(&d, &out, &about, LIMIT_DECISION_NODES);
 *     decision_put_filter(&d, &candidates, &result);
 *     decision_end(&d);
 *
 * The buffer's maximum (at least DECISION_ROOM) bounds it all: what does not fit is left out, whole
 * items at a time, and "cut": true says so. Not thread-safe.
 */
#pragma once

#include "base/json_writer.h"
#include "explain/subject.h"

enum {
    DECISION_ROOM = 64,           /* bytes always left to close what is open */
    DECISION_MESSAGE_SHOWN = 256, /* bytes of a sentence that are written at most */
};

/* How long ago what a decision used was heard of, by kind; -1: it was not used, or has no age. */
struct decision_ages {
    int64_t nodes_ms, pods_ms;
    int64_t workloads_ms; /* Services, ReplicaSets and the like, whose selectors defaults take */
};

/* The members that every decision has. Strings are borrowed for the call. */
struct decision_about {
    const char *verb; /* "filter" */
    struct subject subject;
    struct str generate_name; /* of a subject that has no name yet */
    struct str uid;
    int64_t at_us, took_us; /* wall clock, microseconds since 1970; how long it took */
    int64_t data_age_ms;
    const struct decision_ages *ages; /* NULL: none are said */
    bool dry_run;       /* nothing comes of it: it shares its place in the ring with all others */
    const char *result; /* "answered", "no opinion", "bound", ... */
    struct str message; /* why, in a sentence, or "" */
};

struct decision {
    struct json_writer w;
    uint32_t nodes; /* how many nodes are named for each reason, and how many scores are written */
    bool cut;       /* something did not fit */
};

/* Appends to `out`, which is borrowed until decision_end(). */
void decision_begin(struct decision *d, struct strbuf *out, const struct decision_about *about,
                    uint32_t nodes);
void decision_end(struct decision *d);

/* ---- for the files that add members ---- */

/* How much has been written. */
struct decision_mark {
    size_t n;
    bool comma;
};
struct decision_mark decision_mark(const struct decision *d);
/* After an item has been written: true if there is still room for the end. Otherwise takes back
 * everything since the mark, which then is the end of the decision so far. */
bool decision_keep(struct decision *d, struct decision_mark before);

/* Members, each written as a whole or not at all; an empty string is not written. */
void decision_put_string(struct decision *d, struct str key, struct str s);
void decision_put_number(struct decision *d, struct str key, int64_t number);
/* Begins a member that is an array, whose items decision_keep() keeps one by one. Returns false if
 * there is no room for it: then there is no array to end. */
bool decision_begin_list(struct decision *d, struct str key);

/* The first bytes of a text: at most `max`, and whole characters of UTF-8. */
struct str decision_first_bytes(struct str s, size_t max);
