/*
 * MountPropagationInjector: a mount of a dataset sees what is mounted on the node later, so that a
 * FUSE client that was started anew serves running pods. Volume mounts of dataset claims get
 * mountPropagation HostToContainer; a value that is there stays. Upstream forgets init containers;
 * FLUID_CORRECT does not.
 */
#include "data/fluid/plugin.h"

#include <errno.h>
#include <stdlib.h>

/* The names of a pod's volumes that are datasets, sorted, so that many mounts of many volumes take
 * no longer than both together. */
struct volumes {
    const char **names; /* arena */
    size_t count;
};

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_claim(const void *claim, const void *dataset) {
    return strcmp(claim, ((const struct fluid_dataset *)dataset)->claim);
}

static bool is_dataset_claim(const struct fluid_edit *e, const char *claim) {
    const struct fluid_datasets *all = e->datasets; /* in the order of their claims' names */
    return all->count > 0 &&
           bsearch(claim, all->items, all->count, sizeof *all->items, by_claim) != NULL;
}

static int find_volumes(struct fluid_edit *e, struct volumes *ret) {
    const cJSON *volume;
    uint32_t cap = 0;
    cJSON_ArrayForEach(volume, doc_array(doc_object(e->pod, "spec"), "volumes")) {
        const char *claim = doc_string(doc_object(volume, "persistentVolumeClaim"), "claimName");
        if (!steps_take(&e->steps, 1))
            return -E2BIG;
        if (!is_dataset_claim(e, claim))
            continue;
        ret->names = arena_push(e->arena, ret->names, ret->count, &cap, sizeof *ret->names);
        if (ret->names == NULL)
            return -ENOMEM;
        ret->names[ret->count++] = doc_string(volume, "name");
    }
    if (ret->count > 0)
        qsort(ret->names, ret->count, sizeof *ret->names, by_text);
    return 0;
}

static bool has_volume(const struct volumes *volumes, const char *name) {
    return volumes->count > 0 &&
           bsearch(&name, volumes->names, volumes->count, sizeof *volumes->names, by_text) != NULL;
}

static int edit_containers(struct fluid_edit *e, const struct volumes *volumes, const char *list) {
    const cJSON *container;
    cJSON *mount;
    cJSON_ArrayForEach(container, doc_array(doc_object(e->pod, "spec"), list)) {
        cJSON_ArrayForEach(mount, doc_array(container, "volumeMounts")) {
            if (!steps_take(&e->steps, 1))
                return -E2BIG;
            if (doc_string(mount, "mountPropagation")[0] == '\0' &&
                has_volume(volumes, doc_string(mount, "name")) &&
                doc_set(mount, "mountPropagation", cJSON_CreateString("HostToContainer")) != 0)
                return -ENOMEM;
        }
    }
    return 0;
}

static int inject_mount_propagation(struct fluid_edit *e, bool *ret_stop, struct err *err) {
    *ret_stop = false;
    struct volumes volumes = {0};
    int r = find_volumes(e, &volumes);
    if (r == 0)
        r = edit_containers(e, &volumes, "containers");
    if (r == 0 && e->compat == FLUID_CORRECT)
        r = edit_containers(e, &volumes, "initContainers");
    if (r == -E2BIG)
        return fluid_too_much(err);
    return r == 0 ? 0 : err_set(err, r, "cannot set mount propagation: out of memory");
}

const struct fluid_plugin fluid_mount_propagation_injector = {
    .name = "MountPropagationInjector",
    .mutate = inject_mount_propagation,
};
