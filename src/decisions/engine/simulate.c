#include "engine/simulate.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>

static int compare_names(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int all_nodes(struct cache *cache, struct arena *arena, struct candidates *ret) {
    struct cache_view view;
    cache_view_open(cache, &view);
    uint32_t slots = topology_slots(view.nodes.topology), count = 0;
    struct str *names = arena_array(arena, slots, sizeof *names);
    for (uint32_t slot = 0; names != NULL && slot < slots; slot++)
        if (topology_is_known(view.nodes.topology, slot))
            names[count++] = arena_str(arena, topology_name(view.nodes.topology, slot));
    cache_view_close(&view);
    if (names == NULL || arena_failed(arena))
        return -ENOMEM;
    qsort(names, count, sizeof *names, compare_names);
    *ret = (struct candidates){names, count};
    return 0;
}

static int passing(const struct simulation *t, struct arena *arena, struct candidates *ret) {
    struct str *names = arena_array(arena, t->filtered.count, sizeof *names);
    uint32_t count = 0;
    for (uint32_t i = 0; names != NULL && i < t->filtered.count; i++)
        if (t->filter.verdicts[i] == VERDICT_PASS)
            names[count++] = t->filtered.names[i];
    *ret = (struct candidates){names, count};
    return names == NULL ? -ENOMEM : 0;
}

int engine_simulate(const struct engine_options *options, struct cache *cache,
                    const struct pod *pod, const struct candidates *named, struct arena *arena,
                    struct simulation *ret, struct err *err) {
    if (named != NULL)
        ret->filtered = *named;
    else if (all_nodes(cache, arena, &ret->filtered) != 0)
        return err_set(err, -ENOMEM, "no memory for the list of nodes");
    int64_t began_ns = clock_now_ns();
    int r = engine_filter(options, cache, pod, &ret->filtered, arena, &ret->filter, err);
    if (r != 0)
        return r;
    ret->filter_us = (clock_now_ns() - began_ns) / 1000;
    ret->scored = ret->filtered;
    if (named == NULL && passing(ret, arena, &ret->scored) != 0)
        return err_set(err, -ENOMEM, "no memory for the list of nodes");
    began_ns = clock_now_ns();
    r = engine_score(options, cache, pod, &ret->scored, arena, &ret->score, err);
    ret->score_us = (clock_now_ns() - began_ns) / 1000;
    return r;
}
