/* What `evenkeel topology` selects, and who fills and prints it. Only workloads*.c include it. */
#pragma once

#include "cli/answer.h"
#include "cli/workloads.h"
#include "evenness/evenness.h"

/* The workloads that were asked for, and by which key. */
struct selection {
    struct evenness_report *report;
    struct evenness_report *owned; /* NULL: it is the arena's */
    const uint32_t *numbers;
    uint32_t key, count;
    struct arena *arena;
};

/* Fills the selection's report from a running daemon, in the arena. 0 or -errno with a sentence. */
int workloads_ask_daemon(const struct workloads_request *q, struct selection *s,
                         struct err *err) MUST_CHECK;

/* The selection's JSON for people: all workloads, or those of a name one by one. root->of->ctx is
 * the struct workloads_request. */
answer_print_fn workloads_print_all, workloads_print_each;
