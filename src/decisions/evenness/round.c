/*
 * Walks over the nodes, and then over all pods, a piece at a time. A number of the cache may have
 * another meaning in another view. So data that is kept from one piece to the next is found by its
 * content: workloads by their names, reaches by their keys. A slot keeps its node until a node is
 * deleted, which changes the epoch.
 */
#include "evenness/round.h"

#include "model/topology.h"

#include <errno.h>
#include <stdlib.h>

enum {
    BATCH = 64,
    ATTEMPTS = 8,
    REPORT_BYTES = 256 << 20, /* only 50,000 workloads by eight keys of 100 domains take more */
    PINS_BYTES = 1 << 20,     /* affinities of one pod's volumes */
};
const char *const evenness_state_names[EVENNESS_STATES] = {"even", "unavoidable", "uneven",
                                                           "unknown"};
const char *const evenness_default_keys[EVENNESS_DEFAULT_KEYS] = {
    TOPOLOGY_NAME_REGION, TOPOLOGY_NAME_ZONE, TOPOLOGY_NAME_HOSTNAME};

static uint32_t more_than(uint32_t cap) {
    return cap < 16 ? 16 : cap + cap / 2;
}

void *room_for(void *items, uint32_t count, uint32_t *cap, size_t size) {
    if (count < *cap)
        return items;
    void *moved = realloc(items, more_than(*cap) * size);
    if (moved != NULL)
        *cap = more_than(*cap);
    return moved;
}

void *room_in_pages(void *items, uint32_t count, uint32_t *cap, size_t size) {
    if (count < *cap)
        return items;
    void *moved = pages_resize(items, *cap * size, more_than(*cap) * size);
    if (moved != NULL)
        *cap = more_than(*cap);
    return moved;
}

/* ---- life ---- */

static void seen_done(struct seen *s) {
    for (uint32_t k = 0; k < s->key_count; k++)
        free(s->keys[k].domain_of);
    free(s->sets);
    free(s->bits);
    free(s->reaches);
    free(s->namespaces);
    free(s->workloads);
    free(s->groups);
    pages_free(s->pods, s->pod_cap * sizeof *s->pods);
    free(s->slot_pods);
    free(s->slot_nodes);
    hashmap_done(&s->set_index);
    hashmap_done(&s->reach_index);
    hashmap_done(&s->namespace_index);
    hashmap_done(&s->workload_index);
    hashmap_done(&s->group_index);
    *s = (struct seen){0};
}

void evenness_report_free(struct evenness_report *r) {
    if (r == NULL)
        return;
    evenness_free_counts(r);
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
    r->at = r->pending_at = 0;
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
        return err_set(err, -ENOMEM, "no memory to measure the evenness of workloads");
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
    free(r->reaches.items);
    free(r->allowed);
    arena_done(&r->pins_arena);
    free(r->text);
    free(r);
}

/* ---- nodes ---- */

struct value {
    uint32_t domain;
    struct evenness_domain is;
};

static int by_text(const void *a, const void *b) {
    return str_cmp(((const struct value *)a)->is.name, ((const struct value *)b)->is.name);
}

static void add_node(struct evenness_domain *domain, uint8_t node) {
    domain->nodes++;
    domain->cordoned += (node & NODE_CORDONED) != 0;
    domain->tainted += (node & (NODE_CORDONED | NODE_TAINTED)) == NODE_TAINTED;
}

/* Numbers the domains that have nodes by their names. Returns the number of domains. `without` gets
 * the nodes that are in no domain. */
