/*
 * Records a decision: writes it into a buffer on the stack, and copies the buffer into the ring.
 *
 *     struct recording rec;
 *     if (recording_begin(&rec, ring, &about)) {
 *         decision_put_filter(&rec.decision, &candidates, &result);
 *         recording_end(&rec);
 *     }
 *
 * Recording allocates no memory and does not fail. It takes a few microseconds, and reads each
 * verdict or score once.
 */
#pragma once

#include "explain/decision.h"
#include "explain/ring.h"

struct recording {
    struct decision decision;
    struct ring *ring;
    struct subject subject; /* named by its generateName as long as it has no name */
    bool dry_run;
    struct strbuf out; /* writes into `bytes`; never grows */
    char bytes[LIMIT_DECISION_BYTES];
};

/* The time at which a request arrived, for decision_about. */
struct moment {
    int64_t at_us, began_ns;
};
struct moment moment_now(void);
/* Returns the microseconds since that moment. */
int64_t moment_took_us(const struct moment *m);

/* Returns false if `ring` is NULL: then do not call recording_end(). The strings of `about` are
 * borrowed until recording_end(). */
bool recording_begin(struct recording *rec, struct ring *ring, const struct decision_about *about);
void recording_end(struct recording *rec);
