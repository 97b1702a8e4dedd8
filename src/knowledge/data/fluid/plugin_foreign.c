/*
 * FilePrefetcher and FuseSidecar: known by name, so that Fluid's profiles can be used, but not
 * implemented here. They add containers (a prefetcher, a FUSE client for nodes without CSI), which
 * does not change the pod's possible nodes. If one of them would have work to do, a note asks for
 * Fluid's own webhook. Without the FUSE client the rest of a chain has no effect, so FuseSidecar
 * ends it.
 */
#include "data/fluid/plugin.h"
#include "model/fluid.h"

static int skip_prefetcher(struct fluid_edit *e, bool *ret_stop, struct err *err) {
    (void)err;
    *ret_stop = false;
    const struct labels *annotations = &e->details->annotations;
    if (str_eq(fluid_value(annotations, FLUID_PREFETCH), STR("true")) &&
        !str_eq(fluid_value(annotations, FLUID_PREFETCH_DONE), STR("true"))) {
        e->left_to_fluid = true;
        fluid_note(e, "FilePrefetcher is left to Fluid's webhook");
    }
    return 0;
}

static int skip_sidecar(struct fluid_edit *e, bool *ret_stop, struct err *err) {
    (void)err;
    *ret_stop = e->datasets->count > 0;
    if (*ret_stop) {
        e->left_to_fluid = true;
        fluid_note(e, "FuseSidecar, and the plugins after it, are left to Fluid's webhook");
    }
    return 0;
}

const struct fluid_plugin fluid_file_prefetcher = {
    .name = "FilePrefetcher",
    .mutate = skip_prefetcher,
};

const struct fluid_plugin fluid_fuse_sidecar = {
    .name = "FuseSidecar",
    .mutate = skip_sidecar,
};
