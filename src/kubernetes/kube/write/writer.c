#include "kube/write/writer.h"

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/limits.h"
#include "base/metrics.h"
#include "base/secret.h"
#include "kube/client/status.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    UNDER_WAY = 4,
    BURST = 10,
    PER_SECOND = 5,
    REQUEST_MS = 10000,
    PATH_BYTES = 2048,
};

enum result { SUCCESS, CONFLICT, FAILURE, DROPPED, RESULTS };

/* One request, and its contents. */
struct job {
    struct writer *writer;
    struct write_item *item;     /* NULL: the job is free */
    struct write_handle *handle; /* the owner of the item */
    struct strbuf name;          /* a copy, because done() may run after the item is freed */
    struct write write;
    struct kube_request request;
};

struct write_handle {
    struct writer *writer;
    struct write_owner owner;
    struct write_lane *lane;
    struct write_handle *next;
    bool left;

    char label[RESULTS + 1][384];
    struct metric waiting, writes[RESULTS];
    char familiar_label[RESULTS + 1][384];
    struct metric depth, retries, reconciled[DROPPED], errors;
};

struct writer {
    struct kube_client *client;
    struct clock *clock;
    struct kube_io io;

    /* for the client's thread only */
    struct write_queue *queue;
    struct kube_timer timer;
    struct write_handle *handles;
    bool busy; /* go_on() runs or will run, and will see objects that become wanted meanwhile */
    unsigned job_count;
    struct job *jobs; /* owned; as many as may be under way */
};

static int64_t now_ms(const struct writer *w) {
    return w->clock->now_ms(w->clock);
}

/* ---- requests ---- */

static const struct {
    const char *method, *content_type;
    bool owns;         /* the request needs a field manager */
    const char *query; /* further query parameters */
} verbs[] = {
    [WRITE_CREATE] = {"POST", NULL, true, ""},
    [WRITE_REPLACE] = {"PUT", NULL, true, ""},
    [WRITE_MERGE] = {"PATCH", "application/merge-patch+json", true, ""},
    [WRITE_STRATEGIC] = {"PATCH", "application/strategic-merge-patch+json", true, ""},
    [WRITE_APPLY] = {"PATCH", "application/apply-patch+yaml", true, "&force=true"},
    [WRITE_DELETE] = {"DELETE", NULL, false, ""},
};

/* upstream: apimachinery meta/v1 DeleteOptions. */
void write_delete(struct write *write, struct str uid) {
    struct json_writer w = {.out = &write->body};
    write->verb = WRITE_DELETE;
    json_begin_object(&w);
    json_put_member(&w, STR("kind"), STR("DeleteOptions"));
    json_put_member(&w, STR("apiVersion"), STR("v1"));
    if (!str_empty(uid)) {
        json_key(&w, STR("preconditions"));
        json_begin_object(&w);
        json_put_member(&w, STR("uid"), uid);
        json_end_object(&w);
    }
    json_end_object(&w);
}

static enum result result_of(enum write_end end) {
    return end == WRITE_DONE ? SUCCESS : end == WRITE_CONFLICT ? CONFLICT : FAILURE;
}

/* Gives the item back to the queue first, so that the owner's done() may want or drop it. */
static void end(struct job *job, const struct write_result *result, int64_t retry_after_ms) {
    const struct write_owner *owner = &job->handle->owner;
    write_item_end(job->item, now_ms(job->writer), result->end, retry_after_ms);
    if (result->end != WRITE_NEEDLESS && !job->handle->left) {
        metric_add(&job->handle->writes[result_of(result->end)], 1);
        owner->done(owner->ctx, strbuf_str(&job->name), result);
    }
    secret_buffer_done(&job->write.path); /* the texts may contain keys */
    secret_buffer_done(&job->write.body);
    strbuf_done(&job->name);
    job->item = NULL;
}

static struct job *free_job(struct writer *w) {
    struct job *job = w->jobs;
    while (job->item != NULL)
        job++; /* there are as many jobs as writes that may be under way */
    return job;
}

