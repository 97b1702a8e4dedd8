/*
 * The candidates of one kind, read from files or from an API server to be listed.
 */
#pragma once

#include "candidates/kinds.h"
#include "informer/informer.h"
#include "topology/topology.h"

struct candidate_list; /* who reads them */

/* `kind` is static. 0 or -ENOMEM. */
int candidate_list_new(const struct candidate_kind *kind, struct candidate_list **ret,
                       struct err *err) MUST_CHECK;
/* NULL is fine. */
void candidate_list_free(struct candidate_list *l);

/* Reads them from files: all kinds that have the row's name. 0, or -errno with the file and the
 * place in it named. */
int candidate_list_load(struct candidate_list *l, const char *const *paths, size_t count,
                        struct err *err) MUST_CHECK;
/* What watches those of the row's kind: informer_watch() without these. Borrowed until
 * candidate_list_free(). */
struct informer *candidate_list_informer(const struct candidate_list *l, uint64_t *ret_without);

struct listed_candidate {
    enum kind_row kind; /* its own */
    struct candidate candidate;
};
/* Those that are known, by name; copies, in the arena. 0 or -ENOMEM. */
int candidate_list_describe(const struct candidate_list *l, struct arena *arena,
                            struct listed_candidate **ret, uint32_t *ret_count) MUST_CHECK;
