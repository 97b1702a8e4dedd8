/*
 * How decisions about new objects go on record.
 */
#pragma once

#include "admission/admit.h"
#include "explain/recording.h"
#include "model/object.h"

/* What a decision says of a new object by name. Strings live in the review or the arena. */
struct admission_subject {
    struct object_meta meta; /* namespace, name and uid, as far as it has them */
    struct str generate_name;
};
void admission_subject_of(const struct review *review, struct arena *arena,
                          struct admission_subject *ret);
/* Fills in result and message. */
void admission_tell(enum admission result, const struct review_answer *answer,
                    struct decision_about *about);

/* What a review was answered with. */
struct admission_record {
    const struct admitted_kind *kind;
    const struct review *review;
    const struct review_answer *answer;
    enum admission result;
    struct moment began;
    const struct cache *cache; /* whose nodes and pods were looked at; NULL: nobody's */
};
/* Puts it on record; without a ring (NULL) nothing. Updates that are not looked at, or change
 * nothing, leave none. */
void admission_record(const struct admission_record *record, struct ring *ring,
                      struct arena *arena);
