/*
 * A decision on its way into the ring: told into a buffer on the stack, then copied at once.
 *
 *     struct recording rec;
 *     if (recording_begin(&rec, ring, &about)) {
 *         decision_put_filter(&rec.decision, &candidates, &result);
 *         recording_end(&rec);
 *     }
 *
 * Takes no memory and does not fail: a few microseconds, whatever the number of nodes, but for one
 * look at each verdict or score.
 */
#pragma once

#include "explain/decision.h"
#include "explain/ring.h"

struct recording {
    struct decision decision;
    struct ring *ring;
    struct subject subject; /* by its name, or its generateName while it has none */
    struct strbuf out;      /* over bytes; never grows */
    char bytes[LIMIT_DECISION_BYTES];
};

/* When something began: for decision_about. */
struct moment {
    int64_t at_us, began_ns;
};
struct moment moment_now(void);
/* Microseconds since. */
int64_t moment_took_us(const struct moment *m);

/* False: there is no ring (NULL), and nothing to do. What `about` points to is borrowed until the
 * end. */
bool recording_begin(struct recording *rec, struct ring *ring, const struct decision_about *about);
void recording_end(struct recording *rec);
