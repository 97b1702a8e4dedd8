/* The step `groups` answers the combination of groups that Karmada chooses; the step `select`
 * answers the clusters. */
#include "karmada/select.h"

#include "base/json_fields.h"
#include "base/limits.h"
#include "lines/candidates.h"
#include "lines/karmada_options.h"
#include "lines/steps.h"

#include <assert.h>

/* ---- groups ---- */

struct groups_question {
    const struct group_item *items;
    uint32_t count;
    int64_t min, max, target;
};

static void item_decode(struct json_reader *r, void *into) {
    struct group_item *item = into;
    struct str key;
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("name")))
                item->name = json_string(r);
            else if (str_eq(key, STR("value")))
                item->value = json_integer(r, 0, INT64_MAX);
            else if (str_eq(key, STR("weight")))
                item->weight = json_integer(r, INT64_MIN, INT64_MAX);
        }
    if (str_empty(item->name))
        json_fail(r, "name is required");
}

static void items_decode(struct json_reader *r, struct groups_question *q) {
    q->items = json_array_of(r, sizeof *q->items, LIMIT_LINE_CLUSTERS, item_decode, &q->count);
    if (q->items != NULL)
        names_refuse_repeated(r, &q->items->name, sizeof *q->items, q->count);
}

static void groups_decode(struct json_reader *r, struct groups_question *q) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("items")))
            items_decode(r, q);
        else if (str_eq(key, STR("min")))
            q->min = json_integer(r, 0, INT64_MAX);
        else if (str_eq(key, STR("max")))
            q->max = json_integer(r, 0, INT64_MAX);
        else if (str_eq(key, STR("target")))
            q->target = json_integer(r, 0, INT64_MAX);
    }
}

int line_groups(struct json_reader *r, struct json_writer *w, struct err *err) {
    struct groups_question q = {.items = NULL};
    const uint32_t *chosen;
    uint32_t count;
    groups_decode(r, &q);
    int e = json_finish(r, err);
    if (e == 0)
        e = karmada_groups_choose(q.items, q.count, q.min, q.max, q.target, r->arena, &chosen,
                                  &count, err);
    if (e != 0)
        return e;
    json_key(w, STR("groups"));
    json_begin_array(w);
    assert(count == 0 || q.items != NULL);
    for (uint32_t i = 0; i < count; i++)
        json_put_string(w, q.items[chosen[i]].name);
    json_end_array(w);
    return 0;
}

/* ---- select ---- */

struct select_question {
    const struct karmada_candidate *candidates;
    uint32_t count;
    int32_t replicas;
    struct cluster_placement placement;
    struct karmada_options options;
};

static void select_decode(struct json_reader *r, struct select_question *q) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("candidates")))
            q->candidates = candidates_decode(r, true, &q->count);
        else if (str_eq(key, STR("replicas")))
            q->replicas = (int32_t)json_integer(r, 0, INT32_MAX);
        else if (str_eq(key, STR("placement"))) {
            q->placement = (struct cluster_placement){0};
            cluster_placement_decode(r, &q->placement);
        } else if (str_eq(key, STR("options")))
            karmada_options_decode(r, &q->options);
    }
}

static void put_level_name(struct json_writer *w, const struct karmada_level *level) {
    static const struct str names[] = {[SPREAD_PROVIDER] = STR("provider"),
                                       [SPREAD_REGION] = STR("region"),
                                       [SPREAD_ZONE] = STR("zone")};
    if (level->field != SPREAD_LABEL) {
        json_key(w, names[level->field]);
        return;
    }
    CLEANUP(strbuf_done) struct strbuf name = {0};
    strbuf_append_str(&name, STR("label:"));
    strbuf_append_str(&name, level->label);
    json_key(w, strbuf_str(&name));
}

static void put_scores(struct json_writer *w, const struct karmada_selection *s) {
    json_key(w, STR("scores"));
    json_begin_object(w);
    for (uint32_t i = 0; i < s->level_count; i++) {
        put_level_name(w, &s->levels[i]);
        json_begin_object(w);
        for (uint32_t g = 0; g < s->levels[i].group_count; g++) {
            json_key(w, s->levels[i].groups[g].name);
            json_put_integer(w, s->levels[i].groups[g].score);
        }
        json_end_object(w);
    }
    json_end_object(w);
}

static void put_selection(struct json_writer *w, const struct select_question *q,
                          const struct karmada_selection *s) {
    json_key(w, STR("clusters"));
    json_begin_array(w);
    assert(s->count == 0 || q->candidates != NULL);
    for (uint32_t i = 0; i < s->count; i++)
        json_put_string(w, q->candidates[s->clusters[i]].cluster.name);
    json_end_array(w);
    put_scores(w, s);
    json_key(w, STR("proven"));
    json_put_bool(w, s->proven);
    json_put_member(w, STR("error"), s->error);
}

int line_select(struct json_reader *r, struct json_writer *w, struct err *err) {
    struct select_question q = {.options = karmada_defaults};
    struct karmada_selection selection;
    select_decode(r, &q);
    int e = json_finish(r, err);
    if (e == 0)
        e = karmada_select(q.candidates, q.count, &q.placement, q.replicas, &q.options, r->arena,
                           &selection, err);
    if (e == 0)
        put_selection(w, &q, &selection);
    return e;
}
