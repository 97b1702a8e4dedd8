/*
 * What `evenkeel check policy` prints.
 */
#pragma once

#include "whatif/policy_check.h"

void policy_check_print_json(const struct policy_check *check, struct strbuf *out);
/* For people. False: no memory. */
bool policy_check_print_table(const struct policy_check *check, struct arena *arena,
                              struct strbuf *out);
