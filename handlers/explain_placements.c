/*
 * GET /explain/placements/NAMESPACE/NAME: the decision about a Placement of the hub, made anew from
 * the present state (explain/placement.h), after these members:
 *
 *     "replica"  the answering replica
 *     "planner"  the Placement's state in the process that decides it (hub/placement_history.h):
 *                {"leads":true,"mode":"Owner","result":"Decided","kept":null,"movesWaiting":3,
 *                "waitsFor":"settleAfter","waitSeconds":7,"lookedAt":"..."}; {"leads":false}: this
 *                replica does not lead, so it has no history; null: it decides none
 *     "history"  the last moves, the oldest first: {"time","reason","result","add":[],"remove":[]},
 *                with "omitted":{"add":12} if names were too long to be kept. "reason" null:
 *                nothing moved, the result changed
 *     "historyForgotten" number of older moves that are not kept
 *
 * ?limit=N: at most N items of each list of the decision.
 */
#include "base/json_writer.h"
#include "base/time.h"
#include "explain/replica.h"
#include "handlers/explain.h"

#include <errno.h>

/* ---- the question ---- */

static bool read_limit(struct str query, uint32_t *ret, struct http_response *response) {
    const struct str before = STR("limit=");
    int64_t limit = 0;
    *ret = 0;
    if (query.n == 0)
        return true;
    if (str_has_prefix(query, before) &&
        str_to_i64((struct str){query.p + before.n, query.n - before.n}, &limit) && limit > 0 &&
        limit <= LIMIT_LINE_CLUSTERS) {
        *ret = (uint32_t)limit;
        return true;
    }
    http_answer_text(response, 400, "'%.*s': expected limit=1 to %d", STR_ARG(query),
                     LIMIT_LINE_CLUSTERS);
    return false;
}

/* ---- the planner ---- */

static void put_time(struct json_writer *w, struct str key, int64_t wall_ms) {
    char text[KUBE_TIME_SIZE];
    kube_time_text(wall_ms * 1000, text);
    json_put_member(w, key, str_of(text));
}

static void put_word(struct json_writer *w, struct str key, const char *word) {
    json_key(w, key);
    if (word != NULL)
        json_put_string(w, str_of(word));
    else
        json_put_null(w);
}

/* Writes the remaining time of a wait. */
static void put_wait(struct json_writer *w, const struct placement_standing *s, int64_t now_ms) {
    const int64_t since_ms = now_ms > s->wall_ms ? now_ms - s->wall_ms : 0;
    json_key(w, STR("waitSeconds"));
    if (s->waiting == 0 || s->wait_ms == INT64_MAX)
        json_put_null(w);
    else
        json_put_integer(w, s->wait_ms > since_ms ? (s->wait_ms - since_ms + 999) / 1000 : 0);
}

static void put_standing(struct json_writer *w, const struct placement_standing *s,
                         int64_t now_ms) {
    json_put_member(w, STR("mode"), str_of(s->mode));
    put_word(w, STR("result"), s->result[0] != '\0' ? s->result : NULL);
    put_word(w, STR("kept"), s->kept);
    json_key(w, STR("movesWaiting"));
    json_put_integer(w, s->waiting);
    put_word(w, STR("waitsFor"), s->waits);
    put_wait(w, s, now_ms);
    put_time(w, STR("lookedAt"), s->wall_ms);
}

static void put_planner(struct json_writer *w, const struct placement_told *told, int64_t now_ms) {
    json_key(w, STR("planner"));
    if (told == NULL) {
        json_put_null(w);
        return;
    }
    json_begin_object(w);
    json_key(w, STR("leads"));
    json_put_bool(w, told->leads);
    if (told->is_seen)
        put_standing(w, &told->standing, now_ms);
    json_end_object(w);
}

static void put_names(struct json_writer *w, struct str key, const struct str *names,
                      uint32_t count) {
    json_key(w, key);
    json_begin_array(w);
    for (uint32_t i = 0; i < count; i++)
        json_put_string(w, names[i]);
    json_end_array(w);
}

