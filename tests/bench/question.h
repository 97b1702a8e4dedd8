/*
 * The questions of the load generator, and a check of their answers.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* ExtenderArgs, one for each of several waiting pods. */
struct questions {
    struct strbuf *bodies; /* owned */
    uint32_t count;
    uint32_t names; /* number of nodes in each question */
    /* owned; number of nodes in each question that filter let pass; NULL: all nodes */
    uint32_t *left;
};

/*
 * Makes questions about `names` of a cluster's `nodes` nodes, with another range of nodes for every
 * pod, as kube-scheduler rotates through a cluster. `full`: the question has whole Nodes, and there
 * is only one pod. Returns 0 or -ENOMEM.
 */
int questions_make(uint32_t nodes, uint32_t names, bool full, struct questions *ret,
                   struct err *err) MUST_CHECK;
void questions_free(struct questions *q);

/* Makes questions for prioritize, as kube-scheduler asks them: the same pods with the nodes that
 * filter let pass, in filter's order. Each question is empty until question_left() fills it from
 * filter's answer to the same question. Returns 0, -ENOMEM or -EPROTO. */
int questions_left_init(const struct questions *q, struct questions *ret,
                        struct err *err) MUST_CHECK;
int question_left(const struct questions *q, uint32_t index, struct str answer,
                  struct questions *left, struct err *err) MUST_CHECK;

enum question_kind { QUESTION_ECHO, QUESTION_FILTER, QUESTION_PRIORITIZE };

/* Returns -EPROTO if an answer's body does not fit the question: it must have every node, and must
 * not reject all nodes. Sets *ret_kept to the number of nodes that filter let pass. */
int question_check(enum question_kind kind, const struct questions *q, uint32_t index,
                   struct str answer, uint32_t *ret_kept, struct err *err) MUST_CHECK;
