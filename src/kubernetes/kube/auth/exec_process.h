/*
 * Runs a program and collects its output. The program has no shell, an empty stdin, no other open
 * descriptors than stdin, stdout and stderr, default signals, a process group of its own, and
 * limits on time and output.
 *
 * Thread-safe: posix_spawn() makes the child, so no code that is unsafe with threads runs between
 * fork and exec.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

struct exec_command {
    char *const *argv; /* NULL-terminated, like envp; argv[0] without a '/' is looked up in PATH */
    char *const *envp;
    int64_t time_limit_ms;
    int stop_fd; /* when it becomes readable, the program is killed; -1: none */
};

/*
 * Waits for the program's end and appends its stdout to `out`, at most out->max bytes. Returns 0 if
 * it ended with status 0. Otherwise `err` has argv[0], with -ENOENT, -EACCES, ... (it cannot be
 * started), -EPROTO (another status, or a signal), -EFBIG (more output), -ETIMEDOUT, -ECANCELED
 * (stop_fd). With -EPROTO and -ETIMEDOUT it also has the last line of the program's stderr. After
 * -EFBIG, -ETIMEDOUT and -ECANCELED the whole process group was killed. It does not wait for
 * processes that the program left running.
 */
int exec_run(const struct exec_command *command, struct strbuf *out, struct err *err) MUST_CHECK;
