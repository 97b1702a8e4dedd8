/*
 * Counters: for one (namespace, selector), the live matching pods of every node. If a counter is
 * missing, the view counts the classes of the namespace itself, and publishes the counter when it
 * is closed. From then on every pod event updates it through the class's list of counters. That
 * list is brought up to date before its use, so publishing costs nothing per class.
 */
#include "cache/internal.h"

#include <errno.h>
#include <stdlib.h>

static struct counter_record *at(const struct cache *c, uint32_t id) {
    return pool_at(&c->counters, id);
}

/* ---- which counters match a class ---- */

static bool matches(const struct cache *c, const struct selector *selector,
                    const struct class_record *pod_class) {
    struct label_set_ref labels = {&c->strings, &pod_class->labels};
    return !pod_class->terminating && selector_matches(selector, label_set_lookup, &labels);
}

static int add_counter(struct class_record *pod_class, uint32_t id, uint64_t made) {
    const uint32_t count = pod_class->counter_count;
    if (count == 0 || (count >= 4 && (count & (count - 1)) == 0)) { /* the list is full */
        uint32_t cap = count == 0 ? 4 : 2 * count;
        struct class_counter *counters = realloc(pod_class->counters, cap * sizeof *counters);
        if (counters == NULL)
            return -ENOMEM;
        pod_class->counters = counters;
    }
    pod_class->counters[pod_class->counter_count++] = (struct class_counter){made, id};
    return 0;
}

static void drop_gone(const struct cache *c, struct class_record *pod_class) {
    for (uint32_t i = 0; i < pod_class->counter_count;) {
        if (at(c, pod_class->counters[i].id)->made == pod_class->counters[i].made)
            i++;
        else
            pod_class->counters[i] = pod_class->counters[--pod_class->counter_count];
    }
}

void class_refresh(struct cache *c, struct class_record *pod_class) {
    const struct namespace_record *record = pool_at(&c->namespaces, pod_class->namespace);
    c->work += 1 + pod_class->counter_count;
    if (record->counters == POOL_NONE && pod_class->counter_count == 0)
        return; /* this is the case for every pod while the state is read */
    drop_gone(c, pod_class);
    uint64_t seen = pod_class->seen;
    pod_class->seen = c->made;
    for (uint32_t id = record->counters; id != POOL_NONE && at(c, id)->made > seen;) {
        const struct counter_record *counter = at(c, id);
        uint32_t next = counter->next;
        c->work += counter->entry.cost.steps;
        if (matches(c, &counter->selector, pod_class) &&
            add_counter(pod_class, id, counter->made) != 0)
            counter_free(c, id); /* the counter could not be updated */
        id = next;
    }
}

/* ---- building ---- */

/* Counts the assumed pods of the classes that match. */
static int count_assumed(const struct cache_view *v, struct counter_record *counter,
                         const struct selector *selector, uint64_t steps) {
    const struct cache *c = v->cache;
    for (POOL_EACH(&c->assumed, id)) {
        const struct assumed_record *assumed = pool_at(&c->assumed, id);
        const struct class_record *pod_class = pool_at(&c->classes, assumed->pod_class);
        if (pod_class->namespace != counter->namespace)
            continue;
        int r = view_take(v, steps + assumed->count);
        if (r == 0 && matches(c, selector, pod_class))
            r = assumed_add(c, assumed, counter);
        if (r != 0)
            return r;
    }
    return 0;
}

/* Counts every pod of every matching class of the namespace. Returns 0, -E2BIG or -ENOMEM. */
static int count_all(const struct cache_view *v, struct counter_record *counter,
                     const struct selector *selector, uint64_t steps) {
    const struct cache *c = v->cache;
    const struct namespace_record *record = pool_at(&c->namespaces, counter->namespace);
    for (uint32_t class_id = record->classes; class_id != POOL_NONE;) {
        const struct class_record *pod_class = pool_at(&c->classes, class_id);
        int r = view_take(v, steps);
        if (r == 0 && matches(c, selector, pod_class)) {
            r = view_take(v, pod_class->pod_count);
            for (uint32_t id = pod_class->pods; r == 0 && id != POOL_NONE;) {
                const struct pod_record *pod = pool_at(&c->pods, id);
                counter->counts[pod->node]++;
                id = pod->next;
            }
        }
        if (r != 0)
            return r;
        class_id = pod_class->next;
    }
    return count_assumed(v, counter, selector, steps);
}

