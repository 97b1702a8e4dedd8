/*
 * Prints the answers of /explain as tables for people, for `evenkeel explain`: the answer of one
 * daemon, or several in one document (cli/merged.h).
 */
#pragma once

#include "cli/answer.h"
#include "explain/subject.h"

/* Appends why the object is in its state, if that is known, and every decision with all members.
 * `subject` is the object that the user asked about; it has no name for a what-if. */
void explanation_print(const struct value *root, const struct subject *subject, struct strbuf *out);
/* Appends only what the pod itself adds, for an answer that comes after the decisions were printed:
 * the cause, the state, and how the pod is judged now; or why it was not read. */
void explanation_print_late(const struct value *root, const struct subject *subject,
                            struct strbuf *out);
/* Appends a line for each decision. */
answer_print_fn explanation_print_list;
