#include "bench/lanes.h"

#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* One connection, and its thread of the present turn. */
struct lane {
    const struct lanes *lanes;
    struct client *client;
    pthread_t thread;
    uint32_t first;    /* its first question; then every connections-th */
    int64_t *times_ns; /* [options->calls] */
    uint32_t calls;    /* made in this turn */
    uint64_t answer_bytes;
    int failed; /* -errno, and err says what */
    struct err err;
};

struct lanes {
    const struct lanes_options *options;
    const struct lanes_question *question;
    int64_t until_ns;    /* the end of this turn */
    struct lane lanes[]; /* [options->connections] */
};

/* ---- one turn ---- */

static int call(struct lane *lane, uint32_t index) {
    const struct lanes_question *q = lane->lanes->question;
    struct answer a;
    int r = client_post(lane->client, q->path, strbuf_str(&q->bodies[index]), &a, &lane->err);
    if (r == 0 && a.status != 200)
        r = err_set(&lane->err, -EPROTO, "status %d: %.*s", a.status, STR_ARG(a.body));
    if (r == 0)
        r = q->check(q->context, index, a.body, &lane->err);
    if (r != 0)
        return err_wrap(&lane->err, "POST %s", q->path);
    lane->times_ns[lane->calls++] = a.total_ns;
    lane->answer_bytes += a.body.n;
    return 0;
}

static void *run_lane(void *arg) {
    struct lane *lane = arg;
    const struct lanes *lanes = lane->lanes;
    uint32_t index = lane->first % lanes->question->count;
    lane->calls = 0;
    lane->answer_bytes = 0;
    lane->failed = 0;
    while (lane->failed == 0 && lane->calls < lanes->options->calls &&
           (lane->calls == 0 || clock_now_ns() < lanes->until_ns)) {
        lane->failed = call(lane, index);
        index = (index + lanes->options->connections) % lanes->question->count;
    }
    return NULL;
}

/* What all lanes measured, as one. */
static int merge(const struct lanes *lanes, struct lanes_times *times, struct err *err) {
    for (uint32_t i = 0; i < lanes->options->connections; i++) {
        const struct lane *lane = &lanes->lanes[i];
        if (lane->failed != 0) {
            *err = lane->err;
            return lane->failed;
        }
        assert(lane->calls <= times->max - times->count);
        memcpy(times->ns + times->count, lane->times_ns, lane->calls * sizeof *times->ns);
        times->count += lane->calls;
        times->answer_bytes += lane->answer_bytes;
    }
    return 0;
}

int lanes_turn(struct lanes *lanes, struct lanes_times *times, struct err *err) {
    uint32_t started = 0;
    int r = 0;
    int64_t began_ns = clock_now_ns();
    lanes->until_ns = began_ns + (int64_t)(lanes->options->seconds * 1e9);
    while (r == 0 && started < lanes->options->connections) {
        struct lane *lane = &lanes->lanes[started];
        r = pthread_create(&lane->thread, NULL, run_lane, lane);
        started += r == 0;
    }
    for (uint32_t i = 0; i < started; i++)
        (void)pthread_join(lanes->lanes[i].thread, NULL); /* joined once */
    times->lasted_ns += clock_now_ns() - began_ns;
    if (r != 0)
        return err_set_errno(err, r, "cannot start a thread");
    return merge(lanes, times, err);
}

/* ---- opening and closing ---- */

int lanes_open(const char *address, const struct lanes_options *options,
               const struct lanes_question *question, struct lanes **ret, struct err *err) {
    const struct client_options client = {.address = address, .ca_file = options->ca_file};
    assert(options->connections >= 1 && options->connections <= LANES_MAX && options->calls >= 1);
    struct lanes *lanes = calloc(1, sizeof *lanes + options->connections * sizeof *lanes->lanes);
    if (lanes == NULL)
        return err_set(err, -ENOMEM, "no memory for connections");
    lanes->options = options;
    lanes->question = question;
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < options->connections; i++) {
        struct lane *lane = &lanes->lanes[i];
        lane->lanes = lanes;
        lane->first = i;
        lane->times_ns = calloc(options->calls, sizeof *lane->times_ns);
        r = lane->times_ns == NULL ? err_set(err, -ENOMEM, "no memory for times")
                                   : client_open(&client, &lane->client, err);
    }
    if (r != 0)
        lanes_close(lanes);
    else
        *ret = lanes;
    return r;
}

void lanes_close(struct lanes *lanes) {
    for (uint32_t i = 0; lanes != NULL && i < lanes->options->connections; i++) {
        client_close(lanes->lanes[i].client);
        free(lanes->lanes[i].times_ns);
    }
    free(lanes);
}

/* ---- times ---- */

int lanes_times_init(struct lanes_times *ret, const struct lanes_options *options, uint32_t turns,
                     struct err *err) {
    uint32_t max = options->connections * options->calls * turns;
    int64_t *ns = calloc(max, sizeof *ns);
    if (ns == NULL)
        return err_set(err, -ENOMEM, "no memory for times");
    *ret = (struct lanes_times){.ns = ns, .max = max};
    return 0;
}

void lanes_times_clear(struct lanes_times *times) {
    times->count = 0;
    times->lasted_ns = 0;
    times->answer_bytes = 0;
}
