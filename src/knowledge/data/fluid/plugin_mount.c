/*
 * MountPropagationInjector: a mount of a dataset sees later mounts on the node, so that a restarted
 * FUSE client serves running pods. Volume mounts of dataset claims get mountPropagation
 * HostToContainer, unless they have a value. Upstream forgets init containers; FLUID_CORRECT does
 * not.
 */
#include "data/fluid/plugin.h"

#include <errno.h>
#include <stdlib.h>

/* The names of a pod's volumes that are datasets, sorted, so that the time grows with the sum of
 * mounts and volumes, not with their product. */
struct volumes {
    struct str *names; /* arena */
    size_t count;
};

static int by_text(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int by_claim(const void *claim, const void *dataset) {
    return str_cmp(*(const struct str *)claim,
                   str_of(((const struct fluid_dataset *)dataset)->claim));
}

static bool is_dataset_claim(const struct fluid_edit *e, struct str claim) {
    const struct fluid_datasets *all = e->datasets; /* in the order of their claims' names */
    return all->count > 0 &&
           bsearch(&claim, all->items, all->count, sizeof *all->items, by_claim) != NULL;
}

static int find_volumes(struct fluid_edit *e, struct volumes *ret) {
    const struct pod_details *d = e->details;
    ret->names = arena_array(e->arena, d->claim_count, sizeof *ret->names);
    if (ret->names == NULL)
        return -ENOMEM;
    if (!steps_take(e->steps, d->volume_count))
        return -E2BIG;
    for (uint32_t i = 0; i < d->claim_count; i++)
        if (is_dataset_claim(e, d->claims[i].claim))
            ret->names[ret->count++] = d->claims[i].name;
    if (ret->count > 1)
        qsort(ret->names, ret->count, sizeof *ret->names, by_text);
    return 0;
}

static bool has_volume(const struct volumes *volumes, struct str name) {
    return volumes->count > 0 &&
           bsearch(&name, volumes->names, volumes->count, sizeof *volumes->names, by_text) != NULL;
}

static int edit_mounts(struct fluid_edit *e, const struct volumes *volumes) {
    const struct pod_details *d = e->details;
    if (e->edits.propagates == NULL)
        e->edits.propagates = arena_array(e->arena, d->mount_count, sizeof *e->edits.propagates);
    if (e->edits.propagates == NULL)
        return -ENOMEM;
    if (!steps_take(e->steps, d->mount_count))
        return -E2BIG;
    for (uint32_t i = 0; i < d->mount_count; i++)
        if (!d->mounts[i].propagates &&
            (!d->mounts[i].in_init_container || e->compat == FLUID_CORRECT) &&
            has_volume(volumes, d->mounts[i].volume))
            e->edits.propagates[i] = true;
    return 0;
}

static int inject_mount_propagation(struct fluid_edit *e, bool *ret_stop, struct err *err) {
    *ret_stop = false;
    struct volumes volumes = {0};
    int r = find_volumes(e, &volumes);
    if (r == 0)
        r = edit_mounts(e, &volumes);
    if (r == -E2BIG)
        return fluid_too_much(err);
    return r == 0 ? 0 : err_set(err, r, "cannot set mount propagation: out of memory");
}

const struct fluid_plugin fluid_mount_propagation_injector = {
    .name = "MountPropagationInjector",
    .mutate = inject_mount_propagation,
};
