/*
 * The output of `evenkeel check policy`.
 */
#pragma once

#include "whatif/policy_check.h"

/* Prints it, as JSON or for people. Returns the exit status: 1 if that failed. */
int policy_check_print(const struct policy_check *check, bool as_json);
