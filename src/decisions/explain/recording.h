/*
 * A decision on its way into the ring: it is written into a buffer on the stack, which is then
 * copied.
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
    struct subject subject; /* by its name, or its generateName while it has none */
    bool dry_run;
    struct strbuf out; /* over bytes; never grows */
    char bytes[LIMIT_DECISION_BYTES];
};

/* The time at which a request arrived, for decision_about. */
struct moment {
    int64_t at_us, began_ns;
};
struct moment moment_now(void);
/* Microseconds since then. */
int64_t moment_took_us(const struct moment *m);

/* Returns false if `ring` is NULL: then there is nothing to record, and nothing to end. The strings
 * of `about` are borrowed until recording_end(). */
bool recording_begin(struct recording *rec, struct ring *ring, const struct decision_about *about);
void recording_end(struct recording *rec);
