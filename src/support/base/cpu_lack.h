/*
 * CPU time that this process wanted and did not get, as the kernel counts it for the process'
 * control group (cgroup v2): while the group was throttled by its limit, and while a thread of the
 * group was ready to run and waited for a processor. The second includes the first, and exists only
 * where the kernel measures pressure (PSI). Both are of the whole group, which for a container is
 * the container. There are no figures outside a group with the CPU controller: on cgroup v1, and in
 * the root group.
 *
 * Threads: cpu_lack_find() before there are any; the others from any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Microseconds. Negative: not known. Time throttled is added up over processors. */
struct cpu_lack {
    int64_t throttled_us, waited_us;
};

/* Finds the group: `self` is "/proc/self/cgroup", `root` "/sys/fs/cgroup" outside of tests. */
void cpu_lack_find(const char *self, const char *root);
/* Since the group was made. Reads two small files; nothing is known where there are none. */
struct cpu_lack cpu_lack_read(void);

/* Remembers the figures of now, for the last CPU_LACK_KEPT calls. Call it about once a second. */
enum { CPU_LACK_KEPT = 64 };
void cpu_lack_poll(int64_t now_ns);
/*
 * What came to the figures since `since_ns`, by the clock of the polls; in *ret_over_ns for how
 * long that is exactly: it goes back to the last poll before that time, or to the oldest one that
 * is remembered. Without any poll nothing is known.
 */
struct cpu_lack cpu_lack_since(int64_t since_ns, int64_t now_ns, int64_t *ret_over_ns);
