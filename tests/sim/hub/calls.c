/*
 * Requests on their way, and what goes wrong with them. They go on when the process that has sent
 * them is dead.
 */
#include "sim/hub/world.h"

#include <errno.h>
#include <stdlib.h>

enum {
    CALLS = 64, /* under way at the same time */
    LATE_MS = 60000,
};

struct call {
    bool used;
    enum happening fate;
    struct replica *replica;      /* NULL: nobody waits for the answer */
    struct kube_request *request; /* likewise */
    char *method, *path, *body;   /* owned */
    size_t body_bytes;
    bool fair;        /* made of what there is */
    uint64_t version; /* of the store, then */
    uint64_t known;   /* up to this version the sender knew all */
    unsigned number;  /* of the replica */
    bool arrived;
    int64_t arrives_ms, answers_ms; /* INT64_MAX: never */
    int status;                     /* of the answer; 0: none */
    struct strbuf answer;
};

static struct call calls[CALLS];

/* What is worth reading of both. */
static const char *short_path(const char *path) {
    const char *at = strstr(path, "/namespaces/");
    return at != NULL ? at + sizeof "/namespaces" - 1 : path;
}

static const char *short_body(const char *body) {
    const char *at = strstr(body, "\"resourceVersion\"");
    return at != NULL ? at : body;
}

static bool is_lease(const char *path) {
    return strstr(path, "/leases") != NULL;
}

static enum happening choose_fate(struct world *w) {
    static const enum happening fates[] = {
        REQUEST_BUSY, REQUEST_ERROR,       REQUEST_DONE_LATE, REQUEST_FORBIDDEN,
        REQUEST_LOST, REQUEST_ANSWER_LOST, REQUEST_STALE,     REQUEST_ANSWER_LOST};
    if (!world_chance(w, w->hostility))
        return REQUEST_GOOD;
    return fates[world_below(w, sizeof fates / sizeof fates[0])];
}

static void free_call(struct call *c) {
    free(c->method);
    free(c->path);
    free(c->body);
    strbuf_done(&c->answer);
    *c = (struct call){.used = false};
}

void calls_done(void) {
    for (unsigned i = 0; i < CALLS; i++)
        free_call(&calls[i]);
}

static void plan_call(struct world *w, struct call *c) {
    const int64_t now = world_now(w), limit_ms = c->request->timeout_ms;
    const int64_t timeout_ms = now + (limit_ms > 0 && limit_ms < 60000 ? limit_ms : 60000);
    c->arrives_ms = now + world_between(w, 0, w->hostility > 0 ? 40 : 4);
    c->answers_ms = c->arrives_ms + world_between(w, 0, w->hostility > 0 ? 40 : 4);
    if (c->fate == REQUEST_LOST || c->fate == REQUEST_STALE)
        c->arrives_ms =
            c->fate == REQUEST_LOST ? INT64_MAX : timeout_ms + world_between(w, 1, LATE_MS);
    if (c->fate == REQUEST_LOST || c->fate == REQUEST_ANSWER_LOST || c->fate == REQUEST_STALE)
        c->answers_ms = world_chance(w, 500) && c->fate != REQUEST_STALE
                            ? c->answers_ms + world_between(w, 0, 100)
                            : timeout_ms;
    if (c->answers_ms > timeout_ms)
        c->answers_ms = timeout_ms;
}

void calls_start(struct kube_client *client, struct kube_request *request) {
    struct world *w = client->world;
    struct call *c = calls;
    while (c < calls + CALLS && c->used)
        c++;
    if (c == calls + CALLS)
        abort();
    *c = (struct call){.used = true,
                       .fate = choose_fate(w),
                       .replica = client->replica,
                       .request = request,
                       .method = strdup(request->method),
                       .path = strdup(request->path),
                       .body = strndup(request->body.n > 0 ? request->body.p : "", request->body.n),
                       .body_bytes = request->body.n,
                       .fair = replica_is_fresh(client->replica),
                       .version = w->store.version,
                       .known = replica_version(client->replica),
                       .number = client->number};
    plan_call(w, c);
    happen(w, c->fate);
    if (is_lease(c->path))
        return;
    w->last_write_ms = world_now(w);
    if (!replica_leads(client->replica))
        world_fail(w, "%u writes, and does not lead", client->number);
    world_trace(w, "%u: sends %s %s %s%s", client->number, c->method, short_path(c->path),
                short_body(c->body), c->fair ? "" : " (not fresh)");
    world_trace(w, "    which is: %s", happening_names[c->fate]);
}

static void end_call(struct call *c, int error) {
    struct kube_request *request = c->request;
    c->request = NULL;
    c->replica = NULL;
    const struct kube_result result = {.error = error,
                                       .error_text = error != 0 ? "it is lost" : "",
                                       .status = error == 0 ? c->status : 0,
                                       .retry_after_ms = c->status == 429 ? 1000 : -1,
                                       .content_type = STR("application/json"),
                                       .body = strbuf_str(&c->answer)};
    request->on_done(request->ctx, &result);
}

