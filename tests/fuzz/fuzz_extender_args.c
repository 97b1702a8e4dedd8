/*
 * Any bytes as a scheduler's request, decoded, judged against a small cluster and answered: every
 * answer, errors included, must be JSON to our own reader, name only nodes that were asked about,
 * and never hold a null where kube-scheduler would panic.
 */
#include "base/json_reader.h"
#include "extender/wire.h"
#include "fuzz/fuzz.h"

static const size_t ARENA_BYTES = 64u << 20;

/* ---- a cluster that lives as long as the fuzzer ---- */

static struct cache *cache;
static const struct engine_options options = {
    .system_defaults = true, .empty_selector_counts_all = true, .spread_weight = 1};

static const char cluster[] =
    "{\"kind\":\"List\",\"items\":["
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\",\"labels\":{\"zone\":\"a\"}}},"
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n2\",\"labels\":{\"zone\":\"b\"}}},"
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n3\"}},"
    "{\"kind\":\"Service\",\"metadata\":{\"name\":\"s\"},\"spec\":{\"selector\":{\"a\":\"b\"}}},"
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"uid\":\"vu\",\"labels\":{\"a\":\"b\"}},"
    "\"spec\":{\"nodeName\":\"n1\"}}]}";

static int apply(void *ctx, const struct object *object, struct err *err) {
    (void)ctx;
    (void)err;
    return cache_apply(cache, object);
}

static void make_cluster(void) {
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    require(cache_new(&(struct cache_options){0}, &cache, NULL) == 0);
    cache_write_begin(cache);
    require(objects_read(str_of(cluster), POD_RUNNING, &arena, apply, NULL, NULL) == 0);
    cache_write_end(cache);
    arena_done(&arena);
}

/* ---- answers ---- */

/* The answer's bytes, whichever way it is made. */
static struct str bytes_of(const struct http_response *response, struct strbuf *joined) {
    if (response->pieces == NULL)
        return strbuf_str(&response->text);
    for (size_t i = 0; i < response->piece_count; i++)
        strbuf_append_str(joined, response->pieces[i]);
    return strbuf_str(joined);
}

static void check_json(struct http_response *response) {
    struct strbuf joined = {0};
    struct arena arena;
    struct json_reader r;
    arena_init(&arena, ARENA_BYTES);
    struct str text = bytes_of(response, &joined);
    json_reader_init(&r, text, &arena, "answer");
    struct str value = json_skip(&r);
    require(json_finish(&r, NULL) == 0);
    require(value.n == text.n && response->status != 0);
    arena_done(&arena);
    strbuf_done(&joined);
    strbuf_done(&response->text);
    *response = (struct http_response){0};
}

/* No victims of an answer may be null: kube-scheduler looks into them unasked. */
static void check_victims(const struct http_response *response) {
    struct arena arena;
    struct json_reader r;
    struct str key = {0};
    arena_init(&arena, ARENA_BYTES);
    json_reader_init(&r, strbuf_str(&response->text), &arena, "answer");
    require(json_object(&r) && json_member(&r, &key));
    require(str_eq(key, STR("NodeNameToMetaVictims")) && json_object(&r));
    while (json_member(&r, &key)) {
        require(json_peek(&r) == JSON_OBJECT);
        (void)json_skip(&r); /* checked already */
    }
    arena_done(&arena);
}

/* ---- requests ---- */

static void filter_and_prioritize(struct str body) {
    struct arena arena;
    struct extender_args args;
    struct filter_result filtered;
    struct score_result scored;
    struct http_response response = {0};
    struct err err = {0};
    arena_init(&arena, ARENA_BYTES);
    int r = extender_args_decode(body, &arena, &args, &err);
    require((r == 0) == (err.code == 0));
    if (r == 0) {
        extender_filter_encode(&args, NULL, &arena, &response);
        check_json(&response);
        extender_prioritize_encode(&args, NULL, &response);
        check_json(&response);
        r = engine_filter(&options, cache, &args.pod, &args.candidates, &arena, &filtered, &err);
        if (r == 0) {
            extender_filter_encode(&args, &filtered, &arena, &response);
            check_json(&response);
        }
        if (r == 0)
            r = engine_score(&options, cache, &args.pod, &args.candidates, &arena, &scored, &err);
        if (r == 0) {
            extender_prioritize_encode(&args, &scored, &response);
            check_json(&response);
        }
    }
    if (r != 0) {
        extender_filter_error(err.text, &response);
        check_json(&response);
    }
    arena_done(&arena);
}

static void preempt(struct str body) {
    struct arena arena;
    struct extender_preemption_args args;
    struct http_response response = {0};
    struct err err = {0};
    bool *fits;
    arena_init(&arena, ARENA_BYTES);
    int r = extender_preemption_decode(body, &arena, &args, &err);
    require((r == 0) == (err.code == 0));
    if (r == 0) {
        struct preemption *preemptions = arena_array(&arena, args.count, sizeof *preemptions);
        require(preemptions != NULL);
        for (uint32_t i = 0; i < args.count; i++)
            preemptions[i] = args.victims[i].preemption;
        extender_preemption_encode(&args, NULL, &response);
        check_victims(&response);
        check_json(&response);
        r = engine_preempt(&options, cache, &args.pod, preemptions, args.count, &arena, &fits,
                           &err);
        if (r == 0) {
            extender_preemption_encode(&args, fits, &response);
            check_victims(&response);
            check_json(&response);
        }
    }
    if (r != 0) {
        extender_refuse(400, err.text, &response);
        check_json(&response);
    }
    arena_done(&arena);
}

static int try_input(const uint8_t *bytes, size_t n) {
    struct str body = {(const char *)bytes, n};
    if (cache == NULL)
        make_cluster();
    filter_and_prioritize(body);
    preempt(body);
    return 0;
}