static void put_omitted(struct json_writer *w, const struct placement_move *move) {
    const struct {
        struct str key;
        uint32_t count;
    } sides[] = {{STR("add"), move->added_more}, {STR("remove"), move->removed_more}};
    if (move->added_more == 0 && move->removed_more == 0)
        return;
    json_key(w, STR("omitted"));
    json_begin_object(w);
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++)
        if (sides[i].count > 0) {
            json_key(w, sides[i].key);
            json_put_integer(w, sides[i].count);
        }
    json_end_object(w);
}

static void put_history(struct json_writer *w, const struct placement_told *told) {
    json_key(w, STR("history"));
    json_begin_array(w);
    for (uint32_t i = 0; told != NULL && i < told->move_count; i++) {
        const struct placement_move *move = &told->moves[i];
        json_begin_object(w);
        put_time(w, STR("time"), move->wall_ms);
        put_word(w, STR("reason"), move->reason);
        put_word(w, STR("result"), move->result);
        put_names(w, STR("add"), move->added, move->added_count);
        put_names(w, STR("remove"), move->removed, move->removed_count);
        put_omitted(w, move);
        json_end_object(w);
    }
    json_end_array(w);
    json_key(w, STR("historyForgotten"));
    json_put_integer(w, told != NULL ? (int64_t)told->forgotten : 0);
}

/* ---- the answer ---- */

static void refuse(struct http_response *response, int r, const struct err *err) {
    const bool busy = r == -ENOMEM || r == -E2BIG;
    strbuf_clear(&response->text);
    response->retry_after_s = busy ? 1 : 0;
    http_answer_text(response, r == -ENOENT ? 404 : busy ? 503 : 500, "%s", err->text);
}

static void answer(const struct explain *e, struct str namespace, struct str name, uint32_t limit,
                   const struct http_request *request, struct http_response *response) {
    CLEANUP(strbuf_done) struct strbuf decided = {.max = response->text.max};
    struct json_writer w = {.out = &response->text};
    struct placement_told told;
    struct err err = {0};
    const int64_t now_ms = kube_wall_us() / 1000;
    request->arena->steps.max = LIMIT_CLUSTERS_STEPS;
    int r = clusters_ask_by_name(&e->clusters->known, namespace, name, limit, now_ms,
                                 request->arena, &decided, &err);
    if (r == 0 && e->history != NULL)
        r = placement_history_read(e->history, namespace, name, request->arena, &told);
    if (r == 0 && strbuf_failed(&decided))
        r = -ENOMEM;
    if (r != 0) {
        if (err.text[0] == '\0')
            (void)err_set(&err, r, "no memory for the answer"); /* refuse() uses r */
        refuse(response, r, &err);
        return;
    }
    json_begin_object(&w);
    explain_put_replica(&w, -1);
    put_planner(&w, e->history != NULL ? &told : NULL, now_ms);
    put_history(&w, e->history != NULL ? &told : NULL);
    json_put_raw(&w, (struct str){decided.p + 1, decided.n - 2}); /* without its braces */
    json_end_object(&w);
    http_answer_json(response, 200);
}

void explain_placement(void *ctx, const struct http_request *request,
                       struct http_response *response) {
    const struct explain *e = ctx;
    struct str namespace, name;
    uint32_t limit;
    if (!explain_access_check(e->access, request, response) ||
        !read_limit(request->query, &limit, response))
        return;
    if (!explain_split_path(request->path, STR("/explain/placements/"), &namespace, &name)) {
        http_answer_text(response, 404, "expected /explain/placements/NAMESPACE/NAME");
    } else if (e->clusters == NULL || e->clusters->known.fleet == NULL) {
        http_answer_text(response, 404,
                         "no fleet is known here: set fleet.clusters (--fleet-clusters)");
    } else if (!e->clusters->is_ready(e->clusters->ctx)) {
        response->retry_after_s = 1;
        http_answer_text(response, 503, "%s", EXTENDER_NOT_READY);
    } else {
        answer(e, namespace, name, limit, request, response);
    }
}
