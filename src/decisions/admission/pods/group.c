#include "admission/pods/group.h"

#include "base/limits.h"
#include "model/pod_keys.h"
#include "owners/owners.h"

#include <errno.h>
#include <stdlib.h>

/* ---- the pod's own labels ---- */

/* A pod's labels, sorted into those that may make its group and those of revisions. */
struct sorted {
    const struct labels *pod;
    const struct policy_group_by *by;
    struct unit_membership unit;
    struct label *items; /* the labels that may make the group */
    struct str *revision_keys;
    uint32_t count, revision_key_count;
};

/* May this label make the group? Follows the policy's list, or the known keys. */
static bool is_common(const struct sorted *sorted, struct str key) {
    return sorted->by->label_count > 0
               ? policy_groups_by(sorted->by, key)
               : !is_revision_key(sorted->pod, key) && !is_pods_own_key(sorted->pod, key) &&
                     (sorted->unit.place == UNIT_NONE || !str_eq(sorted->unit.name, key));
}

/* Sorts the labels. A pod that lacks a label by which the policy groups has no group. */
static int sort_labels(const struct labels *pod, const struct labels *annotations,
                       const struct policy_group_by *by, struct arena *arena, struct sorted *ret) {
    enum { KNOWN = 8 }; /* steps of comparing one key with the known keys */
    *ret = (struct sorted){
        .pod = pod,
        .by = by,
        .unit = pod_unit_of(pod, annotations, by),
        .items = arena_array(arena, pod->count + UNIT_NUMBERS, sizeof *ret->items),
        .revision_keys = arena_array(arena, pod->count, sizeof *ret->revision_keys)};
    if (ret->items == NULL || ret->revision_keys == NULL)
        return -ENOMEM;
    if (!steps_take(&arena->steps, (uint64_t)pod->count * KNOWN))
        return -E2BIG;
    bool single = has_own_controller(pod);
    for (uint32_t i = 0; i < pod->count; i++) {
        const struct label *label = &pod->items[i];
        if (is_common(ret, label->key))
            ret->items[ret->count++] = *label;
        else if (!single && is_revision_key(pod, label->key))
            ret->revision_keys[ret->revision_key_count++] = label->key;
    }
    if (ret->count < by->label_count)
        ret->count = 0;
    return 0;
}

static void give(const struct sorted *sorted, enum group_source source, struct pod_group *ret) {
    *ret = (struct pod_group){
        .source = sorted->count > 0 ? source : GROUP_NONE,
        .selector = {.present = true, .match_labels = {sorted->items, sorted->count}},
        .revision_keys = sorted->revision_keys,
        .revision_key_count = sorted->revision_key_count,
        .unit = sorted->unit,
    };
}

static void give_selector(const struct sorted *sorted, const struct label_selector *selector,
                          struct pod_group *ret) {
    give(sorted, GROUP_SELECTOR, ret);
    ret->source = GROUP_SELECTOR;
    ret->selector = *selector;
}

/* Inserts a label, sorted by key. The array has room for the labels of a unit's numbers. */
static void insert(struct sorted *sorted, struct label label) {
    uint32_t at = sorted->count++;
    for (; at > 0 && str_cmp(sorted->items[at - 1].key, label.key) > 0; at--)
        sorted->items[at] = sorted->items[at - 1];
    sorted->items[at] = label;
}

static bool has_item(const struct sorted *sorted, struct str key) {
    for (uint32_t i = 0; i < sorted->count; i++)
        if (str_eq(sorted->items[i].key, key))
            return true;
    return false;
}

/* Groups the first pods of all units, if some label identifies the workload. */
static void choose_first(struct sorted *sorted) {
    for (uint32_t i = 0; sorted->count > 0 && i < sorted->unit.first_count; i++)
        if (!has_item(sorted, sorted->unit.first[i].key))
            insert(sorted, sorted->unit.first[i]);
}

/* Is the pod in a unit, but not its first pod? Such a pod gets no constraint. */
static bool is_of_unit(const struct sorted *sorted, struct pod_group *ret) {
    if (sorted->unit.place == UNIT_NONE || sorted->unit.place == UNIT_FIRST)
        return false;
    *ret = (struct pod_group){
        .source = sorted->unit.place == UNIT_GANG ? GROUP_GANG : GROUP_MEMBER,
        .unit = sorted->unit,
    };
    return true;
}

/* ---- siblings ---- */

enum { SIBLINGS = 64 }; /* different label sets of siblings that are compared: bits of a word */

struct learning {
    const struct sorted *sorted;
    struct steps *steps;
    uint64_t *equal; /* per label: a bit for each sibling that has the same value */
    uint32_t siblings;
};