static uint32_t number_domains(const struct topology_view *v, const struct topology_column *column,
                               const struct seen *s, struct value *values, uint32_t *number,
                               struct evenness_domain *without) {
    uint32_t count = 0;
    for (uint32_t d = 0; d < column->domains; d++)
        values[d] = (struct value){d, {.name = topology_value(v, column, d)}};
    for (uint32_t slot = 0; slot < s->slots; slot++)
        if (column->domain_of[slot] != TOPOLOGY_NONE)
            add_node(&values[column->domain_of[slot]].is, s->slot_nodes[slot]);
        else if (s->slot_nodes[slot] != 0)
            add_node(without, s->slot_nodes[slot]);
    for (uint32_t d = 0; d < column->domains; d++)
        if (values[d].is.nodes > 0)
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
        key->domain_count =
            number_domains(&v->nodes, &column, &r->seen, values, number, &key->without);
        key->domains = arena_array(arena, key->domain_count, sizeof *key->domains);
        for (uint32_t i = 0; key->domains != NULL && i < key->domain_count; i++) {
            key->domains[i] = values[i].is;
            key->domains[i].name = arena_str(arena, values[i].is.name);
        }
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

/* Notes the nodes that are known, and whether they are cordoned, or closed by a taint to pods
 * without tolerations. */
static int note_nodes(struct seen *s, struct cache_view *v) {
    static const struct node_affinity any = {0};
    const struct tolerations none = {0};
    const uint8_t *flags;
    int result = topology_feasibility(&v->nodes, &any, none, &flags);
    for (uint32_t slot = 0; result == 0 && slot < s->slots; slot++) {
        if (!topology_is_known(v->nodes.topology, slot))
            continue;
        s->slot_nodes[slot] = NODE_KNOWN;
        if (cache_node(v, slot).unschedulable)
            s->slot_nodes[slot] |= NODE_CORDONED;
        if ((flags[slot] & CANDIDATE_TAINTS) == 0)
            s->slot_nodes[slot] |= NODE_TAINTED;
    }
    return result;
}

static int look_at_nodes(struct evenness_round *r, struct cache_view *v) {
    struct seen *s = &r->seen;
    r->report = report_new();
    if (r->report == NULL)
        return -ENOMEM;
    r->epoch = topology_slot_epoch(v->nodes.topology);
    s->slots = topology_slots(v->nodes.topology);
    s->slot_pods = calloc(s->slots + 1, sizeof *s->slot_pods);
    s->slot_nodes = calloc(s->slots + 1, sizeof *s->slot_nodes);
    s->pod_cap = cache_placed_pods(v) + 1;
    s->pods = pages_resize(NULL, 0, s->pod_cap * sizeof *s->pods);
    if (s->slot_pods == NULL || s->slot_nodes == NULL || s->pods == NULL)
        return -ENOMEM;
    int noted = note_nodes(s, v);
    if (noted != 0)
        return noted;
    for (; s->key_count < r->key_count; s->key_count++) {
        struct seen_key *key = &s->keys[s->key_count];
        key->name = arena_str(r->report->arena, r->names[s->key_count]);
        key->word = s->words;
        int result = arena_failed(r->report->arena) ? -ENOMEM : look_at_key(r, v, key);
        if (result != 0) {
            s->key_count++; /* its memory is freed with that of the other keys */
            return result;
        }
        key->words = (key->domain_count + 63) / 64;
        s->words += key->words;
    }
    return 0;
}

/* ---- memos ---- */

/* Empties the memo, and makes room for numbers below `count`. */
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

/* ---- pods ---- */

struct group_key {
    uint32_t workload, set;
};

static bool group_equal(const void *ctx, uint32_t id, const void *key) {
    const struct seen *s = ctx;
    const struct group_key *wanted = key;
    return s->groups[id].workload == wanted->workload && s->groups[id].set == wanted->set;
}

/* Finds or makes the group of the workload's pods that have this set. Usually it is the group of
 * the previous pod. */
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
    if (p->reach != CACHE_REACH_FIXED) {
        int result = round_workload_of(r, v, p->group, &key.workload);
        if (result == 0 && key.workload < MEMO_BEYOND)
            result =
                round_set_of(r, v, p->reach, s->workloads[key.workload].is.namespace, &key.set);
        if (result != 0)
            return result;
    }
    const bool is_lost = p->slot < s->slots && s->slot_nodes[p->slot] == 0;
    s->live++;
    s->lost += is_lost;
    if (p->slot < s->slots)
        s->slot_pods[p->slot]++;
    if (key.workload == MEMO_BEYOND)
        s->not_measured++;
    if (key.workload >= MEMO_BEYOND)
        return 0;
    struct seen_pod *pods = room_in_pages(s->pods, s->pod_count, &s->pod_cap, sizeof *pods);
    if (pods == NULL)
        return -ENOMEM;
    s->pods = pods;
    int result = group_of(s, key, &group);
    if (result != 0)
        return result;
    s->workloads[key.workload].is.pods++;
    s->workloads[key.workload].is.lost += is_lost;
    s->groups[group].pods++;
    pods[s->pod_count++] = (struct seen_pod){group, p->slot};
    return 0;
}

static int look_at_pods(struct evenness_round *r, struct cache_view *v) {
    struct cache_placed batch[BATCH];
    int result = memo_clear(&r->groups, cache_placed_groups(v));
    if (result == 0)
        result = memo_clear(&r->reaches, cache_reaches(v));
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

/* Call it when all placed pods have been read, because their workloads are known then. */
static int look_at_pending(struct evenness_round *r, struct cache_view *v) {
    struct cache_owner batch[BATCH];
    int result = 0;
    r->piece_steps = 0;
    while (result == 0 && r->pending_at != CACHE_PLACED_END &&
           r->piece_steps < LIMIT_EVENNESS_PIECE_STEPS) {
        const uint32_t count = cache_pending_next(v, &r->pending_at, batch, BATCH);
        for (uint32_t i = 0; result == 0 && i < count; i++)
            result = round_add_pending(r, &batch[i]);
        r->piece_steps += (uint64_t)BATCH * RESOLVE_STEPS;
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
        begin_again(r); /* a slot may have another node now */
    if (r->report == NULL)
        result = r->attempts++ == ATTEMPTS ? -EAGAIN : look_at_nodes(r, &view);
    else if (r->at != CACHE_PLACED_END)
        result = look_at_pods(r, &view);
    else
        result = look_at_pending(r, &view);
    cache_view_close(&view);
    return result;
}

int evenness_round_step(struct evenness_round *r, struct evenness_report **ret, struct err *err) {
    int result = 0;
    if (r->report == NULL || r->at != CACHE_PLACED_END || r->pending_at != CACHE_PLACED_END) {
        result = look(r);
        if (result == 0)
            return 1;
    }
    if (result == 0)
        result = evenness_judge(&r->seen, r->report);
    if (result == -EAGAIN)
        return err_set(
            err, result,
            "nodes are added and removed faster than the evenness of workloads is measured");
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