void calls_cancel(struct kube_client *client, struct kube_request *request) {
    (void)client;
    for (unsigned i = 0; i < CALLS; i++)
        if (calls[i].used && calls[i].request == request) {
            end_call(&calls[i], -ECANCELED);
            return;
        }
}

/* What the call was made of is still true, but for other Placements'; of scores, which no answer of
 * OCM's changes, but for that, too. */
static bool is_fair(const struct world *w, const struct call *c, const struct judged *j) {
    const bool fair = c->fair && w->facts_version <= c->version;
    if (j->is_score)
        return fair && w->edited_version <= c->version;
    return fair && j->wish != NULL && j->wish->changed_version <= c->version;
}

static bool is_leader(const struct world *w, unsigned number) {
    return w->replicas[number] != NULL && replica_leads(w->replicas[number]);
}

static int perform(struct world *w, struct call *c) {
    struct judged judged = {.wish = NULL};
    const bool lease = is_lease(c->path);
    const struct str body = {c->body, c->body_bytes};
    if (!lease) {
        check_begin_write(w, c->path, body, &judged);
        judged.fair = is_fair(w, c, &judged);
        judged.informed = judged.wish != NULL && w->facts_version <= c->known &&
                          judged.wish->changed_version <= c->known;
        judged.stale = !is_leader(w, c->number);
    }
    int status = items_refuse(w, c->method, c->path);
    if (status == 0)
        status = store_call(&w->store, c->method, c->path, body, &c->answer);
    if (!lease) {
        world_trace(w, "%u: lands %s %s: %d%s%s", c->number, c->method, short_path(c->path), status,
                    judged.fair ? "" : " (not fair)", judged.stale ? " (stale)" : "");
        check_end_write(w, &judged, status);
    }
    if (!lease && status == 409)
        happen(w, REQUEST_CONFLICT);
    if (!lease && status == 404)
        happen(w, REQUEST_GONE);
    return status;
}

static void arrive(struct world *w, struct call *c) {
    c->arrived = true;
    if (c->fate == REQUEST_BUSY)
        c->status = 429;
    else if (c->fate == REQUEST_ERROR)
        c->status = 500;
    else if (c->fate == REQUEST_FORBIDDEN)
        c->status = 403;
    else
        c->status = perform(w, c);
    if (c->fate == REQUEST_DONE_LATE)
        c->status = 504;
    /* what loses an answer often holds up the watches, too */
    if (c->replica != NULL && (c->fate == REQUEST_ANSWER_LOST || c->fate == REQUEST_DONE_LATE) &&
        world_chance(w, 500))
        replica_lag(c->replica);
}

static bool is_waiting(const struct call *c) {
    return c->replica != NULL && !replica_is_paused(c->replica);
}

static int64_t call_at_ms(const struct call *c) {
    int64_t at_ms = c->arrived ? INT64_MAX : c->arrives_ms;
    if (is_waiting(c) && c->answers_ms < at_ms)
        at_ms = c->answers_ms;
    if (at_ms == INT64_MAX && c->replica == NULL)
        at_ms = INT64_MIN; /* nothing comes of it any more */
    return at_ms;
}

static struct call *next_call(int64_t *ret_ms) {
    struct call *next = NULL;
    *ret_ms = INT64_MAX;
    for (unsigned i = 0; i < CALLS; i++) {
        const int64_t at_ms = calls[i].used ? call_at_ms(&calls[i]) : INT64_MAX;
        if (at_ms < *ret_ms) {
            *ret_ms = at_ms;
            next = &calls[i];
        }
    }
    return next;
}

int64_t calls_at_ms(void) {
    int64_t at_ms;
    (void)next_call(&at_ms);
    return at_ms;
}

bool calls_under_way(void) {
    for (unsigned i = 0; i < CALLS; i++)
        if (calls[i].used && !is_lease(calls[i].path) &&
            (calls[i].replica != NULL || (!calls[i].arrived && calls[i].arrives_ms < INT64_MAX)))
            return true;
    return false;
}

void calls_step(struct world *w) {
    int64_t at_ms;
    struct call *c = next_call(&at_ms);
    if (c == NULL)
        return;
    if (!c->arrived && c->arrives_ms == at_ms) {
        arrive(w, c);
    } else if (c->replica != NULL) {
        const bool lost = c->fate == REQUEST_LOST || c->fate == REQUEST_ANSWER_LOST ||
                          c->fate == REQUEST_STALE || !c->arrived;
        end_call(c, lost ? -ETIMEDOUT : 0);
    } else {
        free_call(c);
    }
}
