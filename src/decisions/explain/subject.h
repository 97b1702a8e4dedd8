/*
 * The object of a decision, of any kind. Two subjects are equal if all four parts are equal.
 * Strings are borrowed.
 */
#pragma once

#include "base/str.h"

#include <stdint.h>

struct subject {
    struct str group;     /* API group; "" is the core group */
    struct str kind;      /* "Pod" */
    struct str namespace; /* "" if the object is in no namespace */
    struct str name;
};

struct subject subject_pod(struct str namespace, struct str name);

bool subject_eq(const struct subject *a, const struct subject *b);
/* Equal subjects have equal hashes. */
uint64_t subject_hash(const struct subject *s);
/* Returns the length of all four parts together, in bytes. */
size_t subject_bytes(const struct subject *s);
/* Appends the subject for people: "pod shop/web", "placement.example.com fleet/web", "node a". */
void subject_print(const struct subject *s, struct strbuf *out);
