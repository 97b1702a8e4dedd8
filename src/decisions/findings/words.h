/*
 * Findings about words: a value of the user that is not among those that an API server takes.
 *
 * Pure.
 */
#pragma once

#include "findings/findings.h"

/* Finds a word that is not in the list, which NULL ends; "" is no finding. `path` is that of the
 * value, `what` describes it: "operator of a toleration". The remedy is the nearest word, or all of
 * them. Returns false if it was found. */
bool findings_of_word(struct str word, const char *const *words, const char *what, struct str path,
                      struct findings *f);
