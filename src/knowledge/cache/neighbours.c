/*
 * The affinity terms of pods. Equal terms are stored once; the pods of a workload usually have
 * equal ones. Their id is in the record of the pods' requests (requests.c), to which a pod's record
 * points, so that a pod takes no more memory.
 *
 * The memory for one pod's terms and for all terms is limited. Beyond it a pod's terms are not
 * known, and results that lack them are marked.
 */
#include "cache/neighbours.h"

#include "cache/internal.h"

#include <errno.h>
#include <stdlib.h>

/* ---- terms of pods ---- */

static struct terms_record *at(const struct cache *c, uint32_t id) {
    return pool_at(&c->terms, id);
}

static bool key_equal(const void *ctx, uint32_t id, const void *key) {
    const struct hash128 *wanted = key;
    const struct terms_record *record = at(ctx, id);
    return hash128_equal(record->key, *wanted);
}

/* Collects the pod's terms. If a selector of a kind of terms does not parse, the pod has no terms
 * of this kind. upstream: framework PodInfo.Update(), whose errors the cache ignores. */
static int gather(const struct pod *pod, struct arena *arena, struct pod_terms *ret) {
    const struct pod_affinity *from[] = {&pod->beside, &pod->apart, &pod->beside, &pod->apart};
    *ret = (struct pod_terms){.count = 0};
    for (int kind = POD_BESIDE; kind <= POD_RATHER_APART; kind++)
        if (pod_terms_add(ret, (enum pod_term_kind)kind, from[kind], pod->meta.namespace, arena,
                          NULL) == -ENOMEM)
            return -ENOMEM;
    return 0;
}

/* Copies terms into a record, in memory of their exact size. 0, -E2BIG (too long) or -ENOMEM. */
static int copy_terms(const struct pod_terms *terms, struct terms_record *record) {
    CLEANUP(arena_done) struct arena measure;
    arena_init(&measure, 2 * LIMIT_POD_TERMS_BYTES);
    if (pod_terms_copy(terms, &measure, &record->terms) != 0)
        return measure.full ? -E2BIG : -ENOMEM;
    arena_init(&record->arena, arena_used(&measure));
    return pod_terms_copy(terms, &record->arena, &record->terms);
}

/* Makes a record of terms. 0, -E2BIG or -ENOMEM. */
static int terms_new(struct cache *c, const struct pod_terms *terms, const struct hash128 *key,
                     uint32_t *ret) {
    if (hashmap_reserve(&c->terms_index) != 0)
        return -ENOMEM;
    uint32_t id = pool_take(&c->terms);
    if (id == POOL_NONE)
        return -ENOMEM;
    struct terms_record *record = at(c, id);
    *record = (struct terms_record){.key = *key, .references = 1};
    int r = copy_terms(terms, record);
    if (r != 0) {
        arena_done(&record->arena);
        pool_give(&c->terms, id);
        return r;
    }
    c->terms_bytes += record->arena.total;
    hashmap_insert(&c->terms_index, key->a, id);
    *ret = id;
    return 0;
}

static int find_or_make(struct cache *c, const struct pod *pod, struct arena *arena,
                        uint32_t *ret) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    struct pod_terms terms;
    if (gather(pod, arena, &terms) != 0)
        return arena->full ? -E2BIG : -ENOMEM;
    if (terms.count == 0)
        return 0;
    pod_terms_key(&terms, &text);
    if (strbuf_failed(&text))
        return -ENOMEM;
    struct hash128 key = hash_bytes128(text.p, text.n);
    *ret = hashmap_find(&c->terms_index, key.a, key_equal, c, &key);
    if (*ret != HASHMAP_NONE) {
        at(c, *ret)->references++;
        return 0;
    }
    if (text.n > LIMIT_POD_TERMS_BYTES || c->terms_bytes > LIMIT_TERMS_BYTES)
        return -E2BIG;
    return terms_new(c, &terms, &key, ret);
}

int terms_ref(struct cache *c, const struct pod *pod, uint32_t *ret) {
    *ret = TERMS_NONE;
    if (pod->beside.term_count + pod->apart.term_count + pod->beside.preferred_count +
            pod->apart.preferred_count ==
        0)
        return 0;
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, 4 * LIMIT_POD_TERMS_BYTES);
    int r = find_or_make(c, pod, &arena, ret);
    if (r == -E2BIG)
        *ret = TERMS_UNKNOWN;
    return r == -ENOMEM ? r : 0;
}

