/*
 * The answers of /explain as tables for people, which `evenkeel explain` prints.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "explain/subject.h"

/* Appends why the object is as it is, if that is known, and every decision with all its members.
 * `json` is an answer of /explain, or several in one document (cli/merged.h). `subject`: what was
 * asked about; nameless for a what-if. 0, -EINVAL if it is not such an answer, or -ENOMEM. */
int explanation_print(struct str json, const struct subject *subject, struct arena *arena,
                      struct strbuf *out, struct err *err) MUST_CHECK;
/* Appends a line for each decision. Errors as above. */
int explanation_print_list(struct str json, struct arena *arena, struct strbuf *out,
                           struct err *err) MUST_CHECK;
