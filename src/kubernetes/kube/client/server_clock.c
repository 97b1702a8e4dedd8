#include "kube/client/server_clock.h"

#include "base/log.h"
#include "base/time.h"

#include <curl/curl.h>
#include <stdatomic.h>
#include <stdio.h>

#define NOT_HEARD INT64_MIN

/* A second, smaller limit, so that a difference of about a minute is not logged again and again. */
enum { TOGETHER_S = 30 };

/* Returns the value of the metric; 0 before the first answer. With this metric an alert need not
 * compare two series. */
static double read_ahead(void *ctx) {
    return (double)(kube_wall_us() - server_clock_us(ctx)) / 1e6;
}

void server_clock_init(struct server_clock *s, struct clock *clock, const char *role,
                       bool unmeasured) {
    *s = (struct server_clock){.clock = clock, .role = role, .epoch_ms = NOT_HEARD};
    if (role != NULL)
        (void)snprintf(s->labels, sizeof s->labels, "server=\"%s\"", role); /* ours: it fits */
    s->ahead = (struct metric){.name = "evenkeel_clock_ahead_seconds",
                               .help = "This machine's clock minus the API server's.",
                               .labels = s->labels,
                               .kind = METRIC_GAUGE,
                               .read = read_ahead,
                               .ctx = s};
    if (!unmeasured)
        metric_register(&s->ahead);
}

void server_clock_done(struct server_clock *s) {
    metric_unregister(&s->ahead);
}

void server_clock_compare(struct server_clock *s) {
    int64_t ahead_s = (kube_wall_us() - server_clock_us(s)) / 1000000;
    int64_t most_s = s->said ? TOGETHER_S : SERVER_CLOCK_APART_S;
    bool disagree = ahead_s > most_s || ahead_s < -most_s;
    if (disagree && !s->said)
        LOG_W("this machine's clock differs from the API server's: Evenkeel judges certificates by "
              "this machine's clock, and may refuse valid ones; set the clock right",
              LOG_INT("ahead_s", ahead_s), LOG_CSTR_IF("role", s->role));
    else if (!disagree && s->said)
        LOG_I("this machine's clock agrees with the API server's again",
              LOG_INT("ahead_s", ahead_s), LOG_CSTR_IF("role", s->role));
    s->said = disagree;
}

void server_clock_heard(struct server_clock *s, struct str date) {
    char text[64];
    date = str_trim(date);
    if (date.n >= sizeof text)
        return;
    (void)snprintf(text, sizeof text, "%.*s", STR_ARG(date)); /* fits */
    int64_t server_s = curl_getdate(text, NULL);              /* -1: it is no date */
    if (server_s <= 0)
        return;
    atomic_store(&s->epoch_ms, server_s * 1000 - s->clock->now_ms(s->clock));
}

int64_t server_clock_us(const struct server_clock *s) {
    int64_t epoch_ms = atomic_load(&s->epoch_ms);
    return epoch_ms == NOT_HEARD ? kube_wall_us() : (epoch_ms + s->clock->now_ms(s->clock)) * 1000;
}
