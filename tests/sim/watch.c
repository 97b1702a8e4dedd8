#include "sim/watch.h"

#include "kube/watch/watch.h"
#include "sim/check.h"
#include "sim/sim.h"

#include <errno.h>
#include <stdlib.h>

/* ---- between reflector and sink ---- */

static void on_sync_begin(void *ctx) {
    struct kube_watch *w = ctx;
    w->oracle.begun++;
    model_sync_begin(&w->sim->model, w->kind);
    w->sink.sync_begin(w->sink.ctx);
}

static void on_sync_end(void *ctx) {
    struct kube_watch *w = ctx;
    oracle_sync_end(w);
    if (model_sync_end(&w->sim->model, w->kind) > 0)
        path_taken(w->sim, PATH_FORGOTTEN_BY_LISTING);
    w->sink.sync_end(w->sink.ctx);
    check_kind(w->sim, w->kind, SIM_SLOTS);
}

static void on_sync_abort(void *ctx) {
    struct kube_watch *w = ctx;
    oracle_sync_abort(w);
    model_sync_abort(&w->sim->model, w->kind);
    w->sink.sync_abort(w->sink.ctx);
    check_kind(w->sim, w->kind, SIM_SLOTS);
}

static void keep_model(struct kube_watch *w, bool exists, const struct line *line) {
    if (exists) {
        if (!model_apply(&w->sim->model, w->kind, line->slot, &line->thing))
            sim_fail(w->sim, "%s: the model is full", thing_resource(w->kind));
    } else {
        model_remove(&w->sim->model, w->kind, line->slot, &line->thing);
    }
}

static int tell(struct kube_watch *w, bool exists, struct str object, struct err *err) {
    const struct line *line = oracle_told(w, exists, object);
    if (line != NULL && fault_happens(w->sim, FAULT_NO_MEMORY, 5000)) {
        fault_hit(w->sim, FAULT_NO_MEMORY);
        oracle_taken(w, line, -ENOMEM);
        return err_set(err, -ENOMEM, "no memory");
    }
    int r =
        exists ? w->sink.apply(w->sink.ctx, object, err) : w->sink.remove(w->sink.ctx, object, err);
    if (line == NULL && r == 0)
        sim_fail(w->sim, "%s: an object was %s that the server did not send: %.*s",
                 thing_resource(w->kind), exists ? "applied" : "removed", STR_ARG(object));
    if (line == NULL)
        return r;
    if (r == 0)
        keep_model(w, exists, line);
    oracle_taken(w, line, r);
    check_kind(w->sim, w->kind, line->slot);
    return r;
}

static int on_apply(void *ctx, struct str object, struct err *err) {
    return tell(ctx, true, object, err);
}

static int on_remove(void *ctx, struct str object, struct err *err) {
    return tell(ctx, false, object, err);
}

/* ---- one request ---- */

static void plan(struct kube_watch *w) {
    const struct answer *a = &w->answer;
    if (w->state == WATCH_CONNECTING)
        w->at_ms = a->head_ms;
    if (w->state != WATCH_READING)
        return;
    int64_t silent_ms = w->last_byte_ms + w->silence_ms, over_ms = w->began_ms + w->timeout_ms;
    bool pending = a->sent < a->bytes.n && a->base + a->sent < a->cut_at;
    int64_t at_ms = INT64_MAX;
    if (pending)
        at_ms = a->deliver_ms;
    else if (a->base + a->sent >= a->cut_at && !a->stalled)
        at_ms = sim_now(w->sim); /* cut now */
    else if (a->base + a->sent < a->cut_at)
        at_ms = a->ended                     ? sim_now(w->sim)
                : a->bookmark_ms < a->end_ms ? a->bookmark_ms
                                             : a->end_ms;
    if (pending && !a->ended && a->bookmark_ms < at_ms)
        at_ms = a->bookmark_ms;
    at_ms = at_ms < silent_ms ? at_ms : silent_ms;
    w->at_ms = at_ms < over_ms ? at_ms : over_ms;
}

static void end(struct kube_watch *w, int error) {
    sim_trace(w->sim, "%s: ends with %d after %lld ms", thing_resource(w->kind), error,
              (long long)(sim_now(w->sim) - w->began_ms));
    w->state = WATCH_IDLE;
    w->at_ms = sim_now(w->sim);
    if (w->answer.status == 200 && !w->answer.request.watch && error == 0)
        oracle_hear(w, w->answer.base + w->answer.sent);
    reflector_on_end(w->reflector, sim_now(w->sim), error, w->answer.retry_after_ms);
    oracle_ended(w, error);
    check_stats(w);
}

