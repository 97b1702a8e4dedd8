/*
 * How a binding is scheduled, for people: of each cluster its replicas, what it has room for, its
 * score, or why it is refused; the groups of each level, and warnings. Made from the object that
 * -o json prints (explain/binding.h), whoever gave it.
 */
#pragma once

#include "cli/answer.h"

answer_print_fn binding_print;
