#include "policy/outlook.h"

#include "base/hash.h"
#include "base/hashmap.h"
#include "policy/policies.h"

#include <stdlib.h>
#include <string.h>

enum {
    STEP_KEYS = 64, /* keys checked in one step; each key costs a pass over all nodes */
    ARENA_BYTES = 16 << 20,
};

/* The criteria of a match, or some of them; a missing criterion is zero. */
enum { BY_NAMESPACE, BY_OBJECT, BY_OWNER, BY_EXCLUSION, CRITERIA };
struct match_key {
    struct hash128 criteria[CRITERIA];
    struct hash128 schedulers; /* always part of the key */
};

/* The first policy with this match and this part. */
struct first {
    struct hash128 match;
    enum policy_part part;
    uint32_t policy;
};

struct entry {
    struct str name;             /* borrowed from the set, like the next one */
    const struct policy *policy; /* it works */
    struct policy_prospect prospect;
};

struct policy_outlook {
    struct policy_source *source;
    struct cache *cache;
    struct policies *set; /* held; NULL before the first step */
    const struct policy *items;
    uint32_t item_count;
    struct entry *entries; /* owned; one for each item that works, sorted by name */
    uint32_t count;
    uint32_t at;        /* the next entry to check */
    struct arena arena; /* for the work of one step */
};

/* ---- shadows ---- */

/* Appends a key, value, name or group, which has no blanks, and a blank. */
static void append_word(struct strbuf *text, struct str word) {
    strbuf_append_str(text, word);
    strbuf_append_char(text, ' ');
}

static void append_selector(struct strbuf *text, const struct selector *s) {
    for (uint32_t i = 0; i < s->count; i++) {
        append_word(text, s->items[i].key);
        strbuf_appendf(text, "%d ", (int)s->items[i].op);
        for (uint32_t v = 0; v < s->items[i].value_count; v++)
            append_word(text, s->items[i].values[v]);
        strbuf_append_char(text, '\n');
    }
}

static struct hash128 take_hash(struct strbuf *text) {
    struct hash128 hash = {0};
    if (text->n > 0)
        hash = hash_bytes128(text->p, text->n);
    strbuf_clear(text);
    return hash;
}

static struct match_key key_of(const struct policy *p, struct strbuf *text) {
    struct match_key key = {0};
    append_selector(text, &p->namespaces);
    key.criteria[BY_NAMESPACE] = take_hash(text);
    append_selector(text, &p->objects);
    key.criteria[BY_OBJECT] = take_hash(text);
    for (uint32_t i = 0; i < p->owner_count; i++) {
        append_word(text, p->owners[i].group);
        append_word(text, p->owners[i].kind);
    }
    key.criteria[BY_OWNER] = take_hash(text);
    append_selector(text, &p->not_namespaces);
    if (p->excludes_namespaces || p->excludes_objects)
        strbuf_append_char(text, '|');
    append_selector(text, &p->not_objects);
    key.criteria[BY_EXCLUSION] = take_hash(text);
    for (uint32_t i = 0; i < p->scheduler_count; i++)
        append_word(text, p->schedulers[i]);
    key.schedulers = take_hash(text);
    return key;
}

static struct hash128 hash_without(const struct match_key *key, uint32_t left_out) {
    struct match_key rest = *key;
    for (int i = 0; i < CRITERIA; i++)
        if ((left_out & 1u << i) != 0)
            rest.criteria[i] = (struct hash128){0};
    return hash_bytes128(&rest, sizeof rest);
}

static bool first_is(const void *ctx, uint32_t id, const void *key) {
    const struct first *items = ctx, *wanted = key;
    return items[id].part == wanted->part && items[id].match.a == wanted->match.a &&
           items[id].match.b == wanted->match.b;
}

struct shadows {
    struct hashmap map;
    struct first *firsts; /* room for every part of every policy */
    uint32_t count;
};

static const struct first *find_first(const struct shadows *s, struct hash128 match,
                                      enum policy_part part) {
    const struct first wanted = {match, part, 0};
    uint32_t id =
        hashmap_find(&s->map, hash_mix(match.a, (uint64_t)part), first_is, s->firsts, &wanted);
    return id != HASHMAP_NONE ? &s->firsts[id] : NULL;
}

