/*
 * Races two servers that should do the same, `this` and `that`, and prints one JSON object per
 * round:
 *
 *     versus --this 127.0.0.1:8443 --that 127.0.0.1:9443 --ca ca.crt --ask filter --nodes 5000
 *     versus --this 127.0.0.1:8444 --that 127.0.0.1:9444 --ca ca.crt --ask reviews.jsonl
 *     versus --this 127.0.0.1:8445 --that 127.0.0.1:9445 --what-ifs pods.jsonl
 *
 * What is asked: filter or full-nodes (filter with whole Nodes) of all nodes of the cluster of
 * make_state; prioritize of those that the filter of `this` lets pass; or a file with a review of a
 * pod in each line, which are all to be answered with a patch; or a file with the body of a what-if
 * in each line, without TLS.
 *
 * In a round each server has two turns: this, that, that, this. So what drifts meets both alike,
 * and each follows itself as often as the other. A round's figures are those of both turns
 * together. Exits with 3 when `that` answered wrongly, and with 1 after any other failure.
 */
#include "base/file.h"
#include "bench/lanes.h"
#include "bench/number.h"
#include "bench/question.h"
#include "bench/turn.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

enum { THIS, THAT, SIDES };
enum { TURNS = 2, ROUNDS_MAX = 99, CALLS_MAX = 1000000, REVIEWS_BYTES = 64 << 20 };
enum { EXIT_THAT = 3 };

static const char *const side_names[SIDES] = {"this", "that"};

struct setup {
    struct lanes_options options; /* of both */
    const char *address[SIDES];
    const char *ask;
    bool what_ifs; /* `ask` is a file of them */
    int64_t nodes, rounds;
};

struct versus {
    const struct setup *setup;
    struct questions questions;
    struct lanes_question question;
    struct lanes *lanes[SIDES];
    struct lanes_times times[SIDES];
    int failed; /* the side whose turn failed */
};

/* ---- what is asked ---- */

static int check_filter(const void *context, uint32_t index, struct str answer, struct err *err) {
    uint32_t kept;
    return question_check(QUESTION_FILTER, context, index, answer, &kept, err);
}

static int check_prioritize(const void *context, uint32_t index, struct str answer,
                            struct err *err) {
    uint32_t kept;
    return question_check(QUESTION_PRIORITIZE, context, index, answer, &kept, err);
}

static int check_review(const void *context, uint32_t index, struct str answer, struct err *err) {
    struct str patch = STR("\"patchType\":\"JSONPatch\"");
    (void)context, (void)index; /* every review is to be answered alike */
    if (memmem(answer.p, answer.n, patch.p, patch.n) == NULL)
        return err_set(err, -EPROTO, "no patch: %.*s", STR_ARG(answer));
    return 0;
}

/* The client refuses every status but 200; the answer may be compressed. */
static int check_what_if(const void *context, uint32_t index, struct str answer, struct err *err) {
    (void)context, (void)index;
    return answer.n > 0 ? 0 : err_set(err, -EPROTO, "an empty answer");
}

static const struct {
    const char *name, *path;
    int (*check)(const void *, uint32_t, struct str, struct err *);
    bool full;
} asks[] = {
    {"filter", "/extender/v1/filter", check_filter, false},
    {"prioritize", "/extender/v1/prioritize", check_prioritize, false},
    {"full-nodes", "/extender/v1/filter", check_filter, true},
};

/* A body for every line. */
static int read_reviews(const char *path, struct questions *ret, struct err *err) {
    struct strbuf text = {.max = REVIEWS_BYTES};
    int r = file_read(path, REVIEWS_BYTES, &text, err);
    struct str rest = strbuf_str(&text);
    while (r == 0 && rest.n > 0) {
        size_t found = str_find(rest, '\n'), n = found < rest.n ? found : rest.n;
        struct strbuf *bodies = reallocarray(ret->bodies, ret->count + 1, sizeof *bodies);
        if (bodies != NULL) {
            ret->bodies = bodies;
            bodies[ret->count] = (struct strbuf){.max = REVIEWS_BYTES};
            strbuf_append(&bodies[ret->count++], rest.p, n);
        }
        if (bodies == NULL || strbuf_failed(&bodies[ret->count - 1]))
            r = err_set(err, -ENOMEM, "no memory for the reviews");
        n += n < rest.n;
        rest = (struct str){rest.p + n, rest.n - n};
    }
    strbuf_done(&text);
    return r == 0 && ret->count == 0 ? err_set(err, -EINVAL, "'%s' has no reviews", path) : r;
}

/* Of each question only the nodes that the filter of `this` lets pass. */
static int ask_about_survivors(struct versus *v, struct err *err) {
    const struct client_options options = {.address = v->setup->address[THIS],
                                           .ca_file = v->setup->options.ca_file};
    struct questions left;
    struct client *client = NULL;
    int r = questions_left_init(&v->questions, &left, err);
    if (r != 0)
        return r;
    r = client_open(&options, &client, err);
    for (uint32_t i = 0; r == 0 && i < left.count; i++) {
        struct answer answer;
        r = client_post(client, "/extender/v1/filter", strbuf_str(&v->questions.bodies[i]), &answer,
                        err);
        if (r == 0)
            r = question_left(&v->questions, i, answer.body, &left, err);
    }
    client_close(client);
    questions_free(&v->questions);
    v->questions = left;
    return r;
}

