#include "base/cpu_lack.h"

#include "base/file.h"
#include "base/mutex.h"
#include "base/str.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { FILE_MAX = 4096 };

static char stat_file[PATH_MAX], pressure_file[PATH_MAX]; /* "": not found */

struct sample {
    int64_t at_ns;
    struct cpu_lack lack;
};

static _Atomic int64_t last_throttled_us = -1, last_waited_us = -1;

static struct mutex lock = MUTEX_INITIALIZER;
static struct sample samples[CPU_LACK_KEPT]; /* a ring; the lock guards it and sample_count */
static unsigned sample_count;                /* all samples ever taken */

/* Returns the group in "0::/PATH", the line of cgroup v2; "" without such a line, or if the process
 * cannot see the group. */
static struct str own_group(struct str text) {
    while (text.n > 0) {
        size_t end = str_find(text, '\n');
        struct str line = {text.p, end < text.n ? end : text.n};
        text = (struct str){text.p + line.n + (end < text.n), text.n - line.n - (end < text.n)};
        if (!str_has_prefix(line, STR("0::/")))
            continue;
        struct str path = {line.p + 3, line.n - 3};
        return str_has_prefix(path, STR("/..")) ? STR("") : path;
    }
    return STR("");
}

void cpu_lack_find(const char *self, const char *root) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    stat_file[0] = pressure_file[0] = '\0';
    atomic_store(&last_throttled_us, -1);
    atomic_store(&last_waited_us, -1);
    if (file_read(self, FILE_MAX, &text, NULL) != 0)
        return;
    struct str group = own_group(strbuf_str(&text));
    if (group.n == 0 || group.n + strlen(root) + 32 > PATH_MAX)
        return;
    (void)snprintf(stat_file, sizeof stat_file, "%s%.*s/cpu.stat", root, STR_ARG(group));
    (void)snprintf(pressure_file, sizeof pressure_file, "%s%.*s/cpu.pressure", root,
                   STR_ARG(group));
}

/* Returns the number after a word in a small file; -1 if the word or the number is missing. */
static int64_t number_behind(const char *path, struct str word) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    int64_t number = -1;
    if (path[0] == '\0' || file_read(path, FILE_MAX, &text, NULL) != 0)
        return -1;
    const char *at = text.n > 0 ? memmem(text.p, text.n, word.p, word.n) : NULL;
    if (at == NULL)
        return -1;
    struct str digits = {at + word.n, text.n - word.n - (size_t)(at - text.p)};
    size_t end = str_find(digits, '\n');
    digits.n = end < digits.n ? end : digits.n;
    return str_to_i64(digits, &number) ? number : -1;
}

/* Returns the last known figure if `now` is smaller or unknown: the figures never fall. */
static int64_t latest(_Atomic int64_t *last, int64_t now) {
    int64_t before = atomic_load(last);
    while (now > before && !atomic_compare_exchange_weak(last, &before, now))
        ;
    return now > before ? now : before;
}

struct cpu_lack cpu_lack_read(void) {
    struct cpu_lack lack = {.waited_us = -1};
    lack.throttled_us =
        latest(&last_throttled_us, number_behind(stat_file, STR("\nthrottled_usec ")));
    if (lack.throttled_us >= 0) /* the root group has no throttled time, and its pressure is the
                                   pressure of the whole machine */
        lack.waited_us = latest(&last_waited_us, number_behind(pressure_file, STR("total=")));
    return lack;
}

void cpu_lack_poll(int64_t now_ns) {
    struct sample now = {.at_ns = now_ns};
    now.lack = cpu_lack_read();
    mutex_lock(&lock);
    samples[sample_count++ % CPU_LACK_KEPT] = now;
    mutex_unlock(&lock);
}

/* Finds the last sample at or before `since_ns`, or the oldest. Returns false without samples. */
static bool find_sample(int64_t since_ns, struct sample *ret) {
    bool found = false;
    mutex_lock(&lock);
    for (unsigned back = 1; back <= sample_count && back <= CPU_LACK_KEPT; back++) {
        *ret = samples[(sample_count - back) % CPU_LACK_KEPT];
        found = true;
        if (ret->at_ns <= since_ns)
            break;
    }
    mutex_unlock(&lock);
    return found;
}

/* Returns the growth between two figures; -1 if it is not known. */
static int64_t growth(int64_t from, int64_t to) {
    return from < 0 || to < from ? -1 : to - from;
}

struct cpu_lack cpu_lack_since(int64_t since_ns, int64_t now_ns, int64_t *ret_over_ns) {
    const struct cpu_lack unknown = {-1, -1};
    struct sample then;
    *ret_over_ns = 0;
    if (!find_sample(since_ns, &then))
        return unknown;
    const struct cpu_lack now = cpu_lack_read();
    *ret_over_ns = now_ns - then.at_ns;
    return (struct cpu_lack){growth(then.lack.throttled_us, now.throttled_us),
                             growth(then.lack.waited_us, now.waited_us)};
}