static struct write_handle *handle_of(const struct writer *w, const struct write_item *item) {
    struct write_handle *h = w->handles;
    while (h->lane != write_item_lane(item))
        h = h->next;
    return h;
}

static int make(struct job *job, struct err *err) {
    struct write *write = &job->write;
    const struct write_owner *owner = &job->handle->owner;
    *write = (struct write){.path.max = PATH_BYTES, .body.max = LIMIT_KUBE_BODY};
    int r = owner->make(owner->ctx, strbuf_str(&job->name), write, err);
    if (r != 0 || write->verb == WRITE_NOTHING)
        return r;
    if (verbs[write->verb].owns)
        strbuf_appendf(&write->path, "?fieldManager=%s%s",
                       owner->manager != NULL ? owner->manager : "evenkeel",
                       verbs[write->verb].query);
    strbuf_append_char(&write->path, '\0');
    return strbuf_failed(&write->path) || strbuf_failed(&write->body)
               ? err_set(err, -ENOMEM, "no memory for an object to write")
               : 0;
}

static void send(struct job *job, int64_t limit_ms) {
    struct writer *w = job->writer;
    job->request.method = verbs[job->write.verb].method;
    job->request.content_type = verbs[job->write.verb].content_type;
    job->request.path = job->write.path.p;
    job->request.body = strbuf_str(&job->write.body);
    job->request.timeout_ms = limit_ms < REQUEST_MS ? limit_ms : REQUEST_MS;
    w->io.request_start(w->client, &job->request);
}

static void begin(struct writer *w, const struct write_next *next) {
    struct job *job = free_job(w);
    struct err err = {0};
    job->item = next->item;
    job->handle = handle_of(w, next->item);
    strbuf_append_str(&job->name, write_item_name(next->item));
    int r = strbuf_failed(&job->name) ? err_set(&err, -ENOMEM, "no memory for a name")
                                      : make(job, &err);
    if (r != 0)
        end(job, &(struct write_result){.end = WRITE_FAILED, .problem = str_of(err.text)}, -1);
    else if (job->write.verb == WRITE_NOTHING)
        end(job, &(struct write_result){.end = WRITE_NEEDLESS}, -1);
    else
        send(job, next->limit_ms);
}

static void publish(struct writer *w) {
    for (struct write_handle *h = w->handles; h != NULL; h = h->next)
        metric_set(&h->waiting, write_lane_count(h->lane));
}

/* Begins the writes whose turn has come, and sets the timer for the next one. */
static void go_on(void *ctx) {
    struct writer *w = ctx;
    struct write_next next;
    if (w->busy)
        return;
    w->busy = true;
    for (;;) {
        write_queue_next(w->queue, now_ms(w), &next);
        if (next.item == NULL)
            break;
        begin(w, &next);
    }
    w->busy = false;
    publish(w);
    if (next.wait_ms == INT64_MAX)
        w->io.timer_cancel(w->client, &w->timer);
    else
        w->io.timer_start(w->client, &w->timer, next.wait_ms);
}

/* ---- answers ---- */

static void on_done(void *ctx, const struct kube_result *result) {
    struct job *job = ctx;
    struct writer *w = job->writer;
    CLEANUP(arena_done) struct arena arena;
    struct write_result told = {
        .end = write_end_of(result->error, result->status, result->retry_after_ms),
        .status = result->status,
        .problem = str_of(result->error_text)};
    struct kube_status status;
    arena_init(&arena, LIMIT_KUBE_BODY);
    if (result->error == 0 && told.end != WRITE_DONE) {
        kube_status_read(result->body, result->status, &arena, &status);
        told.problem = status.message;
    }
    bool was_busy = w->busy;
    w->busy = true; /* objects that done() wants wait until the job is free */
    end(job, &told, result->retry_after_ms);
    w->busy = was_busy;
    go_on(w);
}

/* ---- wishes ---- */

