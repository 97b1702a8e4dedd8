#include "engine/choice.h"

#include "base/random.h"

#include <errno.h>

enum { SAMPLE_DIVISOR = 8 };

/* Indices of candidates. */
struct picks {
    uint32_t *items;
    uint32_t count;
};

/* Picks the best of the known candidates. A node with a taint to avoid is picked only if there is
 * no other: kube-scheduler's own plugin for taints outweighs any priority. */
static int best_known(const struct evaluation *e, const int64_t *scores, struct picks *ret) {
    const uint8_t *flags;
    int r = topology_feasible(&e->view->nodes, &e->feasibility, &flags);
    if (r != 0)
        return r;
    *ret = (struct picks){.items = arena_array(e->arena, e->count, sizeof *ret->items)};
    if (ret->items == NULL)
        return -ENOMEM;
    int64_t best = INT64_MIN;
    bool avoided = true;
    for (uint32_t i = 0; i < e->count; i++) {
        if (e->slots[i] == TOPOLOGY_NONE)
            continue;
        bool avoid = (flags[e->slots[i]] & CANDIDATE_AVOIDED) != 0;
        if (avoid > avoided || (avoid == avoided && scores[i] < best))
            continue;
        if (avoid < avoided || scores[i] > best)
            ret->count = 0;
        avoided = avoid;
        best = scores[i];
        ret->items[ret->count++] = i;
    }
    return 0;
}

/* Chooses a random node, and keeps only the nodes in its domain of every key of the spread except
 * the hostname. Sets *ret_hostname if the hostname is a key, too. */
static int keep_one_domain(struct evaluation *e, uint64_t *seed, struct picks *picks,
                           bool *ret_hostname) {
    uint32_t slot = e->slots[picks->items[random_below(seed, picks->count)]];
    *ret_hostname = false;
    for (uint32_t a = 0; a < e->applied_count; a++) {
        struct str key = e->applied[a].constraint->topology_key;
        struct topology_column column;
        uint32_t kept = 0;
        if (str_eq(key, TOPOLOGY_KEY_HOSTNAME)) {
            *ret_hostname = true;
            continue;
        }
        int r = topology_column(&e->view->nodes, key, &column);
        if (r != 0)
            return r;
        for (uint32_t i = 0; i < picks->count; i++)
            if (column.domain_of[e->slots[picks->items[i]]] == column.domain_of[slot])
                picks->items[kept++] = picks->items[i];
        picks->count = kept;
    }
    return 0;
}

/* Keeps `count` picks at random. */
static void sample(struct picks *picks, uint32_t count, uint64_t *seed) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = i + (uint32_t)random_below(seed, picks->count - i);
        uint32_t item = picks->items[i];
        picks->items[i] = picks->items[other];
        picks->items[other] = item;
    }
    picks->count = count;
}

/* If pods are spread over nodes, the assumed pod must not count in parts on many nodes: later pods
 * would avoid all these nodes, though only one is taken. Many parts do no harm if there are many
 * nodes, or if no other pod is assumed. */
static uint32_t sample_size(const struct evaluation *e, uint32_t count) {
    if (e->assumed && count < SAMPLE_DIVISOR * SAMPLE_DIVISOR)
        return 1;
    uint32_t size = (count + SAMPLE_DIVISOR - 1) / SAMPLE_DIVISOR;
    return size < LIMIT_ASSUMED_NODES ? size : LIMIT_ASSUMED_NODES;
}

/* Lists each node once, though the caller may name it twice: `taken` has a bit per slot. */
static int list_slots(const struct evaluation *e, const struct picks *picks, bool *chosen,
                      struct cache_nodes *ret) {
    uint32_t *slots = arena_array(e->arena, LIMIT_ASSUMED_NODES, sizeof *slots);
    uint64_t *taken =
        arena_array(e->arena, topology_slots(e->view->nodes.topology) / 64 + 1, sizeof *taken);
    if (slots == NULL || taken == NULL)
        return -ENOMEM;
    *ret =
        (struct cache_nodes){.slots = slots, .epoch = topology_slot_epoch(e->view->nodes.topology)};
    for (uint32_t i = 0; i < picks->count; i++) {
        uint32_t slot = e->slots[picks->items[i]];
        chosen[picks->items[i]] = true;
        if ((taken[slot / 64] >> slot % 64 & 1) == 0 && ret->count < LIMIT_ASSUMED_NODES)
            slots[ret->count++] = slot;
        taken[slot / 64] |= UINT64_C(1) << slot % 64;
    }
    return 0;
}

int choose(struct evaluation *e, const int64_t *scores, bool *chosen, struct cache_nodes *ret) {
    struct picks picks;
    uint64_t seed = e->view->nodes.tick;
    bool hostname;
    *ret = (struct cache_nodes){0};
    if (e->applied_count == 0)
        return 0;
    int r = evaluation_take(e, (1 + (uint64_t)e->applied_count) * e->count);
    if (r == 0)
        r = best_known(e, scores, &picks);
    if (r != 0 || picks.count == 0)
        return r;
    r = keep_one_domain(e, &seed, &picks, &hostname);
    if (r != 0)
        return r;
    if (hostname)
        sample(&picks, sample_size(e, picks.count), &seed);
    return list_slots(e, &picks, chosen, ret);
}
