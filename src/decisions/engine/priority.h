/*
 * Maps many fine scores to priorities, the few steps that kube-scheduler takes from an extender.
 *
 * kube-scheduler multiplies a priority by the extender's weight and by 10, so one step outweighs
 * several points of any in-tree plugin. Rounding to the nearest step would let a worse node tie
 * with the best one, and a tie is decided by chance. So the order of scores is more important here
 * than their distance.
 */
#pragma once

#include <stdint.h>

enum { PRIORITY_STEPS_MAX = 100 };

/*
 * Puts `count` scores of 0..scale (higher is better; scale > 0) on the steps 0..steps (1 to
 * PRIORITY_STEPS_MAX). The best score gets `steps` (0 if the score is 0), and no lower score gets
 * `steps`. Up to steps + 1 different scores stay different; if there are more, their order is kept,
 * and low scores may share a step. Otherwise a score is as many steps below the best as its
 * distance has parts of scale/steps; a part that is only begun counts, too.
 */
void priorities_of(const int64_t *scores, uint32_t count, int64_t scale, int32_t steps,
                   int32_t *ret);
