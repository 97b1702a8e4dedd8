/*
 * Where the time of a handler goes: its stages run by themselves, without a connection, measured in
 * CPU time of the thread. Prints one JSON object per stage.
 *
 *     stages STATE.json NODES NAMES [CALLS]
 *
 * Each stage is measured warm, call after call, and cold: before each call the thread touches more
 * memory than the caches next to the core hold, as other programs do between two calls of a
 * scheduler. Few CALLS (400 unless said) do for a profiler that counts instructions.
 */
#include "bench/question.h"
#include "bench/turn.h"
#include "cache/file_target.h"
#include "config/configuration.h"
#include "explain/recording.h"
#include "explain/scheduling.h"
#include "explain/scores.h"
#include "extender/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS_MAX = 400, COLD_BYTES = 16 << 20, CACHE_LINE = 64 };
enum stage { DECODE, ENGINE, ENCODE, RECORD, STAGES };

static const char *const stage_names[] = {"decode", "engine", "encode", "record"};

struct bench {
    struct configuration configuration;
    struct cache *cache;
    struct ring *ring;
    struct questions questions, left; /* of filter; of prioritize: what filter let pass */
    char *other_memory;               /* [COLD_BYTES] */
    uint32_t calls;
};

static int64_t cpu_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* cannot fail on Linux */
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void chill(struct bench *b) {
    for (size_t i = 0; i < COLD_BYTES; i += CACHE_LINE)
        b->other_memory[i]++;
}

static void record(struct bench *b, const struct extender_args *args,
                   const struct filter_result *filtered, const struct score_result *scored) {
    struct recording rec;
    const struct moment began = moment_now();
    const struct decision_about about = {
        .verb = filtered != NULL ? "filter" : "prioritize",
        .subject = subject_pod(args->pod.meta.namespace, args->pod.meta.name),
        .uid = args->pod.meta.uid,
        .at_us = began.at_us,
        .took_us = moment_took_us(&began),
        .result = "answered"};
    if (!recording_begin(&rec, b->ring, &about))
        return;
    if (filtered != NULL)
        decision_put_filter(&rec.decision, &args->candidates, filtered);
    else
        decision_put_scores(&rec.decision, &args->pod, &args->candidates, scored);
    recording_end(&rec);
}

/* One call, as handlers/extender_filter.c and extender_prioritize.c make it. */
static int call(struct bench *b, bool filter, uint32_t number, int64_t ns[STAGES],
                struct err *err) {
    CLEANUP(arena_done) struct arena arena;
    struct http_response response = {.text.max = LIMIT_REQUEST_ARENA};
    struct extender_args args;
    struct filter_result filtered;
    struct score_result scored;
    arena_init(&arena, LIMIT_REQUEST_ARENA);
    const struct questions *questions = filter ? &b->questions : &b->left;
    uint32_t index = number % questions->count;
    struct str body = strbuf_str(&questions->bodies[index]);
    int64_t t0 = cpu_ns();
    int r = extender_args_decode(body, &arena, &args, err);
    int64_t t1 = cpu_ns();
    if (r == 0 && filter)
        r = engine_filter(&b->configuration.engine, b->cache, &args.pod, &args.candidates, &arena,
                          &filtered, err);
    else if (r == 0)
        r = engine_score(&b->configuration.engine, b->cache, &args.pod, &args.candidates, &arena,
                         &scored, err);
    int64_t t2 = cpu_ns();
    if (r == 0 && filter)
        extender_filter_encode(&args, &filtered, &arena, &response);
    else if (r == 0)
        extender_prioritize_encode(&args, &scored, &response);
    int64_t t3 = cpu_ns();
    if (r == 0)
        record(b, &args, filter ? &filtered : NULL, &scored);
    int64_t t4 = cpu_ns();
    if (r == 0 && filter && b->left.left[index] == 0)
        r = question_left(questions, index, strbuf_str(&response.text), &b->left, err);
    strbuf_done(&response.text);
    ns[DECODE] = t1 - t0;
    ns[ENGINE] = t2 - t1;
    ns[ENCODE] = t3 - t2;
    ns[RECORD] = t4 - t3;
    return r;
}

