#include "cli/explain_placement.h"

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "cli/answer.h"
#include "model/kinds.h"

#include <errno.h>

bool explained_is_placement(const struct subject *subject) {
    const struct watched_kind *row = &watched_kinds[KIND_PLACEMENT];
    return str_eq(subject->group, str_of(row->group)) && str_eq(subject->kind, str_of(row->kind));
}

/* ---- choosing ---- */

int explained_placement_consider(struct explained_placement *best, const char *server,
                                 struct str document, struct err *err) {
    CLEANUP(arena_done) struct arena arena;
    struct answer a;
    arena_init(&arena, LIMIT_ANSWER_BYTES);
    int r = answer_read(&a, document, &arena, err);
    if (r != 0 || !value_holds(value_at(a.root, "placement")))
        return r;
    const bool leads = value_holds(value_as(a.root, "planner.leads", JSON_BOOL));
    r = a.error.code != 0 ? err_set(err, a.error.code, "%s", a.error.text) : 0;
    if (r != 0)
        return r;
    if (best->object.n == 0 || (leads && !best->leads))
        *best = (struct explained_placement){.object = document, .server = server, .leads = leads};
    return 0;
}

/* ---- asking ---- */

static const char *why_not(const struct replica *r, struct arena *arena) {
    const struct str said = str_trim(strbuf_str(&r->body));
    if (r->status == 0)
        return arena_cstr(arena, arena_printf(arena, "%s: %s", r->server, r->error.text));
    return arena_cstr(arena, said.n > 0 ? said : STR("no answer"));
}

static int consider_all(const struct replicas *all, struct arena *arena,
                        struct explained_placement *ret, struct err *err) {
    const struct replica *worst = NULL;
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < all->count; i++) {
        const struct replica *item = &all->items[i];
        const char *server = arena_cstr(arena, str_of(item->server));
        const struct str text = arena_str(arena, strbuf_str(&item->body));
        if (server == NULL || arena_failed(arena))
            return err_set(err, -ENOMEM, "no memory for the answers");
        if (item->status == 200)
            r = explained_placement_consider(ret, server, text, err);
        else if (worst == NULL || item->status > worst->status)
            worst = item;
    }
    if (r == 0 && ret->object.n == 0 && worst != NULL)
        ret->why = why_not(worst, arena);
    return r;
}

int explained_placement_ask(const char *const *servers, uint32_t count, const char *token_file,
                            const struct subject *subject, struct arena *arena,
                            struct explained_placement *ret, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf path = {.max = 4096};
    struct replicas all;
    *ret = (struct explained_placement){.why = "no answer"};
    strbuf_appendf(&path, "/explain/placements/%.*s/%.*s", STR_ARG(subject->namespace),
                   STR_ARG(subject->name));
    strbuf_append_char(&path, '\0');
    const struct replica_question question = {
        .method = "GET", .path = path.p, .token_file = token_file};
    int r = replicas_open(&all, servers, count, arena, err);
    if (r == 0 && strbuf_failed(&path))
        r = err_set(err, -ENOMEM, "no memory for the request");
    if (r == 0) {
        replicas_ask(&all, 0, all.count, &question);
        r = consider_all(&all, arena, ret, err);
    }
    replicas_done(&all);
    return r;
}

/* ---- one document ---- */

/* Is this a member of the document around the Placement's object, not of the object itself? */
static bool is_of_document(struct str key) {
    static const struct str members[] = {{"replicas", 8},    {"decisions", 9}, {"now", 3},
                                         {"answeredBy", 10}, {"podFrom", 7},   {"podNotRead", 10}};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (str_eq(key, members[i]))
            return true;
    return false;
}

/* Puts the members that belong to the document (with `of_document`), or the other members. */
static int put_members(struct str object, bool of_document, struct arena *arena,
                       struct json_writer *w, struct err *err) {
    struct json_reader r;
    struct str key;
    json_reader_init(&r, object, arena, "Explanation");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            const struct str value = json_skip(&r);
            if (is_of_document(key) != of_document)
                continue;
            json_key(w, key);
            json_put_raw(w, value);
        }
    return json_finish(&r, err);
}

int explained_placement_merge(const struct explained_placement *p, struct str decisions,
                              struct arena *arena, struct strbuf *out, struct err *err) {
    struct json_writer w = {.out = out};
    const bool has_object = p->object.n > 0;
    json_begin_object(&w);
    int r = put_members(has_object ? p->object : decisions, false, arena, &w, err);
    json_key(&w, has_object ? STR("answeredBy") : STR("placementNotAnswered"));
    json_put_text(&w, str_of(has_object ? p->server : p->why));
    if (r == 0)
        r = put_members(decisions, true, arena, &w, err);
    json_end_object(&w);
    return r == 0 && strbuf_failed(out) ? err_set(err, -ENOMEM, "no memory for the answer") : r;
}