static void want(struct write_handle *h, struct str name, int64_t delay_ms) {
    if (write_lane_want(h->lane, name, now_ms(h->writer), delay_ms) != 0)
        metric_add(&h->writes[DROPPED], 1);
}

void writer_want(struct write_handle *h, struct str name, int64_t delay_ms) {
    want(h, name, delay_ms);
    go_on(h->writer);
}

void writer_want_each(struct write_handle *h, struct str names) {
    for (size_t at = 0; at < names.n;) {
        const struct str name = str_of(names.p + at);
        at += name.n + 1;
        writer_want(h, name, 0);
    }
}

void writer_want_by_rank(struct write_handle *h, struct str name, bool urgent) {
    want(h, name, 0);
    write_lane_rank(h->lane, name, urgent);
    go_on(h->writer);
}

void writer_drop(struct write_handle *h, struct str name) {
    write_lane_drop(h->lane, name);
    go_on(h->writer);
}

void writer_refresh(struct write_handle *h, struct str name) {
    write_lane_refresh(h->lane, name, now_ms(h->writer));
    go_on(h->writer);
}

/* ---- joining and leaving ---- */

static void register_metrics(struct write_handle *h) {
    static const char *const results[RESULTS] = {"success", "conflict", "error", "dropped"};
    char *label = h->label[RESULTS];
    (void)snprintf(label, sizeof h->label[0], "what=\"%s\"", h->owner.what); /* these fit */
    h->waiting = (struct metric){.name = "evenkeel_writes_waiting",
                                 .help = "Objects that wait to be written, or are being written.",
                                 .labels = label,
                                 .kind = METRIC_GAUGE};
    metric_register(&h->waiting);
    for (int i = 0; i < RESULTS; i++) {
        (void)snprintf(h->label[i], sizeof h->label[0], "what=\"%s\",result=\"%s\"", h->owner.what,
                       results[i]);
        h->writes[i] = (struct metric){.name = "evenkeel_writes_total",
                                       .help = "Attempts to write objects, by result.",
                                       .labels = h->label[i],
                                       .kind = METRIC_COUNTER};
        metric_register(&h->writes[i]);
    }
}

static double read_retries(void *ctx) {
    const struct write_handle *h = ctx;
    return (double)atomic_load_explicit(&h->writes[CONFLICT].value, memory_order_relaxed) +
           (double)atomic_load_explicit(&h->writes[FAILURE].value, memory_order_relaxed);
}

/* Uses the names of client-go and controller-runtime, which dashboards know. */
static void register_familiar(struct write_handle *h) {
    static const char *const results[DROPPED] = {"success", "requeue", "error"};
    (void)snprintf(h->familiar_label[RESULTS], sizeof h->familiar_label[0], "name=\"%s\"",
                   h->owner.what); /* these fit */
    (void)snprintf(h->familiar_label[DROPPED], sizeof h->familiar_label[0], "controller=\"%s\"",
                   h->owner.what);
    h->depth = (struct metric){.name = "workqueue_depth",
                               .help = "The same as evenkeel_writes_waiting.",
                               .labels = h->familiar_label[RESULTS],
                               .kind = METRIC_GAUGE,
                               .same_as = &h->waiting};
    h->retries = (struct metric){.name = "workqueue_retries_total",
                                 .help = "Attempts to write that are made once more.",
                                 .labels = h->familiar_label[RESULTS],
                                 .read = read_retries,
                                 .ctx = h};
    h->errors = (struct metric){.name = "controller_runtime_reconcile_errors_total",
                                .help = "Attempts to write that failed.",
                                .labels = h->familiar_label[DROPPED],
                                .same_as = &h->writes[FAILURE]};
    for (int i = 0; i < DROPPED; i++) {
        (void)snprintf(h->familiar_label[i], sizeof h->familiar_label[0],
                       "controller=\"%s\",result=\"%s\"", h->owner.what, results[i]);
        h->reconciled[i] = (struct metric){.name = "controller_runtime_reconcile_total",
                                           .help = "The same as evenkeel_writes_total.",
                                           .labels = h->familiar_label[i],
                                           .same_as = &h->writes[i]};
        metric_register(&h->reconciled[i]);
    }
    metric_register(&h->depth);
    metric_register(&h->retries);
    metric_register(&h->errors);
}

