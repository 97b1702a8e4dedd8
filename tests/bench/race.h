/*
 * A race: the same questions to several endpoints, turn by turn. In every round each racer has one
 * turn of a few hundred calls, so that other work of the machine slows all racers alike. The median
 * over the rounds is reported.
 *
 * A turn is a closed loop on every connection: the next call follows the answer.
 */
#pragma once

#include "bench/client.h"
#include "bench/question.h"

#include <stdbool.h>

enum { RACE_ROUNDS_MAX = 99, RACE_CONNECTIONS_MAX = 256, RACE_CALLS_MAX = 1000000 };

/* After each handler comes an echo that answers with the same number of bytes: the difference is
 * the time of the handler itself. Prioritize is asked about the nodes that filter let pass, as
 * kube-scheduler asks it. */
enum racer { RACER_ECHO, RACER_FILTER, RACER_LIKE_FILTER, RACER_PRIORITIZE, RACER_LIKE_PRIORITIZE };
enum { RACERS = 5 };

struct race_options {
    struct client_options echo, extender; /* the two servers */
    uint32_t connections, rounds;
    uint32_t calls; /* the most calls of one turn ... */
    double
        seconds; /* ... and the longest time of a turn; every connection makes at least one call */
    bool no_prioritize;
};

/* All members except max_us are medians over the rounds. */
struct race_times {
    double p50_us, p99_us, max_us, calls_per_s;
    double ratio_to_echo;       /* p50 divided by RACER_ECHO's p50 in the same round */
    double ratio_to_sized_echo; /* p50 divided by the p50 of the echo with answers of the same
                                   length; 0 if there is none */
    double answer_bytes;        /* mean */
};

/* Fills times[RACERS], with zeros for a racer that did not run, and the mean number of nodes that
 * filter kept. Returns 0, or -errno if a call failed or an answer was wrong. */
int race_run(const struct race_options *options, const struct questions *questions,
             struct race_times *times, double *ret_kept, struct err *err) MUST_CHECK;
