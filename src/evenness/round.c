/*
 * Walks over the nodes, and then over all pods, a piece at a time. Numbers of the cache mean
 * something else in another view, so what is remembered from one piece to the next goes by its
 * content: workloads by their names, placements by their keys. Slots stay what they are until a
 * node goes, which the epoch tells.
 */
#include "cache/placed.h"
#include "evenness/internal.h"
#include "evenness/workload.h"

#include <errno.h>
#include <stdlib.h>

enum {
    BATCH = 64,
    ATTEMPTS = 8,
    REPORT_BYTES = 256 << 20, /* only 50,000 workloads by eight keys of 100 domains take more */
    RESOLVE_STEPS = 16,       /* about what finding a workload by its name takes */
    PINS_BYTES = 1 << 20,     /* of the volumes of one pod */
};
/* What is remembered of the groups and placements of a view. */
#define MEMO_EMPTY UINT32_MAX
#define MEMO_NONE (UINT32_MAX - 1)   /* of no workload */
#define MEMO_BEYOND (UINT32_MAX - 2) /* of one that is not measured */

struct memo {
    uint32_t *items; /* owned */
    uint32_t cap;
};

struct evenness_round {
    struct cache *cache;
    struct str names[LIMIT_EVENNESS_KEYS]; /* copies */
    char *text;                            /* owned: of the names */
    uint32_t key_count;
    struct evenness_report *report; /* owned: NULL: the nodes have not been looked at */
    struct seen seen;
    struct memo groups, placements;
    uint64_t epoch, steps, piece_steps;
    uint32_t at, attempts;
    evenness_tag_fn *tag; /* NULL: there are no tags */
    void *tag_ctx;
    uint64_t tag_steps;
    evenness_pins_fn *pins; /* NULL: volumes pin nothing */
    void *pins_ctx;
    struct arena pins_arena; /* of one pod */
    uint8_t *allowed;        /* owned; [slots] of the nodes that volumes leave */
};

/* What pods of a namespace ask of their nodes. */
struct asked {
    struct str namespace;
    struct cache_may_run may;
    const struct node_affinity *pins; /* all of which must hold */
    uint32_t pin_count;
    struct hash128 key;
};

const char *const evenness_state_names[EVENNESS_STATES] = {"even", "unavoidable", "uneven",
                                                           "unknown"};
const char *const evenness_default_keys[EVENNESS_DEFAULT_KEYS] = {
    "topology.kubernetes.io/region", "topology.kubernetes.io/zone", "kubernetes.io/hostname"};

void *room_for(void *items, uint32_t count, uint32_t *cap, size_t size) {
    if (count < *cap)
        return items;
    uint32_t more = *cap < 16 ? 16 : *cap + *cap / 2;
    void *moved = realloc(items, more * size);
    if (moved != NULL)
        *cap = more;
    return moved;
}

/* ---- life ---- */

static void seen_done(struct seen *s) {
    for (uint32_t k = 0; k < s->key_count; k++)
        free(s->keys[k].domain_of);
    free(s->sets);
    free(s->bits);
    free(s->placements);
    free(s->namespaces);
    free(s->workloads);
    free(s->groups);
    free(s->pods);
    free(s->slot_pods);
    hashmap_done(&s->set_index);
    hashmap_done(&s->placement_index);
    hashmap_done(&s->namespace_index);
    hashmap_done(&s->workload_index);
    hashmap_done(&s->group_index);
    *s = (struct seen){0};
}

void evenness_report_free(struct evenness_report *r) {
    if (r == NULL)
        return;
    arena_done(r->arena);
    free(r->arena);
    free(r);
}

static struct evenness_report *report_new(void) {
    struct evenness_report *report = calloc(1, sizeof *report);
    struct arena *arena = calloc(1, sizeof *arena);
    if (report == NULL || arena == NULL) {
        free(report);
        free(arena);
        return NULL;
    }
    arena_init(arena, REPORT_BYTES);
    report->arena = arena;
    return report;
}

static void begin_again(struct evenness_round *r) {
    seen_done(&r->seen);
    evenness_report_free(r->report);
    r->report = NULL;
    r->at = 0;
    r->steps = 0;
}