static void compare(void *ctx, label_lookup_fn *lookup, const void *labels, uint32_t pods) {
    struct learning *l = ctx;
    struct str value;
    (void)pods; /* one of several equal label sets is enough */
    if (!steps_take(l->steps, (uint64_t)l->sorted->count * 2))
        return;
    for (uint32_t i = 0; i < l->sorted->count; i++)
        if (lookup(labels, l->sorted->items[i].key, &value) &&
            str_eq(value, l->sorted->items[i].value))
            l->equal[i] |= UINT64_C(1) << l->siblings;
    l->siblings++;
}

/* Returns the label that most of the siblings in `among` share, out of the labels that are not
 * settled yet. */
static uint32_t most_common(const struct learning *l, uint64_t among, const bool *settled) {
    uint32_t best = UINT32_MAX;
    int most = 0;
    for (uint32_t i = 0; i < l->sorted->count; i++) {
        int common = settled[i] ? 0 : __builtin_popcountll(l->equal[i] & among);
        if (common > most) {
            most = common;
            best = i;
        }
    }
    return best;
}

/*
 * Keeps the labels that all siblings have, then labels that the pod shares with some siblings,
 * because siblings may have different roles. Drops labels that no sibling has together with the
 * kept ones: they identify single pods. Each round adds the most common label and goes on with the
 * siblings that have it.
 */
static int keep_common(const struct learning *l, struct sorted *sorted, struct arena *arena) {
    uint64_t among = l->siblings < SIBLINGS ? (UINT64_C(1) << l->siblings) - 1 : UINT64_MAX;
    bool *kept = arena_array(arena, sorted->count, sizeof *kept);
    if (kept == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < sorted->count; i++)
        kept[i] = (l->equal[i] & among) == among;
    for (int round = 0; round < SIBLINGS; round++) {
        uint32_t next = most_common(l, among, kept);
        if (next == UINT32_MAX || !steps_take(&arena->steps, sorted->count))
            break;
        among &= l->equal[next];
        for (uint32_t i = 0; i < sorted->count; i++)
            kept[i] |= (l->equal[i] & among) == among;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < sorted->count; i++)
        if (kept[i])
            sorted->items[count++] = sorted->items[i];
    sorted->count = count;
    return steps_spent(&arena->steps) ? -E2BIG : 0;
}

/* ---- the controller's selector ---- */

static int copy_labels(const struct labels *from, const struct sorted *sorted, struct arena *arena,
                       struct labels *ret) {
    struct label *items = arena_array(arena, from->count, sizeof *items);
    *ret = (struct labels){.items = items};
    for (uint32_t i = 0; items != NULL && i < from->count; i++)
        if (!is_revision_key(sorted->pod, from->items[i].key))
            items[ret->count++] = (struct label){arena_str(arena, from->items[i].key),
                                                 arena_str(arena, from->items[i].value)};
    return arena_failed(arena) ? -ENOMEM : 0;
}

static int copy_expressions(const struct label_selector *from, struct arena *arena,
                            struct label_selector *ret) {
    struct label_expression *items = arena_array(arena, from->expression_count, sizeof *items);
    for (uint32_t i = 0; items != NULL && i < from->expression_count; i++) {
        const struct label_expression *e = &from->expressions[i];
        struct str *values = arena_array(arena, e->value_count, sizeof *values);
        if (!steps_take(&arena->steps, e->value_count))
            return -E2BIG;
        for (uint32_t v = 0; values != NULL && v < e->value_count; v++)
            values[v] = arena_str(arena, e->values[v]);
        items[i] = (struct label_expression){arena_str(arena, e->key), arena_str(arena, e->op),
                                             values, e->value_count};
    }
    ret->expressions = items;
    ret->expression_count = from->expression_count;
    return arena_failed(arena) ? -ENOMEM : 0;
}

/* A selector with a key of a single pod belongs to a controller of one pod: its siblings are pods
 * of other controllers. A selector with a key of a revision in matchExpressions is not used either,
 * because the API server refuses a key that is also in matchLabelKeys. */
static bool is_of_one_pod(const struct label_selector *s, const struct labels *pod) {
    for (uint32_t i = 0; i < s->match_labels.count; i++)
        if (is_pods_own_key(pod, s->match_labels.items[i].key))
            return true;
    for (uint32_t i = 0; i < s->expression_count; i++)
        if (is_pods_own_key(pod, s->expressions[i].key) ||
            is_revision_key(pod, s->expressions[i].key))
            return true;
    return false;
}

