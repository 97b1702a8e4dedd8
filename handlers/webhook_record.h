/*
 * How decisions about new pods go on record.
 */
#pragma once

#include "admission/pods/pods.h"
#include "explain/recording.h"
#include "handlers/webhook.h"

/* Puts what a review was answered with on record; updates, which are not looked at, leave none. */
void webhook_record(const struct webhook *webhook, const struct review *review,
                    enum admission result, const struct review_answer *answer,
                    const struct moment *began, struct arena *arena);

/* What a decision says of a new pod. Strings live in the review or the arena. */
struct webhook_pod {
    struct object_meta meta; /* namespace, name and uid, as far as it has them */
    struct str generate_name;
};
void webhook_pod_of(const struct review *review, struct arena *arena, struct webhook_pod *ret);
/* Fills in result and message. */
void webhook_tell(enum admission result, const struct review_answer *answer,
                  struct decision_about *about);