int evenness_round_new(struct cache *cache, const struct str *keys, uint32_t key_count,
                       struct evenness_round **ret, struct err *err) {
    struct evenness_round *r = calloc(1, sizeof *r);
    size_t length = 1;
    for (uint32_t k = 0; k < key_count; k++)
        length += keys[k].n;
    if (r == NULL || (r->text = malloc(length)) == NULL) {
        free(r);
        return err_set(err, -ENOMEM, "no memory to measure how even workloads are");
    }
    char *text = r->text;
    for (uint32_t k = 0; k < key_count; k++) {
        if (keys[k].n > 0)
            memcpy(text, keys[k].p, keys[k].n);
        r->names[k] = (struct str){text, keys[k].n};
        text += keys[k].n;
    }
    arena_init(&r->pins_arena, PINS_BYTES);
    r->cache = cache;
    r->key_count = key_count;
    *ret = r;
    return 0;
}

void evenness_round_tag(struct evenness_round *r, evenness_tag_fn *tag, void *ctx, uint64_t steps) {
    r->tag = tag;
    r->tag_ctx = ctx;
    r->tag_steps = steps;
}

void evenness_round_pin(struct evenness_round *r, evenness_pins_fn *pins, void *ctx) {
    r->pins = pins;
    r->pins_ctx = ctx;
}

void evenness_round_free(struct evenness_round *r) {
    if (r == NULL)
        return;
    begin_again(r);
    free(r->groups.items);
    free(r->placements.items);
    free(r->allowed);
    arena_done(&r->pins_arena);
    free(r->text);
    free(r);
}

/* ---- nodes ---- */

struct value {
    struct str text;
    uint32_t domain, nodes;
};

static int by_text(const void *a, const void *b) {
    return str_cmp(((const struct value *)a)->text, ((const struct value *)b)->text);
}

/* Numbers the domains that have nodes by their names. Returns their number, UINT32_MAX: no memory.
 */
static uint32_t number_domains(const struct topology_view *v, const struct topology_column *column,
                               uint32_t slots, struct value *values, uint32_t *number) {
    uint32_t count = 0;
    for (uint32_t d = 0; d < column->domains; d++)
        values[d] = (struct value){topology_value(v, column, d), d, 0};
    for (uint32_t slot = 0; slot < slots; slot++)
        if (column->domain_of[slot] != TOPOLOGY_NONE)
            values[column->domain_of[slot]].nodes++;
    for (uint32_t d = 0; d < column->domains; d++)
        if (values[d].nodes > 0)
            values[count++] = values[d];
    if (count > 1)
        qsort(values, count, sizeof *values, by_text);
    for (uint32_t i = 0; i < count; i++)
        number[values[i].domain] = i;
    return count;
}

static int look_at_key(struct evenness_round *r, struct cache_view *v, struct seen_key *key) {
    struct arena *arena = r->report->arena;
    struct topology_column column;
    int result = topology_column(&v->nodes, key->name, &column);
    if (result != 0)
        return result;
    struct value *values = calloc(column.domains + 1, sizeof *values);
    uint32_t *number = calloc(column.domains + 1, sizeof *number);
    key->domain_of = calloc(r->seen.slots + 1, sizeof *key->domain_of);
    if (values != NULL && number != NULL && key->domain_of != NULL) {
        key->domain_count = number_domains(&v->nodes, &column, r->seen.slots, values, number);
        key->domains = arena_array(arena, key->domain_count, sizeof *key->domains);
        for (uint32_t i = 0; key->domains != NULL && i < key->domain_count; i++)
            key->domains[i] =
                (struct evenness_domain){arena_str(arena, values[i].text), values[i].nodes, 0};
        for (uint32_t slot = 0; slot < r->seen.slots; slot++)
            key->domain_of[slot] = column.domain_of[slot] == TOPOLOGY_NONE
                                       ? NO_DOMAIN
                                       : number[column.domain_of[slot]];
    } else {
        result = -ENOMEM;
    }
    free(values);
    free(number);
    return arena_failed(arena) ? -ENOMEM : result;
}

