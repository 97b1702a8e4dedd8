/*
 * GET /explain: the last decisions, the newest first. With ?kind=KIND&name=NAME (and group= and
 * namespace=, unless they are empty): the decisions about one object, in the order in which they
 * were made. GET /explain/pods/NAMESPACE/NAME: the same for a pod.
 *
 * All take ?limit=N (the N newest) and ?before=NUMBER (only decisions before this number).
 */
#include "handlers/explain.h"

#include "explain/ages.h"
#include "explain/replica.h"

#include <errno.h>

enum { RECENT = 50, OF_A_SUBJECT = 20 }; /* number of decisions without ?limit= */

/* ---- the query ---- */

struct question {
    int64_t limit, before; /* 0: the query does not have it */
    struct subject subject;
    bool has_subject;
};

static struct str *subject_part(struct subject *s, struct str key) {
    return str_eq(key, STR("group"))       ? &s->group
           : str_eq(key, STR("kind"))      ? &s->kind
           : str_eq(key, STR("namespace")) ? &s->namespace
           : str_eq(key, STR("name"))      ? &s->name
                                           : NULL;
}

/* Reads one "key=value" of the query. Returns false if it is not valid. */
static bool read_parameter(struct str parameter, struct question *q) {
    size_t equals = str_find(parameter, '=');
    if (equals == SIZE_MAX)
        return false;
    struct str key = {parameter.p, equals};
    struct str value = {parameter.p + equals + 1, parameter.n - equals - 1};
    struct str *part = subject_part(&q->subject, key);
    if (part != NULL) {
        *part = value;
        q->has_subject = true;
        return true;
    }
    int64_t *into = str_eq(key, STR("limit"))    ? &q->limit
                    : str_eq(key, STR("before")) ? &q->before
                                                 : NULL;
    return into != NULL && str_to_i64(value, into) && *into > 0 && q->limit <= LIMIT_EXPLAINED;
}

static bool read_question(struct str query, struct question *ret, struct http_response *response) {
    *ret = (struct question){.before = INT64_MAX};
    while (query.n > 0) {
        size_t end = str_find(query, '&');
        struct str parameter = {query.p, end == SIZE_MAX ? query.n : end};
        size_t used = parameter.n + (end != SIZE_MAX);
        query = (struct str){query.p + used, query.n - used};
        if (!read_parameter(parameter, ret)) {
            http_answer_text(
                response, 400,
                "'%.*s': expected limit=1 to %d, or before=NUMBER; or, for one object, kind= and "
                "name=, with group= and namespace= unless they are empty",
                STR_ARG(parameter), LIMIT_EXPLAINED);
            return false;
        }
    }
    return true;
}

/* ---- found decisions ---- */

struct found {
    uint64_t number;
    struct str members;
};

struct found_decisions {
    struct found *items;
    uint32_t count, cap;
};

static bool find(struct ring *ring, const struct subject *subject, uint64_t before,
                 struct arena *arena, struct found_decisions *f) {
    struct ring_entry entry;
    if (!ring_find(ring, subject, before, &entry))
        return false;
    f->items = arena_push(arena, f->items, f->count, &f->cap, sizeof *f->items);
    if (f->items == NULL)
        return false; /* the arena has failed */
    f->items[f->count++] =
        (struct found){entry.number, arena_str(arena, (struct str){entry.text, entry.n})};
    return true;
}

static void find_all(struct ring *ring, const struct subject *subject, const struct question *q,
                     struct arena *arena, struct found_decisions *f) {
    uint64_t before = (uint64_t)q->before;
    while (f->count < q->limit && find(ring, subject, before, arena, f))
        before = f->items[f->count - 1].number;
}

static void put_found(struct json_writer *w, const struct found *found) {
    json_begin_object(w);
    json_key(w, STR("number"));
    json_put_integer(w, (int64_t)found->number);
    json_put_raw(w, found->members);
    json_end_object(w);
}

static void answer(const struct explain *e, const struct found_decisions *f, bool oldest_first,
                   const struct http_request *request, struct http_response *response) {
    struct json_writer w = {.out = &response->text};
    if (arena_failed(request->arena)) {
        http_answer_text(response, 503, "no memory for the answer");
        return;
    }
    struct ring_size size = ring_size(e->extender->decisions);
    json_begin_object(&w);
    explain_put_replica(&w, ages_now_ms(e->extender->cache));
    json_key(&w, STR("made"));
    json_put_integer(&w, (int64_t)size.added);
    json_key(&w, STR("kept"));
    json_put_integer(&w, size.added < size.capacity ? (int64_t)size.added : size.capacity);
    json_key(&w, STR("decisions"));
    json_begin_array(&w);
    for (uint32_t i = 0; i < f->count; i++)
        put_found(&w, &f->items[oldest_first ? f->count - 1 - i : i]);
    json_end_array(&w);
    json_end_object(&w);
    http_answer_json(response, 200);
}

