/*
 * What /explain answers, as tables for people: `evenkeel explain` prints it.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* Every decision with all that it says. `json` is an answer of /explain. 0, -EINVAL when it is
 * none, or -ENOMEM. */
int explanation_print(struct str json, struct arena *arena, struct strbuf *out,
                      struct err *err) MUST_CHECK;
/* A line for each decision. */
int explanation_print_list(struct str json, struct arena *arena, struct strbuf *out,
                           struct err *err) MUST_CHECK;
