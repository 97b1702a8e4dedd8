/* Finds the sets of domains in which pods may run, by the pods' node terms and by their volumes. */
#include "evenness/round.h"

#include <errno.h>
#include <stdlib.h>

/* The node terms and volumes of pods of a namespace. */
struct asked {
    struct str namespace;
    struct cache_may_run may;
    const struct node_affinity *pins; /* all of these affinities must match */
    uint32_t pin_count;
    struct hash128 key;
};

static bool reach_equal(const void *ctx, uint32_t id, const void *key) {
    const struct seen *s = ctx;
    const struct hash128 *wanted = key;
    return hash128_equal(s->reaches[id].key, *wanted);
}

static bool set_equal(const void *ctx, uint32_t id, const void *key) {
    const struct seen *s = ctx;
    return memcmp(s->bits + (size_t)id * s->words, key, s->words * sizeof *s->bits) == 0;
}

static void fill_set(const struct evenness_round *r, const struct cache_view *v,
                     const struct cache_may_run *may, const uint8_t *flags, uint64_t *bits) {
    enum { FEASIBLE = CANDIDATE_KNOWN | CANDIDATE_AFFINITY | CANDIDATE_TAINTS };
    const struct seen *s = &r->seen;
    bool cordons = taints_tolerated(&cordon_taint, 1, may->tolerations);
    for (uint32_t slot = 0; slot < s->slots; slot++) {
        if ((flags[slot] & FEASIBLE) != FEASIBLE || (!cordons && cache_node(v, slot).unschedulable))
            continue;
        for (uint32_t k = 0; k < s->key_count; k++)
            if (s->keys[k].domain_of[slot] != NO_DOMAIN)
                set_bit(bits + s->keys[k].word, s->keys[k].domain_of[slot]);
    }
}

/* Finds or makes the set with the bits that are stored behind the bits of the last set. */
static int find_set(struct seen *s, const uint64_t *bits, uint32_t *ret) {
    struct hash128 hash = hash_bytes128(bits, s->words * sizeof *bits);
    *ret = hashmap_find(&s->set_index, hash.a, set_equal, s, bits);
    if (*ret != HASHMAP_NONE)
        return 0;
    struct domain_set *sets = room_for(s->sets, s->set_count, &s->set_cap, sizeof *sets);
    if (sets == NULL)
        return -ENOMEM;
    s->sets = sets;
    if (hashmap_reserve(&s->set_index) != 0)
        return -ENOMEM;
    struct domain_set *set = &sets[s->set_count];
    *set = (struct domain_set){.hash = hash};
    for (uint32_t k = 0; k < s->key_count; k++)
        for (uint32_t w = 0; w < s->keys[k].words; w++)
            set->domains[k] += (uint32_t)__builtin_popcountll(bits[s->keys[k].word + w]);
    hashmap_insert(&s->set_index, hash.a, s->set_count);
    *ret = s->set_count++;
    return 0;
}

/* Returns zeroed bits behind the bits of the last set. */
static uint64_t *next_bits(struct seen *s) {
    if (s->set_count == s->bits_cap) {
        uint32_t cap = s->bits_cap < 8 ? 8 : s->bits_cap + s->bits_cap / 2;
        uint64_t *bits = realloc(s->bits, ((size_t)cap * s->words + 1) * sizeof *bits);
        if (bits == NULL)
            return NULL;
        s->bits = bits;
        s->bits_cap = cap;
    }
    uint64_t *bits = s->bits + (size_t)s->set_count * s->words;
    memset(bits, 0, s->words * sizeof *bits);
    return bits;
}

/* Removes the nodes that the pods' volumes exclude from the nodes that the pods' terms allow.
 * *flags becomes an array of the round. */
static int narrow(struct evenness_round *r, struct cache_view *v, const struct asked *asked,
                  const uint8_t **flags) {
    uint32_t slots = r->seen.slots;
    struct feasibility_question question;
    const uint8_t *left;
    int result = 0;
    uint8_t *allowed = realloc(r->allowed, slots + 1);
    if (allowed == NULL)
        return -ENOMEM;
    r->allowed = allowed;
    memcpy(allowed, *flags, slots);
    for (uint32_t i = 0; result == 0 && i < asked->pin_count; i++) {
        result =
            feasibility_question_init(&question, &asked->pins[i], (struct tolerations){.count = 0});
        if (result == 0)
            result = topology_feasible(&v->nodes, &question, &left);
        for (uint32_t slot = 0; result == 0 && slot < slots; slot++)
            if ((left[slot] & CANDIDATE_AFFINITY) == 0)
                allowed[slot] = 0;
    }
    *flags = allowed;
    return result;
}

