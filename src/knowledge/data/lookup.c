/*
 * A look-up is a number of rounds of GETs, few of them at the same time, since each GET takes a
 * connection. A GET ends on the client's thread, which only keeps the bytes and begins the next
 * GET. The last GET of a round resumes the request on the thread of its connection, which parses
 * the bytes and tries the answer again. So watches and leases, which use the client's thread, wait
 * only while a bounded number of reads connect and receive; they do not wait for other work on
 * pods.
 *
 * A look-up has one owner at a time: the handler, then the client's thread until the last GET of
 * the round has ended, then the handler of the resumed request.
 */
#include "data/lookup.h"

#include "base/clock.h"
#include "base/limits.h"
#include "data/api.h"
#include "kube/client/lookup_places.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { READS_MAX = 24 }; /* reads for one review: some claims with their datasets and runtimes */

struct lookup;

struct read {
    struct lookup *lookup;
    struct fluid_key key; /* the object's key; its strings are in the look-up's `keys` */
    struct kube_request request;
    struct str body; /* in the look-up's `bodies`; empty: no body came, or it has been read */
};

struct lookup {
    struct lookup_question question; /* ctx is in `keys`; without the namespace */
    struct http_deferral *deferral;
    struct arena keys;         /* memory for keys and paths, and for a copy of ctx */
    struct arena bodies;       /* for the bodies of a round */
    struct arena arena;        /* for one attempt to answer */
    struct fluid_store *found; /* owned */
    int64_t until_ms;
    uint32_t place; /* from lookup_place_take() */
    struct read reads[READS_MAX];
    unsigned count, pending; /* number of all reads, and of reads without an answer yet */
    unsigned begun;          /* the reads before this index have been started */
    unsigned extra;          /* this round's share of extra_reads */
};

static _Atomic unsigned extra_reads; /* running reads beyond the first of each look-up */

/* ---- metrics ---- */

enum { READ_FOUND, READ_NOT_FOUND, READ_FAILED, READ_REFUSED, READ_SKIPPED, READ_RESULTS };

static struct metric results[READ_RESULTS] = {
#define RESULT(which, word)                                                                        \
    [which] = {.name = "evenkeel_fluid_reads_total",                                               \
               .help =                                                                             \
                   "Objects that Evenkeel read because no watch had brought them yet, by result.", \
               .labels = "result=\"" word "\"",                                                    \
               .kind = METRIC_COUNTER}
    RESULT(READ_FOUND, "found"),     RESULT(READ_NOT_FOUND, "not_found"),
    RESULT(READ_FAILED, "failed"),   RESULT(READ_REFUSED, "refused"),
    RESULT(READ_SKIPPED, "skipped"),
};

void lookup_metrics(void (*what)(struct metric *)) {
    for (size_t i = 0; i < READ_RESULTS; i++)
        what(&results[i]);
}

/* ---- life ---- */

static int64_t now_ms(void) {
    return clock_real()->now_ms(clock_real());
}

static void lookup_free(struct lookup *l) {
    lookup_place_release(l->place);
    arena_done(&l->keys);
    arena_done(&l->bodies);
    arena_done(&l->arena);
    fluid_store_free(l->found);
    free(l);
}

/* Returns NULL without memory. Takes over the place in any case. */
static struct lookup *lookup_new(const struct lookup_question *question, uint32_t place) {
    struct lookup *l = calloc(1, sizeof *l);
    if (l == NULL) {
        lookup_place_release(place);
        return NULL;
    }
    l->place = place;
    l->question = *question;
    l->question.namespace = (struct str){0};
    l->until_ms = now_ms() + question->read_ms;
    arena_init(&l->keys, LIMIT_WEBHOOK_LOOKUP_KEYS);
    arena_init(&l->bodies, LIMIT_WEBHOOK_LOOKUP_BODIES);
    arena_init(&l->arena, LIMIT_REQUEST_ARENA);
    void *ctx = arena_alloc(&l->keys, question->ctx_size);
    l->found = fluid_store_new();
    if (l->found == NULL || arena_failed(&l->keys)) {
        lookup_free(l);
        return NULL;
    }
    l->question.ctx = memcpy(ctx, question->ctx, question->ctx_size);
    return l;
}

