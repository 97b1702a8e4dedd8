#include "explain/binding_order.h"

#include <errno.h>
#include <stdlib.h>

struct str binding_verdict_name(const struct karmada_verdict *verdict) {
    switch (verdict->pass) {
    case CLUSTER_PASSES:
        return STR("Pass");
    case CLUSTER_REFUSED:
        return str_of(karmada_plugin_names[verdict->plugin]);
    case CLUSTER_DELETING:
        break;
    }
    return STR("Deleting");
}

struct named {
    struct str name;
    uint32_t at;
};

static int by_name(const void *a, const void *b) {
    return str_cmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* Sorts the names, and returns the place of each in the sorted order; NULL without memory. */
static const uint32_t *sort_places(struct named *names, uint32_t count, struct arena *arena) {
    uint32_t *places = arena_array_unset(arena, count, sizeof *places);
    if (count > 1)
        qsort(names, count, sizeof *names, by_name);
    for (uint32_t i = 0; places != NULL && i < count; i++)
        places[i] = names[i].at;
    return places;
}

/* Returns the parts joined without a separator, in the arena. */
static struct str concatenate(const struct str *parts, uint32_t count, struct arena *arena) {
    size_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        n += parts[i].n;
    char *text = arena_alloc(arena, n), *at = text;
    for (uint32_t i = 0; text != NULL && i < count; i++) {
        if (parts[i].n > 0)
            memcpy(at, parts[i].p, parts[i].n);
        at += parts[i].n;
    }
    return (struct str){text, text != NULL ? n : 0};
}

static struct str level_name(const struct karmada_level *level, struct arena *arena) {
    static const struct str names[] = {
        [SPREAD_PROVIDER] = STR("provider"), [SPREAD_REGION] = STR("region"),
        [SPREAD_ZONE] = STR("zone"),         [SPREAD_LABEL] = STR("label:"),
        [SPREAD_CLUSTER] = STR("cluster"),
    };
    const struct str parts[] = {names[level->field], level->label};
    return concatenate(parts, level->field == SPREAD_LABEL ? 2 : 1, arena);
}

static int name_levels(const struct karmada_selection *s, struct arena *arena,
                       struct binding_order *ret) {
    struct str *levels = arena_array(arena, s->level_count, sizeof *levels);
    for (uint32_t i = 0; levels != NULL && i < s->level_count; i++)
        levels[i] = level_name(&s->levels[i], arena);
    ret->levels = levels;
    return levels == NULL ? -ENOMEM : 0;
}

static int sort_clusters(const struct binding_report *report, struct arena *arena,
                         struct binding_order *ret) {
    const struct karmada_question *q = report->question;
    const struct karmada_filtered *f = &report->outcome->decision.filtered;
    struct named *names = arena_array_unset(arena, q->cluster_count, sizeof *names);
    if (names == NULL)
        return -ENOMEM;
    if (!steps_take_sort(&arena->steps, 2 * (uint64_t)q->cluster_count))
        return -E2BIG;
    for (uint32_t i = 0; i < q->cluster_count; i++)
        names[i] = (struct named){q->clusters[i]->meta.name, i};
    ret->clusters = sort_places(names, q->cluster_count, arena);
    for (uint32_t i = 0; i < f->count; i++)
        names[i] = (struct named){f->candidates[i].cluster.name, i};
    ret->candidates = sort_places(names, f->count, arena);
    return ret->clusters == NULL || ret->candidates == NULL ? -ENOMEM : 0;
}

int binding_order_make(const struct binding_report *report, struct arena *arena,
                       struct binding_order *ret, struct err *err) {
    const struct object_meta *meta = &report->binding->meta;
    const struct str parts[] = {meta->namespace, STR("/"), meta->name};
    int r = sort_clusters(report, arena, ret);
    if (r == 0)
        r = name_levels(&report->outcome->decision.selection, arena, ret);
    ret->binding = report->binding->cluster_wide ? meta->name : concatenate(parts, 3, arena);
    if (r == -E2BIG)
        return err_set(err, r, "more clusters than there is time for");
    return r != 0 || arena_failed(arena) ? err_set(err, -ENOMEM, "no memory for the answer") : 0;
}