static int match(struct evenness_round *r, struct cache_view *v, const struct asked *asked,
                 const uint8_t **ret_flags) {
    struct feasibility_question question;
    int result = feasibility_question_init(&question, asked->may.affinity, asked->may.tolerations);
    if (result == 0)
        result = topology_feasible(&v->nodes, &question, ret_flags);
    return result == 0 && asked->pin_count > 0 ? narrow(r, v, asked, ret_flags) : result;
}

/* Makes a set by matching all nodes, in one piece. The steps count for the namespace, which may
 * take a quarter of the round's steps. */
static int make_set(struct evenness_round *r, struct cache_view *v, const struct asked *asked,
                    uint32_t *ret) {
    struct seen *s = &r->seen;
    struct seen_namespace *home;
    const uint8_t *flags;
    int result = round_namespace(r, asked->namespace, &home);
    uint64_t *bits = result == 0 ? next_bits(s) : NULL;
    if (bits == NULL)
        return -ENOMEM;
    uint64_t own = LIMIT_EVENNESS_STEPS / 4, all = LIMIT_EVENNESS_STEPS;
    *ret = SET_UNKNOWN;
    if (home->steps >= own || r->steps >= all)
        return 0;
    struct steps steps = {.max = LIMIT_EVENNESS_PIECE_STEPS +
                                 (uint64_t)LIMIT_EVENNESS_STEPS_A_NODE * s->slots};
    if (steps.max > own - home->steps)
        steps.max = own - home->steps;
    if (steps.max > all - r->steps)
        steps.max = all - r->steps;
    v->nodes.steps = &steps;
    result = match(r, v, asked, &flags);
    v->nodes.steps = NULL;
    uint64_t used = steps.used + (uint64_t)s->slots * (1 + asked->pin_count);
    home->steps += used;
    r->steps += used;
    r->piece_steps += used;
    if (result == -E2BIG)
        return 0;
    if (result != 0)
        return result;
    fill_set(r, v, &asked->may, flags, bits);
    return find_set(s, bits, ret);
}

/* Gets the node affinities of the volumes of these pods. Returns 0, -E2BIG or -ENOMEM. */
static int ask_pins(struct evenness_round *r, struct asked *asked) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    struct arena *arena = &r->pins_arena;
    asked->key = asked->may.key;
    if (r->pins == NULL || asked->may.claim_count == 0)
        return 0;
    arena_reset(arena);
    arena->steps = (struct steps){.max = LIMIT_EVENNESS_PIECE_STEPS};
    int result =
        r->pins(r->pins_ctx, asked->namespace, &asked->may, arena, &asked->pins, &asked->pin_count);
    r->piece_steps += RESOLVE_STEPS + arena->steps.used;
    if (result != 0)
        return arena->full ? -E2BIG : result;
    for (uint32_t i = 0; i < asked->pin_count; i++)
        node_affinity_key(&asked->pins[i], &text);
    if (asked->pin_count > 0) {
        struct hash_state hash = hash_begin();
        hash_add_number(&hash, asked->key.a);
        hash_add_number(&hash, asked->key.b);
        hash_add(&hash, strbuf_str(&text));
        asked->key = hash_end128(hash);
    }
    return strbuf_failed(&text) ? -ENOMEM : 0;
}

/* Finds or makes the set of pods with these terms and volumes, and keeps it for later pods. */
static int find_or_make_set(struct evenness_round *r, struct cache_view *v,
                            const struct asked *asked, uint32_t *ret) {
    struct seen *s = &r->seen;
    uint32_t id = hashmap_find(&s->reach_index, asked->key.a, reach_equal, s, &asked->key);
    if (id == HASHMAP_NONE) {
        int result = make_set(r, v, asked, ret);
        struct seen_reach *items =
            room_for(s->reaches, s->reach_count, &s->reach_cap, sizeof *items);
        if (result != 0 || items == NULL) {
            s->reaches = items != NULL ? items : s->reaches;
            return -ENOMEM;
        }
        s->reaches = items;
        if (hashmap_reserve(&s->reach_index) != 0)
            return -ENOMEM;
        id = s->reach_count++;
        items[id] = (struct seen_reach){asked->key, *ret};
        hashmap_insert(&s->reach_index, asked->key.a, id);
    }
    *ret = s->reaches[id].set;
    return 0;
}

int round_set_of(struct evenness_round *r, struct cache_view *v, uint32_t reach,
                 struct str namespace, uint32_t *ret) {
    struct asked asked = {.namespace = namespace};
    *ret = SET_UNKNOWN;
    if (!cache_reach(v, reach, &asked.may))
        return 0;
    uint32_t *memo = &r->reaches.items[reach];
    *ret = *memo;
    if (*memo != MEMO_EMPTY)
        return 0;
    *ret = SET_UNKNOWN;
    int result = ask_pins(r, &asked);
    if (result == 0)
        result = find_or_make_set(r, v, &asked, ret);
    if (result == 0 || result == -E2BIG)
        *memo = *ret;
    return result == -E2BIG ? 0 : result;
}