static void ask(struct kube_watch *w) {
    struct sim *s = w->sim;
    struct reflector_next next;
    struct request request;
    reflector_next(w->reflector, sim_now(s), &next);
    if (next.step == REFLECTOR_WAIT) {
        sim_trace(s, "%s: waits %lld ms", thing_resource(w->kind), (long long)next.wait_ms);
        if (next.wait_ms <= 0)
            sim_fail(s, "%s: a wait of %lld ms", thing_resource(w->kind), (long long)next.wait_ms);
        w->at_ms = sim_now(s) + next.wait_ms;
        return;
    }
    sim_trace(s, "%s: GET %s", thing_resource(w->kind), next.path);
    if (!request_parse(next.path, w->kind, &request)) {
        sim_fail(s, "%s: the server would not understand %s", thing_resource(w->kind), next.path);
        return;
    }
    oracle_request(w, &request);
    if (s->failed)
        return;
    answer_begin(s, &request, &w->answer);
    w->began_ms = w->last_byte_ms = sim_now(s);
    w->timeout_ms = next.timeout_ms;
    w->silence_ms = next.silence_ms;
    w->state = WATCH_CONNECTING;
}

static void read_head(struct kube_watch *w) {
    struct sim *s = w->sim;
    if (w->answer.error != 0) {
        end(w, w->answer.error);
        return;
    }
    sim_trace(s, "%s: answer %d, %zu bytes", thing_resource(w->kind), w->answer.status,
              w->answer.bytes.n);
    w->state = WATCH_READING;
    w->last_byte_ms = sim_now(s);
    if (w->answer.status == 200)
        w->oracle.heard_ms = sim_now(s);
    reflector_on_head(w->reflector, sim_now(s), w->answer.status);
}

/* How much comes at once: a byte, or all that is there. A client's library hands over at most 16
 * KiB (CURL_MAX_WRITE_SIZE); MOST_AT_ONCE is far more, and less than the reflector's buffer, which
 * is full after one chunk of an endless list of large objects otherwise. */
static size_t chunk(struct sim *s, const struct answer *a, size_t left) {
    enum { MOST_AT_ONCE = 32 << 20 };
    if (left > MOST_AT_ONCE)
        left = MOST_AT_ONCE;
    if (a->chunks == CHUNKS_BYTES && left < 2000) /* much more would take for ever */
        return 1;
    if (a->chunks == CHUNKS_WHOLE || (a->chunks == CHUNKS_RANDOM && sim_chance(s, 600)))
        return left;
    return 1 + (size_t)sim_below(s, left);
}

static void read_bytes(struct kube_watch *w) {
    struct sim *s = w->sim;
    struct answer *a = &w->answer;
    size_t left = a->bytes.n - a->sent;
    if (a->cut_at - (a->base + a->sent) < left)
        left = (size_t)(a->cut_at - (a->base + a->sent));
    size_t n = chunk(s, a, left);
    struct str bytes = {a->bytes.p + a->sent, n};
    a->sent += n;
    a->deliver_ms = sim_now(s) + (n < left && sim_chance(s, 100) ? sim_between(s, 0, 20) : 0);
    w->last_byte_ms = sim_now(s);
    if (a->status == 200) {
        w->oracle.heard_ms = sim_now(s);
        if (a->request.watch)
            oracle_hear(w, a->base + a->sent);
    }
    bool enough = reflector_on_data(w->reflector, sim_now(s), bytes) != 0;
    if (a->status == 200 && a->request.watch) {
        oracle_heard(w);
        if (enough != (w->oracle.fatal != OUTCOME_NONE) && !s->failed)
            sim_fail(s, "%s: the reflector %s though the stream is %s", thing_resource(w->kind),
                     enough ? "has enough" : "reads on", outcome_name(w->oracle.fatal));
    } else if (enough) {
        oracle_enough(w);
    }
    if (enough)
        end(w, -ECANCELED);
    else
        check_stats(w);
}

