#include "admission/pods/hard_keys.h"

#include "base/limits.h"

#include <errno.h>

/* ---- the question ---- */

/* The labels of the pod that matchLabelKeys names, as kube-scheduler adds them to the selector. */
static int compile(const struct pod_question *q, const struct label_selector *from,
                   const struct str *keys, uint32_t key_count, struct selector *ret) {
    struct arena *arena = q->head.arena;
    struct label *merged = arena_array(arena, key_count, sizeof *merged);
    uint32_t count = 0;
    if (merged == NULL)
        return -ENOMEM;
    if (!steps_take(&arena->steps, label_selector_steps(from) + key_count))
        return -E2BIG;
    for (uint32_t i = 0; i < key_count; i++) {
        struct str value;
        if (labels_lookup(&q->pod.meta.labels, keys[i], &value))
            merged[count++] = (struct label){keys[i], value};
    }
    int r = selector_compile(from, (struct labels){merged, count}, arena, ret, NULL);
    if (r == -EINVAL) /* the API server will refuse it */
        *ret = (struct selector){.nothing = true};
    return r == -EINVAL ? 0 : r;
}

static int ask_own(const struct pod_question *q, const struct spread_constraint *c,
                   struct hard_keys *keys) {
    struct selector *selector = arena_alloc(q->head.arena, sizeof *selector);
    struct hard_key *key = &keys->items[keys->count++];
    *key = (struct hard_key){.key = c->topology_key,
                             .max_skew = c->max_skew,
                             .min_domains = c->min_domains,
                             .honor_affinity = c->honor_affinity,
                             .honor_taints = c->honor_taints,
                             .selector = selector};
    int r = selector == NULL
                ? -ENOMEM
                : compile(q, &c->selector, c->match_label_keys, c->match_label_key_count, selector);
    if (r != 0)
        return r;
    key->counts_itself = selector_matches(selector, labels_lookup, &q->pod.meta.labels);
    return counter_question_init(&key->question, q->pod.meta.namespace, selector);
}

static int ask_group(const struct pod_question *q, const struct pod_group *group,
                     struct hard_keys *keys) {
    int r =
        compile(q, &group->selector, group->revision_keys, group->revision_key_count, &keys->group);
    if (r == 0)
        r = counter_question_init(&keys->of_group, q->pod.meta.namespace, &keys->group);
    if (r == 0)
        r = feasibility_question_init(&keys->now, &q->pod.affinity, q->pod.tolerations);
    keys->group_known = r == 0;
    return r;
}

int hard_keys_ask(const struct pod_question *q, const struct pod_group *group,
                  struct hard_keys *ret) {
    const struct pod *pod = &q->pod;
    *ret = (struct hard_keys){.items =
                                  arena_array(q->head.arena, LIMIT_HARD_KEYS, sizeof *ret->items)};
    if (ret->items == NULL)
        return -ENOMEM;
    if (pod->constraint_count + q->policy->spread_count > LIMIT_HARD_KEYS)
        return 0;
    int r = group == NULL ? 0 : ask_group(q, group, ret);
    for (uint32_t i = 0; r == 0 && i < pod->constraint_count; i++)
        if (pod->constraints[i].hard)
            r = ask_own(q, &pod->constraints[i], ret);
    return r;
}

void hard_keys_add(struct hard_keys *keys, const struct policy_spread *s, uint32_t i) {
    keys->items[keys->count++] =
        (struct hard_key){.key = s->topology_key,
                          .max_skew = s->max_skew,
                          .min_domains = s->min_domains > 1 ? s->min_domains : 1,
                          .honor_affinity = s->node_affinity != POLICY_IGNORE,
                          .honor_taints = s->node_taints != POLICY_IGNORE,
                          .may_yield = true,
                          .number = i,
                          .selector = &keys->group,
                          .question = keys->of_group,
                          .counts_itself = true};
}

/* ---- the answer ---- */

enum { NO_DOMAIN = -1 };

/* The nodes that have every key and that the pod could use now, less those that the constraints so
 * far refuse. */
struct room {
    const struct pod_nodes *nodes;
    const uint8_t *now;          /* [slots]: CANDIDATE_* */
    bool *usable, *open, *still; /* [slots]; open: by the constraints so far */
    uint32_t left;               /* that are open */
};

