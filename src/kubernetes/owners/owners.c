/*
 * A selector needs one or two GETs: for the kind's plural and scale subresource, and for the
 * controller's scale. A chain needs up to OWNER_CHAIN_READS GETs, one for each object. They end on
 * the client's thread, which only keeps the bytes. The request is resumed on the thread of its
 * connection, which decodes them.
 *
 * A look-up has one owner at a time: the handler, then the client's thread until the GET has ended,
 * then the continuation of the request.
 */
#include "owners/owners.h"

#include "base/json_fields.h"
#include "base/limits.h"
#include "base/metrics.h"
#include "kube/client/lookup_places.h"
#include "kube/client/path.h"
#include "model/kinds.h"
#include "model/names.h"
#include "owners/chain.h"
#include "owners/memory.h"

#include <errno.h>
#include <stdlib.h>

enum {
    REMEMBERED_MS = 600000, /* how long a fact is remembered: selectors of controllers hardly ever
                               change */
    IN_VAIN_MS = 30000,     /* how long a missing fact is remembered: it may soon exist or be
                               readable */
};

struct owner_lookup {
    struct owner_question question;
    void *ctx;            /* a copy of the question's ctx, in the arena */
    struct owner_ref ref; /* its strings are copies in the arena, too */
    struct owner_ref at;  /* for a chain: the object that is read now */
    unsigned reads;       /* for a chain: the number of reads */
    struct arena arena;   /* for copies of the wanted names and of ctx, and for answers */
    struct http_deferral *deferral;
    struct kube_request request;
    int64_t until_ms;
    uint32_t place; /* from lookup_place_take() */
    enum owner_what asks;
    struct str body;
    bool failed; /* reading failed: the object may exist or not */
};

/* ---- metrics ---- */

enum { READ_FOUND, READ_NONE, READ_FAILED, READ_SKIPPED, READ_RESULTS };

static struct metric results[READ_RESULTS] = {
#define RESULT(which, word)                                                                        \
    [which] = {.name = "evenkeel_owner_reads_total",                                               \
               .help = "Controllers of new pods that were read, by result.",                       \
               .labels = "result=\"" word "\"",                                                    \
               .kind = METRIC_COUNTER}
    RESULT(READ_FOUND, "found"),
    RESULT(READ_NONE, "none"),
    RESULT(READ_FAILED, "failed"),
    RESULT(READ_SKIPPED, "skipped"),
};

void owners_metrics(void (*what)(struct metric *)) {
    for (size_t i = 0; i < READ_RESULTS; i++)
        what(&results[i]);
}

/* ---- the wanted fact ---- */

bool owner_is_custom(const struct owner_ref *ref) {
    return str_find(api_group(ref->api), '.') != SIZE_MAX && !str_empty(ref->kind) &&
           !str_empty(ref->name) && !str_empty(ref->namespace);
}

static struct str version_of(struct str api) {
    size_t slash = str_find(api, '/');
    return (struct str){api.p + slash + 1, api.n - slash - 1}; /* a custom kind has a group */
}

/* Can these names be parts of a path? Users who create pods write them. */
static bool is_readable(const struct owner_wanted *wanted) {
    const struct owner_ref *ref = &wanted->ref;
    if (wanted->unit)
        return owner_chain_has(ref);
    return kube_path_segment(api_group(ref->api)) && kube_path_segment(version_of(ref->api)) &&
           kube_path_segment(ref->namespace) && kube_path_segment(ref->name);
}

static int64_t now_ms(void) {
    return clock_real()->now_ms(clock_real());
}

static void on_done(void *ctx, const struct kube_result *result);

/* Prepares a GET; only the GET of a selector needs `plural`. */
static bool prepare(struct owner_lookup *l, enum owner_what asks, struct str plural) {
    struct strbuf path = {.max = 2048};
    int64_t left_ms = l->until_ms - now_ms();
    bool good = asks != OWNER_UNIT || owner_chain_path(&l->at, &path);
    if (asks != OWNER_UNIT)
        strbuf_appendf(&path, "/apis/%.*s", STR_ARG(l->ref.api));
    if (asks == OWNER_SELECTOR)
        strbuf_appendf(&path, "/namespaces/%.*s/%.*s/%.*s/scale", STR_ARG(l->ref.namespace),
                       STR_ARG(plural), STR_ARG(l->ref.name));
    l->asks = asks;
    l->body = (struct str){0};
    l->failed = false;
    l->request = (struct kube_request){
        .method = "GET",
        .path = strbuf_failed(&path) ? NULL : arena_cstr(&l->arena, strbuf_str(&path)),
        .timeout_ms = left_ms,
        .max_body = LIMIT_OWNER_BODY,
        .on_done = on_done,
        .ctx = l};
    strbuf_done(&path);
    return good && left_ms > 0 && l->request.path != NULL && !arena_failed(&l->arena);
}

