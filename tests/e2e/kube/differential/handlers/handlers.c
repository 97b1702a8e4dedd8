/*
 * Calls the extender's handlers without a listener, on a cluster that is told object by object and
 * a clock that stands still until it is moved. The Go tests beside this folder build and drive it.
 *
 * A command on standard input is a line `WORD LENGTH` and that many bytes; the answer on standard
 * output is a line `STATUS LENGTH` and that many bytes. The status is 200 or what went wrong.
 *
 *     open        path of an EvenkeelConfiguration   an empty cluster at time 0, by these rules;
 *                                                    without a path by the default ones
 *     apply       a Kubernetes object, or a List     they are there, as if a watch had shown them
 *     remove      the same                           they are gone
 *     clock       milliseconds                       it is so late now
 *     filter, prioritize, complement                 the body of such a request
 *     added       a NodeAffinity, or nothing         addedAffinity for the next "judge"
 *     judge       a Pod                              what `evenkeel simulate` says of every node:
 *                                                    {node: {verdict, filter, reason}}, and of
 *                                                    those that pass "inTree": {plugin: score}
 *
 * reservations.assume holds, whereas the daemon looks at it with an API server as its source only.
 */
#include "base/json_writer.h"
#include "config/configuration.h"
#include "engine/simulate.h"
#include "explain/question.h"
#include "handlers/extender.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { BODY_MAX = 64 << 20 };

struct driver {
    struct clock_fake clock;
    struct configuration configuration;
    struct cache *cache; /* NULL before the first open */
    struct extender extender;
    struct arena arena; /* of one command */
    struct arena kept;  /* of what the next one needs */
    struct node_affinity added;
    struct http_response response;
};

static void refuse(struct driver *d, int status, const char *why) {
    strbuf_clear(&d->response.text);
    strbuf_append_str(&d->response.text, str_of(why));
    d->response.status = status;
}

/* ---- the cluster ---- */

static void close_cluster(struct driver *d) {
    if (d->cache == NULL)
        return;
    cache_free(d->cache);
    d->cache = NULL;
    configuration_done(&d->configuration);
}

/* Everything that comes later comes as an event. */
static void begin_synced(struct cache *cache) {
    cache_write_begin(cache);
    cache_sync_begin(cache, CACHE_ALL_KINDS);
    cache_sync_end(cache, CACHE_ALL_KINDS);
    cache_write_end(cache);
}

static void run_open(struct driver *d, struct str path) {
    struct err err = {0};
    close_cluster(d);
    clock_fake_init(&d->clock, 0);
    configuration_init(&d->configuration);
    int r = 0;
    if (path.n > 0)
        r = configuration_read(&d->configuration, arena_cstr(&d->arena, path), &err);
    const struct cache_options options = {
        .reservation_ttl_ms = d->configuration.reservations.ttl_ms, .clock = &d->clock.clock};
    if (r == 0)
        r = cache_new(&options, &d->cache, &err);
    if (r != 0) {
        configuration_done(&d->configuration);
        refuse(d, 400, err.text);
        return;
    }
    begin_synced(d->cache);
    d->extender = (struct extender){.cache = d->cache,
                                    .options = &d->configuration.engine,
                                    .reservations = d->configuration.reservations.mode,
                                    .assume = d->configuration.reservations.assume};
}

static int visit_apply(void *ctx, const struct object *object, struct err *err) {
    (void)err; /* -ENOMEM says enough */
    return cache_apply(ctx, object);
}

static int visit_remove(void *ctx, const struct object *object, struct err *err) {
    (void)err; /* nothing fails */
    cache_remove(ctx, object);
    return 0;
}

static void change(struct driver *d, struct str objects, object_visit_fn *visit) {
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, BODY_MAX);
    cache_write_begin(d->cache);
    int r = objects_read(objects, POD_RUNNING, &arena, visit, d->cache, &err);
    cache_write_end(d->cache);
    arena_done(&arena);
    if (r != 0)
        refuse(d, 400, err.code != 0 ? err.text : "no memory");
}

static void run_apply(struct driver *d, struct str objects) {
    change(d, objects, visit_apply);
}

static void run_remove(struct driver *d, struct str objects) {
    change(d, objects, visit_remove);
}

static void run_clock(struct driver *d, struct str text) {
    int64_t at_ms;
    if (!str_to_i64(text, &at_ms)) {
        refuse(d, 400, "the clock wants milliseconds");
        return;
    }
    d->clock.at_ms = at_ms;
    cache_write_begin(d->cache);
    cache_expire(d->cache);
    cache_write_end(d->cache);
}

/* ---- questions ---- */

static void ask(struct driver *d, http_handler_fn *handler, struct str body) {
    const struct http_request request = {.method = STR("POST"), .body = body, .arena = &d->arena};
    handler(&d->extender, &request, &d->response);
}

static void run_filter(struct driver *d, struct str body) {
    ask(d, extender_filter, body);
}