void terms_unref(struct cache *c, uint32_t id) {
    if (id == TERMS_NONE || id == TERMS_UNKNOWN)
        return;
    struct terms_record *record = at(c, id);
    if (--record->references > 0)
        return;
    hashmap_remove(&c->terms_index, record->key.a, id);
    c->terms_bytes -= record->arena.total;
    arena_done(&record->arena);
    pool_give(&c->terms, id);
}

uint32_t cache_terms_unknown(const struct cache_view *v) {
    const struct cache *c = v->cache;
    uint32_t pods = 0;
    for (POOL_EACH(&c->requests, id)) {
        const struct requests_record *record = pool_at(&c->requests, id);
        pods += record->terms == TERMS_UNKNOWN ? record->references : 0;
    }
    return pods;
}

/* ---- which pods match terms ---- */

/*
 * Marks the namespaces of a term. upstream (v1.36.3): mergeAffinityTermNamespacesIfNotEmpty() adds
 * the names of matching namespaces, but leaves the selector in the term. It is then evaluated for
 * pods without their namespace's labels: a selector that matches empty labels matches all.
 */
static int mark_namespaces(const struct cache_view *v, const struct pod_term *term, bool *in) {
    const struct cache *c = v->cache;
    const struct labels none = {0};
    bool everywhere = selector_matches(&term->by_labels, labels_lookup, &none);
    if (view_take(v, term->namespace_count) != 0)
        return -E2BIG;
    for (uint32_t i = 0; i < term->namespace_count; i++) {
        uint32_t id = namespace_find(c, term->namespaces[i]);
        if (id != POOL_NONE)
            in[id] = true;
    }
    if (term->by_labels.nothing)
        return 0;
    if (view_take(v, c->namespaces.count * term->steps) != 0)
        return -E2BIG;
    for (POOL_EACH(&c->namespaces, id)) {
        const struct namespace_record *record = pool_at(&c->namespaces, id);
        const struct label_set_ref labels = {&c->strings, &record->labels};
        if (everywhere || (pool_is_known(&c->namespaces, id) &&
                           selector_matches(&term->by_labels, label_set_lookup, &labels)))
            in[id] = true;
    }
    return 0;
}

int cache_meant_open(const struct cache_view *v, const struct pod_term *terms, uint32_t count,
                     struct arena *arena, struct cache_meant *ret) {
    *ret = (struct cache_meant){
        .terms = terms, .count = count, .in = arena_array(arena, count, sizeof *ret->in)};
    if (ret->in == NULL)
        return -ENOMEM;
    int r = view_take(v, (uint64_t)count * (v->cache->namespaces.end / 16 + 1));
    for (uint32_t t = 0; r == 0 && t < count; t++) {
        ret->in[t] = arena_array(arena, v->cache->namespaces.end, sizeof(bool));
        r = ret->in[t] == NULL ? -ENOMEM : mark_namespaces(v, &terms[t], ret->in[t]);
    }
    return r;
}

/* Returns false if no term matches pods of this class. Sets *ret_unknown if this is not known for
 * some terms, which then count as not matching. */
static bool means_class(const struct cache *c, const struct cache_meant *meant,
                        const struct class_record *pod_class, bool *means, bool *ret_unknown) {
    const struct label_set_ref labels = {&c->strings, &pod_class->labels};
    bool any = false;
    *ret_unknown = false;
    for (uint32_t t = 0; t < meant->count; t++) {
        const struct selector *pods = &meant->terms[t].pods;
        bool in = meant->in[t][pod_class->namespace];
        bool known = !pod_class->cut || class_decides(pods);
        means[t] = in && known && selector_matches(pods, label_set_lookup, &labels);
        any |= means[t];
        *ret_unknown |= in && !known;
    }
    return any;
}

/* Returns the steps to match one class of the namespace; 0: no term is for this namespace. */
static uint64_t steps_in(const struct cache_meant *meant, uint32_t namespace) {
    uint64_t steps = 0;
    for (uint32_t t = 0; t < meant->count; t++)
        steps += meant->in[t][namespace] ? meant->terms[t].steps : 0;
    return steps == 0 ? 0 : steps + meant->count;
}