/* ---- life ---- */

static void lookup_free(struct owner_lookup *l) {
    arena_done(&l->arena);
    lookup_place_release(l->place);
    free(l);
}

static void drop(void *ctx) {
    lookup_free(ctx);
}

static struct owner_lookup *lookup_new(const struct owner_question *question,
                                       const struct owner_wanted *wanted) {
    const struct owner_ref *ref = &wanted->ref;
    uint32_t place = lookup_place_take(ref->namespace);
    if (place == LOOKUP_PLACES) {
        metric_add(&results[READ_SKIPPED], 1);
        return NULL;
    }
    struct owner_lookup *l = calloc(1, sizeof *l);
    if (l == NULL) {
        lookup_place_release(place);
        return NULL;
    }
    l->place = place;
    l->question = *question;
    l->until_ms = now_ms() + question->read_ms;
    arena_init(&l->arena, (uint64_t)OWNER_CHAIN_READS * LIMIT_OWNER_BODY + question->ctx_size +
                              LIMIT_OWNER_TEXT);
    l->ref =
        (struct owner_ref){arena_str(&l->arena, ref->namespace), arena_str(&l->arena, ref->api),
                           arena_str(&l->arena, ref->kind), arena_str(&l->arena, ref->name)};
    l->at = l->ref;
    l->ctx = arena_alloc(&l->arena, question->ctx_size);
    if (arena_failed(&l->arena)) {
        lookup_free(l);
        return NULL;
    }
    memcpy(l->ctx, question->ctx, question->ctx_size);
    return l;
}

/* ---- the answers ---- */

struct resource {
    struct str name, kind;
};

static const struct json_field name_and_kind[] = {JSON_TEXT("name", struct resource, name),
                                                  JSON_TEXT("kind", struct resource, kind)};

/* Searches the elements of an array. */
static bool find_among(struct json_reader *r, struct str kind, struct str name,
                       struct str *ret_name) {
    bool found = false;
    while (json_element(r)) {
        struct resource resource = {{0}, {0}};
        json_fields(r, &JSON_ROWS(name_and_kind), &resource);
        bool is_it = str_empty(name)
                         ? str_eq(resource.kind, kind) && str_find(resource.name, '/') == SIZE_MAX
                         : str_eq(resource.name, name);
        if (is_it && !found)
            *ret_name = resource.name;
        found |= is_it;
    }
    return found;
}

/* Finds a resource of this kind ("widgets"), or a subresource with this name ("widgets/scale"). */
static bool find_resource(struct str list, struct str kind, struct str name, struct arena *arena,
                          struct str *ret_name) {
    struct json_reader r;
    struct str key;
    bool found = false;
    json_reader_init(&r, list, arena, RESOURCE_LIST_KIND);
    if (!json_object(&r))
        return false;
    while (json_member(&r, &key)) {
        if (str_eq(key, STR("resources")) && json_array(&r))
            found |= find_among(&r, kind, name, ret_name);
    }
    return json_finish(&r, NULL) == 0 && found;
}

/* Returns the kind's plural if the kind has a scale subresource; otherwise "". */
static struct str read_plural(struct owner_lookup *l) {
    struct str plural = {0}, scale;
    struct strbuf name = {.max = 512};
    bool found = find_resource(l->body, l->ref.kind, STR(""), &l->arena, &plural) &&
                 kube_path_segment(plural);
    if (found) {
        strbuf_appendf(&name, "%.*s/scale", STR_ARG(plural));
        found = !strbuf_failed(&name) &&
                find_resource(l->body, l->ref.kind, strbuf_str(&name), &l->arena, &scale);
    }
    strbuf_done(&name);
    return found ? plural : STR("");
}

/* Returns status.selector of a Scale; "" if it has none. */
static struct str read_selector(struct owner_lookup *l) {
    static const struct json_field field[] = {JSON_TEXT_ALONE("selector")};
    struct json_reader r;
    struct str key, selector = {0};
    json_reader_init(&r, l->body, &l->arena, "Scale");
    bool is_object = json_object(&r);
    while (is_object && json_member(&r, &key))
        if (str_eq(key, STR("status")))
            json_fields(&r, &JSON_ROWS(field), &selector);
    bool good = json_finish(&r, NULL) == 0 && selector.n <= LIMIT_OWNER_TEXT;
    return good ? selector : STR("");
}

