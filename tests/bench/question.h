/*
 * What the load generator asks, and whether an answer can be right.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* ExtenderArgs, one for each of a few waiting pods. */
struct questions {
    struct strbuf *bodies; /* owned */
    uint32_t count;
    uint32_t names; /* nodes in each */
    uint32_t *left; /* owned; nodes in each that a filter has left; NULL: all */
};

/*
 * `names` of a cluster's `nodes` nodes, another range of them for every pod, as kube-scheduler
 * rotates through a cluster. `full`: as whole Nodes, and for a single pod. 0 or -ENOMEM.
 */
int questions_make(uint32_t nodes, uint32_t names, bool full, struct questions *ret,
                   struct err *err) MUST_CHECK;
void questions_free(struct questions *q);

/* What kube-scheduler asks prioritize with: the same questions about the nodes that filter let
 * pass, in filter's order. They are empty until question_left() has filled each from the answer to
 * the same question. 0, -ENOMEM or -EPROTO. */
int questions_left_init(const struct questions *q, struct questions *ret,
                        struct err *err) MUST_CHECK;
int question_left(const struct questions *q, uint32_t index, struct str answer,
                  struct questions *left, struct err *err) MUST_CHECK;

enum question_kind { QUESTION_ECHO, QUESTION_FILTER, QUESTION_PRIORITIZE };

/* -EPROTO when a body of an answer is not what the question asked for: every node must be in it,
 * and not all of them rejected. `kept`: how many nodes the filter let pass. */
int question_check(enum question_kind kind, const struct questions *q, uint32_t index,
                   struct str answer, uint32_t *ret_kept, struct err *err) MUST_CHECK;