/* Anybody may name any controller: its selector counts only if it selects this pod. */
static int use_selector(const struct label_selector *from, const struct sorted *sorted,
                        struct arena *arena, bool *ret_used, struct label_selector *ret) {
    enum { KNOWN = 8 };
    struct selector compiled;
    *ret_used = false;
    if (!steps_take(&arena->steps,
                    (uint64_t)KNOWN * (from->match_labels.count + from->expression_count)))
        return -E2BIG;
    if (is_of_one_pod(from, sorted->pod))
        return 0;
    *ret = (struct label_selector){.present = true};
    int r = copy_labels(&from->match_labels, sorted, arena, &ret->match_labels);
    if (r == 0)
        r = copy_expressions(from, arena, ret);
    if (r != 0 || ret->match_labels.count + ret->expression_count == 0)
        return r;
    r = selector_compile(ret, (struct labels){0}, arena, &compiled, NULL);
    *ret_used = r == 0 && selector_matches(&compiled, labels_lookup, sorted->pod);
    return r == -ENOMEM ? r : 0;
}

/* ---- the selector that was read from the controller ---- */

/* Converts a requirement to an expression of a LabelSelector. Returns false if this is impossible.
 */
static bool say(const struct requirement *q, struct label_expression *ret) {
    static const struct str words[] = {
        [SELECTOR_IN] = {"In", 2},
        [SELECTOR_NOT_IN] = {"NotIn", 5},
        [SELECTOR_EXISTS] = {"Exists", 6},
        [SELECTOR_DOES_NOT_EXIST] = {"DoesNotExist", 12},
    };
    if (q->op == SELECTOR_GT || q->op == SELECTOR_LT)
        return false;
    *ret = (struct label_expression){q->key, words[q->op], q->values, q->value_count};
    return true;
}

static int read_query(struct str text, struct arena *arena, bool *ret_good,
                      struct label_selector *ret) {
    struct selector selector;
    *ret_good = false;
    if (!steps_take_bytes(&arena->steps, text.n))
        return -E2BIG;
    int r = selector_parse(text, arena, &selector, NULL);
    if (r != 0)
        return r == -ENOMEM ? r : 0;
    struct label *labels = arena_array(arena, selector.count, sizeof *labels);
    struct label_expression *expressions = arena_array(arena, selector.count, sizeof *expressions);
    if (labels == NULL || expressions == NULL)
        return -ENOMEM;
    *ret = (struct label_selector){true, {labels, 0}, expressions, 0};
    for (uint32_t i = 0; i < selector.count; i++) {
        const struct requirement *q = &selector.items[i];
        if (q->op == SELECTOR_IN && q->value_count == 1)
            labels[ret->match_labels.count++] = (struct label){q->key, q->values[0]};
        else if (!say(q, &expressions[ret->expression_count++]))
            return 0;
    }
    *ret_good = true;
    return 0;
}

/* Uses the selector that was read, for controllers of custom kinds: labels of their pods may mean
 * anything. */
static int use_read(const struct pod_question *q, const struct sorted *sorted, bool *ret_used,
                    struct label_selector *ret) {
    const struct pod_options *options = pod_options(q);
    const struct object_meta *meta = &q->pod.meta;
    const struct owner_ref ref = {meta->namespace, meta->controller_api, meta->controller_kind,
                                  meta->controller_name};
    struct str text = {0};
    struct label_selector selector;
    bool good;
    *ret_used = false;
    if (options->owners == NULL || !owner_is_custom(&ref))
        return 0;
    enum owner_knowledge known = owners_selector(options->owners, &ref, q->head.arena, &text);
    if (known == OWNER_UNKNOWN && options->owner_wanted != NULL)
        *options->owner_wanted = (struct owner_wanted){ref, .unit = false};
    if (known != OWNER_SELECTS)
        return 0;
    int r = read_query(text, q->head.arena, &good, &selector);
    return r == 0 && good ? use_selector(&selector, sorted, q->head.arena, ret_used, ret) : r;
}

/* ---- finding it ---- */

/* Looks up the controller and its pods in the cache. */
static int look(const struct cache_view *v, const struct pod_question *q, struct sorted *sorted,
                struct pod_group *ret) {
    struct arena *arena = q->head.arena;
    const struct label_selector *selector;
    struct label_selector used;
    bool is_used = false;
    int r = 0;
    if (cache_owner_selector(v, &q->pod.meta, &selector))
        r = use_selector(selector, sorted, arena, &is_used, &used);
    if (r == 0 && is_used)
        give_selector(sorted, &used, ret);
    if (r != 0 || is_used)
        return r;
    struct learning learning = {.sorted = sorted,
                                .steps = &arena->steps,
                                .equal = arena_array(arena, sorted->count, sizeof(uint64_t))};
    if (learning.equal == NULL)
        return -ENOMEM;
    cache_siblings(v, &q->pod.meta, SIBLINGS, compare, &learning);
    if (steps_spent(&arena->steps))
        return -E2BIG;
    if (learning.siblings == 0)
        return 0;
    r = keep_common(&learning, sorted, arena);
    give(sorted, GROUP_SIBLINGS, ret);
    return r;
}

