/*
 * Ordered spread of any counted objects: constraints by importance, region first, then zone within
 * the region. A domain is compared with its siblings under the same parent only, so equal zone
 * names in two regions are two domains, and a region is filled evenly before its zones are looked
 * at. The engine counts pods on nodes with it; members of a Placement on clusters are counted in
 * the same way. After Open Cluster Management's enhancement 70 (spread policy).
 *
 * Only domains that are *counted in* are compared: those of candidates that count.
 *
 *     struct ordered_domains d = {.terms = terms, .term_count = 2};
 *     ordered_domains_init(&d, view, arena);
 *     for each candidate that counts: ordered_domains_include(&d, slot);
 *     for each of these with a count: ordered_domains_add(&d, slot, count);
 *     ordered_domains_settle(&d);
 *     ordered_domains_score(&d, slot);
 */
#pragma once

#include "topology/topology.h"

enum { ORDERED_TERM_BITS = 6, ORDERED_TERM_MAX = 63, ORDERED_TERMS = TOPOLOGY_TREE_KEYS };

struct ordered_term {
    struct topology_column column;
    bool hard;
    int64_t max_skew;
    uint32_t min_domains; /* with fewer siblings, an empty domain is assumed; 0: not given */
};

/* The counts of a prefix. */
struct ordered_count {
    int64_t count;       /* sum below it */
    int64_t least, most; /* counts of its children; least > most: it has no children */
    uint32_t children;   /* children that are counted in */
    uint32_t in_flight;  /* number of pods that may land below it; for the caller's use */
    uint32_t mark;       /* for the caller's use */
    bool counted_in;
};

/* The number of a parent's children that have this count. */
struct ordered_siblings {
    int64_t count;
    uint32_t parent; /* PREFIX_NONE: the place is free */
    uint32_t children;
};

struct ordered_domains {
    const struct ordered_term *terms;  /* borrowed; the first is the most important */
    uint32_t term_count;               /* at most ORDERED_TERMS */
    struct topology_tree tree;         /* borrowed from the view */
    struct ordered_count *items;       /* [tree.count] */
    struct arena *arena;               /* borrowed; holds the arrays */
    struct ordered_siblings *siblings; /* open addressing by (parent, count); NULL: not made yet */
    uint32_t siblings_cap, siblings_used;
};

/* Begins with nothing counted in. Returns 0, -E2BIG (the view's steps are spent) or -ENOMEM. */
int ordered_domains_init(struct ordered_domains *d, struct topology_view *v,
                         struct arena *arena) MUST_CHECK;
/* Counts a known candidate in, or all of them. */
void ordered_domains_include(struct ordered_domains *d, uint32_t slot);
void ordered_domains_include_all(struct ordered_domains *d);
/* Adds a count to the domains of a candidate that is counted in. */
void ordered_domains_add(struct ordered_domains *d, uint32_t slot, int64_t count);
/* Call once after the last of the calls above: computes sums, and every parent's number, least and
 * most of children. O(prefixes). */
void ordered_domains_settle(struct ordered_domains *d);
/* Adds 1 or -1 to the count of a prefix and of all prefixes above it, after
 * ordered_domains_settle(), and updates least and most. PREFIX_NONE changes nothing. O(terms);
 * the first change takes O(prefixes). */
void ordered_domains_change(struct ordered_domains *d, uint32_t prefix, int64_t by);

/* Gets the prefix of a candidate's domain under each term, below the prefix of the term before it
 * (PREFIX_ROOT at first); PREFIX_NONE from the first prefix that is not counted in. Candidates
 * without a key share one domain. */
void ordered_domains_path(const struct ordered_domains *d, uint32_t slot,
                          uint32_t ret[ORDERED_TERMS]);
/* Returns the prefix of the candidate's domain under all terms, or PREFIX_NONE. */
uint32_t ordered_domains_leaf(const struct ordered_domains *d, uint32_t slot);
/* Does the candidate lack a hard term's key (`any`: any term's)? *ret_term: the first such term. */
bool ordered_domains_lack(const struct ordered_domains *d, uint32_t slot, bool any,
                          uint32_t *ret_term);
/* Has every known candidate those keys? */
bool ordered_domains_lack_none(const struct ordered_domains *d, bool any);

/* Returns how empty a domain with `count` is among the children of `parent`, which has children: 63
 * if its count is the least, 0 if it is the most, and 0 if all counts are the same. */
static inline int64_t ordered_part(const struct ordered_count *parent, int64_t count) {
    const int64_t range = parent->most - parent->least;
    return range > 0 ? ORDERED_TERM_MAX * (parent->most - count) / range : 0;
}

/* Returns the base of the skew below `parent`: its emptiest child's count, or 0 if it has fewer
 * than min_domains children. */
static inline int64_t ordered_base(const struct ordered_term *term,
                                   const struct ordered_count *parent) {
    return parent->children < term->min_domains ? 0 : parent->least;
}

/* Gets the largest skew of each term, over all parents: the count of the fullest domain minus
 * the base. The skew is 0 if no domain is counted in. O(prefixes). */
void ordered_domains_skews(const struct ordered_domains *d, int64_t ret[ORDERED_TERMS]);

/* Returns the score; higher is better: each term adds 0 (fullest sibling) to 63 (emptiest), 6 bits
 * a term, the first term in the highest bits. It is equal for all candidates below one leaf of the
 * tree. */
int64_t ordered_domains_score(const struct ordered_domains *d, uint32_t slot);
