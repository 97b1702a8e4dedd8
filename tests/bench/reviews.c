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
#include "bench/lanes.h"
#include "bench/number.h"
#include "bench/turn.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS_MAX = 99, CALLS_MAX = 1000000, RACERS = 3, REVIEW_BYTES = 64 << 20 };
enum { TURN_SECONDS = 600 }; /* long enough for all calls */

struct racer {
    const char *name;
    const char *expected; /* to be found in every answer */
    struct lanes_question question;
    const char *address; /* NULL: does not take part */
    struct lanes *lanes;
    struct turn turns[ROUNDS_MAX];
    uint64_t answer_bytes; /* of one answer */
};

struct setup {
    struct lanes_options options; /* of all racers */
    int64_t kib, rounds;
    struct strbuf body; /* the review */
    struct racer racers[RACERS];
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

/* ---- the race ---- */

static int check(const void *context, uint32_t index, struct str answer, struct err *err) {
    const struct racer *racer = context;
    (void)index; /* there is one review */
    if (memmem(answer.p, answer.n, racer->expected, strlen(racer->expected)) == NULL)
        return err_set(err, -EPROTO, "no %s in %.*s", racer->expected, STR_ARG(answer));
    return 0;
}

static int open_racers(struct setup *s, struct lanes_times *times, struct err *err) {
    int r = lanes_times_init(times, &s->options, 1, err);
    for (int i = 0; r == 0 && i < RACERS; i++) {
        struct racer *racer = &s->racers[i];
        racer->question.bodies = &s->body;
        racer->question.count = 1;
        racer->question.check = check;
        racer->question.context = racer;
        if (racer->address != NULL)
            r = lanes_open(racer->address, &s->options, &racer->question, &racer->lanes, err);
    }
    return r;
}

static int run_turn(struct racer *racer, struct turn *ret, struct lanes_times *times,
                    struct err *err) {
    lanes_times_clear(times);
    if (lanes_turn(racer->lanes, times, err) != 0)
        return err_wrap(err, "%s", racer->name);
    turn_measure(times->ns, times->count, times->lasted_ns, ret);
    racer->answer_bytes = times->answer_bytes / times->count;
    return 0;
}

/* The first round only warms up. */
static int run_rounds(struct setup *s, struct lanes_times *times, struct err *err) {
    int r = 0;
    for (int64_t round = -1; round < s->rounds; round++)
        for (int i = 0; r == 0 && i < RACERS; i++) {
            struct racer *racer = &s->racers[i];
            if (racer->address != NULL)
                r = run_turn(racer, &racer->turns[round < 0 ? 0 : round], times, err);
        }
    return r;
}

static void print_all(const struct setup *s) {
    uint32_t rounds = (uint32_t)s->rounds;
    for (int i = 0; i < RACERS; i++) {
        const struct turn *turns = s->racers[i].turns;
        double slowest = 0;
        for (uint32_t k = 0; k < rounds; k++)
            slowest = turns[k].max_us > slowest ? turns[k].max_us : slowest;
        if (s->racers[i].address == NULL)
            continue;
        (void)printf("{\"case\":\"%s\",\"review_kib\":%lld,\"connections\":%u,\"p50_us\":%.1f,"
                     "\"p99_us\":%.1f,\"max_us\":%.1f,\"requests_per_s\":%.0f,"
                     "\"ratio_to_echo\":%.3f,\"request_bytes\":%zu,\"answer_bytes\":%llu}\n",
                     s->racers[i].name, (long long)s->kib, s->options.connections,
                     turn_median(turns, rounds, offsetof(struct turn, p50_us)),
                     turn_median(turns, rounds, offsetof(struct turn, p99_us)), slowest,
                     turn_median(turns, rounds, offsetof(struct turn, calls_per_s)),
                     turn_median_ratio(turns, s->racers[0].turns, rounds), s->body.n,
                     (unsigned long long)s->racers[i].answer_bytes);
    }
}

static int run(struct setup *s, struct err *err) {
    struct lanes_times times = {0};
    int r = make_review((size_t)s->kib * 1024, &s->body, err);
    if (r == 0)
        r = open_racers(s, &times, err);
    if (r == 0)
        r = run_rounds(s, &times, err);
    if (r == 0)
        print_all(s);
    for (int i = 0; i < RACERS; i++)
        lanes_close(s->racers[i].lanes);
    free(times.ns);
    strbuf_done(&s->body);
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
        s->options.ca_file = value;
        return true;
    case 'k':
        return number_in(value, 1, 10000, &s->kib);
    case 'c':
        return number_u32(value, LANES_MAX, &s->options.connections);
    case 'r':
        return number_in(value, 1, ROUNDS_MAX, &s->rounds);
    case 'm':
        return number_u32(value, CALLS_MAX, &s->options.calls);
    default:
        return false;
    }
}

static bool parse(struct setup *s, int argc, char **argv) {
    int option;
    *s = (struct setup){.kib = 1, .rounds = 5, .body = {.max = REVIEW_BYTES}};
    s->options = (struct lanes_options){.connections = 4, .calls = 1000, .seconds = TURN_SECONDS};
    s->racers[0] = (struct racer){.name = "echo", .expected = "AdmissionReview"};
    s->racers[1] = (struct racer){.name = "webhook", .expected = "\"patchType\":\"JSONPatch\""};
    s->racers[2] = (struct racer){.name = "peer", .expected = "\"allowed\":true"};
    for (int i = 0; i < RACERS; i++)
        s->racers[i].question.path = i == 0 ? "/echo" : "/webhooks/v1/pods";
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        if (!set_option(s, option, optarg))
            return false;
    return optind == argc && s->options.ca_file != NULL && s->racers[0].address != NULL &&
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