static int look_at_nodes(struct evenness_round *r, struct cache_view *v) {
    struct seen *s = &r->seen;
    r->report = report_new();
    if (r->report == NULL)
        return -ENOMEM;
    r->epoch = topology_slot_epoch(v->nodes.topology);
    s->slots = topology_slots(v->nodes.topology);
    s->slot_pods = calloc(s->slots + 1, sizeof *s->slot_pods);
    s->pod_cap = cache_placed_pods(v) + 1;
    s->pods = malloc(s->pod_cap * sizeof *s->pods);
    if (s->slot_pods == NULL || s->pods == NULL)
        return -ENOMEM;
    for (; s->key_count < r->key_count; s->key_count++) {
        struct seen_key *key = &s->keys[s->key_count];
        key->name = arena_str(r->report->arena, r->names[s->key_count]);
        key->word = s->words;
        int result = arena_failed(r->report->arena) ? -ENOMEM : look_at_key(r, v, key);
        if (result != 0) {
            s->key_count++; /* what it has is freed with the others */
            return result;
        }
        key->words = (key->domain_count + 63) / 64;
        s->words += key->words;
    }
    return 0;
}

/* ---- memos ---- */

/* Empties it, with room for numbers below `count`. */
static int memo_clear(struct memo *memo, uint32_t count) {
    if (count > memo->cap) {
        uint32_t *items = realloc(memo->items, (count + count / 4) * sizeof *items);
        if (items == NULL)
            return -ENOMEM;
        memo->items = items;
        memo->cap = count + count / 4;
    }
    if (count > 0)
        memset(memo->items, 0xff, count * sizeof *memo->items);
    return 0;
}

/* ---- workloads ---- */

static bool namespace_equal(const void *ctx, uint32_t id, const void *key) {
    const struct seen *s = ctx;
    return str_eq(s->namespaces[id].name, *(const struct str *)key);
}

static int find_namespace(struct evenness_round *r, struct str name, struct seen_namespace **ret) {
    struct seen *s = &r->seen;
    uint64_t hash = hash_str(name);
    uint32_t id = hashmap_find(&s->namespace_index, hash, namespace_equal, s, &name);
    if (id == HASHMAP_NONE) {
        struct seen_namespace *items =
            room_for(s->namespaces, s->namespace_count, &s->namespace_cap, sizeof *items);
        if (items == NULL || hashmap_reserve(&s->namespace_index) != 0) {
            s->namespaces = items != NULL ? items : s->namespaces;
            return -ENOMEM;
        }
        s->namespaces = items;
        id = s->namespace_count++;
        items[id] = (struct seen_namespace){.name = arena_str(r->report->arena, name)};
        hashmap_insert(&s->namespace_index, hash, id);
    }
    *ret = &s->namespaces[id];
    return 0;
}

static struct hash128 mix(struct hash128 hash, struct str text) {
    struct hash128 more = hash_bytes128(text.p, text.n);
    return (struct hash128){hash_mix(hash.a, more.a), hash_mix(hash.b, more.b)};
}

static bool workload_equal(const void *ctx, uint32_t id, const void *key) {
    const struct seen *s = ctx;
    const struct hash128 *wanted = key;
    return s->workloads[id].key.a == wanted->a && s->workloads[id].key.b == wanted->b;
}

/* Kinds are few: a name is copied once for those that follow each other. */
static struct str shared(struct evenness_round *r, struct str text, struct str last) {
    return str_eq(text, last) ? last : arena_str(r->report->arena, text);
}

