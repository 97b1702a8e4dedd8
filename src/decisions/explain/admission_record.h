/*
 * Records decisions about new objects.
 */
#pragma once

#include "admission/admit.h"
#include "explain/recording.h"
#include "model/object.h"

/* The names of a new object, for its decision. Strings live in the review or the arena. */
struct admission_subject {
    struct object_meta meta; /* namespace, name and uid, as far as the object has them */
    struct str generate_name;
};
void admission_subject_of(const struct review *review, struct arena *arena,
                          struct admission_subject *ret);
/* Fills in about->result and about->message. */
void admission_tell(enum admission result, const struct review_answer *answer,
                    struct decision_about *about);

/* A review and its answer. */
struct admission_record {
    const struct admitted_kind *kind;
    const struct review *review;
    const struct review_answer *answer;
    enum admission result;
    struct moment began;
    const struct cache *cache; /* has the nodes and pods that the review used; NULL: no cache */
};
/* Adds the answer to the ring, if there is one (not NULL). An update that the review left unchanged
 * is not recorded. */
void admission_record(const struct admission_record *record, struct ring *ring,
                      struct arena *arena);
