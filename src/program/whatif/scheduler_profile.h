/*
 * The affinity that kube-scheduler's configuration file adds to a pod: the NodeAffinity arguments
 * of the profile that the pod names.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "model/affinity.h"

/* Reads addedAffinity as JSON from the profile for the pod (`pod` is JSON); "" if it has none.
 * Memory is from the arena. Returns 0, -EINVAL (kube-scheduler would refuse the file, or no profile
 * fits the pod), another -errno if the file cannot be read, or -ENOMEM. */
int scheduler_profile_read(const char *path, struct str pod, struct arena *arena, struct str *ret,
                           struct err *err) MUST_CHECK;
/* Decodes that text; "" and null give an empty affinity. Returns 0, -EINVAL or -ENOMEM. */
int scheduler_affinity_decode(struct str text, struct arena *arena, struct node_affinity *ret,
                              struct err *err) MUST_CHECK;