/* Copies namespace and selector, to match changed pods, unless they are too long. */
static void copy_question(const struct cache *c, const struct counter_question *q,
                          struct built_counter *built) {
    struct counter_record *record = &built->record;
    uint64_t arrays = built->cap * (sizeof *record->counts +
                                    (record->assumed != NULL ? sizeof *record->assumed : 0));
    arena_init(&record->arena, LIMIT_CACHED_TEXT);
    record->key = q->key;
    built->owner = hash_str(q->namespace);
    built->cost = (struct cost){q->cost.steps, sizeof *record + arrays + q->cost.bytes};
    if (q->cost.bytes > LIMIT_CACHED_TEXT || !lru_fits(&c->counters_kept, &built->cost))
        return;
    built->namespace = arena_str(&record->arena, q->namespace);
    built->kept = selector_copy(q->selector, &record->arena, &record->selector) == 0 &&
                  !arena_failed(&record->arena);
    built->cost.bytes = sizeof *record + arrays + record->arena.total;
}

void built_counter_free(struct built_counter *built) {
    arena_done(&built->record.arena);
    free(built->record.counts);
    free(built->record.assumed);
    free(built);
}

static uint64_t changed(const struct cache *c, uint32_t namespace) {
    if (namespace == POOL_NONE)
        return 0;
    return ((const struct namespace_record *)pool_at(&c->namespaces, namespace))->changed;
}

/* Builds a counter and puts it at `place` in the view's tree. */
static int build(struct cache_view *v, const struct counter_question *q, struct hash_node **place) {
    const struct cache *c = v->cache;
    struct built_counter *built = calloc(1, sizeof *built);
    if (built == NULL)
        return -ENOMEM;
    struct counter_record *record = &built->record;
    built->cap = topology_cap(c->nodes) > 0 ? topology_cap(c->nodes) : 1;
    record->namespace = namespace_find(c, q->namespace);
    built->changed = changed(c, record->namespace);
    record->counts = calloc(built->cap, sizeof *record->counts);
    int r = record->counts == NULL ? -ENOMEM : view_take(v, built->cap / 16);
    if (r == 0 && record->namespace != POOL_NONE)
        r = count_all(v, record, q->selector, q->cost.steps);
    if (r != 0) {
        built_counter_free(built);
        return r;
    }
    copy_question(c, q, built);
    built->next = v->counters;
    v->counters = built;
    v->nodes.built++;
    built->node.hash = q->key.a;
    *place = &built->node;
    return 0;
}

/* ---- keeping ---- */

static bool key_equal(const void *ctx, uint32_t id, const void *key) {
    const struct counter_record *counter = at(ctx, id);
    const struct hash128 *wanted = key;
    return hash128_equal(counter->key, *wanted);
}

static uint32_t kept(const struct cache *c, const struct hash128 *key) {
    return hashmap_find(&c->counter_index, key->a, key_equal, c, key);
}

static void link_counter(struct cache *c, uint32_t id, uint32_t namespace) {
    struct namespace_record *home = pool_at(&c->namespaces, namespace);
    struct counter_record *counter = at(c, id);
    counter->namespace = namespace;
    counter->previous = POOL_NONE;
    counter->next = home->counters;
    if (counter->next != POOL_NONE)
        at(c, counter->next)->previous = id;
    home->counters = id;
    home->references++;
    hashmap_insert(&c->counter_index, counter->key.a, id);
}

/* Has no pod of the namespace come or gone since the counter was built? */
static bool unchanged(const struct cache *c, const struct built_counter *built) {
    return built->changed == changed(c, namespace_find(c, built->namespace));
}

