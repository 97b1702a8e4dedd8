/*
 * Races the webhook against an echo server, and if there is one against a peer, with reviews of
 * pods of a given size over TLS, and prints one JSON object for each:
 *
 *     reviews --webhook 127.0.0.1:9443 --echo 127.0.0.1:8444 --ca ca.crt --kib 8
 *
 * The review is what an API server sends for a pod of a Deployment in the namespace `shop`, with
 * the labels app and tier. On every connection the next call follows the answer, as in race.h: turn
 * by turn, medians over the rounds, every answer checked.
 */
#include "base/clock.h"
#include "bench/client.h"
#include "bench/turn.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS_MAX = 99, CONNECTIONS_MAX = 64, CALLS_MAX = 1000000, RACERS = 3 };

struct racer {
    const char *name, *path;
    const char *expected; /* to be found in every answer */
    const char *address;  /* NULL: does not take part */
    struct turn turns[ROUNDS_MAX];
    size_t answer_bytes;
};

struct setup {
    const char *ca;
    int64_t kib, connections, rounds, calls; /* calls: of one connection in one turn */
    struct racer racers[RACERS];
};

/* One connection to one racer, and its thread of the present turn. */
struct lane {
    const struct setup *setup;
    const struct racer *racer;
    struct client *client;
    struct str body;
    pthread_t thread;
    int64_t *times_ns; /* [setup->calls] */
    size_t answer_bytes;
    int failed; /* -errno, and err says what */
    struct err err;
};

/* ---- the question ---- */

/* Environment variables until the review is long enough. */
static void append_environment(struct strbuf *body, size_t bytes) {
    for (unsigned i = 0; body->n + 64 < bytes; i++)
        strbuf_appendf(body, "%s{\"name\":\"SETTING_%05u\",\"value\":\"value-of-setting-%05u\"}",
                       i > 0 ? "," : "", i, i);
}

static int make_review(size_t bytes, struct strbuf *body, struct err *err) {
    static const char tail[] =
        "]}],\"restartPolicy\":\"Always\",\"schedulerName\":\"default-scheduler\"},"
        "\"status\":{}},\"oldObject\":null,\"dryRun\":false}}";
    strbuf_appendf(
        body,
        "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{"
        "\"uid\":\"705ab4f5-6393-11e8-b7cc-42010a800002\","
        "\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\"},"
        "\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"},"
        "\"namespace\":\"shop\",\"operation\":\"CREATE\",\"userInfo\":{\"username\":\"admin\"},"
        "\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{"
        "\"generateName\":\"web-7d4b9-\",\"namespace\":\"shop\",\"labels\":{\"app\":\"web\","
        "\"tier\":\"web\",\"pod-template-hash\":\"7d4b9\"}},\"spec\":{\"containers\":[{"
        "\"name\":\"web\",\"image\":\"example.com/web:1\",\"env\":[");
    append_environment(body, bytes > sizeof tail ? bytes - sizeof tail : 0);
    strbuf_append_str(body, str_of(tail));
    return strbuf_failed(body) ? err_set(err, -ENOMEM, "no memory for a review") : 0;
}

/* ---- one turn ---- */

static int call(struct lane *lane, uint32_t i) {
    struct answer answer;
    int r = client_post(lane->client, lane->racer->path, lane->body, &answer, &lane->err);
    if (r == 0 &&
        (answer.status != 200 || memmem(answer.body.p, answer.body.n, lane->racer->expected,
                                        strlen(lane->racer->expected)) == NULL))
        r = err_set(&lane->err, -EPROTO, "status %d: %.*s", answer.status, STR_ARG(answer.body));
    if (r == 0) {
        lane->times_ns[i] = answer.total_ns;
        lane->answer_bytes = answer.body.n;
    }
    return r;
}

static void *run_lane(void *arg) {
    struct lane *lane = arg;
    lane->failed = 0;
    for (uint32_t i = 0; lane->failed == 0 && i < lane->setup->calls; i++)
        lane->failed = call(lane, i);
    return NULL;
}

