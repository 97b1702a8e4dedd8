/* For the tests of kube/auth/in_cluster.c, which have no /var/run/secrets. */
#pragma once

#include "kube/auth/access.h"

/* As the functions of kube/auth/access.h, for a service account that is mounted at `folder`. */
bool in_cluster_at(const char *folder);
int in_cluster_access(const char *folder, struct arena *arena, struct kube_access *ret,
                      struct err *err) MUST_CHECK;