static int add_workload(struct evenness_round *r, struct str namespace,
                        const struct workload_name *name, const struct hash128 *key,
                        uint32_t *ret) {
    struct seen *s = &r->seen;
    struct seen_namespace *home;
    int result = find_namespace(r, namespace, &home);
    if (result != 0)
        return result;
    *ret = MEMO_BEYOND;
    if (s->workload_count == LIMIT_EVENNESS_WORKLOADS ||
        home->workloads == LIMIT_EVENNESS_OF_A_NAMESPACE)
        return 0;
    struct seen_workload *items =
        room_for(s->workloads, s->workload_count, &s->workload_cap, sizeof *items);
    if (items == NULL)
        return -ENOMEM;
    s->workloads = items;
    if (hashmap_reserve(&s->workload_index) != 0)
        return -ENOMEM;
    const struct evenness_workload none = {.pods = 0},
                                   *last = s->workload_count > 0 ? &items[s->workload_count - 1].is
                                                                 : &none;
    home->workloads++;
    items[s->workload_count] =
        (struct seen_workload){.key = *key,
                               .is = {.namespace = home->name,
                                      .group = shared(r, name->type.group, last->group),
                                      .kind = shared(r, name->type.kind, last->kind),
                                      .name = arena_str(r->report->arena, name->name),
                                      .tag = UINT32_MAX},
                               .groups = UINT32_MAX};
    hashmap_insert(&s->workload_index, key->a, s->workload_count);
    *ret = s->workload_count++;
    return arena_failed(r->report->arena) ? -ENOMEM : 0;
}

struct labels_of_group {
    const struct cache_view *view;
    uint32_t group;
};

static bool lookup(const void *ctx, struct str key, struct str *ret_value) {
    const struct labels_of_group *labels = ctx;
    return cache_placed_label(labels->view, labels->group, key, ret_value);
}

/* The workload of a group of the cache, or one of the memo's values. */
static int workload_of(struct evenness_round *r, const struct cache_view *v, uint32_t group,
                       uint32_t *ret) {
    uint32_t *memo = &r->groups.items[group];
    struct cache_owner owner;
    *ret = *memo;
    if (*memo != MEMO_EMPTY)
        return 0;
    r->piece_steps += RESOLVE_STEPS;
    *ret = *memo = MEMO_NONE;
    if (!cache_placed_owner(v, group, &owner))
        return 0;
    const struct labels_of_group labels = {v, group};
    const struct workload_name name = workload_name_of(owner.type, owner.name, lookup, &labels);
    const struct hash128 nothing = {0, 0};
    const struct hash128 key =
        mix(mix(mix(mix(nothing, owner.namespace), name.type.group), name.type.kind), name.name);
    uint32_t id = hashmap_find(&r->seen.workload_index, key.a, workload_equal, &r->seen, &key);
    int result = id == HASHMAP_NONE ? add_workload(r, owner.namespace, &name, &key, &id) : 0;
    if (result != 0)
        return result;
    if (r->tag != NULL && id < MEMO_BEYOND && r->seen.workloads[id].is.pods == 0) {
        r->seen.workloads[id].is.tag = r->tag(r->tag_ctx, v, group);
        r->piece_steps += r->tag_steps;
    }
    *ret = *memo = id;
    return 0;
}

/* ---- sets of domains ---- */

static bool placement_equal(const void *ctx, uint32_t id, const void *key) {
    const struct seen *s = ctx;
    const struct hash128 *wanted = key;
    return s->placements[id].key.a == wanted->a && s->placements[id].key.b == wanted->b;
}

static bool set_equal(const void *ctx, uint32_t id, const void *key) {
    const struct seen *s = ctx;
    return memcmp(s->bits + (size_t)id * s->words, key, s->words * sizeof *s->bits) == 0;
}

static bool tolerates_cordons(struct tolerations tolerations) {
    static const struct taint cordon = {
        {"node.kubernetes.io/unschedulable", 32}, {"", 0}, {"NoSchedule", 10}};
    return taints_tolerated(&cordon, 1, tolerations);
}

static void fill_set(const struct evenness_round *r, const struct cache_view *v,
                     const struct cache_may_run *may, const uint8_t *flags, uint64_t *bits) {
    enum { FEASIBLE = CANDIDATE_KNOWN | CANDIDATE_AFFINITY | CANDIDATE_TAINTS };
    const struct seen *s = &r->seen;
    bool cordons = tolerates_cordons(may->tolerations);
    for (uint32_t slot = 0; slot < s->slots; slot++) {
        if ((flags[slot] & FEASIBLE) != FEASIBLE || (!cordons && cache_node(v, slot).unschedulable))
            continue;
        for (uint32_t k = 0; k < s->key_count; k++)
            if (s->keys[k].domain_of[slot] != NO_DOMAIN)
                set_bit(bits + s->keys[k].word, s->keys[k].domain_of[slot]);
    }
}

