#include "cli/merged.h"

#include "base/json_fields.h"
#include "base/json_writer.h"
#include "cli/own_admission.h"

#include <errno.h>
#include <stdlib.h>

struct item {
    struct str json, time;
    uint32_t replica, at; /* the replica's index, and the decision's index in its answer */
};

struct part {
    struct str replica, decisions, made, kept;
};

struct merger {
    const struct merging *m;
    struct arena *arena;
    struct part *parts; /* [replicas] */
    struct item *items;
    uint32_t count, cap;
    uint32_t admissions, of_siblings; /* admissions, and those of siblings, which are left out */
};

/* ---- reading ---- */

static int read_part(struct str json, struct arena *arena, struct part *ret, struct err *err) {
    static const struct json_field fields[] = {
        JSON_RAW("replica", struct part, replica),
        JSON_RAW("decisions", struct part, decisions),
        JSON_RAW("made", struct part, made),
        JSON_RAW("kept", struct part, kept),
    };
    struct json_reader r;
    json_reader_init(&r, json, arena, "Explanation");
    if (json_peek(&r) != JSON_OBJECT)
        json_fail(&r, "expected an object");
    json_fields(&r, &JSON_ROWS(fields), ret);
    return json_finish(&r, err);
}

static int read_decisions(struct merger *g, uint32_t replica, struct err *err) {
    struct json_reader r;
    uint32_t at = 0;
    if (str_empty(g->parts[replica].decisions))
        return 0;
    json_reader_init(&r, g->parts[replica].decisions, g->arena, "Explanation.decisions");
    if (json_array(&r))
        while (json_element(&r)) {
            g->items = arena_push(g->arena, g->items, g->count, &g->cap, sizeof *g->items);
            if (g->items == NULL)
                return err_set(err, -ENOMEM, "no memory for the decisions");
            struct item *item = &g->items[g->count++];
            *item = (struct item){.replica = replica, .at = at};
            at++;
            item->time = json_peek_member(&r, STR("time"));
            item->json = json_skip(&r);
            const enum own_admission own = own_admission_of(g->m->pod, item->json, g->arena);
            g->admissions += own == ADMISSION_OWN;
            g->of_siblings += own == ADMISSION_OF_SIBLING;
            g->count -= own == ADMISSION_OF_SIBLING;
        }
    return json_finish(&r, err);
}

