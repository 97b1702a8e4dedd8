#include "data/fluid/mounted.h"

#include "base/limits.h"
#include "data/fluid/leaving.h"
#include "data/fluid/resolve.h"
#include "model/fluid.h"
#include "model/quantity.h"

#include <errno.h>
#include <stdio.h>

static struct str copy(struct arena *arena, const char *text) {
    return arena_str(arena, str_of(text));
}

/* Fills *ret for one dataset. Returns 0 or -ENOMEM. */
static int describe(const struct fluid_store *store, const struct fluid_dataset *d,
                    uint32_t *budget, struct arena *arena, struct mounted_dataset *ret) {
    const struct fluid_identity *id = &d->physical;
    const cJSON *dataset =
        fluid_store_get(store, (struct fluid_key){FLUID_DATASET, id->namespace, id->name});
    const cJSON *status = doc_object(dataset, "status");
    const char *type = doc_string(cJSON_GetArrayItem(doc_array(status, "runtimes"), 0), "type");
    char prefix[64];
    (void)snprintf(prefix, sizeof prefix, FLUID_LABEL_QUOTA_FORMAT, type);
    const char *worker = fluid_label_key(FLUID_LABEL_COMMON, id, arena);
    const char *quota = fluid_label_key(prefix, id, arena);
    const char *key = fluid_label_key("", id, arena);
    if (worker == NULL || quota == NULL || key == NULL)
        return -ENOMEM;
    *ret = (struct mounted_dataset){
        .namespace = copy(arena, id->namespace),
        .id = str_of(key),
        .worker_label = str_of(worker),
        .quota_label = str_of(quota),
        .size = quantity_bytes(str_of(doc_string(status, "ufsTotal"))),
        .cached = quantity_bytes(str_of(doc_string(doc_object(status, "cacheStates"), "cached"))),
    };
    return fluid_find_leaving(store, id, budget, arena, &ret->leaving, &ret->leaving_count);
}

int fluid_find_mounted(const struct fluid_store *store, struct pod *pod, struct arena *arena,
                       struct err *err) {
    struct fluid_datasets found;
    uint32_t budget = LIMIT_FLUID_WORKERS;
    pod->datasets = NULL;
    pod->dataset_count = 0;
    if (pod->claim_count == 0)
        return 0;
    const char *namespace = arena_cstr(arena, pod->meta.namespace);
    if (namespace == NULL)
        return err_set(err, -ENOMEM, "no memory for the pod's volumes");
    /* A dataset that is not bound has no data on any node: it may be included. */
    const struct fluid_query query = {.store = store,
                                      .claims = pod->claims,
                                      .claim_count = pod->claim_count,
                                      .namespace = namespace,
                                      .unbound_too = true};
    int r = fluid_resolve(&query, arena, &found, err);
    if (r != 0)
        return r;
    struct mounted_dataset *datasets = arena_array(arena, found.count, sizeof *datasets);
    for (size_t i = 0; r == 0 && datasets != NULL && i < found.count; i++)
        r = describe(store, &found.items[i], &budget, arena, &datasets[i]);
    if (r != 0 || arena_failed(arena))
        return err_set(err, -ENOMEM, "no memory for the pod's volumes");
    pod->datasets = datasets;
    pod->dataset_count = (uint32_t)found.count;
    return 0;
}