/* Remembers the fact that was read, and returns it. */
static struct str keep(struct owner_lookup *l) {
    struct str text = STR("");
    if (l->body.n > 0)
        text = l->asks == OWNER_KIND ? read_plural(l) : read_selector(l);
    bool in_vain = str_empty(text) && (l->asks == OWNER_SELECTOR || l->failed);
    /* Remember the failure for this owner only: the kind may be readable for others. */
    if (l->asks == OWNER_KIND && l->failed)
        owners_remember(l->question.owners, OWNER_SELECTOR, &l->ref, text, IN_VAIN_MS);
    else
        owners_remember(l->question.owners, l->asks, &l->ref, text,
                        in_vain ? IN_VAIN_MS : REMEMBERED_MS);
    return text;
}

/* Takes the object that was read. Returns false if the next object of the chain must be read;
 * otherwise remembers the result. */
static bool keep_link(struct owner_lookup *l, struct str *ret_group) {
    struct owner_ref next;
    *ret_group = STR("");
    if (l->failed) {
        *ret_group = OWNER_UNREAD;
    } else if (l->body.n > 0 && owner_chain_ends(&l->at)) {
        *ret_group = api_group(l->at.api);
    } else if (l->body.n > 0 && l->reads < OWNER_CHAIN_READS &&
               owner_chain_next(l->body, &l->at, &l->arena, &next) && owner_chain_has(&next)) {
        l->at = next;
        return false;
    }
    owners_remember(l->question.owners, OWNER_UNIT, &l->ref, *ret_group, IN_VAIN_MS);
    return true;
}

/* ---- the steps of a look-up, one after the other ---- */

static void finish(struct owner_lookup *l, struct str found, const struct http_request *request,
                   struct http_response *response) {
    int result = str_empty(found) ? READ_NONE : READ_FOUND;
    metric_add(&results[l->failed ? READ_FAILED : result], 1);
    l->question.then(l->ctx, request, response);
    lookup_free(l);
}

/* Begins the next GET. Returns false if there is no time or no memory, or the listener stops. */
static bool read_next(struct owner_lookup *l, enum owner_what asks, struct str plural,
                      const struct http_request *request) {
    l->deferral = prepare(l, asks, plural) ? http_defer(request) : NULL;
    if (l->deferral == NULL)
        return false;
    l->reads++;
    kube_request_start(l->question.client, &l->request); /* `l` may be freed after this */
    return true;
}

/* Goes on with the request: a handler, which runs on the connection's thread. */
static void go_on(void *ctx, const struct http_request *request, struct http_response *response) {
    struct owner_lookup *l = ctx;
    struct str found;
    if (l->asks == OWNER_UNIT) {
        bool done = keep_link(l, &found);
        if (!done && read_next(l, OWNER_UNIT, STR(""), request))
            return;
        l->failed = l->failed || !done;
        finish(l, found, request, response);
        return;
    }
    found = keep(l);
    bool was_kind = l->asks == OWNER_KIND;
    if (was_kind && !str_empty(found) && read_next(l, OWNER_SELECTOR, found, request))
        return;
    finish(l, was_kind ? STR("") : found, request, response);
}

static void on_done(void *ctx, const struct kube_result *result) {
    struct owner_lookup *l = ctx;
    const struct http_continuation next = {go_on, drop, l};
    if (result->error == 0 && result->status == 200)
        l->body = arena_str(&l->arena, result->body);
    l->failed = l->body.n == 0 && (result->error != 0 || result->status != 404);
    http_deferral_resume(l->deferral, &next);
}

bool owners_read(const struct owner_question *question, const struct http_request *request,
                 const struct owner_wanted *wanted) {
    struct owner_lookup *l = is_readable(wanted) ? lookup_new(question, wanted) : NULL;
    struct str plural = {0};
    if (l == NULL)
        return false;
    enum owner_what asks = OWNER_UNIT;
    if (!wanted->unit)
        asks = owners_recall(question->owners, OWNER_KIND, &wanted->ref, &l->arena, &plural)
                   ? OWNER_SELECTOR
                   : OWNER_KIND;
    if (read_next(l, asks, plural, request))
        return true;
    lookup_free(l);
    return false;
}
