#include "engine/priority.h"

#include <stdbool.h>
#include <string.h>

/* The distinct scores, the highest first, and the step of each. */
struct ladder {
    int64_t scores[PRIORITY_STEPS_MAX + 1];
    int32_t steps[PRIORITY_STEPS_MAX + 1];
    uint32_t count;
};

/* Returns the place of `score` in the ladder. */
static uint32_t rung_of(const struct ladder *l, int64_t score) {
    uint32_t low = 0, high = l->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (l->scores[middle] > score)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns false if there are more than `most` distinct scores. */
static bool collect(struct ladder *l, const int64_t *scores, uint32_t count, uint32_t most) {
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && scores[i] == scores[i - 1])
            continue;
        uint32_t at = rung_of(l, scores[i]);
        if (at < l->count && l->scores[at] == scores[i])
            continue;
        if (l->count == most)
            return false;
        memmove(&l->scores[at + 1], &l->scores[at], (l->count - at) * sizeof l->scores[0]);
        l->scores[at] = scores[i];
        l->count++;
    }
    return true;
}

/* Returns the step by distance alone: a part of a step below the best counts as a whole step. */
static int32_t step_below(int64_t best, int64_t score, int64_t scale, int32_t steps) {
    return steps - (int32_t)(((best - score) * steps + scale - 1) / scale);
}

/* Gives each score a step of its own, and leaves room for the scores below. */
static void climb(struct ladder *l, int64_t scale, int32_t steps) {
    for (uint32_t i = 0; i < l->count; i++) {
        int32_t step = step_below(l->scores[0], l->scores[i], scale, steps);
        int32_t least = (int32_t)(l->count - 1 - i);
        if (i > 0 && step >= l->steps[i - 1])
            step = l->steps[i - 1] - 1;
        l->steps[i] = step > least ? step : least;
    }
}

/* The highest score that a table may have. */
enum { TABLE_MAX = 1024 };

/* Does priorities_of() by tables, without a search for each score. Returns false if the scale is
 * too long. */
static bool by_table(const int64_t *scores, uint32_t count, int64_t scale, int32_t steps,
                     int32_t *ret) {
    bool seen[TABLE_MAX + 1] = {false};
    int32_t step_of[TABLE_MAX + 1] = {0};
    struct ladder ladder = {.count = 0};
    int64_t best = 0;
    if (scale > TABLE_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (scores[i] < 0 || scores[i] > scale)
            return false;
        seen[scores[i]] = true;
    }
    bool few = true;
    for (int64_t score = scale; score >= 0; score--) {
        if (!seen[score])
            continue;
        best = score > best ? score : best;
        few = few && ladder.count <= (uint32_t)steps;
        if (few)
            ladder.scores[ladder.count++] = score;
    }
    if (few && best > 0)
        climb(&ladder, scale, steps); /* otherwise every step is 0 */
    for (uint32_t i = 0; few && i < ladder.count; i++)
        step_of[ladder.scores[i]] = ladder.steps[i];
    for (int64_t score = 0; !few && score <= best; score++)
        step_of[score] = step_below(best, score, scale, steps);
    for (uint32_t i = 0; i < count; i++)
        ret[i] = step_of[scores[i]];
    return true;
}

void priorities_of(const int64_t *scores, uint32_t count, int64_t scale, int32_t steps,
                   int32_t *ret) {
    if (by_table(scores, count, scale, steps, ret))
        return;
    struct ladder ladder = {.count = 0};
    bool few = collect(&ladder, scores, count, (uint32_t)steps + 1);
    int64_t best = few && count > 0 ? ladder.scores[0] : 0;
    for (uint32_t i = 0; !few && i < count; i++)
        best = scores[i] > best ? scores[i] : best;
    if (few && best > 0)
        climb(&ladder, scale, steps); /* otherwise no score is above 0, and every step is 0 */
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && scores[i] == scores[i - 1])
            ret[i] = ret[i - 1];
        else if (few)
            ret[i] = ladder.steps[rung_of(&ladder, scores[i])];
        else
            ret[i] = step_below(best, scores[i], scale, steps);
    }
}