/* ---- asking ---- */

static bool is_asked(const struct lookup *l, const struct fluid_key *key) {
    for (unsigned i = 0; i < l->count; i++)
        if (l->reads[i].key.kind == key->kind && strcmp(l->reads[i].key.name, key->name) == 0 &&
            strcmp(l->reads[i].key.namespace, key->namespace) == 0)
            return true;
    return false;
}

static void on_done(void *ctx, const struct kube_result *result);

static void prepare(struct lookup *l, const struct fluid_key *key) {
    struct strbuf path = {.max = 1024};
    int r = fluid_api_object_path(key, &path);
    struct read *read = &l->reads[l->count];
    *read = (struct read){
        .lookup = l,
        .key = {key->kind, arena_cstr(&l->keys, str_of(key->namespace)),
                arena_cstr(&l->keys, str_of(key->name))},
        .request = {.method = "GET",
                    .path = r == 0 ? arena_cstr(&l->keys, strbuf_str(&path)) : NULL,
                    .max_body = LIMIT_WEBHOOK_LOOKUP_OBJECT,
                    .on_done = on_done,
                    .ctx = read},
    };
    strbuf_done(&path);
    l->count += r == 0 && !arena_failed(&l->keys);
}

/* Notes missing objects that were not read before, if there is time. Returns false if there is
 * nothing to read. */
static bool note(struct lookup *l, const struct fluid_missing *missing) {
    bool has_time = l->until_ms > now_ms();
    unsigned before = l->count;
    for (size_t i = 0; has_time && i < missing->count && l->count < READS_MAX; i++)
        if (!is_asked(l, &missing->keys[i]))
            prepare(l, &missing->keys[i]);
    l->pending = l->count - before;
    return l->pending > 0;
}

/* Returns how many extra reads, beside the first, a round may start; see release_extra(). */
static unsigned take_extra(unsigned reads) {
    unsigned taken = 0,
             most = reads < LIMIT_WEBHOOK_LOOKUP_READS ? reads : LIMIT_WEBHOOK_LOOKUP_READS;
    while (taken + 1 < most && atomic_fetch_add(&extra_reads, 1) < LIMIT_WEBHOOK_LOOKUP_EXTRA_READS)
        taken++;
    if (taken + 1 < most)
        (void)atomic_fetch_sub(&extra_reads, 1); /* gives back the refused read */
    return taken;
}

static void release_extra(struct lookup *l) {
    (void)atomic_fetch_sub(&extra_reads, l->extra); /* the old number is not used */
    l->extra = 0;
}

/* Starts the first of the reads noted last; on_done() starts the others. From here on the client's
 * thread owns the look-up. */
static void start_reads(struct lookup *l) {
    struct kube_client *client = l->question.client;
    unsigned first = l->count - l->pending;
    l->extra = take_extra(l->pending);
    unsigned end = l->begun = first + 1 + l->extra;
    int64_t left_ms = l->until_ms - now_ms();
    for (unsigned i = first; i < end; i++)
        l->reads[i].request.timeout_ms = left_ms > 0 ? left_ms : 1;
    for (unsigned i = first; i < end; i++)
        kube_request_start(client, &l->reads[i].request); /* the last one may free the look-up */
}

/* Starts another read of the round after one has ended with `error`, on the client's thread. If the
 * time is over or the client is being closed, the reads that have not started fail. */
