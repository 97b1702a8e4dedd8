/*
 * GET /topology?by=KEY: the latest report by one topology key (evenness/render.h), the worst
 * workloads first. ?namespace= and ?name= choose workloads; ?limit=N limits their number in one
 * answer; ?continue=TEXT, with the text from the last answer, goes on where that answer ended.
 * Requests do not start a new report: the latest report is some seconds old.
 */
#include "handlers/topology.h"

#include "base/limits.h"
#include "evenness/render.h"
#include "model/topology.h"

#include <stdio.h>

enum {
    PAGE = 500,
    NONE = -1,
    OLD_MS = 120000, /* API servers report each kind about once a minute */
};

struct question {
    struct str by, namespace, name;
    int64_t limit;
    struct str from; /* ?continue= */
};

/* ---- the query ---- */

static int hex(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : NONE;
}

/* Returns the text percent-decoded, in the arena; a '%' without two hex digits stays. */
static struct str decoded(struct str text, struct arena *arena) {
    char *to = arena_alloc(arena, text.n + 1);
    size_t n = 0;
    if (to == NULL)
        return text;
    for (size_t i = 0; i < text.n; i++) {
        bool escaped = text.p[i] == '%' && i + 2 < text.n && hex(text.p[i + 1]) != NONE &&
                       hex(text.p[i + 2]) != NONE;
        to[n++] = escaped ? (char)(hex(text.p[i + 1]) * 16 + hex(text.p[i + 2])) : text.p[i];
        i += escaped ? 2 : 0;
    }
    return (struct str){to, n};
}

static bool read_parameter(struct str parameter, struct arena *arena, struct question *q) {
    size_t equals = str_find(parameter, '=');
    if (equals == SIZE_MAX)
        return false;
    struct str key = {parameter.p, equals};
    struct str value =
        decoded((struct str){parameter.p + equals + 1, parameter.n - equals - 1}, arena);
    struct str *part = str_eq(key, STR("by"))          ? &q->by
                       : str_eq(key, STR("namespace")) ? &q->namespace
                       : str_eq(key, STR("name"))      ? &q->name
                       : str_eq(key, STR("continue"))  ? &q->from
                                                       : NULL;
    if (part != NULL)
        *part = value;
    return part != NULL || (str_eq(key, STR("limit")) && str_to_i64(value, &q->limit) &&
                            q->limit >= 1 && q->limit <= LIMIT_EVENNESS_PAGE);
}

static bool read_question(const struct http_request *request, struct question *ret,
                          struct http_response *response) {
    struct str query = request->query;
    *ret = (struct question){.limit = PAGE};
    while (query.n > 0) {
        size_t end = str_find(query, '&');
        struct str parameter = {query.p, end == SIZE_MAX ? query.n : end};
        size_t used = parameter.n + (end != SIZE_MAX);
        query = (struct str){query.p + used, query.n - used};
        if (!read_parameter(parameter, request->arena, ret)) {
            http_answer_text(response, 400,
                             "'%.*s': expected by=KEY, namespace=, name=, limit=1 to %d, or "
                             "continue= of the answer before",
                             STR_ARG(parameter), LIMIT_EVENNESS_PAGE);
            return false;
        }
    }
    return true;
}

/* ---- choosing the topology key ---- */

static uint32_t key_named(const struct evenness_report *r, struct str name) {
    for (uint32_t k = 0; k < r->key_count; k++)
        if (str_eq(r->keys[k].name, name))
            return k;
    return UINT32_MAX;
}

/* Finds the topology key with the name `by`. Without a name it chooses the zone, or the first key
 * if there is no zone. */
static bool find_key(const struct evenness_report *r, struct str by, uint32_t *ret,
                     struct http_response *response) {
    *ret = key_named(r, by.n > 0 ? by : TOPOLOGY_KEY_ZONE);
    if (*ret == UINT32_MAX && by.n == 0 && r->key_count > 0)
        *ret = 0;
    if (*ret != UINT32_MAX)
        return true;
    if (r->key_count == 0) { /* for example at a hub without nodes */
        http_answer_text(response, 404,
                         "nothing is measured: no node with a zone, region or hostname label is "
                         "known, and no policy has another key");
        return false;
    }
    CLEANUP(strbuf_done) struct strbuf names = {.max = 4096};
    for (uint32_t k = 0; k < r->key_count; k++)
        strbuf_appendf(&names, "%s%.*s", k > 0 ? ", " : "", STR_ARG(r->keys[k].name));
    http_answer_text(response, 404,
                     "nothing is measured by '%.*s'; the measured keys are the zone, region and "
                     "hostname labels that nodes have, and the keys of policies: %.*s",
                     STR_ARG(by), STR_ARG(strbuf_str(&names)));
    return false;
}

