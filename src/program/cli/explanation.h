/*
 * Prints the answers of /explain as tables for people, for `evenkeel explain`: the answer of one
 * daemon, or several in one document (cli/merged.h).
 */
#pragma once

#include "cli/answer.h"
#include "explain/subject.h"

/* Appends the reason for the object's state, if it is known, and every decision with all members.
 * `subject` is the object that the user asked about; it has no name for a what-if. */
void explanation_print(const struct value *root, const struct subject *subject, struct strbuf *out);
/* Appends only the parts that come from the pod itself, if the pod was read after the decisions
 * were printed: the cause, the state, and the present verdict; or the reason why the pod was not
 * read. */
void explanation_print_late(const struct value *root, const struct subject *subject,
                            struct strbuf *out);
/* Appends a line for each decision. */
answer_print_fn explanation_print_list;
