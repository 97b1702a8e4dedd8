/*
 * Reads the clusters in a question `select` or `assign`: clusters that passed the filters, with
 * their data.
 *
 *     {"name": "m1", "provider": "P1", "region": "R1", "zones": ["Z1"], "labels": {},
 *      "score": 100, "allocatable": 7, "previous": 3, "available": 10, "overflowOrder": 0}
 *
 * Only `name` is required, and no two clusters have the same name. If `available` is not given, it
 * is allocatable + previous; `assign` takes `previous` from its spec.clusters. Only the score may
 * be below zero.
 */
#pragma once

#include "base/json_reader.h"
#include "karmada/karmada.h"

/* Reads the array (or null) that comes next; it has at most LIMIT_LINE_CLUSTERS clusters. The
 * result is in the reader's arena, its strings also in the reader's text. Errors stay in the
 * reader. A missing `available` becomes allocatable + previous with `to_select`, else
 * KARMADA_NOT_GIVEN. */
const struct karmada_candidate *candidates_decode(struct json_reader *r, bool to_select,
                                                  uint32_t *ret_count);

/* Makes the reader fail if two names in a list that was just read are equal. The names are `stride`
 * bytes apart. Sorts, and takes steps of the reader's arena. */
void names_refuse_repeated(struct json_reader *r, const struct str *names, size_t stride,
                           uint32_t count);
