/*
 * The output of `evenkeel check policy`.
 */
#pragma once

#include "whatif/policy_check.h"

/* Prints the check's result, as JSON or for people. Returns the exit status: 1 if it cannot
 * print. */
int policy_check_print(const struct policy_check *check, bool as_json);