/* All bytes are sent: a watch may still be told something, a list is over. */
static void go_on(struct kube_watch *w) {
    struct sim *s = w->sim;
    struct answer *a = &w->answer;
    int64_t now_ms = sim_now(s);
    if (a->base + a->sent >= a->cut_at) {
        end(w, -ECONNRESET);
    } else if (a->ended) {
        end(w, a->end_error);
    } else if (now_ms >= a->bookmark_ms) {
        a->bookmark_ms =
            s->server.traits.bookmark_ms > 0 ? now_ms + s->server.traits.bookmark_ms : INT64_MAX;
        stream_bookmark(s, a, false);
        if (a->request.watch && !w->oracle.listing && a->bookmarks == 3 && a->events == 0)
            path_taken(s, PATH_BOOKMARKS_ONLY);
    } else if (now_ms >= a->end_ms) {
        a->ended = true;
    }
}

/* What was sent need not be kept. */
static void forget_sent(struct answer *a) {
    if (!a->live || a->sent < a->bytes.n)
        return;
    a->base += a->sent;
    a->sent = a->bytes.n = 0;
}

static void read_on(struct kube_watch *w) {
    const struct answer *a = &w->answer;
    int64_t now_ms = sim_now(w->sim);
    bool pending = a->sent < a->bytes.n && a->base + a->sent < a->cut_at;
    if (now_ms >= w->last_byte_ms + w->silence_ms || now_ms >= w->began_ms + w->timeout_ms) {
        path_taken(w->sim, PATH_SILENCE);
        end(w, -ETIMEDOUT);
    } else if (pending && now_ms >= a->deliver_ms) {
        read_bytes(w);
        forget_sent(&w->answer);
    } else if (!pending || now_ms >= a->bookmark_ms) {
        go_on(w);
    }
}

void watch_step(struct kube_watch *w) {
    if (w->state == WATCH_IDLE)
        ask(w);
    else if (w->state == WATCH_CONNECTING)
        read_head(w);
    else
        read_on(w);
    plan(w);
}

/* ---- what the server does to them ---- */

void watches_change(struct sim *s, uint32_t replica, uint32_t change) {
    for (uint32_t kind = 0; kind < OBJECT_KINDS; kind++) {
        struct kube_watch *w = s->watches[kind];
        if (w == NULL || w->state == WATCH_IDLE || w->answer.replica != replica)
            continue;
        stream_change(s, &w->answer, change);
        plan(w);
    }
}

void watches_cut(struct sim *s) {
    for (uint32_t kind = 0; kind < OBJECT_KINDS; kind++) {
        struct kube_watch *w = s->watches[kind];
        if (w == NULL || w->state == WATCH_IDLE)
            continue;
        if (w->answer.error == 0 && (w->answer.stalled || w->answer.status != 200))
            continue; /* a refusal is short, and half of one would mean something else */
        if (w->state == WATCH_CONNECTING) {
            w->answer.error = -ECONNRESET;
            w->answer.head_ms = sim_now(s);
        }
        w->answer.cut_at = w->answer.base + w->answer.sent;
        plan(w);
    }
}

/* ---- kube/watch/watch.h ---- */

int kube_watch_start(struct kube_client *client, struct clock *clock,
                     const struct reflector_options *options, struct kube_watch **ret,
                     struct err *err) {
    (void)clock; /* the clock of the simulated world */
    struct kube_watch *w = calloc(1, sizeof *w);
    if (w == NULL)
        abort();
    w->sim = client->sim;
    w->sink = options->sink;
    w->at_ms = sim_now(w->sim);
    for (uint32_t kind = OBJECT_NODE; kind < OBJECT_KINDS; kind++)
        if (strcmp(options->resource, thing_resource((enum object_kind)kind)) == 0)
            w->kind = (enum object_kind)kind;
    oracle_init(&w->oracle);
    struct reflector_options ours = *options;
    ours.max_objects = ORACLE_LISTED;
    ours.sink =
        (struct reflector_sink){w, on_sync_begin, on_sync_end, on_apply, on_remove, on_sync_abort};
    int r = reflector_new(&ours, &w->reflector, err);
    if (r != 0)
        abort();
    w->sim->watches[w->kind] = w;
    *ret = w;
    return 0;
}

void kube_watch_free(struct kube_watch *w) {
    if (w == NULL)
        return;
    reflector_free(w->reflector);
    answer_done(&w->answer);
    free(w);
}

void kube_watch_stats(struct kube_watch *w, struct reflector_stats *ret) {
    reflector_stats(w->reflector, ret);
}
