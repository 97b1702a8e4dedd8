/*
 * Selectors: a conjunction of requirements on labels, compiled from a metav1.LabelSelector or from
 * a selector string, and the rule for matching one requirement, which node affinity shares.
 *
 * A compiled selector is canonical: requirements sorted, values sorted and unique. So two selectors
 * with the same requirements, in any order, have the same key bytes (selector_key), and the cache
 * needs only one count for both.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/steps.h"
#include "model/labels.h"

enum selector_operator {
    SELECTOR_IN,
    SELECTOR_NOT_IN,
    SELECTOR_EXISTS,
    SELECTOR_DOES_NOT_EXIST,
    SELECTOR_GT, /* node affinity and selector strings only */
    SELECTOR_LT,
};

struct requirement {
    struct str key;
    enum selector_operator op;
    const struct str *values; /* sorted, unique */
    uint32_t value_count;
    int64_t bound; /* the number that Gt or Lt compares with */
};

struct selector {
    bool nothing; /* a nil LabelSelector: matches no object */
    const struct requirement *items;
    uint32_t count; /* 0: matches every object, unless `nothing` */
};

/* One entry of matchExpressions or of a node selector term, as written. */
struct label_expression {
    struct str key, op;
    const struct str *values;
    uint32_t value_count;
};

/* A metav1.LabelSelector as written. */
struct label_selector {
    bool present; /* false: nil, which matches nothing; an empty one matches everything */
    struct labels match_labels;
    const struct label_expression *expressions;
    uint32_t expression_count;
};

/* Reads an array of strings, or null. */
const struct str *strings_decode(struct json_reader *r, uint32_t *ret_count);
struct label_selector label_selector_decode(struct json_reader *r);
/* The same, but an unknown field is an error. */
struct label_selector label_selector_decode_strict(struct json_reader *r);
/* Reads an array of {key, operator, values}. */
const struct label_expression *label_expressions_decode(struct json_reader *r, uint32_t *ret_count);

/* Does the selector have a requirement on the key? */
bool label_selector_has_key(const struct label_selector *s, struct str key);

/* Returns the approximate number of steps to compile `from`. */
uint64_t label_selector_steps(const struct label_selector *from);

/*
 * Compiles `from` AND key == value for each of `extra` (these are matchLabelKeys with the pod's
 * values; a nil selector stays "nothing"). Memory from the arena, strings borrowed. 0, -EINVAL with
 * the offending part named, or -ENOMEM.
 */
int selector_compile(const struct label_selector *from, struct labels extra, struct arena *arena,
                     struct selector *ret, struct err *err) MUST_CHECK;

/* Parses the query-string form: "a,!b,c=d,e!=f,g in (h,i),j notin (k),l>5". Empty means everything.
 * 0, -EINVAL or -ENOMEM. */
int selector_parse(struct str text, struct arena *arena, struct selector *ret,
                   struct err *err) MUST_CHECK;

bool selector_matches(const struct selector *s, label_lookup_fn *lookup, const void *labels);

/* Does a label with this value meet the requirement? `value` NULL: the label is absent. */
bool requirement_matches(const struct requirement *q, const struct str *value);

/* Checks one expression, by the rules of upstream's labels.NewRequirement; Gt and Lt are valid only
 * with `allow_compare`. The requirement borrows the values, which are not sorted. Takes no memory.
 * 0 or -EINVAL. */
int requirement_check(const struct label_expression *from, bool allow_compare,
                      struct requirement *ret, struct err *err) MUST_CHECK;
/* Checks and compiles one expression. The value list is copied to the arena. */
int requirement_compile(const struct label_expression *from, bool allow_compare,
                        struct arena *arena, struct requirement *ret, struct err *err) MUST_CHECK;

/* Sorts compiled requirements in place, drops repeated ones and makes a selector of them, which
 * borrows them. */
void selector_canonicalize(struct requirement *items, uint32_t count, struct selector *ret);

/* Are the requirements equal, with values in the same order? */
bool requirement_eq(const struct requirement *a, const struct requirement *b);
/* Appends bytes that are equal exactly for equal requirements or selectors. */
void requirement_key(const struct requirement *q, struct strbuf *out);
void selector_key(const struct selector *s, struct strbuf *out);
/* Appends a string and its length. The keys above are made of such pairs. */
void key_append(struct strbuf *out, struct str s);

/* Return the most look-ups and comparisons of a match, and the approximate arena bytes of a copy.
 * text_cost() is for one string: before its validation a string may have any length. */
struct cost text_cost(struct str s);
struct cost requirement_cost(const struct requirement *q);
struct cost selector_cost(const struct selector *s);
static inline void cost_add(struct cost *sum, struct cost more) {
    sum->steps += more.steps;
    sum->bytes += more.bytes;
}

/* Copies a selector or a requirement, with its strings, into the arena. Returns 0 or -ENOMEM. */
int selector_copy(const struct selector *from, struct arena *arena,
                  struct selector *ret) MUST_CHECK;
int requirement_copy(const struct requirement *from, struct arena *arena,
                     struct requirement *ret) MUST_CHECK;
