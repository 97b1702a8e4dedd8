/*
 * Reads the candidates of one kind from files or from an API server, to list them.
 */
#pragma once

#include "candidates/kinds.h"
#include "informer/informer.h"
#include "topology/topology.h"

struct candidate_list; /* the reader */

/* `kind` is static. Returns 0 or -ENOMEM. */
int candidate_list_new(const struct candidate_kind *kind, struct candidate_list **ret,
                       struct err *err) MUST_CHECK;
/* NULL is fine. */
void candidate_list_free(struct candidate_list *l);

/* Reads candidates of all kinds in the row from files. Returns 0 or -errno; the sentence names the
 * file and the place in it. */
int candidate_list_load(struct candidate_list *l, const char *const *paths, size_t count,
                        struct err *err) MUST_CHECK;
/* Returns the informer that watches the row's kind: call informer_watch() with *ret_without.
 * Borrowed until candidate_list_free(). */
struct informer *candidate_list_informer(const struct candidate_list *l, uint64_t *ret_without);

struct listed_candidate {
    enum kind_row kind; /* the candidate's own kind */
    struct candidate candidate;
};
/* Lists the known candidates by name, copied into the arena. Returns 0 or -ENOMEM. */
int candidate_list_describe(const struct candidate_list *l, struct arena *arena,
                            struct listed_candidate **ret, uint32_t *ret_count) MUST_CHECK;