static struct ring *ring_of(struct explain *e, const struct http_request *request,
                            struct http_response *response) {
    struct ring *ring = e->extender->decisions;
    if (!explain_access_check(e->access, request, response))
        return NULL;
    if (ring == NULL)
        http_answer_text(response, 404, "decisions are not recorded: explain.decisions is 0");
    return ring;
}

/* ---- one object ---- */

/*
 * An object that a controller makes gets its name after its admission: the API server puts five
 * characters behind generateName, of which it takes 58 at most. upstream: apiserver
 * pkg/storage/names/generate.go. So we take the last admission with that generateName before any
 * other decision about the object; a sibling's admission would read the same.
 */
static void find_admission(struct ring *ring, const struct subject *subject, struct arena *arena,
                           struct found_decisions *f) {
    enum { RANDOM_BYTES = 5 };
    uint64_t before = f->count > 0 ? f->items[f->count - 1].number : UINT64_MAX;
    struct subject nameless = *subject;
    if (subject->name.n <= RANDOM_BYTES)
        return;
    nameless.name.n -= RANDOM_BYTES;
    (void)find(ring, &nameless, before, arena, f); /* there may be no such admission */
}

static void answer_unknown(struct ring *ring, const struct subject *subject,
                           struct http_response *response) {
    CLEANUP(strbuf_done) struct strbuf name = {.max = LIMIT_OPS_BODY};
    struct ring_size size = ring_size(ring);
    subject_print(subject, &name);
    http_answer_text(response, 404,
                     "nothing is known of %.*s: this replica has made %llu decisions and keeps %u, "
                     "the last ones of every namespace",
                     STR_ARG(strbuf_str(&name)), (unsigned long long)size.added, size.capacity);
}

static void answer_subject(struct explain *e, struct ring *ring, const struct question *q,
                           const struct http_request *request, struct http_response *response) {
    struct found_decisions f = {0};
    find_all(ring, &q->subject, q, request->arena, &f);
    if (f.count < q->limit)
        find_admission(ring, &q->subject, request->arena, &f);
    if (f.count == 0 && !arena_failed(request->arena))
        answer_unknown(ring, &q->subject, response);
    else
        answer(e, &f, true, request, response);
}

/* ---- the endpoints ---- */

void explain_decisions(void *ctx, const struct http_request *request,
                       struct http_response *response) {
    struct ring *ring = ring_of(ctx, request, response);
    struct found_decisions f = {0};
    struct question q;
    if (ring == NULL || !read_question(request->query, &q, response))
        return;
    if (q.limit == 0)
        q.limit = q.has_subject ? OF_A_SUBJECT : RECENT;
    if (!q.has_subject) {
        find_all(ring, NULL, &q, request->arena, &f);
        answer(ctx, &f, false, request, response);
    } else if (str_empty(q.subject.kind) || str_empty(q.subject.name)) {
        http_answer_text(response, 400, "which object? expected kind= and name=");
    } else {
        answer_subject(ctx, ring, &q, request, response);
    }
}

bool explain_split_path(struct str path, struct str before, struct str *ret_namespace,
                        struct str *ret_name) {
    struct str rest = {path.p + before.n, path.n - before.n};
    size_t slash = str_find(rest, '/');
    if (slash == SIZE_MAX)
        return false;
    *ret_namespace = (struct str){rest.p, slash};
    *ret_name = (struct str){rest.p + slash + 1, rest.n - slash - 1};
    return ret_namespace->n > 0 && ret_name->n > 0 && str_find(*ret_name, '/') == SIZE_MAX;
}

void explain_pod(void *ctx, const struct http_request *request, struct http_response *response) {
    struct ring *ring = ring_of(ctx, request, response);
    struct str namespace, name;
    struct question q;
    if (ring == NULL || !read_question(request->query, &q, response))
        return;
    if (q.has_subject) {
        http_answer_text(response, 400, "the path names the object already");
        return;
    }
    if (!explain_split_path(request->path, STR("/explain/pods/"), &namespace, &name)) {
        http_answer_text(response, 404, "expected /explain/pods/NAMESPACE/NAME");
        return;
    }
    q.subject = subject_pod(namespace, name);
    q.limit = q.limit == 0 ? OF_A_SUBJECT : q.limit;
    answer_subject(ctx, ring, &q, request, response);
}
