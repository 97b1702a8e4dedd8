/* Arguments and environment of a credential plugin. */
#pragma once

#include "base/arena.h"
#include "kube/auth/access.h"

struct exec_start {
    char **argv, **envp; /* NULL-terminated; arena */
    char **info;         /* the place in envp for "KUBERNETES_EXEC_INFO=...", which the caller
                            sets */
};

/* The program's environment is this process's, as it is now, with the kubeconfig's additions: the
 * last value of a name counts. Returns 0 or -ENOMEM. */
int exec_start_build(const struct kube_exec *exec, struct arena *arena, struct exec_start *ret,
                     struct err *err) MUST_CHECK;
