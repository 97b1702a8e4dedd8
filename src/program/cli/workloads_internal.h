/* The workloads that `evenkeel topology` selects. Only workloads*.c include this file. */
#pragma once

#include "cli/answer.h"
#include "cli/workloads.h"
#include "evenness/evenness.h"

/* The selected workloads, and the index of their topology key. */
struct selection {
    struct evenness_report *report;
    struct evenness_report *owned; /* the report, to be freed; NULL: it is in the arena */
    const uint32_t *numbers;
    uint32_t key, count;
    struct arena *arena;
};

/* Reads the report from a running daemon into the arena. Returns 0 or -errno with a sentence. */
int workloads_ask_daemon(const struct workloads_request *q, struct selection *s,
                         struct err *err) MUST_CHECK;

/* Print the selection for people: all workloads in a table, or the workloads of one name, one after
 * the other. root->of->ctx is the struct workloads_request. */
answer_print_fn workloads_print_all, workloads_print_each;