/* The set with the bits that stand behind the last one. */
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

/* Zeroed bits behind those of the last set. */
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

/* Narrows what pods say to what their volumes leave; *flags becomes the round's. */
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

/* Matches all nodes, in one piece. What that takes is the namespace's: it has a quarter of the
 * round's steps. */
static int make_set(struct evenness_round *r, struct cache_view *v, const struct asked *asked,
                    uint32_t *ret) {
    struct seen *s = &r->seen;
    struct seen_namespace *home;
    const uint8_t *flags;
    int result = find_namespace(r, asked->namespace, &home);
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

/* What the volumes of these pods leave. 0, -E2BIG or -ENOMEM. */
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
    if (asked->pin_count > 0)
        asked->key = mix(asked->key, strbuf_str(&text));
    return strbuf_failed(&text) ? -ENOMEM : 0;
}

/* The set of those who ask this, remembered for the next ones. */
static int find_or_make_set(struct evenness_round *r, struct cache_view *v,
                            const struct asked *asked, uint32_t *ret) {
    struct seen *s = &r->seen;
    uint32_t id = hashmap_find(&s->placement_index, asked->key.a, placement_equal, s, &asked->key);
    if (id == HASHMAP_NONE) {
        int result = make_set(r, v, asked, ret);
        struct seen_placement *items =
            room_for(s->placements, s->placement_count, &s->placement_cap, sizeof *items);
        if (result != 0 || items == NULL) {
            s->placements = items != NULL ? items : s->placements;
            return -ENOMEM;
        }
        s->placements = items;
        if (hashmap_reserve(&s->placement_index) != 0)
            return -ENOMEM;
        id = s->placement_count++;
        items[id] = (struct seen_placement){asked->key, *ret};
        hashmap_insert(&s->placement_index, asked->key.a, id);
    }
    *ret = s->placements[id].set;
    return 0;
}

