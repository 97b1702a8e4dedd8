#include "data/fluid/plugin.h"

#include "base/limits.h"

#include <errno.h>
#include <stdio.h>

static const struct fluid_plugin *const plugins[] = {
    &fluid_prefer_nodes_without_cache,
    &fluid_require_node_with_fuse,
    &fluid_require_nodes_with_fuse,
    &fluid_node_affinity_with_cache,
    &fluid_prefer_nodes_with_cache,
    &fluid_mount_propagation_injector,
    &fluid_dataset_usage_injector,
    &fluid_scale_in_exclusion,
    &fluid_file_prefetcher,
    &fluid_fuse_sidecar,
};

const struct fluid_plugin *fluid_plugin_find(struct str name) {
    for (size_t i = 0; i < sizeof plugins / sizeof plugins[0]; i++)
        if (str_eq(name, str_of(plugins[i]->name)))
            return plugins[i];
    return NULL;
}

int fluid_too_much(struct err *err) {
    return err_set(err, -E2BIG, "it takes more than %u steps", LIMIT_REVIEW_STEPS);
}

void fluid_note(struct fluid_edit *e, const char *fmt, ...) {
    char text[ERR_TEXT_SIZE];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args); /* may be cut: people read it */
    va_end(args);
    const char *copy = n < 0 ? NULL : arena_cstr(e->arena, str_of(text));
    const char **grown =
        copy == NULL ? NULL
                     : arena_push(e->arena, e->notes, e->note_count, &e->note_cap, sizeof *grown);
    if (grown == NULL)
        return;
    e->notes = grown;
    e->notes[e->note_count++] = copy;
}

struct str fluid_value(const struct labels *labels, const char *key) {
    struct str value = {0};
    return labels_lookup(labels, str_of(key), &value) ? value : STR("");
}

const char *fluid_dataset_label(struct fluid_edit *e, const char *prefix,
                                const struct fluid_dataset *d) {
    const struct fluid_identity *id = e->compat == FLUID_CORRECT ? &d->physical : &d->self;
    const char *key = fluid_label_key(prefix, id, e->arena);
    if (e->compat != FLUID_CORRECT || key == NULL || fluid_label_fits(key))
        return key;
    fluid_note(e, "dataset '%s/%s' has too long a name for a label, and its uid is not known",
               id->namespace, id->name);
    return "";
}
