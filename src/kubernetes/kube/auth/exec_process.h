/*
 * Runs a program and collects its output: no shell, an empty stdin, no descriptor of ours but the
 * three usual ones, default signals, a process group of its own, and bounds on time and output.
 *
 * Thread-safe: posix_spawn() makes the child, so no code that is unsafe with threads runs between
 * fork and exec.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

struct exec_command {
    char *const *argv; /* argv[0] without a '/' is looked for in PATH; NULL-terminated, as envp */
    char *const *envp;
    int64_t time_limit_ms;
    int stop_fd; /* when it becomes readable, the program is killed; -1: none */
};

/*
 * Waits for the program's end and appends its stdout to `out`, at most out->max bytes. 0 when it
 * ended with status 0. Otherwise a sentence with argv[0] and the last line of its stderr, and:
 * -ENOENT, -EACCES, ... (it cannot be started), -EPROTO (another status, or a signal), -EFBIG (more
 * output), -ETIMEDOUT, -ECANCELED (stop_fd). In the last three cases its whole process group was
 * killed. Processes that it left running are not waited for.
 */
int exec_run(const struct exec_command *command, struct strbuf *out, struct err *err) MUST_CHECK;