static void start_next(struct lookup *l, int error) {
    int64_t left_ms = l->until_ms - now_ms();
    if (l->begun == l->count)
        return;
    if (error != -ECANCELED && left_ms > 0) {
        struct kube_request *request = &l->reads[l->begun++].request;
        request->timeout_ms = left_ms;
        kube_request_start(l->question.client, request);
        return;
    }
    unsigned lost = l->count - l->begun;
    metric_add(&results[READ_FAILED], lost);
    l->begun = l->count;
    l->pending -= lost;
}

/* ---- reading the bodies ---- */

static int keep(struct read *read) {
    CLEANUP(doc_free) cJSON *doc = cJSON_ParseWithLength(read->body.p, read->body.n);
    return doc == NULL ? -EINVAL
                       : fluid_store_put_as(read->lookup->found, read->key.kind, doc, NULL);
}

static void keep_all(struct lookup *l) {
    for (unsigned i = 0; i < l->count; i++) {
        struct read *read = &l->reads[i];
        if (read->body.n > 0)
            metric_add(&results[keep(read) == 0 ? READ_FOUND : READ_FAILED], 1);
        read->body = (struct str){0};
    }
    arena_reset(&l->bodies);
}

static void drop(void *ctx) {
    lookup_free(ctx);
}

/* Starts another round if there are objects to read. Returns false otherwise. */
static bool wait_again(struct lookup *l, const struct http_request *request,
                       const struct fluid_missing *missing) {
    if (!note(l, missing))
        return false;
    l->deferral = http_defer(request);
    if (l->deferral == NULL)
        return false;
    start_reads(l);
    return true;
}

/* Tries the answer again with the objects read. A handler: runs on the connection's thread. */
static void go_on(void *ctx, const struct http_request *request, struct http_response *response) {
    struct lookup *l = ctx;
    struct fluid_missing missing;
    const struct lookup_attempt looks = {request, l->found, &missing, &l->arena, response};
    const struct lookup_attempt last = {request, l->found, NULL, &l->arena, response};
    keep_all(l);
    arena_reset(&l->arena);
    if (!l->question.attempt(l->question.ctx, &looks)) {
        if (wait_again(l, request, &missing))
            return; /* `l` may be freed already */
        arena_reset(&l->arena);
        (void)l->question.attempt(l->question.ctx, &last); /* the last attempt always answers */
    }
    lookup_free(l);
}

static void on_done(void *ctx, const struct kube_result *result) {
    struct read *read = ctx;
    struct lookup *l = read->lookup;
    const struct http_continuation next = {go_on, drop, l};
    if (result->error == 0 && result->status == 200)
        read->body = arena_str(&l->bodies, result->body);
    if (result->error == 0 && result->status == 404)
        metric_add(&results[READ_NOT_FOUND], 1);
    else if (read->body.n == 0)
        metric_add(&results[READ_FAILED], 1);
    l->pending--;
    start_next(l, result->error);
    if (l->pending > 0)
        return;
    release_extra(l);
    http_deferral_resume(l->deferral, &next);
}

/* ---- beginning ---- */

bool lookup_is_for(const struct http_request *request) {
    return !str_empty(request->client);
}

void lookup_count_refused(const struct fluid_missing *missing) {
    metric_add(&results[READ_REFUSED], (int64_t)missing->count);
}

enum lookup_start lookup_begin(const struct lookup_question *question,
                               const struct http_request *request,
                               const struct fluid_missing *missing) {
    if (request->body.n > LIMIT_WEBHOOK_LOOKUP_BODY)
        return LOOKUP_NOTHING;
    uint32_t place = lookup_place_take(question->namespace);
    if (place == LOOKUP_PLACES) {
        metric_add(&results[READ_SKIPPED], (int64_t)missing->count);
        return LOOKUP_BUSY;
    }
    struct lookup *l = lookup_new(question, place);
    if (l == NULL)
        return LOOKUP_NOTHING;
    if (note(l, missing))
        l->deferral = http_defer(request);
    if (l->deferral == NULL) {
        lookup_free(l);
        return LOOKUP_NOTHING;
    }
    start_reads(l);
    return LOOKUP_BEGAN;
}