/* What all lanes measured, as one. */
static int run_turn(struct lane *lanes, uint32_t count, int64_t *times_ns, struct turn *ret,
                    struct err *err) {
    uint32_t started = 0, calls = (uint32_t)lanes[0].setup->calls;
    int r = 0;
    int64_t began_ns = clock_now_ns();
    while (r == 0 && started < count) {
        r = pthread_create(&lanes[started].thread, NULL, run_lane, &lanes[started]);
        started += r == 0;
    }
    for (uint32_t i = 0; i < started; i++)
        (void)pthread_join(lanes[i].thread, NULL); /* joined once */
    int64_t lasted_ns = clock_now_ns() - began_ns;
    if (r != 0)
        return err_set_errno(err, r, "cannot start a thread");
    for (uint32_t i = 0; i < count; i++) {
        if (lanes[i].failed != 0) {
            *err = lanes[i].err;
            return err_wrap(err, "%s", lanes[i].racer->name);
        }
        memcpy(times_ns + (size_t)i * calls, lanes[i].times_ns, calls * sizeof *times_ns);
    }
    turn_measure(times_ns, count * calls, lasted_ns, ret);
    return 0;
}

/* ---- the race ---- */

struct race {
    struct setup *setup;
    struct lane lanes[RACERS][CONNECTIONS_MAX];
    int64_t *times_ns; /* of all connections of one racer */
};

static int open_lanes(struct race *race, struct str body, struct err *err) {
    struct setup *s = race->setup;
    int r = 0;
    for (int i = 0; i < RACERS; i++)
        for (int64_t k = 0; r == 0 && s->racers[i].address != NULL && k < s->connections; k++) {
            struct lane *lane = &race->lanes[i][k];
            const struct client_options options = {.address = s->racers[i].address,
                                                   .ca_file = s->ca};
            *lane = (struct lane){.setup = s, .racer = &s->racers[i], .body = body};
            lane->times_ns = calloc((size_t)s->calls, sizeof *lane->times_ns);
            if (lane->times_ns == NULL)
                return err_set(err, -ENOMEM, "no memory for the race");
            r = client_open(&options, &lane->client, err);
        }
    race->times_ns = calloc((size_t)(s->calls * s->connections), sizeof *race->times_ns);
    return r == 0 && race->times_ns == NULL ? err_set(err, -ENOMEM, "no memory for the race") : r;
}

/* The first round only warms up. */
static int run_rounds(struct race *race, struct err *err) {
    struct setup *s = race->setup;
    for (int64_t round = -1; round < s->rounds; round++)
        for (int i = 0; i < RACERS; i++) {
            struct racer *racer = &s->racers[i];
            int r = 0;
            if (racer->address != NULL)
                r = run_turn(race->lanes[i], (uint32_t)s->connections, race->times_ns,
                             &racer->turns[round < 0 ? 0 : round], err);
            if (r != 0)
                return r;
            racer->answer_bytes = race->lanes[i][0].answer_bytes;
        }
    return 0;
}

static void close_lanes(struct race *race) {
    for (int i = 0; i < RACERS; i++)
        for (int k = 0; k < CONNECTIONS_MAX; k++) {
            client_close(race->lanes[i][k].client);
            free(race->lanes[i][k].times_ns);
        }
    free(race->times_ns);
    free(race);
}

static void print_all(const struct setup *s, size_t review_bytes) {
    uint32_t rounds = (uint32_t)s->rounds;
    for (int i = 0; i < RACERS; i++) {
        const struct turn *turns = s->racers[i].turns;
        double slowest = 0;
        for (uint32_t k = 0; k < rounds; k++)
            slowest = turns[k].max_us > slowest ? turns[k].max_us : slowest;
        if (s->racers[i].address == NULL)
            continue;
        (void)printf("{\"case\":\"%s\",\"review_kib\":%lld,\"connections\":%lld,\"p50_us\":%.1f,"
                     "\"p99_us\":%.1f,\"max_us\":%.1f,\"requests_per_s\":%.0f,"
                     "\"ratio_to_echo\":%.3f,\"request_bytes\":%zu,\"answer_bytes\":%zu}\n",
                     s->racers[i].name, (long long)s->kib, (long long)s->connections,
                     turn_median(turns, rounds, offsetof(struct turn, p50_us)),
                     turn_median(turns, rounds, offsetof(struct turn, p99_us)), slowest,
                     turn_median(turns, rounds, offsetof(struct turn, calls_per_s)),
                     turn_median_ratio(turns, s->racers[0].turns, rounds), review_bytes,
                     s->racers[i].answer_bytes);
    }
}

