#include "hub/planner_internal.h"

#include <stdio.h>

static struct metric *each(struct planner_metrics *m, unsigned i) {
    struct metric *const single[] = {&m->duration, &m->waiting, &m->skewed, &m->refused};
    if (i < 4)
        return &m->placements[i / 2][i % 2];
    if (i < 7)
        return &m->plans[i - 4];
    if (i < 7 + MOVED_REASONS)
        return &m->moves[i - 7];
    return i < 11 + MOVED_REASONS ? single[i - 7 - MOVED_REASONS] : NULL;
}

static void set_up(struct metric *m, const char *name, const char *help, enum metric_kind kind,
                   const char *labels) {
    *m = (struct metric){.name = name, .help = help, .labels = labels, .kind = kind};
}

void planner_metrics_start(struct planner_metrics *m) {
    static const char *const modes[] = {"owner", "scores"}, *const spreads[] = {"policy", "own"};
    static const char *const results[] = {"decided", "kept", "failed"};
    unsigned at = 0;
    for (int i = 0; i < 4; i++, at++) {
        (void)snprintf(m->labels[at], sizeof m->labels[at], "mode=\"%s\",spread=\"%s\"",
                       modes[i / 2], spreads[i % 2]); /* fits, as the others */
        set_up(
            &m->placements[i / 2][i % 2], "evenkeel_placements",
            "Placements that Evenkeel spreads, by mode and by the object whose spread terms count.",
            METRIC_GAUGE, m->labels[at]);
    }
    for (int i = 0; i < 3; i++, at++) {
        (void)snprintf(m->labels[at], sizeof m->labels[at], "result=\"%s\"", results[i]);
        set_up(&m->plans[i], "evenkeel_placement_plans_total",
               "Plans of Placements, by result; kept: the Placement cannot be decided, so its "
               "decisions stay.",
               METRIC_COUNTER, m->labels[at]);
    }
    for (int i = 0; i < MOVED_REASONS; i++, at++) {
        (void)snprintf(m->labels[at], sizeof m->labels[at], "reason=\"%s\"", owned_reason_names[i]);
        set_up(&m->moves[i], "evenkeel_placement_moves_total",
               "Clusters that Placements moved to or from, by reason.", METRIC_COUNTER,
               m->labels[at]);
    }
    set_up(&m->duration, "evenkeel_placement_plan_duration_seconds",
           "How long it takes to plan a Placement.", METRIC_HISTOGRAM, "");
    set_up(&m->waiting, "evenkeel_placement_moves_waiting",
           "Waiting moves: those that nothing forces.", METRIC_GAUGE, "");
    set_up(&m->skewed, "evenkeel_placement_skewed",
           "Placements whose spread terms are not satisfied.", METRIC_GAUGE, "");
    set_up(&m->refused, "evenkeel_placements_refused_clusters",
           "Clusters that OCM does not select for a Placement, though it has their score.",
           METRIC_GAUGE, "");
    for (unsigned i = 0; each(m, i) != NULL; i++)
        metric_register(each(m, i));
}

void planner_metrics_stop(struct planner_metrics *m) {
    for (unsigned i = 0; each(m, i) != NULL; i++)
        metric_unregister(each(m, i));
}

static void count(struct planner_metrics *m, const struct planner_counts *c, int64_t by) {
    if (c->owned || c->scored)
        metric_add(&m->placements[c->scored][c->own_terms], by);
}

void planner_metrics_replace(struct planner_metrics *m, const struct planner_counts *before,
                             const struct planner_counts *now) {
    count(m, before, -1);
    count(m, now, 1);
    metric_add(&m->refused, (int64_t)now->refused - before->refused);
    metric_add(&m->skewed, (int64_t)now->skewed - before->skewed);
    metric_add(&m->waiting, (int64_t)now->waiting - before->waiting);
}

void planner_metrics_look(struct planner_metrics *m, const struct owned_answer *a,
                          int64_t duration_ns) {
    if (a->result == OWNED_NOT_DECIDED)
        return;
    metric_observe_ns(&m->duration, duration_ns);
    metric_add(&m->plans[a->result - OWNED_DECIDED], 1);
    if (!a->first)
        metric_add(&m->moves[a->why], a->moves);
}
