/* The step `groups`: the combination of groups that Karmada chooses. */
#include "karmada/select.h"

#include "base/limits.h"
#include "lines/candidates.h"
#include "lines/steps.h"

#include <errno.h>

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
            else
                (void)json_skip(r); /* not ours; errors stay in r */
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
        else
            (void)json_skip(r); /* not ours; errors stay in r */
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
    for (uint32_t i = 0; i < count; i++)
        json_put_string(w, q.items[chosen[i]].name);
    json_end_array(w);
    return 0;
}
