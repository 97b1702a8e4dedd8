/*
 * `evenkeel remote`: a command in a replica's container, run by kubectl evenkeel through `kubectl
 * exec`. The files that it names are on another machine and come through standard input. The
 * container's memory is the daemon's, and where it is exhausted the kernel ends all processes of
 * the container; so the command may take half of what is free, and then fails by itself.
 */
#pragma once

#include <stdint.h>

/* Half of the bytes that the control group mounted at this folder ("/sys/fs/cgroup") has left, of
 * version 2 or 1. UINT64_MAX: it has no limit, or does not say. */
uint64_t remote_share(const char *folder);
