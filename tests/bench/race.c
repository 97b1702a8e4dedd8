#include "bench/race.h"

#include "base/clock.h"
#include "bench/turn.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { NOT_SIZED = -1 };

static const struct {
    const char *path;
    enum question_kind kind;
    int sized_like; /* the racer whose answers' length it takes */
    bool to_echo;
} racers[RACERS] = {
    [RACER_ECHO] = {"/echo", QUESTION_ECHO, NOT_SIZED, true},
    [RACER_FILTER] = {"/extender/v1/filter", QUESTION_FILTER, NOT_SIZED, false},
    [RACER_LIKE_FILTER] = {"/echo", QUESTION_ECHO, RACER_FILTER, true},
    [RACER_PRIORITIZE] = {"/extender/v1/prioritize", QUESTION_PRIORITIZE, NOT_SIZED, false},
    [RACER_LIKE_PRIORITIZE] = {"/echo", QUESTION_ECHO, RACER_PRIORITIZE, true},
};

/* One connection to each server, and its thread of the present turn. */
struct lane {
    struct race *race;
    struct client *echo, *extender;
    pthread_t thread;
    uint32_t first;    /* its first question; then every connections-th */
    int64_t *times_ns; /* [calls] */
    uint32_t calls;    /* made in this turn */
    int failed;        /* -errno, and err says what */
    struct err err;
};

struct race {
    const struct race_options *options;
    const struct questions *questions;
    struct questions left;   /* what prioritize is asked: about the nodes that filter let pass */
    struct lane *lanes;      /* [options->connections] */
    uint32_t lane_calls;     /* of one lane in one turn */
    int64_t *times_ns;       /* of all lanes */
    size_t *answers[RACERS]; /* [questions->count]: bytes of the answer to each */
    struct turn turns[RACERS][RACE_ROUNDS_MAX];
    uint64_t kept; /* by filter, all questions together */

    int racer;        /* whose turn it is, ... */
    int64_t until_ns; /* ... and how long */
};

static const struct questions *questions_of(const struct race *race, int racer) {
    return racer == RACER_PRIORITIZE || racer == RACER_LIKE_PRIORITIZE ? &race->left
                                                                       : race->questions;
}

/* ---- one call ---- */

static int check(const struct race *race, int racer, uint32_t question, const struct answer *a,
                 uint32_t *ret_kept, struct err *err) {
    int like = racers[racer].sized_like;
    *ret_kept = 0;
    if (a->status != 200)
        return err_set(err, -EPROTO, "status %d: %.*s", a->status, STR_ARG(a->body));
    if (like == NOT_SIZED)
        return question_check(racers[racer].kind, questions_of(race, racer), question, a->body,
                              ret_kept, err);
    if (a->body.n != race->answers[like][question])
        return err_set(err, -EPROTO, "%zu bytes were asked for, %zu came",
                       race->answers[like][question], a->body.n);
    return 0;
}

static int call(const struct lane *lane, int racer, uint32_t question, struct answer *ret,
                uint32_t *ret_kept, struct err *err) {
    const struct race *race = lane->race;
    struct client *client = racers[racer].to_echo ? lane->echo : lane->extender;
    char path[64];
    if (racers[racer].sized_like == NOT_SIZED)
        (void)snprintf(path, sizeof path, "%s", racers[racer].path); /* they all fit */
    else
        (void)snprintf(path, sizeof path, "%s?bytes=%zu", racers[racer].path,
                       race->answers[racers[racer].sized_like][question]);
    int r = client_post(client, path, strbuf_str(&questions_of(race, racer)->bodies[question]), ret,
                        err);
    if (r == 0)
        r = check(race, racer, question, ret, ret_kept, err);
    return r == 0 ? 0 : err_wrap(err, "POST %s", path);
}

/* ---- one turn ---- */

static void *run_lane(void *arg) {
    struct lane *lane = arg;
    const struct race *race = lane->race;
    uint32_t question = lane->first % race->questions->count;
    lane->failed = 0;
    for (lane->calls = 0; lane->calls < race->lane_calls; lane->calls++) {
        struct answer answer;
        uint32_t kept;
        if (lane->calls > 0 && clock_now_ns() >= race->until_ns)
            break;
        lane->failed = call(lane, race->racer, question, &answer, &kept, &lane->err);
        if (lane->failed != 0)
            break;
        lane->times_ns[lane->calls] = answer.total_ns;
        question = (question + race->options->connections) % race->questions->count;
    }
    return NULL;
}

/* What all lanes measured, as one. */
static int merge(struct race *race, int64_t lasted_ns, struct turn *ret, struct err *err) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < race->options->connections; i++) {
        const struct lane *lane = &race->lanes[i];
        if (lane->failed != 0) {
            *err = lane->err;
            return lane->failed;
        }
        memcpy(race->times_ns + count, lane->times_ns, lane->calls * sizeof *lane->times_ns);
        count += lane->calls;
    }
    turn_measure(race->times_ns, count, lasted_ns, ret);
    return 0;
}

