/*
 * Finds the parts of PodTopologySpread, the in-tree plugin beside Evenkeel, that a profile turns
 * off.
 *
 * When kube-scheduler makes room for a pod (preempts), it looks for victims, pods that it must
 * remove so that its own plugins pass the pod. It does not call extenders then, so it finds no
 * victim for a constraint that only an extender enforces. upstream: kube-scheduler
 * default_preemption.go SelectVictimsOnNode, preemption.go DryRunPreemption.
 */
#include "check/scheduler.h"

#include <stdio.h>

/* The profile that is being checked. */
struct place {
    const struct judge *judge;
    const struct scheduler_profile *profile;
    uint32_t index;
};

static void say(const struct place *p, enum severity severity, const char *list, const char *advice,
                const char *problem) {
    char path[80];
    uint32_t line =
        scheduler_config_line(p->judge->config, p->profile->json, list, p->judge->out->arena);
    (void)snprintf(path, sizeof path, "profiles[%u].%s", p->index, list); /* fits */
    check_report_add(p->judge->out, severity, line, path, advice, "%s", problem);
}

static void judge_filter(const struct place *p) {
    const char *const *off = p->profile->spread_off;
    if (off[SPREAD_FILTER] != NULL && p->judge->extender->filter_verb.n == 0)
        say(p, SEVERITY_ERROR, off[SPREAD_FILTER],
            "set filterVerb: filter, or leave PodTopologySpread's preFilter and filter on",
            "without a filterVerb and without PodTopologySpread's filter nobody keeps hard "
            "constraints");
    else if (off[SPREAD_FILTER] != NULL)
        say(p, SEVERITY_WARNING, off[SPREAD_FILTER],
            "to have preemption back, leave PodTopologySpread's preFilter and filter on: they "
            "agree "
            "with Evenkeel about the constraints of pods",
            "without PodTopologySpread's filter, kube-scheduler evicts no pod to make room under "
            "the hard constraints of pods: it knows them by its extender only. While Evenkeel is "
            "down nobody keeps them");
    else if (off[SPREAD_PRE_FILTER] != NULL)
        say(p, SEVERITY_ERROR, off[SPREAD_PRE_FILTER], "turn both off, or none",
            "PodTopologySpread's filter fails without its preFilter: no pod is scheduled");
}

static void judge_score(const struct place *p) {
    const char *const *off = p->profile->spread_off;
    if (off[SPREAD_SCORE] == NULL && off[SPREAD_PRE_SCORE] != NULL)
        say(p, SEVERITY_ERROR, off[SPREAD_PRE_SCORE], "turn both off, or none",
            "PodTopologySpread's score fails without its preScore: no pod is scheduled that could "
            "choose between nodes");
    else if (off[SPREAD_SCORE] != NULL && off[SPREAD_SCORE] != off[SPREAD_FILTER])
        say(p, SEVERITY_INFO, off[SPREAD_SCORE], "",
            "without PodTopologySpread's score, only Evenkeel's scores count soft constraints; "
            "while Evenkeel is down, no scores do");
}

/* Reports if neither PodTopologySpread nor Evenkeel scores the soft constraints, or if both do. */
static void judge_scorers(const struct judge *j) {
    struct str verb = j->extender->prioritize_verb;
    bool kept = j->config->profile_count == 0; /* the default profile has the plugin */
    for (uint32_t i = 0; i < j->config->profile_count; i++) {
        bool on = j->config->profiles[i].spread_off[SPREAD_SCORE] == NULL;
        kept = kept || on;
        if (!on && judge_is_verb(verb, extender_verbs[EXTENDER_COMPLEMENT].name))
            judge_say(
                j, SEVERITY_WARNING, "prioritizeVerb", "set prioritizeVerb: prioritize",
                "complement leaves soft constraints to PodTopologySpread, and profile %u does "
                "not score with it: they have no effect there",
                i);
    }
    if (kept && judge_is_verb(verb, extender_verbs[EXTENDER_PRIORITIZE].name))
        judge_say(
            j, SEVERITY_INFO, "prioritizeVerb", "set prioritizeVerb: complement",
            "kube-scheduler's own PodTopologySpread scores the same soft constraints, so they "
            "count twice; complement adds only what that plugin does not score");
}

void judge_plugins(const struct judge *j) {
    for (uint32_t i = 0; i < j->config->profile_count; i++) {
        const struct place place = {j, &j->config->profiles[i], i};
        judge_filter(&place);
        judge_score(&place);
    }
    judge_scorers(j);
}