int cache_meant_visit(const struct cache_view *v, struct cache_meant *meant, struct arena *arena,
                      cache_meant_fn *visit, void *ctx) {
    const struct cache *c = v->cache;
    bool *means = arena_array(arena, meant->count, sizeof *means);
    if (means == NULL)
        return -ENOMEM;
    for (POOL_EACH(&c->namespaces, namespace)) {
        uint64_t steps = steps_in(meant, namespace);
        const struct namespace_record *record = pool_at(&c->namespaces, namespace);
        for (uint32_t id = steps > 0 ? record->classes : POOL_NONE; id != POOL_NONE;) {
            const struct class_record *pod_class = pool_at(&c->classes, id);
            if (view_take(v, steps) != 0)
                return -E2BIG;
            bool unknown, any = means_class(c, meant, pod_class, means, &unknown);
            meant->unknown += unknown ? pod_class->pod_count : 0;
            if (any && view_take(v, (uint64_t)pod_class->pod_count * meant->count) != 0)
                return -E2BIG;
            for (uint32_t pod = any ? pod_class->pods : POOL_NONE; pod != POOL_NONE;) {
                const struct pod_record *there = pool_at(&c->pods, pod);
                visit(ctx, there->node, means);
                pod = there->next;
            }
            id = pod_class->next;
        }
    }
    return 0;
}

bool cache_meant_pod(const struct cache_view *v, const struct cache_meant *meant,
                     const struct cache_pod *pod, bool *means) {
    const struct cache *c = v->cache;
    const struct pod_record *record = pool_at(&c->pods, pod->id);
    bool unknown;
    return means_class(c, meant, pool_at(&c->classes, record->pod_class), means, &unknown);
}

/* ---- which terms match a pod ---- */

static bool term_means(const struct pod_term *term, const struct meant_pod *pod) {
    return (pod_term_names(term, pod->namespace) ||
            selector_matches(&term->by_labels, labels_lookup, &pod->namespace_labels)) &&
           selector_matches(&term->pods, labels_lookup, &pod->labels);
}

int cache_meaning_open(const struct cache_view *v, const struct meant_pod *pod, uint32_t kinds,
                       struct arena *arena, struct cache_meaning *ret) {
    const struct cache *c = v->cache;
    uint32_t cap = 0;
    *ret = (struct cache_meaning){
        .first = arena_array(arena, (size_t)c->terms.end + 1, sizeof *ret->first)};
    if (ret->first == NULL)
        return -ENOMEM;
    for (uint32_t id = 0; id < c->terms.end; id++) {
        ret->first[id] = ret->count;
        if (!pool_live(&c->terms, id))
            continue;
        const struct pod_terms *terms = &at(c, id)->terms;
        for (uint32_t t = 0; t < terms->count; t++) {
            if ((kinds & 1u << terms->items[t].kind) == 0)
                continue;
            if (view_take(v, terms->items[t].steps) != 0)
                return -E2BIG;
            if (!term_means(&terms->items[t], pod))
                continue;
            ret->terms = arena_push(arena, ret->terms, ret->count, &cap, sizeof *ret->terms);
            if (ret->terms == NULL)
                return -ENOMEM;
            ret->terms[ret->count++] = (struct meaning_term){&terms->items[t], 0};
        }
    }
    ret->first[c->terms.end] = ret->count;
    return 0;
}

static uint32_t terms_of(const struct cache *c, const struct pod_record *pod) {
    const struct requests_record *record = pool_at(&c->requests, pod->requests);
    return record->terms;
}

/* Returns the matching terms in a record of terms. */
static const struct meaning_term *of_record(const struct cache_meaning *meaning, uint32_t id,
                                            uint32_t *ret_count) {
    if (id == TERMS_NONE || id == TERMS_UNKNOWN) {
        *ret_count = 0;
        return NULL;
    }
    *ret_count = meaning->first[id + 1] - meaning->first[id];
    return *ret_count > 0 ? &meaning->terms[meaning->first[id]] : NULL;
}

int cache_meaning_visit(const struct cache_view *v, const struct cache_meaning *meaning,
                        cache_meaning_fn *visit, void *ctx) {
    const struct cache *c = v->cache;
    if (meaning->count == 0)
        return 0;
    if (view_take(v, c->pods.count / 4) != 0)
        return -E2BIG;
    for (POOL_EACH(&c->pods, id)) {
        const struct pod_record *pod = pool_at(&c->pods, id);
        uint32_t count;
        const struct meaning_term *terms = of_record(meaning, terms_of(c, pod), &count);
        if (count == 0)
            continue;
        if (view_take(v, count) != 0)
            return -E2BIG;
        visit(ctx, pod->node, terms, count);
    }
    return 0;
}

const struct meaning_term *cache_meaning_of(const struct cache_view *v,
                                            const struct cache_meaning *meaning,
                                            const struct cache_pod *pod, uint32_t *ret_count) {
    const struct pod_record *record = pool_at(&v->cache->pods, pod->id);
    return of_record(meaning, terms_of(v->cache, record), ret_count);
}