static void run_prioritize(struct driver *d, struct str body) {
    ask(d, extender_prioritize, body);
}

static void run_complement(struct driver *d, struct str body) {
    ask(d, extender_complement, body);
}

/* The scores that kube-scheduler's own plugins give a node that passed. */
static void put_scores(const struct simulation *trial, uint32_t scored, struct json_writer *w) {
    json_key(w, STR("inTree"));
    json_begin_object(w);
    for (uint32_t p = 0; p < trial->score.in_tree_count; p++) {
        json_key(w, str_of(trial->score.in_tree[p].plugin));
        json_put_integer(w, trial->score.in_tree[p].scores[scored]);
    }
    json_end_object(w);
}

static void put_verdicts(const struct simulation *trial, struct strbuf *out) {
    static const char *const names[] = {"Pass", "Unschedulable", "UnschedulableAndUnresolvable"};
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    for (uint32_t i = 0, scored = 0; i < trial->filtered.count; i++) {
        uint8_t reason = trial->filter.reasons[i];
        json_key(&w, trial->filtered.names[i]);
        json_begin_object(&w);
        json_put_member(&w, STR("verdict"), str_of(names[trial->filter.verdicts[i]]));
        json_put_member(&w, STR("filter"), str_of(trial->filter.reason_filters[reason]));
        json_put_member(&w, STR("reason"), trial->filter.reason_texts[reason]);
        if (trial->filter.verdicts[i] == VERDICT_PASS)
            put_scores(trial, scored++, &w);
        json_end_object(&w);
    }
    json_end_object(&w);
}

static void run_added(struct driver *d, struct str body) {
    struct json_reader r;
    struct err err;
    arena_reset(&d->kept);
    d->added = (struct node_affinity){.required = false};
    if (body.n == 0)
        return;
    json_reader_init(&r, arena_str(&d->kept, body), &d->kept, "NodeAffinity");
    node_affinity_decode_all(&r, &d->added);
    if (json_finish(&r, &err) != 0)
        refuse(d, 400, err.text);
}

static void run_judge(struct driver *d, struct str body) {
    struct engine_options options = d->configuration.engine;
    struct simulation trial;
    struct pod pod;
    struct err err = {0};
    options.filters = FILTERS_ALL;
    options.in_tree = true;
    options.added_affinity = &d->added;
    int r = explain_pod_decode(body, &d->arena, &pod, &err);
    if (r == 0)
        r = engine_simulate(&options, d->cache, &pod, NULL, &d->arena, &trial, &err);
    if (r == 0)
        put_verdicts(&trial, &d->response.text);
    else
        refuse(d, 400, err.text);
}

/* ---- commands ---- */

static const struct command {
    const char *word;
    void (*run)(struct driver *d, struct str body);
} commands[] = {
    {"open", run_open},
    {"apply", run_apply},
    {"remove", run_remove},
    {"clock", run_clock},
    {"filter", run_filter},
    {"prioritize", run_prioritize},
    {"complement", run_complement},
    {"added", run_added},
    {"judge", run_judge},
};

static bool answer(const struct http_response *response) {
    const struct str text = strbuf_str(&response->text);
    const struct str *pieces = response->pieces == NULL ? &text : response->pieces;
    size_t count = response->pieces == NULL ? 1 : response->piece_count, n = 0;
    for (size_t i = 0; i < count; i++)
        n += pieces[i].n;
    bool good = printf("%d %zu\n", response->status, n) > 0;
    for (size_t i = 0; i < count; i++)
        good = good && fwrite(pieces[i].p, 1, pieces[i].n, stdout) == pieces[i].n;
    return good && fflush(stdout) == 0;
}

static bool run(struct driver *d, const char *word, struct str body) {
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (!str_eq(str_of(commands[i].word), str_of(word)))
            continue;
        d->response = (struct http_response){.status = 200, .text.max = BODY_MAX};
        if (d->cache == NULL && i > 0)
            refuse(d, 400, "no cluster is open");
        else
            commands[i].run(d, body);
        bool good = answer(&d->response);
        strbuf_done(&d->response.text);
        arena_reset(&d->arena);
        return good;
    }
    return false;
}

int main(void) {
    struct driver d = {.cache = NULL};
    char word[32], number[32];
    bool good = true;
    arena_init(&d.arena, BODY_MAX);
    arena_init(&d.kept, BODY_MAX);
    while (good && scanf("%31s %31s", word, number) == 2) {
        int64_t length = 0;
        good = str_to_i64(str_of(number), &length) && length >= 0 && length <= BODY_MAX &&
               getchar() == '\n';
        size_t n = good ? (size_t)length : 0;
        char *body = good ? malloc(n + 1) : NULL;
        good =
            body != NULL && fread(body, 1, n, stdin) == n && run(&d, word, (struct str){body, n});
        free(body);
        if (!good)
            (void)fprintf(stderr, "handlers: cannot run '%s'\n", word);
    }
    close_cluster(&d);
    arena_done(&d.arena);
    arena_done(&d.kept);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
