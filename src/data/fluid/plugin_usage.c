/*
 * DatasetUsageInjector: the annotation fluid.io/datasets-in-use names the datasets that a pod
 * mounts, sorted and separated by commas, together with those that were named there before.
 */
#include "data/fluid/plugin.h"

#include <errno.h>
#include <stdlib.h>

#define ANNOTATION "fluid.io/datasets-in-use"

static int by_name(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* The names in `text` and those of the datasets, unsorted; arena. */
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

/* Arena; NULL when it failed. */
static const char *join(const struct fluid_edit *e, struct str text) {
    struct str *names = NULL;
    size_t count = 0;
    if (collect(e, text, &names, &count) != 0)
        return NULL;
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
    const char *copy = strbuf_failed(&joined) ? NULL : arena_cstr(e->arena, strbuf_str(&joined));
    strbuf_done(&joined);
    return copy;
}

static int inject_usage(struct fluid_edit *e, bool *ret_stop, struct err *err) {
    cJSON *metadata, *annotations;
    *ret_stop = false;
    if (e->datasets->count == 0)
        return 0;
    int r = doc_need_object(e->pod, "metadata", &metadata, err);
    if (r == 0)
        r = doc_need_object(metadata, "annotations", &annotations, err);
    if (r != 0)
        return r;
    const char *was = doc_string(annotations, ANNOTATION);
    const char *now = join(e, str_of(was));
    if (now == NULL ||
        (strcmp(now, was) != 0 && doc_set(annotations, ANNOTATION, cJSON_CreateString(now)) != 0))
        return err_set(err, -ENOMEM, "cannot annotate the pod: out of memory");
    return 0;
}

const struct fluid_plugin fluid_dataset_usage_injector = {
    .name = "DatasetUsageInjector",
    .mutate = inject_usage,
};
