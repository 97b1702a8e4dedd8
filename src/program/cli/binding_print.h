/*
 * Prints for people how a binding is scheduled: each cluster with its replicas, its room and its
 * score, or why it is refused; the groups of each level, and warnings. The input is the object that
 * -o json prints (explain/binding.h), made here or by a daemon; or an object with
 * "madeBinding":null.
 */
#pragma once

#include "cli/answer.h"

answer_print_fn binding_print;