/* Returns a record for the counter in the pool, in no list yet; POOL_NONE: no memory. */
static uint32_t counter_new(struct cache_view *v, const struct built_counter *built) {
    struct cache *c = v->cache;
    uint32_t id = pool_take(&c->counters);
    if (id != POOL_NONE &&
        lru_add(&c->counters_kept, id, built->owner, &built->cost, v->nodes.tick) != 0) {
        pool_give(&c->counters, id);
        id = POOL_NONE;
    }
    if (id == POOL_NONE)
        return POOL_NONE;
    struct counter_record *counter = at(c, id);
    const struct lru_entry entry = counter->entry;
    *counter = built->record;
    counter->entry = entry;
    counter->made = ++c->made;
    return id;
}

/* Clears the counts, so that the counter adds up changes from now on. */
static bool begin_again(struct built_counter *built) {
    struct counter_record *record = &built->record;
    if (record->assumed == NULL) {
        record->assumed = calloc(built->cap, sizeof *record->assumed);
        built->cost.bytes += built->cap * sizeof *record->assumed;
    } else {
        memset(record->assumed, 0, built->cap * sizeof *record->assumed);
    }
    memset(record->counts, 0, built->cap * sizeof *record->counts);
    record->assumed_pods = 0;
    record->pending = true;
    return record->assumed != NULL;
}

bool counter_publish(struct cache_view *v, struct built_counter *built) {
    struct cache *c = v->cache;
    struct counter_record *record = &built->record;
    if (!built->kept) {
        c->counters_kept.refused++;
        return false;
    }
    if (topology_cap(c->nodes) > built->cap || kept(c, &record->key) != HASHMAP_NONE ||
        (!unchanged(c, built) && !begin_again(built)) || hashmap_reserve(&c->counter_index) != 0 ||
        !lru_make_room(&c->counters_kept, built->owner, &built->cost))
        return false;
    uint32_t namespace = namespace_make(c, built->namespace);
    if (namespace == POOL_NONE)
        return false;
    uint32_t id = counter_new(v, built);
    if (id == POOL_NONE) {
        namespace_settle(c, namespace);
        return false;
    }
    link_counter(c, id, namespace);
    built->id = id;
    built->made = at(c, id)->made;
    record->counts = NULL; /* the record in the pool owns it now */
    record->assumed = NULL;
    arena_init(&record->arena, 0);
    return record->pending;
}

/* Counts all pods for a pending counter, and subtracts the changes that the pending counter has
 * counted. */
static int count_others(const struct cache_view *v, const struct counter_record *pending,
                        uint32_t cap, struct counter_record *ret) {
    *ret = (struct counter_record){.namespace = pending->namespace,
                                   .counts = calloc(cap, sizeof *ret->counts),
                                   .assumed = calloc(cap, sizeof *ret->assumed)};
    if (ret->counts == NULL || ret->assumed == NULL)
        return -ENOMEM;
    int r = count_all(v, ret, &pending->selector, pending->entry.cost.steps);
    for (uint32_t slot = 0; slot < cap; slot++) {
        ret->counts[slot] -= pending->counts[slot]; /* modulo 2^32 */
        ret->assumed[slot] -= pending->assumed[slot];
    }
    ret->assumed_pods -= pending->assumed_pods;
    return r;
}

static void add_others(struct counter_record *counter, uint32_t cap,
                       const struct counter_record *others) {
    for (uint32_t slot = 0; slot < cap; slot++) {
        counter->counts[slot] += others->counts[slot];
        counter->assumed[slot] += others->assumed[slot];
    }
    counter->assumed_pods += others->assumed_pods;
    counter->pending = false;
}

/*
 * In a namespace with constant changes, a count made under the read lock would always be outdated
 * under the write lock. So the counter is added as pending, and adds up changes from that time on:
 * also those between the two locks.
 */
void counter_complete(struct cache_view *v, const struct built_counter *built) {
    struct cache *c = v->cache;
    struct counter_record others = {.counts = NULL};
    rwlock_read(&c->lock);
    bool there = at(c, built->id)->made == built->made;
    int r = there ? count_others(v, at(c, built->id), built->cap, &others) : 0;
    rwlock_read_done(&c->lock);
    cache_write_begin(c);
    there = there && at(c, built->id)->made == built->made;
    if (there && r == 0)
        add_others(at(c, built->id), built->cap, &others);
    else if (there)
        counter_free(c, built->id);
    c->work += there ? built->cap / 16 : 0;
    cache_write_end(c);
    free(others.counts);
    free(others.assumed);
}

