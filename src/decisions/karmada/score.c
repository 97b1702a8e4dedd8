#include "karmada/schedule.h"

#include <errno.h>

enum { SCORE_MAX = 100 };

struct scoring {
    const struct karmada_question *q;
    const struct karmada_filtered *filtered;
    int64_t most; /* largest number of allocatable replicas of a candidate */
};

typedef int64_t score_fn(const struct scoring *s, uint32_t at);

static int64_t cluster_locality(const struct scoring *s, uint32_t at) {
    return s->filtered->is_target[at] ? SCORE_MAX : 0;
}

static int64_t free_capacity(const struct scoring *s, uint32_t at) {
    /* both are at most ESTIMATE_MAX */
    return s->most == 0 ? 0 : SCORE_MAX * s->filtered->candidates[at].allocatable / s->most;
}

static int64_t data_locality(const struct scoring *s, uint32_t at) {
    const uint8_t *data = s->q->data;
    const uint32_t percent = data != NULL ? data[s->filtered->clusters[at]] : 0;
    return percent > SCORE_MAX ? SCORE_MAX : percent;
}

static const struct {
    enum karmada_plugin plugin;
    score_fn *score;
} scores[] = {
    {PLUGIN_CLUSTER_LOCALITY, cluster_locality},
    {PLUGIN_FREE_CAPACITY, free_capacity},
    {PLUGIN_DATA_LOCALITY, data_locality},
};
enum { SCORES = sizeof scores / sizeof scores[0] };

int karmada_score(const struct karmada_question *q, struct karmada_filtered *filtered,
                  struct arena *arena, struct karmada_scores *ret, struct err *err) {
    struct scoring s = {.q = q, .filtered = filtered};
    struct karmada_candidate *candidates = filtered->candidates;
    *ret = (struct karmada_scores){{NULL}};
    for (uint32_t i = 0; i < filtered->count; i++) {
        candidates[i].score = 0;
        if (candidates[i].allocatable > s.most)
            s.most = candidates[i].allocatable;
    }
    for (uint32_t n = 0; n < SCORES; n++) {
        if ((q->options->plugins & 1u << scores[n].plugin) == 0)
            continue;
        int64_t *column = arena_array_unset(arena, filtered->count, sizeof *column);
        if (column == NULL)
            return err_set(err, -ENOMEM, "no memory to score clusters");
        for (uint32_t i = 0; i < filtered->count; i++) {
            column[i] = scores[n].score(&s, i);
            candidates[i].score += column[i];
        }
        ret->of[scores[n].plugin] = column;
    }
    return 0;
}