static int run_turn(struct race *race, int racer, struct turn *ret, struct err *err) {
    uint32_t started = 0;
    int r = 0;
    int64_t began_ns = clock_now_ns();
    race->racer = racer;
    race->until_ns = began_ns + (int64_t)(race->options->seconds * 1e9);
    while (r == 0 && started < race->options->connections) {
        struct lane *lane = &race->lanes[started];
        r = pthread_create(&lane->thread, NULL, run_lane, lane);
        started += r == 0;
    }
    for (uint32_t i = 0; i < started; i++)
        (void)pthread_join(race->lanes[i].thread, NULL); /* joined once */
    if (r != 0)
        return err_set_errno(err, r, "cannot start a thread");
    return merge(race, clock_now_ns() - began_ns, ret, err);
}

/* ---- the race ---- */

static int racer_count(const struct race *race) {
    return race->options->no_prioritize ? RACER_PRIORITIZE : RACERS;
}

/* Every question once to every racer: fills caches, and learns how long the answers are. */
static int warm_up(struct race *race, struct err *err) {
    for (int racer = 0; racer < racer_count(race); racer++)
        for (uint32_t q = 0; q < race->questions->count; q++) {
            struct answer answer;
            uint32_t kept;
            int r = call(&race->lanes[0], racer, q, &answer, &kept, err);
            if (r == 0 && racer == RACER_FILTER && !race->options->no_prioritize)
                r = question_left(race->questions, q, answer.body, &race->left, err);
            if (r != 0)
                return r;
            race->answers[racer][q] = answer.body.n;
            race->kept += racer == RACER_FILTER ? kept : 0;
        }
    return 0;
}

static int run_rounds(struct race *race, struct err *err) {
    for (uint32_t round = 0; round < race->options->rounds; round++)
        for (int racer = 0; racer < racer_count(race); racer++) {
            int r = run_turn(race, racer, &race->turns[racer][round], err);
            if (r != 0)
                return r;
        }
    return 0;
}

static void sum_up(const struct race *race, struct race_times *times) {
    uint32_t rounds = race->options->rounds;
    for (int racer = 0; racer < racer_count(race); racer++) {
        const struct turn *turns = race->turns[racer];
        struct race_times *t = &times[racer];
        t->p50_us = turn_median(turns, rounds, offsetof(struct turn, p50_us));
        t->p99_us = turn_median(turns, rounds, offsetof(struct turn, p99_us));
        t->calls_per_s = turn_median(turns, rounds, offsetof(struct turn, calls_per_s));
        t->ratio_to_echo = turn_median_ratio(turns, race->turns[RACER_ECHO], rounds);
        if (racer == RACER_FILTER || racer == RACER_PRIORITIZE)
            t->ratio_to_sized_echo = turn_median_ratio(turns, race->turns[racer + 1], rounds);
        for (uint32_t i = 0; i < rounds; i++)
            t->max_us = turns[i].max_us > t->max_us ? turns[i].max_us : t->max_us;
        for (uint32_t q = 0; q < race->questions->count; q++)
            t->answer_bytes += (double)race->answers[racer][q] / race->questions->count;
    }
}

static int open_lane(struct race *race, uint32_t index, struct err *err) {
    struct lane *lane = &race->lanes[index];
    *lane = (struct lane){.race = race, .first = index};
    lane->times_ns = calloc(race->lane_calls, sizeof *lane->times_ns);
    if (lane->times_ns == NULL)
        return err_set(err, -ENOMEM, "no memory for the race");
    int r = client_open(&race->options->echo, &lane->echo, err);
    return r == 0 ? client_open(&race->options->extender, &lane->extender, err) : r;
}

static int open_race(struct race *race, struct err *err) {
    const struct race_options *o = race->options;
    race->lane_calls = (o->calls + o->connections - 1) / o->connections;
    race->lanes = calloc(o->connections, sizeof *race->lanes);
    race->times_ns = calloc((size_t)race->lane_calls * o->connections, sizeof *race->times_ns);
    bool failed = race->lanes == NULL || race->times_ns == NULL;
    for (int racer = 0; racer < RACERS; racer++) {
        race->answers[racer] = calloc(race->questions->count, sizeof *race->answers[racer]);
        failed = failed || race->answers[racer] == NULL;
    }
    int r = failed ? err_set(err, -ENOMEM, "no memory for the race")
                   : questions_left_init(race->questions, &race->left, err);
    for (uint32_t i = 0; r == 0 && i < o->connections; i++)
        r = open_lane(race, i, err);
    return r;
}

static void close_race(struct race *race) {
    for (uint32_t i = 0; race->lanes != NULL && i < race->options->connections; i++) {
        client_close(race->lanes[i].echo);
        client_close(race->lanes[i].extender);
        free(race->lanes[i].times_ns);
    }
    for (int racer = 0; racer < RACERS; racer++)
        free(race->answers[racer]);
    questions_free(&race->left);
    free(race->lanes);
    free(race->times_ns);
    free(race);
}

int race_run(const struct race_options *options, const struct questions *questions,
             struct race_times *times, double *ret_kept, struct err *err) {
    struct race *race = calloc(1, sizeof *race);
    if (race == NULL)
        return err_set(err, -ENOMEM, "no memory for the race");
    race->options = options;
    race->questions = questions;
    int r = open_race(race, err);
    if (r == 0)
        r = warm_up(race, err);
    if (r == 0)
        r = run_rounds(race, err);
    if (r == 0) {
        memset(times, 0, RACERS * sizeof *times);
        sum_up(race, times);
        *ret_kept = (double)race->kept / questions->count;
    }
    close_race(race);
    return r;
}
