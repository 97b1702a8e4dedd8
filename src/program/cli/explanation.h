/*
 * The answers of /explain as tables for people, which `evenkeel explain` prints: an answer of one
 * daemon, or several in one document (cli/merged.h).
 */
#pragma once

#include "cli/answer.h"
#include "explain/subject.h"

/* Appends why the object is as it is, if that is known, and every decision with all its members.
 * `subject`: what was asked about; nameless for a what-if. */
void explanation_print(const struct value *root, const struct subject *subject, struct strbuf *out);
/* Appends a line for each decision. */
answer_print_fn explanation_print_list;