/* Returns false without memory. */
static bool add_first(struct shadows *s, struct hash128 match, enum policy_part part,
                      uint32_t policy) {
    if (find_first(s, match, part) != NULL)
        return true;
    if (hashmap_reserve(&s->map) != 0)
        return false;
    s->firsts[s->count] = (struct first){match, part, policy};
    hashmap_insert(&s->map, hash_mix(match.a, (uint64_t)part), s->count++);
    return true;
}

/* Returns the first policy that matches all pods of this match and has the part, or NULL. */
static const struct policy *find_shadow(const struct policy_outlook *o, const struct shadows *s,
                                        const struct hash128 *matches, enum policy_part part) {
    const struct first *found = NULL;
    for (uint32_t left_out = 0; left_out < 1u << CRITERIA; left_out++) {
        const struct first *first = find_first(s, matches[left_out], part);
        if (first != NULL && (found == NULL || first->policy < found->policy))
            found = first;
    }
    return found != NULL ? &o->items[found->policy] : NULL;
}

static bool find_shadows(struct policy_outlook *o, struct shadows *s, struct strbuf *text,
                         uint32_t at, struct policy_prospect *ret) {
    const struct policy *p = &o->items[at];
    const struct match_key key = key_of(p, text);
    struct hash128 matches[1u << CRITERIA];
    bool shadowed = true, room = true;
    for (uint32_t left_out = 0; left_out < 1u << CRITERIA; left_out++)
        matches[left_out] = hash_without(&key, left_out);
    for (int part = 0; part < POLICY_PARTS; part++) {
        if (!policy_has(p, (enum policy_part)part))
            continue;
        ret->shadows[part] = find_shadow(o, s, matches, (enum policy_part)part);
        shadowed = shadowed && ret->shadows[part] != NULL;
        if (p->mode != POLICY_AUDIT && ret->shadows[part] == NULL)
            room = room && add_first(s, matches[0], (enum policy_part)part, at);
    }
    if (!shadowed)
        memset(ret->shadows, 0, sizeof ret->shadows);
    return room;
}

static int by_name(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    return str_cmp(x->name, y->name);
}

static bool fill(struct policy_outlook *o) {
    struct shadows s = {.firsts =
                            calloc((size_t)o->item_count * POLICY_PARTS + 1, sizeof *s.firsts)};
    CLEANUP(strbuf_done) struct strbuf text = {0};
    bool room = s.firsts != NULL;
    for (uint32_t i = 0; room && i < o->item_count; i++) {
        if (!str_empty(o->items[i].problem))
            continue;
        struct entry *entry = &o->entries[o->count++];
        *entry = (struct entry){.name = o->items[i].name, .policy = &o->items[i]};
        room = find_shadows(o, &s, &text, i, &entry->prospect);
    }
    free(s.firsts);
    hashmap_done(&s.map);
    return room && !strbuf_failed(&text);
}

/* ---- the set ---- */

static void take_up(struct policy_outlook *o, struct policies *set) {
    struct policy_outlook next = *o;
    next.set = set;
    next.items = policies_items(set, &next.item_count);
    next.at = next.count = 0;
    next.entries = calloc(next.item_count + 1, sizeof *next.entries); /* never 0 bytes */
    if (next.entries == NULL || !fill(&next)) {
        free(next.entries);
        policies_release(set);
        return;
    }
    qsort(next.entries, next.count, sizeof *next.entries, by_name);
    if (o->set != NULL)
        policies_release(o->set);
    free(o->entries);
    *o = next;
}

static const struct entry *find_entry(const struct policy_outlook *o, struct str name) {
    const struct entry wanted = {.name = name};
    return o->count > 0 ? bsearch(&wanted, o->entries, o->count, sizeof wanted, by_name) : NULL;
}

/* ---- nodes ---- */

/* Counts the domains of a key. Returns 0, or below 0 without steps or memory: the number is not
 * known. */