int pod_group_of_labels(const struct labels *pod, const struct policy_group_by *by,
                        struct arena *arena, struct pod_group *ret) {
    struct sorted sorted;
    int r = sort_labels(pod, NULL, by, arena, &sorted);
    if (r != 0 || is_of_unit(&sorted, ret))
        return r;
    choose_first(&sorted);
    give(&sorted, by->label_count > 0 ? GROUP_POLICY : GROUP_LABELS, ret);
    return 0;
}

int pod_group_find(const struct pod_question *q, struct pod_group *ret) {
    struct cache *cache = pod_options(q)->cache;
    struct sorted sorted;
    struct label_selector used;
    struct cache_view view;
    bool is_used;
    const struct policy_group_by *by = &q->policy->group_by;
    int r = sort_labels(&q->pod.meta.labels, &q->details.annotations, by, q->head.arena, &sorted);
    if (r != 0 || is_of_unit(&sorted, ret))
        return r;
    choose_first(&sorted);
    give(&sorted, by->label_count > 0 ? GROUP_POLICY : GROUP_LABELS, ret);
    if (by->label_count > 0 || str_empty(q->pod.meta.controller_name) ||
        sorted.unit.place != UNIT_NONE || has_own_controller(&q->pod.meta.labels))
        return 0;
    r = use_read(q, &sorted, &is_used, &used);
    if (r == 0 && is_used)
        give_selector(&sorted, &used, ret);
    if (r != 0 || is_used)
        return r;
    cache_view_open(cache, &view);
    r = look(&view, q, &sorted, ret);
    cache_view_close(&view);
    return r;
}

/* ---- writing it ---- */

static void write_expressions(const struct label_selector *s, struct json_writer *w) {
    json_key(w, STR("matchExpressions"));
    json_begin_array(w);
    for (uint32_t i = 0; i < s->expression_count; i++) {
        const struct label_expression *e = &s->expressions[i];
        json_begin_object(w);
        json_put_member(w, STR("key"), e->key);
        json_put_member(w, STR("operator"), e->op);
        if (e->value_count > 0) {
            json_key(w, STR("values"));
            json_begin_array(w);
            for (uint32_t v = 0; v < e->value_count; v++)
                json_put_string(w, e->values[v]);
            json_end_array(w);
        }
        json_end_object(w);
    }
    json_end_array(w);
}

void pod_group_write(const struct pod_group *group, struct json_writer *w) {
    const struct labels *labels = &group->selector.match_labels;
    json_key(w, STR("labelSelector"));
    json_begin_object(w);
    if (labels->count > 0) {
        json_key(w, STR("matchLabels"));
        json_begin_object(w);
        for (uint32_t i = 0; i < labels->count; i++)
            json_put_member(w, labels->items[i].key, labels->items[i].value);
        json_end_object(w);
    }
    if (group->selector.expression_count > 0)
        write_expressions(&group->selector, w);
    json_end_object(w);
    if (group->revision_key_count == 0)
        return;
    json_key(w, STR("matchLabelKeys"));
    json_begin_array(w);
    for (uint32_t i = 0; i < group->revision_key_count; i++)
        json_put_string(w, group->revision_keys[i]);
    json_end_array(w);
}

struct cost pod_group_cost(const struct pod_group *group) {
    const struct label_selector *s = &group->selector;
    struct cost cost = {.steps = s->match_labels.count + group->revision_key_count};
    for (uint32_t i = 0; i < s->match_labels.count; i++)
        cost.bytes += s->match_labels.items[i].key.n + s->match_labels.items[i].value.n;
    for (uint32_t i = 0; i < group->revision_key_count; i++)
        cost.bytes += group->revision_keys[i].n;
    for (uint32_t i = 0; i < s->expression_count; i++) {
        cost.steps += 1 + s->expressions[i].value_count;
        cost.bytes += s->expressions[i].key.n + s->expressions[i].op.n;
        for (uint32_t v = 0; v < s->expressions[i].value_count; v++)
            cost.bytes += s->expressions[i].values[v].n;
    }
    return cost;
}