/* ---- choosing workloads ---- */

/* Reads `continue`, "REPORT-POSITION". Fails if the text is from another report: the position may
 * be another workload's in this report. */
static bool read_from(const struct question *q, const char *report, uint32_t *ret,
                      struct http_response *response) {
    int64_t position = 0;
    size_t dash = str_find(q->from, '-');
    *ret = 0;
    if (q->from.n == 0)
        return true;
    struct str number = {q->from.p, dash == SIZE_MAX ? 0 : dash};
    if (dash == SIZE_MAX ||
        !str_to_i64((struct str){q->from.p + dash + 1, q->from.n - dash - 1}, &position) ||
        position < 0 || position > UINT32_MAX) {
        http_answer_text(response, 400, "continue: the value is not from an answer");
        return false;
    }
    *ret = (uint32_t)position;
    if (str_eq(number, str_of(report)))
        return true;
    http_answer_text(response, 410, "there is a new report by now: begin again");
    return false;
}

static bool wants(const struct question *q, const struct evenness_workload *w) {
    return (q->namespace.n == 0 || str_eq(q->namespace, w->namespace)) &&
           (q->name.n == 0 || str_eq(q->name, w->name));
}

/* Fills the page with workloads from this position on. They are sorted by the key, the worst
 * first. */
static bool fill_page(const struct question *q, const struct evenness_report *r, uint32_t from,
                      struct arena *arena, struct evenness_page *page, uint32_t *ret_next) {
    const struct evenness_key *key = &r->keys[page->key];
    uint32_t *numbers = arena_array(arena, (size_t)q->limit, sizeof *numbers);
    page->numbers = numbers;
    *ret_next = UINT32_MAX;
    for (uint32_t i = from; numbers != NULL && i < r->workload_count; i++) {
        if (!wants(q, &r->workloads[key->worst[i]]))
            continue;
        if (page->count == q->limit) {
            *ret_next = i;
            break;
        }
        numbers[page->count++] = key->worst[i];
    }
    return numbers != NULL;
}

static bool is_known_already(const struct http_request *request, const char *etag) {
    struct str seen =
        request->transport != NULL ? http_request_header(request, "If-None-Match") : STR("");
    return str_eq(seen, str_of(etag)) || str_eq(seen, STR("*"));
}

static void answer(const struct question *q, const struct evenness_report *r, const char *number,
                   int64_t data_age_ms, const struct http_request *request,
                   struct http_response *response) {
    struct evenness_page page = {.data_age_ms = data_age_ms};
    uint32_t from, next;
    char more[64];
    if (!find_key(r, q->by, &page.key, response) || !read_from(q, number, &from, response))
        return;
    if (is_known_already(request, response->etag)) {
        response->status = 304;
        return;
    }
    if (!fill_page(q, r, from, request->arena, &page, &next)) {
        http_answer_text(response, 503, "no memory for the answer");
        return;
    }
    if (next != UINT32_MAX) {
        (void)snprintf(more, sizeof more, "%s-%u", number, next); /* short enough */
        page.more = str_of(more);
    }
    evenness_render(r, &page, &response->text);
    http_answer_json(response, 200);
}

void topology_report(void *ctx, const struct http_request *request,
                     struct http_response *response) {
    const struct topology_door *door = ctx;
    struct question q;
    char number[40];
    if (!explain_access_check(door->access, request, response) ||
        !read_question(request, &q, response))
        return;
    if (door->latest == NULL) {
        http_answer_text(response, 404,
                         "no workloads are known: neither extender nor webhook listens");
        return;
    }
    struct evenness_held *held = evenness_latest_hold(door->latest);
    if (held == NULL) {
        response->retry_after_s = 1;
        http_answer_text(response, 503, "nothing has been measured yet");
        return;
    }
    (void)snprintf(number, sizeof number, "%llx.%llx", (unsigned long long)door->nonce,
                   (unsigned long long)held->number); /* short enough */
    const int64_t age_ms = door->cache != NULL ? cache_age_ms(door->cache) : 0;
    enum { ETAG = 80 };
    char *etag = arena_alloc(request->arena, ETAG);
    if (etag != NULL && age_ms < OLD_MS)
        (void)snprintf(etag, ETAG, "\"%s\"", number); /* short enough, as below */
    else if (etag != NULL) /* old data changes the answer, even if the report is the same */
        (void)snprintf(etag, ETAG, "\"%s-%lld\"", number, (long long)(age_ms / OLD_MS));
    response->etag = etag;
    if (etag == NULL)
        http_answer_text(response, 503, "no memory for the answer");
    else
        answer(&q, held->report, number, age_ms, request, response);
    evenness_latest_release(door->latest, held);
}
