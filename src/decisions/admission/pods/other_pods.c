#include "admission/pods/other_pods.h"

#include "cache/neighbours.h"

#include <errno.h>
#include <stdlib.h>

/* Kinds of pods in a domain. */
enum {
    OTHERS_WE_AVOID = 1 << 0, /* other pods that the pod's own terms match */
    AVOID_US = 1 << 1,        /* pods of any group whose terms match the pod */
    OUR_GROUP = 1 << 2, /* pods of the group, which the pod's own terms keep apart by this key */
};

/* The domains of one key. */
struct kept_from {
    struct topology_column column;
    uint8_t *domains; /* [column.domains], flags of the enum above */
};

struct search {
    struct cache_view *view;
    struct arena *arena;
    struct cache_meant meant;
    uint32_t *key_of_meant; /* [meant.count] */
    uint32_t from_others;   /* number of terms in `meant` that match other groups: these come first;
                               the others match the pod's group */
    struct cache_meaning meaning; /* terms of running pods, marked with their keys */
    struct kept_from *keys;
    uint32_t key_count;
    bool any;
};

/* ---- the list of keys, each key once ---- */

struct key_use {
    struct str key;
    uint32_t *index; /* result */
};

static int compare_uses(const void *a, const void *b) {
    return str_cmp(((const struct key_use *)a)->key, ((const struct key_use *)b)->key);
}

static int make_key(struct search *s, struct str key) {
    struct kept_from *made = &s->keys[s->key_count++];
    int r = topology_column(&s->view->nodes, key, &made->column);
    if (r == 0 && !steps_take(s->view->nodes.steps, made->column.domains + s->key_count))
        r = -E2BIG;
    if (r != 0)
        return r;
    made->domains = arena_array(s->arena, made->column.domains, sizeof *made->domains);
    return made->domains == NULL ? -ENOMEM : 0;
}

static int make_keys(struct search *s) {
    uint32_t cap = s->meant.count + s->meaning.count, count = 0;
    struct key_use *uses = arena_array(s->arena, cap, sizeof *uses);
    s->keys = arena_array(s->arena, cap, sizeof *s->keys);
    if (uses == NULL || s->keys == NULL)
        return -ENOMEM;
    if (!steps_take_sort(s->view->nodes.steps, cap))
        return -E2BIG;
    for (uint32_t t = 0; t < s->meant.count; t++)
        uses[count++] = (struct key_use){s->meant.terms[t].topology_key, &s->key_of_meant[t]};
    for (uint32_t t = 0; t < s->meaning.count; t++) {
        struct meaning_term *term = &s->meaning.terms[t];
        uses[count++] = (struct key_use){term->term->topology_key, &term->mark};
    }
    if (count > 1)
        qsort(uses, count, sizeof *uses, compare_uses);
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < count; i++) {
        if (i == 0 || !str_eq(uses[i].key, uses[i - 1].key))
            r = make_key(s, uses[i].key);
        *uses[i].index = s->key_count - 1;
    }
    return r;
}

/* ---- pods that keep the pod away ---- */

static void is_there(struct search *s, uint32_t key, uint32_t slot, uint8_t who) {
    uint32_t domain = s->keys[key].column.domain_of[slot];
    if (domain == TOPOLOGY_NONE)
        return;
    s->keys[key].domains[domain] |= who;
    s->any = s->any || who != OUR_GROUP;
}

/* In a domain with pods of the group, pods that avoid us do not matter: the pod avoids that domain
 * anyway. */
static bool is_kept_by_others(uint8_t who) {
    return (who & OTHERS_WE_AVOID) != 0 || ((who & AVOID_US) != 0 && (who & OUR_GROUP) == 0);
}

static void meant_is_there(void *ctx, uint32_t slot, const bool *means) {
    struct search *s = ctx;
    for (uint32_t t = 0; t < s->meant.count; t++)
        if (means[t])
            is_there(s, s->key_of_meant[t], slot, t < s->from_others ? OTHERS_WE_AVOID : OUR_GROUP);
}

static void meaning_is_there(void *ctx, uint32_t slot, const struct meaning_term *terms,
                             uint32_t count) {
    for (uint32_t t = 0; t < count; t++)
        is_there(ctx, terms[t].mark, slot, AVOID_US);
}

static int find(struct search *s, const struct pod_nodes_question *question) {
    int r =
        cache_meant_open(s->view, question->away.items, question->away.count, s->arena, &s->meant);
    if (r == 0)
        r = cache_meaning_open(s->view, &question->pod, 1u << POD_APART, s->arena, &s->meaning);
    s->from_others = question->from_others;
    if (r != 0 || s->from_others + s->meaning.count == 0)
        return r;
    s->key_of_meant = arena_array(s->arena, s->meant.count, sizeof *s->key_of_meant);
    r = s->key_of_meant == NULL ? -ENOMEM : make_keys(s);
    if (r != 0 || s->key_count == 0)
        return r;
    if (s->meant.count > 0)
        r = cache_meant_visit(s->view, &s->meant, s->arena, meant_is_there, s);
    if (r == 0)
        r = cache_meaning_visit(s->view, &s->meaning, meaning_is_there, s);
    return r;
}

static int mark(const struct search *s, uint32_t slots, const bool **ret) {
    if (!s->any)
        return 0;
    if (!steps_take(s->view->nodes.steps, (uint64_t)slots * s->key_count))
        return -E2BIG;
    bool *kept_away = arena_array(s->arena, slots, sizeof *kept_away);
    if (kept_away == NULL)
        return -ENOMEM;
    for (uint32_t k = 0; k < s->key_count; k++)
        for (uint32_t slot = 0; slot < slots; slot++) {
            uint32_t domain = s->keys[k].column.domain_of[slot];
            kept_away[slot] = kept_away[slot] || (domain != TOPOLOGY_NONE &&
                                                  is_kept_by_others(s->keys[k].domains[domain]));
        }
    *ret = kept_away;
    return 0;
}

/* Has steps of its own: otherwise the terms of other users could use up the steps that the search
 * for the pod's nodes needs, and one tenant could make the policies of all useless. */
int other_pods_keep_away(const struct pod_nodes_question *question, struct cache_view *view,
                         struct arena *arena, const bool **ret) {
    struct search s = {.view = view, .arena = arena};
    uint32_t slots = topology_slots(view->nodes.topology);
    struct steps *ours = view->nodes.steps;
    struct steps share = {.max = LIMIT_OTHERS_STEPS + (uint64_t)LIMIT_OTHERS_STEPS_A_NODE * slots};
    *ret = NULL;
    view->nodes.steps = &share;
    int r = find(&s, question);
    if (r == 0)
        r = mark(&s, slots, ret);
    view->nodes.steps = ours;
    return r == -E2BIG ? 0 : r;
}