/* Orders decisions of the same time. (Times are texts of one length, so str_cmp() orders them.) */
static int compare_places(const struct item *x, const struct item *y) {
    if (x->replica != y->replica)
        return x->replica < y->replica ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static int compare(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    int by_time = str_cmp(x->time, y->time);
    return by_time != 0 ? by_time : compare_places(x, y);
}

static int compare_newest(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    int by_time = str_cmp(y->time, x->time);
    return by_time != 0 ? by_time : compare_places(x, y);
}

static int read_all(struct merger *g, struct err *err) {
    const struct replicas *all = g->m->replicas;
    int r = 0;
    g->parts = arena_array(g->arena, all->count, sizeof *g->parts);
    if (g->parts == NULL)
        return err_set(err, -ENOMEM, "no memory for the answers");
    for (uint32_t i = 0; r == 0 && i < all->count; i++)
        if (all->items[i].status == 200) {
            r = read_part(strbuf_str(&all->items[i].body), g->arena, &g->parts[i], err);
            if (r == 0)
                r = read_decisions(g, i, err);
        }
    if (r == 0 && all->count > 1 && g->items != NULL)
        qsort(g->items, g->count, sizeof *g->items, g->m->newest_first ? compare_newest : compare);
    return r;
}

/* ---- writing ---- */

/* Returns the text of an object without the braces around it. */
static struct str inside(struct str object) {
    return object.n >= 2 ? (struct str){object.p + 1, object.n - 2} : STR("");
}

static void put_members(struct json_writer *w, struct str object) {
    if (str_trim(inside(object)).n > 0)
        json_put_raw(w, inside(object));
}

static void put_raw_member(struct json_writer *w, struct str key, struct str json) {
    if (json.n == 0)
        return;
    json_key(w, key);
    json_put_raw(w, json);
}

static void put_replica(struct json_writer *w, const struct replica *r, const struct part *part) {
    struct str why = str_trim(strbuf_str(&r->body));
    bool answered = r->status == 200 || r->status == 404; /* 404: the replica knows no decision */
    json_begin_object(w);
    json_put_member(w, STR("server"), str_of(r->server));
    json_key(w, STR("answered"));
    json_put_bool(w, answered);
    put_members(w, part->replica);
    put_raw_member(w, STR("made"), part->made);
    put_raw_member(w, STR("kept"), part->kept);
    if (r->status != 200) {
        json_key(w, answered ? STR("message") : STR("error"));
        json_put_text(w, r->status != 0 ? why : str_of(r->error.text));
    }
    json_end_object(w);
}

static void put_replicas(struct json_writer *w, const struct merger *g) {
    const struct replicas *all = g->m->replicas;
    uint32_t first = 0;
    while (first < all->count && str_empty(g->parts[first].replica))
        first++;
    if (first < all->count)
        put_raw_member(w, STR("replica"), g->parts[first].replica);
    json_key(w, STR("replicas"));
    json_begin_array(w);
    for (uint32_t i = 0; i < all->count; i++)
        put_replica(w, &all->items[i], &g->parts[i]);
    json_end_array(w);
}

static void put_decisions(struct json_writer *w, const struct merger *g) {
    const struct replicas *all = g->m->replicas;
    json_key(w, STR("decisions"));
    json_begin_array(w);
    for (uint32_t i = 0; i < g->count; i++) {
        json_begin_object(w);
        if (all->count > 1)
            json_put_member(w, STR("replica"), str_of(all->items[g->items[i].replica].server));
        put_members(w, g->items[i].json);
        json_end_object(w);
    }
    json_end_array(w);
}

/* Leaves out the pod itself: the caller has it. */
static int put_now(struct json_writer *w, const struct merger *g, struct err *err) {
    static const struct str first[] = {{"cause", 5}, {"state", 5}};
    static const struct str of_now[] = {{"replica", 7}, {"decisions", 9}, {"notJudged", 9}};
    struct str values[3] = {{0}}, key;
    struct json_reader r;
    if (str_empty(g->m->now))
        return 0;
    json_reader_init(&r, g->m->now, g->arena, "Explanation");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            struct str value = json_skip(&r);
            for (size_t i = 0; i < 2; i++)
                if (str_eq(key, first[i]))
                    put_raw_member(w, key, value);
            for (size_t i = 0; i < 3; i++)
                if (str_eq(key, of_now[i]))
                    values[i] = value;
        }
    json_key(w, STR("now"));
    json_begin_object(w);
    for (size_t i = 0; i < 3; i++)
        put_raw_member(w, of_now[i], values[i]);
    json_end_object(w);
    return json_finish(&r, err);
}

int merged_print(const struct merging *m, struct arena *arena, struct strbuf *out,
                 uint32_t *ret_decisions, struct err *err) {
    struct merger g = {.m = m, .arena = arena};
    struct json_writer w = {.out = out};
    int r = read_all(&g, err);
    if (r != 0)
        return r;
    json_begin_object(&w);
    r = put_now(&w, &g, err);
    if (m->pod_from != NULL)
        json_put_member(&w, STR("podFrom"), str_of(m->pod_from));
    if (m->pod_not_read != NULL) {
        json_key(&w, STR("podNotRead"));
        json_put_text(&w, str_of(m->pod_not_read));
    }
    if (g.admissions == 0 && g.of_siblings > 0)
        json_put_member(&w, STR("noAdmission"),
                        STR("no admission of this pod is known: the webhook was not asked, or "
                            "admissions of later pods of its controller are kept in its place"));
    put_replicas(&w, &g);
    put_decisions(&w, &g);
    json_end_object(&w);
    *ret_decisions = g.count;
    return r == 0 && strbuf_failed(out) ? err_set(err, -ENOMEM, "no memory for the answer") : r;
}