static int make_question(struct versus *v, struct err *err) {
    const struct setup *s = v->setup;
    uint32_t nodes = (uint32_t)s->nodes;
    int r = 0;
    v->question = (struct lanes_question){
        .path = "/webhooks/v1/pods", .check = check_review, .context = &v->questions};
    if (s->what_ifs) {
        v->question.path = "/explain";
        v->question.check = check_what_if;
        r = read_reviews(s->ask, &v->questions, err);
    }
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
        if (!s->what_ifs && strcmp(asks[i].name, s->ask) == 0) {
            v->question.path = asks[i].path;
            v->question.check = asks[i].check;
            r = questions_make(nodes, nodes, asks[i].full, &v->questions, err);
            if (r == 0 && asks[i].check == check_prioritize)
                r = ask_about_survivors(v, err);
        }
    if (v->question.check == check_review)
        r = read_reviews(s->ask, &v->questions, err);
    v->question.bodies = v->questions.bodies;
    v->question.count = v->questions.count;
    return r;
}

/* ---- the race ---- */

static int run_turn(struct versus *v, int side, struct err *err) {
    int r = lanes_turn(v->lanes[side], &v->times[side], err);
    if (r == 0)
        return 0;
    v->failed = side;
    return err_wrap(err, "%s", side_names[side]);
}

/* The turns of a round, without figures of what was before. */
static int run_round(struct versus *v, struct err *err) {
    static const int order[] = {THIS, THAT, THAT, THIS};
    int r = 0;
    for (int side = 0; side < SIDES; side++)
        lanes_times_clear(&v->times[side]);
    for (size_t i = 0; r == 0 && i < sizeof order / sizeof *order; i++)
        r = run_turn(v, order[i], err);
    return r;
}

static void print_side(const struct lanes_times *times, const struct turn *turn, int side) {
    (void)printf(",\"%s\":{\"p50\":%.1f,\"p99\":%.1f,\"calls\":%u,\"calls_per_s\":%.1f,"
                 "\"answer_bytes\":%.0f}",
                 side_names[side], turn->p50_us, turn->p99_us, times->count, turn->calls_per_s,
                 (double)times->answer_bytes / times->count);
}

static void print_round(struct versus *v) {
    struct turn turns[SIDES];
    (void)printf("{\"unit\":\"us\"");
    for (int side = 0; side < SIDES; side++) {
        struct lanes_times *times = &v->times[side];
        turn_measure(times->ns, times->count, times->lasted_ns, &turns[side]);
        print_side(times, &turns[side], side);
    }
    (void)printf(",\"ratio\":%.4f}\n", turns[THIS].p50_us / turns[THAT].p50_us);
}

static int open_sides(struct versus *v, struct err *err) {
    const struct setup *s = v->setup;
    int r = 0;
    for (int side = 0; r == 0 && side < SIDES; side++) {
        r = lanes_times_init(&v->times[side], &s->options, TURNS, err);
        if (r == 0)
            r = lanes_open(s->address[side], &s->options, &v->question, &v->lanes[side], err);
    }
    return r;
}

/* The first round only warms up. */
static int run(struct versus *v, struct err *err) {
    int r = make_question(v, err);
    if (r == 0)
        r = open_sides(v, err);
    if (r == 0)
        r = run_round(v, err);
    for (int64_t round = 0; r == 0 && round < v->setup->rounds; round++) {
        r = run_round(v, err);
        if (r == 0)
            print_round(v);
    }
    for (int side = 0; side < SIDES; side++) {
        lanes_close(v->lanes[side]);
        free(v->times[side].ns);
    }
    questions_free(&v->questions);
    return r;
}

/* ---- options ---- */

static const struct option long_options[] = {
    {"this", required_argument, NULL, 'i'},        {"that", required_argument, NULL, 'a'},
    {"ca", required_argument, NULL, 'C'},          {"ask", required_argument, NULL, 'q'},
    {"what-ifs", required_argument, NULL, 'w'},    {"nodes", required_argument, NULL, 'N'},
    {"connections", required_argument, NULL, 'c'}, {"rounds", required_argument, NULL, 'r'},
    {"calls", required_argument, NULL, 'm'},       {NULL, 0, NULL, 0},
};

static bool set_option(struct setup *s, int option, const char *value) {
    switch (option) {
    case 'i':
        s->address[THIS] = value;
        return true;
    case 'a':
        s->address[THAT] = value;
        return true;
    case 'C':
        s->options.ca_file = value;
        return true;
    case 'q':
    case 'w':
        s->ask = value;
        s->what_ifs = option == 'w';
        return true;
    case 'N':
        return number_in(value, 1, 100000, &s->nodes);
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
    *s = (struct setup){.nodes = 5000, .rounds = 5};
    s->options = (struct lanes_options){.connections = 1, .calls = 100, .seconds = 5};
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        if (!set_option(s, option, optarg))
            return false;
    return optind == argc && s->ask != NULL && s->what_ifs == (s->options.ca_file == NULL) &&
           s->address[THIS] != NULL && s->address[THAT] != NULL;
}

int main(int argc, char **argv) {
    struct setup s;
    struct versus v = {.setup = &s};
    struct err err = {0};
    if (!parse(&s, argc, argv)) {
        (void)fprintf(stderr, "usage: versus --this HOST:PORT --that HOST:PORT\n"
                              "              --ca FILE --ask filter|prioritize|full-nodes|FILE,\n"
                              "              or --what-ifs FILE\n"
                              "              [--nodes 5000] [--connections 1] [--rounds 5]\n"
                              "              [--calls 100]\n");
        return 2;
    }
    if (run(&v, &err) == 0)
        return EXIT_SUCCESS;
    (void)fprintf(stderr, "versus: %s\n", err.text);
    return v.failed == THAT ? EXIT_THAT : EXIT_FAILURE;
}