/* The median of every stage, in microseconds. */
static int measure(struct bench *b, bool filter, bool cold, double us[STAGES], struct err *err) {
    static int64_t times_ns[STAGES][CALLS_MAX];
    for (uint32_t i = 0; i < b->calls; i++) {
        int64_t ns[STAGES];
        if (cold)
            chill(b);
        int r = call(b, filter, i, ns, err);
        if (r != 0)
            return r;
        for (int s = 0; s < STAGES; s++)
            times_ns[s][i] = ns[s];
    }
    for (int s = 0; s < STAGES; s++) {
        struct turn turn;
        turn_measure(times_ns[s], b->calls, 1, &turn);
        us[s] = turn.p50_us;
    }
    return 0;
}

static int measure_handler(struct bench *b, bool filter, struct err *err) {
    double warm[STAGES], cold[STAGES];
    int r = measure(b, filter, false, warm, err);
    if (r == 0)
        r = measure(b, filter, true, cold, err);
    for (int s = 0; r == 0 && s < STAGES; s++)
        (void)printf("{\"handler\":\"%s\",\"names\":%u,\"stage\":\"%s\",\"warm_us\":%.1f,"
                     "\"cold_us\":%.1f}\n",
                     filter ? "filter" : "prioritize", b->questions.names, stage_names[s], warm[s],
                     cold[s]);
    return r;
}

/* Every question once, because prioritize is asked with the answers. */
static int filter_all(struct bench *b, struct err *err) {
    int64_t ns[STAGES];
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < b->questions.count; i++)
        r = call(b, true, i, ns, err);
    return r;
}

static int load(struct bench *b, const char *path, struct err *err) {
    const struct cache_options options = {.reservation_ttl_ms = 60000};
    struct file_source *source = NULL;
    struct file_source_result result;
    int r = cache_new(&options, &b->cache, err);
    if (r == 0 && (r = ring_new(LIMIT_DECISIONS, &b->ring)) != 0)
        (void)err_set(err, r, "no memory for the decisions");
    if (r == 0)
        r = file_source_new(&path, 1, cache_file_target(b->cache), &source, err);
    if (r == 0)
        r = file_source_load(source, &result, err);
    file_source_free(source);
    return r;
}

int main(int argc, char **argv) {
    int64_t nodes, names, calls = CALLS_MAX;
    if (argc < 4 || argc > 5 || (argc == 5 && !str_to_i64(str_of(argv[4]), &calls)) || calls < 1 ||
        calls > CALLS_MAX || !str_to_i64(str_of(argv[2]), &nodes) ||
        !str_to_i64(str_of(argv[3]), &names) || names < 1 || names > nodes || nodes > 100000) {
        (void)fprintf(stderr, "usage: stages STATE.json NODES NAMES [CALLS]\n");
        return 2;
    }
    struct bench b = {.other_memory = calloc(1, COLD_BYTES), .calls = (uint32_t)calls};
    struct err err = {0};
    configuration_init(&b.configuration);
    int r = b.other_memory != NULL ? load(&b, argv[1], &err) : err_set(&err, -1, "no memory");
    if (r == 0)
        r = questions_make((uint32_t)nodes, (uint32_t)names, false, &b.questions, &err);
    if (r == 0)
        r = questions_left_init(&b.questions, &b.left, &err);
    if (r == 0)
        r = filter_all(&b, &err);
    if (r == 0)
        r = measure_handler(&b, true, &err);
    if (r == 0)
        r = measure_handler(&b, false, &err);
    if (r != 0)
        (void)fprintf(stderr, "stages: %s\n", err.text);
    questions_free(&b.questions);
    questions_free(&b.left);
    cache_free(b.cache);
    ring_free(b.ring);
    configuration_done(&b.configuration);
    free(b.other_memory);
    return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