static bool counts_at(const struct room *room, const struct hard_key *key, uint32_t slot) {
    uint8_t wanted = (uint8_t)(CANDIDATE_KNOWN | (key->honor_affinity ? CANDIDATE_AFFINITY : 0) |
                               (key->honor_taints ? CANDIDATE_TAINTS : 0));
    return (room->nodes->may[slot] & NODE_HAS_KEYS) != 0 && (room->now[slot] & wanted) == wanted;
}

/* Pods by domain, and how many a domain may have before the pod comes. */
static int64_t count_pods(const struct room *room, const struct hard_key *key,
                          const struct topology_column *column, const uint32_t *pods,
                          int64_t *table) {
    int64_t least = INT64_MAX, domains = 0;
    for (uint32_t d = 0; d < column->domains; d++)
        table[d] = NO_DOMAIN;
    for (uint32_t slot = 0; slot < room->nodes->slots; slot++) {
        uint32_t d = column->domain_of[slot];
        if (d == TOPOLOGY_NONE || !counts_at(room, key, slot))
            continue;
        domains += table[d] == NO_DOMAIN;
        table[d] = (table[d] == NO_DOMAIN ? 0 : table[d]) + (pods == NULL ? 0 : pods[slot]);
    }
    for (uint32_t d = 0; d < column->domains; d++)
        if (table[d] != NO_DOMAIN && table[d] < least)
            least = table[d];
    return key->max_skew - key->counts_itself + (domains < key->min_domains ? 0 : least);
}

static int judge(struct room *room, struct hard_key *key, bool is_first) {
    struct cache_view *view = room->nodes->view;
    const uint32_t *pods = NULL;
    const int64_t *assumed;
    struct topology_column column;
    uint32_t left = 0, alone = 0;
    int r = topology_column(&view->nodes, key->key, &column);
    if (r == 0 && !key->selector->nothing)
        r = cache_counter_of(view, &key->question, &pods, &assumed);
    if (r == 0 && !steps_take(view->nodes.steps, 3ull * room->nodes->slots))
        r = -E2BIG;
    int64_t *table = r == 0 ? arena_array(room->nodes->arena, column.domains, sizeof *table) : NULL;
    if (r != 0 || table == NULL)
        return r != 0 ? r : -ENOMEM;
    int64_t most = count_pods(room, key, &column, pods, table);
    for (uint32_t slot = 0; slot < room->nodes->slots; slot++) {
        uint32_t d = column.domain_of[slot];
        bool has_room = room->usable[slot] && d != TOPOLOGY_NONE && table[d] <= most;
        alone += has_room;
        room->still[slot] = has_room && room->open[slot];
        left += room->still[slot];
    }
    key->yields = left == 0 && alone > 0 && key->may_yield && !is_first;
    if (key->yields)
        return 0;
    bool *was = room->open;
    room->open = room->still;
    room->still = was;
    room->left = left;
    return 0;
}

static void open_room(struct room *room) {
    enum { USABLE = NODE_BY_VOLUMES | NODE_BY_OTHERS | NODE_HAS_KEYS };
    enum { NOW = CANDIDATE_KNOWN | CANDIDATE_AFFINITY | CANDIDATE_TAINTS };
    for (uint32_t slot = 0; slot < room->nodes->slots; slot++) {
        room->usable[slot] =
            (room->nodes->may[slot] & USABLE) == USABLE && (room->now[slot] & NOW) == NOW;
        room->open[slot] = room->usable[slot];
        room->left += room->open[slot];
    }
}

int hard_keys_judge(struct hard_keys *keys, const struct pod_nodes *nodes) {
    struct room room = {.nodes = nodes};
    if (!keys->group_known || keys->count < 2)
        return 0;
    room.usable = arena_array(nodes->arena, nodes->slots, sizeof(bool));
    room.open = arena_array(nodes->arena, nodes->slots, sizeof(bool));
    room.still = arena_array(nodes->arena, nodes->slots, sizeof(bool));
    if (room.usable == NULL || room.open == NULL || room.still == NULL)
        return -ENOMEM;
    int r = topology_feasible(&nodes->view->nodes, &keys->now, &room.now);
    if (r == 0 && !steps_take(nodes->view->nodes.steps, nodes->slots))
        r = -E2BIG;
    if (r == 0)
        open_room(&room);
    for (uint32_t i = 0; r == 0 && i < keys->count && room.left > 0; i++)
        r = judge(&room, &keys->items[i], i == 0);
    return r;
}