static int count_domains(struct cache_view *view, struct str key, struct arena *arena,
                         uint32_t *ret) {
    struct topology_column column;
    uint32_t slots = topology_slots(view->nodes.topology);
    int r = topology_column(&view->nodes, key, &column);
    uint8_t *seen = r == 0 ? arena_array(arena, column.domains, 1) : NULL;
    *ret = 0;
    if (r != 0 || seen == NULL)
        return r != 0 ? r : -1;
    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t domain = column.domain_of[slot];
        if (domain == TOPOLOGY_NONE || seen[domain] != 0)
            continue;
        seen[domain] = 1;
        ++*ret;
    }
    return 0;
}

/* Notes the number of domains of a key. */
static void note_key(struct policy_prospect *p, struct str key, uint32_t domains) {
    if (domains == 0 && str_empty(p->no_node_has))
        p->no_node_has = key;
    if (p->keys++ > 0 && domains >= p->fewest)
        return;
    p->fewest_of = key;
    p->fewest = domains;
}

/* Checks the keys of one policy. Returns the number of keys. */
static uint32_t look_at(struct policy_outlook *o, struct cache_view *view, uint32_t nodes,
                        struct entry *entry) {
    const struct policy *p = entry->policy;
    struct policy_prospect next = entry->prospect;
    uint32_t domains;
    bool good = true;
    next.known = true;
    next.no_node_has = next.few_domains_of = next.fewest_of = (struct str){0};
    next.nodes = nodes;
    next.keys = 0;
    for (uint32_t i = 0; good && i < p->spread_count; i++) {
        const struct policy_spread *s = &p->spread[i];
        good = count_domains(view, s->topology_key, &o->arena, &domains) == 0;
        if (good)
            note_key(&next, s->topology_key, domains);
        if (good && (int64_t)domains < s->min_domains && str_empty(next.few_domains_of)) {
            next.few_domains_of = s->topology_key;
            next.domains = domains;
            next.min_domains = s->min_domains;
        }
    }
    for (uint32_t i = 0; good && i < p->tier_count; i++) {
        good = count_domains(view, p->tiers[i].topology_key, &o->arena, &domains) == 0;
        if (good)
            note_key(&next, p->tiers[i].topology_key, domains);
    }
    if (good)
        entry->prospect = next;
    arena_reset(&o->arena);
    return p->spread_count + p->tier_count;
}

static void look(struct policy_outlook *o, uint32_t nodes) {
    struct cache_view view;
    cache_view_open(o->cache, &view);
    for (uint32_t keys = 0, seen = 0; keys < STEP_KEYS && seen < o->count; seen++) {
        keys += look_at(o, &view, nodes, &o->entries[o->at]);
        o->at = (o->at + 1) % o->count;
    }
    cache_view_close(&view);
}

/* ---- life ---- */

struct policy_outlook *policy_outlook_new(struct policy_source *policies, struct cache *cache) {
    struct policy_outlook *o = calloc(1, sizeof *o);
    if (o == NULL)
        return NULL;
    o->source = policies;
    o->cache = cache;
    arena_init(&o->arena, ARENA_BYTES);
    return o;
}

void policy_outlook_free(struct policy_outlook *o) {
    if (o == NULL)
        return;
    if (o->set != NULL)
        policies_release(o->set);
    free(o->entries);
    arena_done(&o->arena);
    free(o);
}

void policy_outlook_step(struct policy_outlook *o) {
    struct policies *set = policies_hold(o->source);
    if (set == o->set)
        policies_release(set);
    else
        take_up(o, set);
    const uint32_t nodes =
        o->cache != NULL && cache_ready(o->cache) ? cache_stats(o->cache).nodes : 0;
    if (o->count > 0 && nodes > 0)
        look(o, nodes);
}

struct policy_prospect policy_outlook_of(const struct policy_outlook *o, struct str name) {
    const struct entry *entry = find_entry(o, name);
    struct policy_prospect prospect = {0};
    if (entry != NULL)
        prospect = entry->prospect;
    prospect.found = entry != NULL;
    return prospect;
}
