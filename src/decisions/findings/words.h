/*
 * Findings about words: a value of the user that is not among the values that an API server
 * accepts.
 *
 * Pure.
 */
#pragma once

#include "findings/findings.h"

/* Adds a finding if the word is not in the list, which NULL ends; "" is no finding. `path` is the
 * path of the value, `what` describes the value: "operator of a toleration". The remedy is the
 * nearest word, or all words. Returns false if it added a finding. */
bool findings_of_word(struct str word, const char *const *words, const char *what, struct str path,
                      struct findings *f);
