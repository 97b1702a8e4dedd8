#include "admission/pods/spread_renew.h"

#include "base/limits.h"

#include <errno.h>

/* ---- what its author has written ---- */

/* The topologyKeys of the constraints that some request had, as managedFields say. */
struct written {
    struct arena *arena;
    struct str *keys;
    uint32_t count, cap;
    bool known;   /* some manager has written the spec, as whoever creates a pod does */
    bool strange; /* there is something that is not understood */
};

/* k:{"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"} */
static void note_item(struct written *w, struct str key) {
    static const struct json_string_field field[] = {{{"topologyKey", 11}, 0}};
    struct json_reader r;
    struct str topology_key = {0};
    if (str_eq(key, STR(".")))
        return;
    if (key.n < 2 || key.p[0] != 'k' || key.p[1] != ':') {
        w->strange = true;
        return;
    }
    json_reader_init(&r, (struct str){key.p + 2, key.n - 2}, w->arena, "managedFields");
    json_strings_of(&r, field, 1, &topology_key);
    if (json_finish(&r, NULL) != 0 || str_empty(topology_key)) {
        w->strange = true;
        return;
    }
    w->keys = arena_push(w->arena, w->keys, w->count, &w->cap, sizeof *w->keys);
    if (w->keys != NULL)
        w->keys[w->count++] = topology_key;
}

static void read_items(struct json_reader *r, struct written *w) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        note_item(w, key);
        (void)json_skip(r); /* errors stay in r */
    }
}

/* Goes into the members of these names, one within the other. */
static void read_path(struct json_reader *r, const struct str *path, struct written *w) {
    struct str key;
    if (path->n == 0) {
        read_items(r, w);
        return;
    }
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, *path)) {
            w->known = w->known || str_eq(key, STR("f:spec"));
            read_path(r, path + 1, w); /* as deep as the path is long */
        } else
            (void)json_skip(r); /* errors stay in r */
}

static void read_managers(struct json_reader *r, struct written *w) {
    static const struct str path[] = {
        {"fieldsV1", 8}, {"f:spec", 6}, {"f:topologySpreadConstraints", 27}, {"", 0}};
    if (!json_array(r))
        return;
    while (json_element(r))
        read_path(r, path, w);
}

static void read_metadata(struct json_reader *r, struct written *w) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, STR("managedFields")))
            read_managers(r, w);
        else
            (void)json_skip(r); /* errors stay in r */
}

static int read_written(struct str object, struct arena *arena, struct written *ret) {
    struct json_reader r;
    struct str key;
    *ret = (struct written){.arena = arena};
    if (!steps_take_bytes(&arena->steps, object.n))
        return -E2BIG;
    json_reader_init(&r, object, arena, "Pod");
    bool is_object = json_object(&r);
    while (is_object && json_member(&r, &key))
        if (str_eq(key, STR("metadata")))
            read_metadata(&r, ret);
        else
            (void)json_skip(&r); /* errors stay in r */
    int failed = json_finish(&r, NULL);
    if (arena_failed(arena))
        return -ENOMEM;
    ret->known = ret->known && !ret->strange && failed == 0;
    return 0;
}

static bool is_written(const struct written *w, struct str topology_key) {
    for (uint32_t i = 0; i < w->count; i++)
        if (str_eq(w->keys[i], topology_key))
            return true;
    return !w->known;
}

/* ---- what this webhook would have added ---- */

static bool is_as_wanted(const struct spread_constraint *c, const struct policy_spread *wanted) {
    return (wanted->hard || !c->hard) && c->max_skew == wanted->max_skew &&
           (c->min_domains == 1 || c->min_domains == wanted->min_domains) &&
           c->honor_affinity == (wanted->node_affinity != POLICY_IGNORE) &&
           c->honor_taints == (wanted->node_taints != POLICY_IGNORE);
}

/* The only constraint on that key, if it is as the policy wants it; UINT32_MAX: there is none such.
 */
static uint32_t find_alike(const struct pod *pod, const struct policy_spread *wanted) {
    uint32_t found = UINT32_MAX, on_key = 0;
    for (uint32_t i = 0; i < pod->constraint_count; i++) {
        const struct spread_constraint *c = &pod->constraints[i];
        if (!str_eq(c->topology_key, wanted->topology_key))
            continue;
        on_key++;
        if (is_as_wanted(c, wanted))
            found = i;
    }
    return on_key == 1 ? found : UINT32_MAX;
}

/* Does it count others, and not its own pod? */
static int is_dead(const struct label_selector *from, const struct pod *pod, struct arena *arena,
                   bool *ret) {
    struct selector selector;
    int r = selector_compile(from, (struct labels){0}, arena, &selector, NULL);
    *ret = r == 0 && !selector.nothing &&
           !selector_matches(&selector, labels_lookup, &pod->meta.labels);
    return r == -ENOMEM ? r : 0;
}

int spread_renew(const struct pod_question *q, const struct pod_group *group,
                 enum spread_fate *fates, uint32_t *ret_places) {
    struct arena *arena = q->head.arena;
    const struct policy *policy = q->policy;
    struct written written = {.arena = NULL};
    bool dead;
    int r = is_dead(&group->selector, &q->pod, arena, &dead); /* also one that is not valid */
    if (r != 0 || dead)
        return r;
    for (uint32_t i = 0; i < policy->spread_count; i++) {
        if (fates[i] == SPREAD_OWN && !steps_take(&arena->steps, q->pod.constraint_count))
            return -E2BIG;
        uint32_t at = fates[i] == SPREAD_OWN ? find_alike(&q->pod, &policy->spread[i]) : UINT32_MAX;
        if (at == UINT32_MAX)
            continue;
        r = is_dead(&q->pod.constraints[at].selector, &q->pod, arena, &dead);
        if (r == 0 && dead && written.arena == NULL)
            r = read_written(q->head.review->object, arena, &written);
        if (r != 0)
            return r;
        if (!dead || !steps_take(&arena->steps, written.count) ||
            is_written(&written, policy->spread[i].topology_key))
            continue;
        fates[i] = SPREAD_RENEWED;
        ret_places[i] = at;
    }
    return steps_spent(&arena->steps) ? -E2BIG : 0;
}