static int run(struct setup *s, struct err *err) {
    struct strbuf body = {.max = 64 << 20};
    struct race *race = calloc(1, sizeof *race);
    if (race == NULL)
        return err_set(err, -ENOMEM, "no memory for the race");
    race->setup = s;
    int r = make_review((size_t)s->kib * 1024, &body, err);
    if (r == 0)
        r = open_lanes(race, strbuf_str(&body), err);
    if (r == 0)
        r = run_rounds(race, err);
    if (r == 0)
        print_all(s, body.n);
    close_lanes(race);
    strbuf_done(&body);
    return r;
}

/* ---- options ---- */

static const struct option long_options[] = {
    {"webhook", required_argument, NULL, 'w'},
    {"echo", required_argument, NULL, 'e'},
    {"peer", required_argument, NULL, 'p'},
    {"ca", required_argument, NULL, 'a'},
    {"kib", required_argument, NULL, 'k'},
    {"connections", required_argument, NULL, 'c'},
    {"rounds", required_argument, NULL, 'r'},
    {"calls", required_argument, NULL, 'm'},
    {NULL, 0, NULL, 0},
};

static bool read_number(const char *text, int64_t max, int64_t *ret) {
    return str_to_i64(str_of(text), ret) && *ret >= 1 && *ret <= max;
}

static bool set_option(struct setup *s, int option, const char *value) {
    switch (option) {
    case 'e':
        s->racers[0].address = value;
        return true;
    case 'w':
        s->racers[1].address = value;
        return true;
    case 'p':
        s->racers[2].address = value;
        return true;
    case 'a':
        s->ca = value;
        return true;
    case 'k':
        return read_number(value, 10000, &s->kib);
    case 'c':
        return read_number(value, CONNECTIONS_MAX, &s->connections);
    case 'r':
        return read_number(value, ROUNDS_MAX, &s->rounds);
    case 'm':
        return read_number(value, CALLS_MAX, &s->calls);
    default:
        return false;
    }
}

static bool parse(struct setup *s, int argc, char **argv) {
    int option;
    *s = (struct setup){.kib = 1, .connections = 4, .rounds = 5, .calls = 1000};
    s->racers[0] = (struct racer){.name = "echo", .path = "/echo", .expected = "AdmissionReview"};
    s->racers[1] = (struct racer){
        .name = "webhook", .path = "/webhooks/v1/pods", .expected = "\"patchType\":\"JSONPatch\""};
    s->racers[2] =
        (struct racer){.name = "peer", .path = "/webhooks/v1/pods", .expected = "\"allowed\":true"};
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        if (!set_option(s, option, optarg))
            return false;
    return optind == argc && s->ca != NULL && s->racers[0].address != NULL &&
           s->racers[1].address != NULL;
}

int main(int argc, char **argv) {
    static struct setup s; /* too large for the stack */
    struct err err = {0};
    if (!parse(&s, argc, argv)) {
        (void)fprintf(stderr, "usage: reviews --webhook HOST:PORT --echo HOST:PORT --ca FILE\n"
                              "               [--peer HOST:PORT] [--kib 1] [--connections 4]\n"
                              "               [--rounds 5] [--calls 1000]\n");
        return 2;
    }
    int r = run(&s, &err);
    if (r != 0)
        (void)fprintf(stderr, "reviews: %s\n", err.text);
    return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
