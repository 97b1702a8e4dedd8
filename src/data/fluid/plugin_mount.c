/*
 * MountPropagationInjector: a mount of a dataset sees what is mounted on the node later, so that a
 * FUSE client that was started anew serves running pods. Volume mounts of dataset claims get
 * mountPropagation HostToContainer; a value that is there stays. Upstream forgets init containers;
 * FLUID_CORRECT does not.
 */
#include "data/fluid/plugin.h"

#include <errno.h>

static bool is_dataset_claim(const struct fluid_edit *e, const char *claim) {
    for (size_t i = 0; i < e->datasets->count; i++)
        if (strcmp(e->datasets->items[i].claim, claim) == 0)
            return true;
    return false;
}

static bool is_dataset_volume(const struct fluid_edit *e, const char *name) {
    const cJSON *volume;
    cJSON_ArrayForEach(volume, doc_array(doc_object(e->pod, "spec"), "volumes")) {
        if (strcmp(doc_string(volume, "name"), name) == 0 &&
            is_dataset_claim(e,
                             doc_string(doc_object(volume, "persistentVolumeClaim"), "claimName")))
            return true;
    }
    return false;
}

static int edit_containers(struct fluid_edit *e, const char *list) {
    const cJSON *container;
    cJSON *mount;
    cJSON_ArrayForEach(container, doc_array(doc_object(e->pod, "spec"), list)) {
        cJSON_ArrayForEach(mount, doc_array(container, "volumeMounts")) {
            if (doc_string(mount, "mountPropagation")[0] == '\0' &&
                is_dataset_volume(e, doc_string(mount, "name")) &&
                doc_set(mount, "mountPropagation", cJSON_CreateString("HostToContainer")) != 0)
                return -ENOMEM;
        }
    }
    return 0;
}

static int inject_mount_propagation(struct fluid_edit *e, bool *ret_stop, struct err *err) {
    *ret_stop = false;
    int r = edit_containers(e, "containers");
    if (r == 0 && e->compat == FLUID_CORRECT)
        r = edit_containers(e, "initContainers");
    return r == 0 ? 0 : err_set(err, r, "cannot set mount propagation: out of memory");
}

const struct fluid_plugin fluid_mount_propagation_injector = {
    .name = "MountPropagationInjector",
    .mutate = inject_mount_propagation,
};
