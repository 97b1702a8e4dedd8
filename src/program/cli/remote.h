/*
 * `evenkeel remote`: runs a command in a replica's container, for kubectl evenkeel through `kubectl
 * exec`. Its files are on another machine and come through standard input. The container's memory
 * is shared with the daemon, and the kernel may end all processes of the container when it is
 * exhausted; so the command may take half of the free memory, and fails if it needs more.
 */
#pragma once

#include <stdint.h>

/* Returns half of the free bytes of the control group (version 2 or 1) mounted at this folder
 * ("/sys/fs/cgroup"); UINT64_MAX if its limit or its usage cannot be read as a number. */
uint64_t remote_share(const char *folder);
