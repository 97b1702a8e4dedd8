/*
 * CPU time that this process needed and did not get. The kernel counts two times for the process's
 * control group (cgroup v2): the time while the CPU limit throttled the group, and the time while a
 * thread of the group waited for a processor. The second includes the first, and exists only if the
 * kernel measures pressure (PSI). In a container, the group is the whole container. On cgroup v1
 * and in the root group both are unknown, because only a group with the CPU controller has them.
 *
 * Threads: call cpu_lack_find() before other threads exist; the other functions from any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Times in microseconds; negative: not known. The throttled time is the sum over all processors. */
struct cpu_lack {
    int64_t throttled_us, waited_us;
};

/* Finds the group: `self` is "/proc/self/cgroup", `root` "/sys/fs/cgroup" outside of tests. */
void cpu_lack_find(const char *self, const char *root);
/* Returns both times since the group was made. Reads two small files; without them both figures are
 * negative. */
struct cpu_lack cpu_lack_read(void);

/* Remembers the present figures, for the last CPU_LACK_KEPT calls. Call it about once a second. */
enum { CPU_LACK_KEPT = 64 };
void cpu_lack_poll(int64_t now_ns);
/*
 * Returns how much the figures have grown since `since_ns`, a time of the clock that
 * cpu_lack_poll() gets. Sets *ret_over_ns to the exact period: it begins at the last poll before
 * `since_ns`, or at the oldest remembered poll. Before the first poll both figures are negative.
 */
struct cpu_lack cpu_lack_since(int64_t since_ns, int64_t now_ns, int64_t *ret_over_ns);
