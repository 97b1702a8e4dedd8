/*
 * How a binding is scheduled, for people: of each cluster its replicas, what it has room for, its
 * score, or why it is refused; the groups of each level, and warnings. Made from the object that
 * -o json prints (explain/binding.h), whoever gave it.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

/* Appends it. 0, -EINVAL if the text is no such object, or -ENOMEM. */
int binding_print(struct str json, struct arena *arena, struct strbuf *out,
                  struct err *err) MUST_CHECK;