void counter_free(void *cache, uint32_t id) {
    struct cache *c = cache;
    struct counter_record *counter = at(c, id);
    struct namespace_record *home = pool_at(&c->namespaces, counter->namespace);
    if (counter->previous != POOL_NONE)
        at(c, counter->previous)->next = counter->next;
    else
        home->counters = counter->next;
    if (counter->next != POOL_NONE)
        at(c, counter->next)->previous = counter->previous;
    home->references--;
    namespace_settle(c, counter->namespace);
    hashmap_remove(&c->counter_index, counter->key.a, id);
    lru_remove(&c->counters_kept, id);
    arena_done(&counter->arena);
    free(counter->counts);
    free(counter->assumed);
    counter->made = 0; /* for drop_gone() */
    pool_give(&c->counters, id);
}

/* ---- asking ---- */

int counter_question_init(struct counter_question *q, struct str namespace,
                          const struct selector *selector) {
    CLEANUP(strbuf_done) struct strbuf key = {0};
    key_append(&key, namespace);
    selector_key(selector, &key);
    if (strbuf_failed(&key))
        return -ENOMEM;
    *q = (struct counter_question){.namespace = namespace,
                                   .selector = selector,
                                   .key = hash_bytes128(key.p, key.n),
                                   .cost = selector_cost(selector)};
    q->cost.bytes += namespace.n;
    return 0;
}

static bool built_equal(const struct hash_node *node, const void *key) {
    const struct hash128 *wanted = key;
    return hash128_equal(((const struct built_counter *)node)->record.key, *wanted);
}

/* Gets the view's own counter, and builds it if it is missing. */
static int counter_of_view(struct cache_view *v, const struct counter_question *q,
                           struct counter_record **ret) {
    struct hash_node **place = hash_tree_place(&v->counter_tree, q->key.a, built_equal, &q->key);
    int r = *place != NULL ? 0 : build(v, q, place);
    if (r == 0)
        *ret = &((struct built_counter *)*place)->record;
    return r;
}

/* Are there pods with unknown labels, which may match or not? */
static bool is_unknown(const struct cache *c, const struct counter_question *q) {
    if (c->cut_pods == 0 || class_decides(q->selector))
        return false;
    uint32_t namespace = namespace_find(c, q->namespace);
    return namespace != POOL_NONE &&
           ((const struct namespace_record *)pool_at(&c->namespaces, namespace))->cut_pods > 0;
}

int cache_counter_of(struct cache_view *v, const struct counter_question *q,
                     const uint32_t **ret_counts, const int64_t **ret_assumed) {
    struct cache *c = v->cache;
    if (is_unknown(c, q))
        return -ENODATA;
    uint32_t id = kept(c, &q->key);
    struct counter_record *counter = NULL;
    int r = 0;
    if (id != HASHMAP_NONE && !at(c, id)->pending) {
        counter = at(c, id);
        atomic_store_explicit(&counter->entry.used, v->nodes.tick, memory_order_relaxed);
    }
    if (counter == NULL)
        r = counter_of_view(v, q, &counter);
    if (r != 0)
        return r;
    *ret_counts = counter->counts;
    *ret_assumed = counter->assumed_pods > 0 ? counter->assumed : NULL;
    return 0;
}

int cache_counter_assumed(struct cache_view *v, struct str namespace,
                          const struct selector *selector, const uint32_t **ret_counts,
                          const int64_t **ret_assumed) {
    struct counter_question question;
    int r = counter_question_init(&question, namespace, selector);
    return r == 0 ? cache_counter_of(v, &question, ret_counts, ret_assumed) : r;
}

int cache_counter(struct cache_view *v, struct str namespace, const struct selector *selector,
                  const uint32_t **ret_counts) {
    const int64_t *assumed;
    return cache_counter_assumed(v, namespace, selector, ret_counts, &assumed);
}
