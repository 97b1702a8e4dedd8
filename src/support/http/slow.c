#include "http/slow.h"

#include "base/cpu_lack.h"
#include "base/log.h"
#include "http/body.h"

#include <unistd.h>

static const struct {
    const char *name, *text;
} causes[SLOW_CAUSES] = {
    [SLOW_THROTTLED] = {"throttled", "the container's CPU limit kept Evenkeel from running"},
    [SLOW_STARVED] = {"starved",
                      "Evenkeel's threads waited for a processor: the machine is overloaded"},
    [SLOW_LAPS + LAP_RECEIVING] =
        {"receiving",
         "the request's body arrived slowly, or other requests on its thread took long"},
    [SLOW_LAPS +
        LAP_QUEUED] = {"queued", "the request waited while large bodies before it were handled"},
    [SLOW_LAPS + LAP_HANDLING] = {"handling", "the answer took long to find"},
    [SLOW_LAPS + LAP_WAITING] =
        {"waiting",
         "the request waited for an API server, for a binding before it, or for its thread"},
    [SLOW_LAPS + LAP_SENDING] = {"sending", "the client read the answer slowly"},
};

void stopwatch_start(struct stopwatch *s, struct clock *clock) {
    *s = (struct stopwatch){.clock = clock, .began_ns = clock_ns(clock)};
    s->lap_ns = s->began_ns;
}

void stopwatch_lap(struct stopwatch *s, enum lap next) {
    const int64_t now_ns = clock_ns(s->clock);
    s->spent_ns[s->now] += now_ns - s->lap_ns;
    s->lap_ns = now_ns;
    s->now = next;
}

int64_t stopwatch_stop(struct stopwatch *s) {
    stopwatch_lap(s, s->now);
    return s->lap_ns - s->began_ns;
}

const char *slow_cause_name(enum slow_cause cause) {
    return causes[cause].name;
}

/* Returns how long the group waited for a processor: the kernel's figure; without it, the throttled
 * time divided by the number of processors, which is the least it can be. */
static int64_t lacked_us(const struct cpu_lack *lack) {
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return lack->waited_us >= 0 ? lack->waited_us : lack->throttled_us / (cpus > 0 ? cpus : 1);
}

static enum slow_cause find_cause(const struct stopwatch *times, const struct cpu_lack *lack) {
    const int64_t half_us = (times->lap_ns - times->began_ns) / 2000, lacked = lacked_us(lack);
    enum lap longest = 0;
    if (lacked > 0 && lacked >= half_us)
        return lack->throttled_us >= lacked / 2 ? SLOW_THROTTLED : SLOW_STARVED;
    for (enum lap lap = 0; lap < LAPS; lap++)
        if (times->spent_ns[lap] > times->spent_ns[longest])
            longest = lap;
    return SLOW_LAPS + longest;
}

/* Can clients cause it, by sending or reading slowly? Then they can cause any number of such lines.
 */
static bool is_made_by_clients(enum slow_cause cause) {
    return cause == SLOW_LAPS + (enum slow_cause)LAP_RECEIVING ||
           cause == SLOW_LAPS + (enum slow_cause)LAP_SENDING;
}

static int64_t ms(int64_t ns) {
    return ns / 1000000;
}

#define LOG_SLOW(r, cause, lack, over_ns)                                                          \
    LOG_W("a request was slow", LOG_CSTR("cause", causes[cause].name),                             \
          LOG_CSTR("why", causes[cause].text), LOG_CSTR("listener", (r)->listener),                \
          LOG_CSTR("verb", (r)->verb), LOG_CSTR("peer", (r)->peer),                                \
          LOG_CSTR("answered", (r)->answered ? "yes" : "no"),                                      \
          LOG_INT("ms", ms((r)->times->lap_ns - (r)->times->began_ns)),                            \
          LOG_INT("bytes", (r)->length == BODY_LENGTH_UNKNOWN ? -1 : (int64_t)(r)->length),        \
          LOG_INT("receiving_ms", ms((r)->times->spent_ns[LAP_RECEIVING])),                        \
          LOG_INT("queued_ms", ms((r)->times->spent_ns[LAP_QUEUED])),                              \
          LOG_INT("handling_ms", ms((r)->times->spent_ns[LAP_HANDLING])),                          \
          LOG_INT("waiting_ms", ms((r)->times->spent_ns[LAP_WAITING])),                            \
          LOG_INT("sending_ms", ms((r)->times->spent_ns[LAP_SENDING])),                            \
          LOG_INT("throttled_ms", (lack).throttled_us < 0 ? -1 : (lack).throttled_us / 1000),      \
          LOG_INT("no_processor_ms", (lack).waited_us < 0 ? -1 : (lack).waited_us / 1000),         \
          LOG_INT("of_ms", ms(over_ns)))

/* The log limits the lines of each place in the code (base/log.h). So requests that clients slow
 * down, and requests whose client did not wait, are logged at other places, and cannot suppress the
 * rest. */
enum slow_cause slow_report(const struct slow_request *r) {
    int64_t over_ns;
    const struct cpu_lack lack = cpu_lack_since(r->times->began_ns, r->times->lap_ns, &over_ns);
    const enum slow_cause cause = find_cause(r->times, &lack);
    if (!r->answered)
        LOG_SLOW(r, cause, lack, over_ns);
    else if (is_made_by_clients(cause))
        LOG_SLOW(r, cause, lack, over_ns);
    else
        LOG_SLOW(r, cause, lack, over_ns);
    return cause;
}
