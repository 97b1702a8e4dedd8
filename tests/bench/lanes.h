/*
 * Connections to one server that send it the same questions at the same time. During a turn, each
 * connection has its own thread and runs a closed loop: the next call follows the answer. Every
 * answer is checked. Only one thread may call these functions.
 */
#pragma once

#include "bench/client.h"

#include <stdint.h>

enum { LANES_MAX = 256 };

struct lanes;

/* The bodies are sent in turn; each connection begins with another body. */
struct lanes_question {
    const char *path;
    const struct strbuf *bodies; /* [count], borrowed */
    uint32_t count;
    /* Returns -EPROTO if `answer`, which has status 200, is not an answer to bodies[index]. Several
     * threads call it. */
    int (*check)(const void *context, uint32_t index, struct str answer, struct err *err);
    const void *context; /* for check(); borrowed */
};

struct lanes_options {
    const char *ca_file;  /* as in struct client_options, borrowed */
    uint32_t connections; /* at most LANES_MAX */
    uint32_t calls;       /* the most calls of each connection in a turn ... */
    double
        seconds; /* ... and the longest time of a turn; each connection makes at least one call */
};

/* The measured times of one or more turns. */
struct lanes_times {
    int64_t *ns; /* [count], owned; room for `max` */
    uint32_t count, max;
    int64_t lasted_ns;
    uint64_t answer_bytes; /* bytes of all answers together */
};

/* Connects to an address such as "127.0.0.1:8443". `options` and `question` are borrowed until
 * lanes_close(). Returns 0 or -errno. */
int lanes_open(const char *address, const struct lanes_options *options,
               const struct lanes_question *question, struct lanes **ret,
               struct err *err) MUST_CHECK;
/* Makes the calls of one turn and adds their times to `times`. Returns 0, or -errno if a call
 * failed or an answer was wrong; then the lanes can only be closed. */
int lanes_turn(struct lanes *lanes, struct lanes_times *times, struct err *err) MUST_CHECK;
/* NULL is fine. */
void lanes_close(struct lanes *lanes);

/* Makes room for the times of `turns` turns with these options; the caller frees ret->ns with
 * free(). Returns 0 or -ENOMEM. */
int lanes_times_init(struct lanes_times *ret, const struct lanes_options *options, uint32_t turns,
                     struct err *err) MUST_CHECK;
/* Forgets the measured times; the room stays. */
void lanes_times_clear(struct lanes_times *times);