static int set_of(struct evenness_round *r, struct cache_view *v, uint32_t placement,
                  struct str namespace, uint32_t *ret) {
    struct asked asked = {.namespace = namespace};
    *ret = SET_UNKNOWN;
    if (!cache_placement(v, placement, &asked.may))
        return 0;
    uint32_t *memo = &r->placements.items[placement];
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

/* ---- pods ---- */

struct group_key {
    uint32_t workload, set;
};

static bool group_equal(const void *ctx, uint32_t id, const void *key) {
    const struct seen *s = ctx;
    const struct group_key *wanted = key;
    return s->groups[id].workload == wanted->workload && s->groups[id].set == wanted->set;
}

/* The pods of the workload that have this set; usually those of the pod before. */
static int group_of(struct seen *s, struct group_key key, uint32_t *ret) {
    *ret = s->workloads[key.workload].groups;
    if (*ret != UINT32_MAX && s->groups[*ret].set == key.set)
        return 0;
    uint64_t hash = hash_mix(hash_mix(0, key.workload), key.set);
    *ret = hashmap_find(&s->group_index, hash, group_equal, s, &key);
    if (*ret != HASHMAP_NONE)
        return 0;
    struct seen_group *items = room_for(s->groups, s->group_count, &s->group_cap, sizeof *items);
    if (items == NULL)
        return -ENOMEM;
    s->groups = items;
    if (hashmap_reserve(&s->group_index) != 0)
        return -ENOMEM;
    *ret = s->group_count++;
    items[*ret] = (struct seen_group){
        .workload = key.workload, .set = key.set, .next = s->workloads[key.workload].groups};
    s->workloads[key.workload].groups = *ret;
    hashmap_insert(&s->group_index, hash, *ret);
    return 0;
}

static int take_pod(struct evenness_round *r, struct cache_view *v, const struct cache_placed *p) {
    struct seen *s = &r->seen;
    struct group_key key = {MEMO_NONE, SET_UNKNOWN};
    uint32_t group;
    if (p->placement != CACHE_PLACEMENT_FIXED) {
        int result = workload_of(r, v, p->group, &key.workload);
        if (result == 0 && key.workload < MEMO_BEYOND)
            result = set_of(r, v, p->placement, s->workloads[key.workload].is.namespace, &key.set);
        if (result != 0)
            return result;
    }
    s->live++;
    if (p->slot < s->slots)
        s->slot_pods[p->slot]++;
    if (key.workload == MEMO_BEYOND)
        s->not_measured++;
    if (key.workload >= MEMO_BEYOND)
        return 0;
    struct seen_pod *pods = room_for(s->pods, s->pod_count, &s->pod_cap, sizeof *pods);
    if (pods == NULL)
        return -ENOMEM;
    s->pods = pods;
    int result = group_of(s, key, &group);
    if (result != 0)
        return result;
    s->workloads[key.workload].is.pods++;
    s->groups[group].pods++;
    pods[s->pod_count++] = (struct seen_pod){group, p->slot};
    return 0;
}

static int look_at_pods(struct evenness_round *r, struct cache_view *v) {
    struct cache_placed batch[BATCH];
    int result = memo_clear(&r->groups, cache_placed_groups(v));
    if (result == 0)
        result = memo_clear(&r->placements, cache_placements(v));
    r->piece_steps = 0;
    while (result == 0 && r->at != CACHE_PLACED_END &&
           r->piece_steps < LIMIT_EVENNESS_PIECE_STEPS) {
        uint32_t count = cache_placed_next(v, &r->at, batch, BATCH);
        r->piece_steps += BATCH;
        for (uint32_t i = 0; result == 0 && i < count; i++) {
            if (r->piece_steps >= LIMIT_EVENNESS_PIECE_STEPS && i > 0) {
                r->at = batch[i].at;
                break;
            }
            result = take_pod(r, v, &batch[i]);
        }
    }
    return result;
}

/* ---- a round ---- */

static int look(struct evenness_round *r) {
    struct cache_view view;
    int result = 0;
    cache_view_open(r->cache, &view);
    view.nodes.asker = hash_str(STR("evenness"));
    if (r->report != NULL && topology_slot_epoch(view.nodes.topology) != r->epoch)
        begin_again(r); /* a slot may be another node's */
    if (r->report == NULL)
        result = r->attempts++ == ATTEMPTS ? -EAGAIN : look_at_nodes(r, &view);
    else
        result = look_at_pods(r, &view);
    cache_view_close(&view);
    return result;
}

int evenness_round_step(struct evenness_round *r, struct evenness_report **ret, struct err *err) {
    int result = 0;
    if (r->report == NULL || r->at != CACHE_PLACED_END) {
        result = look(r);
        if (result == 0)
            return 1;
    }
    if (result == 0)
        result = evenness_judge(&r->seen, r->report);
    if (result == -EAGAIN)
        return err_set(err, result, "nodes keep coming and going");
    if (result != 0)
        return err_set(err, result, "no memory to measure how even workloads are");
    *ret = r->report;
    r->report = NULL;
    return 0;
}

int evenness_round_run(struct evenness_round *r, struct evenness_report **ret, struct err *err) {
    int result;
    do
        result = evenness_round_step(r, ret, err);
    while (result > 0);
    return result;
}

int evenness_measure(struct cache *cache, const struct str *keys, uint32_t key_count,
                     struct evenness_report **ret, struct err *err) {
    struct evenness_round *round = NULL;
    int r = evenness_round_new(cache, keys, key_count, &round, err);
    if (r == 0)
        r = evenness_round_run(round, ret, err);
    evenness_round_free(round);
    return r;
}

int evenness_keys_of(struct cache *cache, struct str *ret, uint32_t *ret_count) {
    struct cache_view view;
    int r = 0;
    *ret_count = 0;
    cache_view_open(cache, &view);
    for (uint32_t k = 0; r == 0 && k < EVENNESS_DEFAULT_KEYS; k++) {
        struct topology_column column;
        r = topology_column(&view.nodes, str_of(evenness_default_keys[k]), &column);
        if (r == 0 && column.domains > 0)
            ret[(*ret_count)++] = str_of(evenness_default_keys[k]);
    }
    cache_view_close(&view);
    return r;
}
