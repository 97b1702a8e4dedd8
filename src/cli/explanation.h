/*
 * The answers of /explain as tables for people, which `evenkeel explain` prints.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* Appends every decision with all its members. `json` is an answer of /explain. 0, -EINVAL if it is
 * not such an answer, or -ENOMEM. */
int explanation_print(struct str json, struct arena *arena, struct strbuf *out,
                      struct err *err) MUST_CHECK;
/* Appends a line for each decision. Errors as above. */
int explanation_print_list(struct str json, struct arena *arena, struct strbuf *out,
                           struct err *err) MUST_CHECK;