static void handle_free(struct write_handle *h) {
    metric_unregister(&h->waiting);
    metric_unregister(&h->depth);
    metric_unregister(&h->retries);
    metric_unregister(&h->errors);
    for (int i = 0; i < DROPPED; i++)
        metric_unregister(&h->reconciled[i]);
    for (int i = 0; i < RESULTS; i++)
        metric_unregister(&h->writes[i]);
    free(h);
}

struct joining {
    struct write_handle *handle;
    struct err *err;
    int result;
};

static void join(void *ctx) {
    struct joining *j = ctx;
    struct write_handle *h = j->handle;
    struct writer *w = h->writer;
    j->result = write_lane_new(w->queue, &h->owner.lane, &h->lane, j->err);
    if (j->result != 0)
        return;
    h->next = w->handles;
    w->handles = h;
}

int writer_join(struct writer *w, const struct write_owner *owner, struct write_handle **ret,
                struct err *err) {
    struct write_handle *h = calloc(1, sizeof *h);
    if (h == NULL)
        return err_set(err, -ENOMEM, "no memory for a queue of writes");
    h->writer = w;
    h->owner = *owner;
    register_metrics(h);
    register_familiar(h);
    struct joining joining = {.handle = h, .err = err};
    w->io.run(w->client, join, &joining);
    if (joining.result == 0)
        *ret = h;
    else
        handle_free(h);
    return joining.result;
}

static void leave(void *ctx) {
    struct write_handle *h = ctx;
    struct writer *w = h->writer;
    assert(!w->busy); /* not during make() or done() */
    h->left = true;
    w->busy = true;
    for (unsigned i = 0; i < w->job_count; i++)
        if (w->jobs[i].item != NULL && w->jobs[i].handle == h)
            w->io.request_cancel(w->client, &w->jobs[i].request); /* calls on_done() */
    w->busy = false;
    struct write_handle **at = &w->handles;
    while (*at != h)
        at = &(*at)->next;
    *at = h->next;
    write_lane_free(h->lane);
    go_on(w);
}

void writer_leave(struct write_handle *h) {
    if (h == NULL)
        return;
    h->writer->io.run(h->writer->client, leave, h);
    handle_free(h);
}

/* ---- life ---- */

int writer_new(const struct writer_options *options, struct writer **ret, struct err *err) {
    struct write_limits limits = options->limits;
    if (limits.under_way == 0)
        limits = (struct write_limits){UNDER_WAY, BURST, PER_SECOND, clock_seed()};
    assert(limits.under_way <= LIMIT_WRITES_IN_FLIGHT);
    struct writer *w = calloc(1, sizeof *w);
    if (w != NULL)
        w->jobs = calloc(limits.under_way, sizeof *w->jobs);
    int r = w == NULL || w->jobs == NULL ? err_set(err, -ENOMEM, "no memory for a queue of writes")
                                         : write_queue_new(&limits, &w->queue, err);
    if (r != 0) {
        if (w != NULL)
            free(w->jobs);
        free(w);
        return r;
    }
    w->client = options->client;
    w->clock = options->clock != NULL ? options->clock : clock_real();
    w->io = kube_io_or_real(options->io);
    w->timer = (struct kube_timer){.fn = go_on, .ctx = w};
    w->job_count = limits.under_way;
    for (unsigned i = 0; i < w->job_count; i++) {
        w->jobs[i].writer = w;
        w->jobs[i].request = (struct kube_request){.on_done = on_done, .ctx = &w->jobs[i]};
    }
    *ret = w;
    return 0;
}

void writer_free(struct writer *w) {
    if (w == NULL)
        return;
    w->io.timer_cancel(w->client, &w->timer); /* nothing is under way: all owners have left */
    write_queue_free(w->queue);
    free(w->jobs);
    free(w);
}
