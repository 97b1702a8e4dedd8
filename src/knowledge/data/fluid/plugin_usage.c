/*
 * DatasetUsageInjector: writes the datasets that a pod mounts into the annotation
 * fluid.io/datasets-in-use, sorted and separated by commas, together with the names already there.
 */
#include "data/fluid/plugin.h"
#include "model/fluid.h"

#include <errno.h>
#include <stdlib.h>

static int by_name(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Collects the names in `text` and those of the datasets, unsorted; arena. */
static int collect(const struct fluid_edit *e, struct str text, struct str **ret,
                   size_t *ret_count) {
    struct str *names = NULL;
    uint32_t cap = 0;
    size_t count = 0, i = 0;
    while (text.n > 0 || i < e->datasets->count) {
        struct str name;
        if (text.n > 0) {
            size_t comma = str_find(text, ',');
            size_t end = comma == SIZE_MAX ? text.n : comma, next = end + (comma != SIZE_MAX);
            name = str_trim((struct str){text.p, end});
            text = (struct str){text.p + next, text.n - next};
        } else {
            name = str_of(e->datasets->items[i++].self.name);
        }
        if (str_empty(name))
            continue;
        names = arena_push(e->arena, names, count, &cap, sizeof *names);
        if (names == NULL)
            return -ENOMEM;
        names[count++] = name;
    }
    *ret = names;
    *ret_count = count;
    return 0;
}

/* Makes the annotation's value, in the arena. Returns 0 or -ENOMEM. */
static int join(const struct fluid_edit *e, struct str text, struct str *ret) {
    struct str *names = NULL;
    size_t count = 0;
    if (collect(e, text, &names, &count) != 0)
        return -ENOMEM;
    if (count > 0)
        qsort(names, count, sizeof *names, by_name);
    struct strbuf joined = {.max = 1u << 20};
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && str_eq(names[i - 1], names[i]))
            continue;
        if (i > 0)
            strbuf_append_char(&joined, ',');
        strbuf_append_str(&joined, names[i]);
    }
    *ret = arena_str(e->arena, strbuf_str(&joined));
    bool failed = strbuf_failed(&joined) || arena_failed(e->arena);
    strbuf_done(&joined);
    return failed ? -ENOMEM : 0;
}

static int inject_usage(struct fluid_edit *e, bool *ret_stop, struct err *err) {
    *ret_stop = false;
    if (e->datasets->count == 0)
        return 0;
    struct str was = str_empty(e->edits.datasets_in_use)
                         ? fluid_value(&e->details->annotations, FLUID_DATASETS_IN_USE)
                         : e->edits.datasets_in_use;
    struct str now = {0};
    if (join(e, was, &now) != 0)
        return err_set(err, -ENOMEM, "cannot annotate the pod: out of memory");
    if (!str_eq(now, was))
        e->edits.datasets_in_use = now;
    return 0;
}

const struct fluid_plugin fluid_dataset_usage_injector = {
    .name = "DatasetUsageInjector",
    .mutate = inject_usage,
};
