/*
 * A race: the same questions to several endpoints, turn by turn. In every round each racer has one
 * turn of a few hundred calls, so that whatever else the machine does meets all of them alike; what
 * is reported is the median over the rounds.
 *
 * A turn is a closed loop on every connection: the next call follows the answer.
 */
#pragma once

#include "bench/client.h"
#include "bench/question.h"

#include <stdbool.h>

enum { RACE_ROUNDS_MAX = 99, RACE_CONNECTIONS_MAX = 256, RACE_CALLS_MAX = 1000000 };

/* Each handler is followed by an echo that answers with as many bytes as the handler does: the
 * difference is what the handler itself takes. Prioritize is asked about the nodes that filter let
 * pass, as kube-scheduler asks. */
enum racer { RACER_ECHO, RACER_FILTER, RACER_LIKE_FILTER, RACER_PRIORITIZE, RACER_LIKE_PRIORITIZE };
enum { RACERS = 5 };

struct race_options {
    struct client_options echo, extender; /* the two servers */
    uint32_t connections, rounds;
    uint32_t calls; /* of one turn, at most ... */
    double seconds; /* ... and what it lasts, at most; every connection makes at least one call */
    bool no_prioritize;
};

/* Medians over the rounds, but for max_us. */
struct race_times {
    double p50_us, p99_us, max_us, calls_per_s;
    double ratio_to_echo;       /* p50 over that of RACER_ECHO in the same round */
    double ratio_to_sized_echo; /* ... over that of the echo that answers as long; else 0 */
    double answer_bytes;        /* mean */
};

/* Fills times[RACERS], zero for what did not run, and how many nodes filter kept in the mean. 0, or
 * -errno when a call failed or was answered wrongly. */
int race_run(const struct race_options *options, const struct questions *questions,
             struct race_times *times, double *ret_kept, struct err *err) MUST_CHECK;
