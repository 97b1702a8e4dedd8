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

/* Microseconds; negative: not known. Throttled time is added up over processors. */
struct cpu_lack {
    int64_t throttled_us, waited_us;
};

/* Finds the group: `self` is "/proc/self/cgroup", `root` "/sys/fs/cgroup" outside of tests. */
void cpu_lack_find(const char *self, const char *root);
/* Returns the figures since the group was made. Reads two small files; without them both figures
 * are negative. */
struct cpu_lack cpu_lack_read(void);

/* Remembers the present figures, for the last CPU_LACK_KEPT calls. Call it about once a second. */
enum { CPU_LACK_KEPT = 64 };
void cpu_lack_poll(int64_t now_ns);
/*
 * Returns the growth of the figures since `since_ns`, by the clock of the polls. *ret_over_ns: the
 * exact period, from the last poll before that time, or from the oldest one that is remembered.
 * Before the first poll both figures are negative.
 */
struct cpu_lack cpu_lack_since(int64_t since_ns, int64_t now_ns, int64_t *ret_over_ns);
