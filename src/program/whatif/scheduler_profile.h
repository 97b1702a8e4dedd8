/*
 * What kube-scheduler's configuration file adds to what it judges a pod by: the profile that the
 * pod names, and its arguments of NodeAffinity.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "model/affinity.h"

/* Reads the file, and of the profile for the pod (its text is JSON) addedAffinity, as JSON; "" if
 * there is none. Memory is from the arena. 0, -EINVAL (kube-scheduler would refuse the file, or it
 * has no profile for the pod), another -errno for a file that cannot be read, or -ENOMEM. */
int scheduler_profile_read(const char *path, struct str pod, struct arena *arena, struct str *ret,
                           struct err *err) MUST_CHECK;
/* That text; "" and null are an affinity that asks for nothing. 0, -EINVAL or -ENOMEM. */
int scheduler_affinity_decode(struct str text, struct arena *arena, struct node_affinity *ret,
                              struct err *err) MUST_CHECK;
