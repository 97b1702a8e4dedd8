#include "whatif/controlled_pods.h"

#include "base/hash.h"
#include "model/workload.h"

#include <errno.h>
#include <stdlib.h>

struct wanted {
    struct str namespace, controller;
};

static bool is_it(const void *ctx, uint32_t id, const void *key) {
    const struct workload_pods *items = ctx;
    const struct wanted *wanted = key;
    return str_eq(items[id].namespace, wanted->namespace) &&
           str_eq(items[id].controller, wanted->controller);
}

/* Returns "apps/ReplicaSet/web-7c9f8"; the key of a pod without controller names the pod itself. */
static struct str key_of(const struct object_meta *pod, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    const struct workload_name controller = controller_of(pod);
    strbuf_append_str(&text, controller.type.group);
    strbuf_append_char(&text, '/');
    strbuf_append_str(&text, controller.type.kind);
    strbuf_append_char(&text, '/');
    strbuf_append_str(&text, controller.name);
    return arena_str(arena, strbuf_str(&text));
}

/* Finds or adds the pod's workload. Returns NULL if memory runs out. */
static struct workload_pods *find(struct controlled_pods *w, const struct object_meta *pod) {
    const struct wanted wanted = {pod->namespace, key_of(pod, w->arena)};
    uint64_t hash = hash_mix(hash_str(wanted.namespace), hash_str(wanted.controller));
    uint32_t id = hashmap_find(&w->map, hash, is_it, w->items, &wanted);
    if (id != HASHMAP_NONE)
        return &w->items[id];
    w->items = arena_push(w->arena, w->items, w->count, &w->cap, sizeof *w->items);
    if (w->items == NULL || hashmap_reserve(&w->map) != 0)
        return NULL;
    const struct workload_name top = workload_of(controller_of(pod), labels_lookup, &pod->labels);
    struct workload_pods *fresh = &w->items[w->count];
    *fresh = (struct workload_pods){.namespace = arena_str(w->arena, pod->namespace),
                                    .kind = arena_str(w->arena, top.type.kind),
                                    .name = arena_str(w->arena, top.name),
                                    .controller = wanted.controller};
    hashmap_insert(&w->map, hash, w->count++);
    return fresh;
}

static int take(void *ctx, struct object_type type, struct json_reader *r, struct err *err) {
    struct controlled_pods *w = ctx;
    struct object object;
    (void)json_peek(r); /* skips blanks before the object */
    const char *begin = r->p;
    object_read(r, object_kind_of(type), POD_RUNNING, &object);
    if (json_failed(r) || arena_failed(r->arena) || object.kind != OBJECT_POD ||
        object.pod.finished || object.meta.terminating)
        return 0; /* objects_walk() ends with the error in r */
    struct workload_pods *of = find(w, &object.meta);
    struct str *pods =
        of != NULL ? arena_push(w->arena, of->pods, of->count, &of->cap, sizeof *pods) : NULL;
    if (pods == NULL || arena_failed(w->arena))
        return err_set(err, -ENOMEM, "no memory for the cluster's workloads");
    pods[of->count++] = (struct str){begin, (size_t)(r->p - begin)};
    of->pods = pods;
    return 0;
}

static int by_name(const void *a, const void *b) {
    const struct workload_pods *x = a, *y = b;
    int order = str_cmp(x->namespace, y->namespace);
    if (order == 0)
        order = str_cmp(x->name, y->name);
    return order != 0 ? order : str_cmp(x->controller, y->controller);
}

int controlled_pods_find(const struct cluster_objects *objects, struct arena *arena,
                         struct controlled_pods *ret, struct err *err) {
    *ret = (struct controlled_pods){.arena = arena};
    int r = cluster_objects_walk(objects, take, ret, err);
    if (r == 0 && ret->count > 1) /* sorting breaks the map, which is not used any more */
        qsort(ret->items, ret->count, sizeof *ret->items, by_name);
    return r;
}

void controlled_pods_done(struct controlled_pods *w) {
    hashmap_done(&w->map);
}
