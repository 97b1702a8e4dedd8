/*
 * Connections to one server that ask it the same questions together. Their turn is a closed loop on
 * every connection: the next call follows the answer, and every answer is checked. One thread uses
 * this; a thread of its own serves each connection during a turn.
 */
#pragma once

#include "bench/client.h"

#include <stdint.h>

enum { LANES_MAX = 256 };

struct lanes;

/* The bodies take turns; each connection begins with another one. */
struct lanes_question {
    const char *path;
    const struct strbuf *bodies; /* [count], borrowed */
    uint32_t count;
    /* -EPROTO when this is no answer to bodies[index]; several threads call it. The status is 200.
     */
    int (*check)(const void *context, uint32_t index, struct str answer, struct err *err);
    const void *context; /* of check, borrowed */
};

struct lanes_options {
    const char *ca_file;  /* as in struct client_options, borrowed */
    uint32_t connections; /* at most LANES_MAX */
    uint32_t calls;       /* that each connection makes in a turn, at most ... */
    double seconds;       /* ... and how long a turn lasts, at most; each makes at least one call */
};

/* What was measured, of one turn or of several. */
struct lanes_times {
    int64_t *ns; /* [count], owned; room for `max` */
    uint32_t count, max;
    int64_t lasted_ns;
    uint64_t answer_bytes; /* of all answers together */
};

/* Connects to "127.0.0.1:8443". `options` and `question` are borrowed until lanes_close(). 0 or
 * -errno. */
int lanes_open(const char *address, const struct lanes_options *options,
               const struct lanes_question *question, struct lanes **ret,
               struct err *err) MUST_CHECK;
/* Makes the calls of one turn and adds their times to `times`. 0, or -errno when a call failed or
 * was answered wrongly; then the lanes can only be closed. */
int lanes_turn(struct lanes *lanes, struct lanes_times *times, struct err *err) MUST_CHECK;
/* NULL is fine. */
void lanes_close(struct lanes *lanes);

/* Room for `turns` turns of the lanes that have these options; free(ret->ns) returns it. 0 or
 * -ENOMEM. */
int lanes_times_init(struct lanes_times *ret, const struct lanes_options *options, uint32_t turns,
                     struct err *err) MUST_CHECK;
/* Forgets what was measured; the room stays. */
void lanes_times_clear(struct lanes_times *times);
