#include "whatif/placement_simulation.h"

#include "base/clock.h"
#include "clusters/question.h"
#include "clusters/state.h"
#include "config/placements.h"
#include "explain/admission_record.h"
#include "findings/placement.h"

#include <errno.h>

static void state_cleanup(struct clusters_state *state) {
    clusters_state_done(state);
}

static int read_review(const struct document *d, const struct document *previous,
                       struct arena *arena, struct review *ret, struct err *err) {
    struct admission_subject subject;
    *ret = (struct review){.uid = STR("simulate"),
                           .group = admitted_placements.group,
                           .resource = admitted_placements.resource,
                           .operation = previous != NULL ? STR("UPDATE") : STR("CREATE"),
                           .object = d->text};
    if (previous != NULL)
        ret->old_object = previous->text;
    int r = clusters_placement_check(d, arena, err);
    if (r == 0 && previous != NULL)
        r = clusters_placement_check(previous, arena, err);
    if (r != 0)
        return r;
    admission_subject_of(ret, arena, &subject);
    ret->namespace = str_empty(subject.meta.namespace) ? STR("default")
                                                       : subject.meta.namespace; /* like kubectl */
    return 0;
}

/* Copies the texts that the answer borrows from policies, which do not outlive the simulation. */
static void keep_notes(struct review_answer *answer, struct arena *arena) {
    for (uint32_t i = 0; i < answer->annotation_count; i++)
        answer->annotations[i].value = arena_str(arena, answer->annotations[i].value);
}

/* A Placement that cannot be decoded has no findings: the webhook refuses it. */
static void find_mistakes(struct str json, struct findings *ret) {
    struct placement placement;
    struct json_reader r;
    json_reader_init(&r, json, ret->arena, PLACEMENT_KIND);
    placement_decode(&r, &placement);
    if (!json_failed(&r))
        (void)findings_of_placement(json, &placement, ret);
}

int placement_simulation_run(const struct configuration *c, const struct document *d,
                             const struct document *previous, struct arena *arena,
                             struct admission_simulation *ret, struct err *err) {
    CLEANUP(state_cleanup) struct clusters_state state = {.fleet = NULL};
    struct placement_admission admission;
    int r = read_review(d, previous, arena, &ret->review, err);
    if (r == 0)
        r = clusters_state_load(c->state.paths, c->state.path_count, c->policies.paths,
                                c->policies.path_count, &state, err);
    if (r != 0)
        return r;
    struct placement_knowledge known = {.policies = state.policies, .fleet = state.fleet};
    configuration_reviews_placements(c, &known);
    if (!c->ocm.enabled)
        known.mode = PLACEMENT_SCORES;
    known.inject_scores = c->ocm.scores;
    known.owns = true;
    placement_decide(&known, &ret->review, clock_seed(), arena, &admission);
    find_mistakes(ret->review.object, ret->findings);
    ret->kind = &admitted_placements;
    ret->result = admission.result;
    ret->answer = admission.answer;
    ret->patch = admission.patch;
    ret->answer.patch = &ret->patch;
    keep_notes(&ret->answer, arena);
    placement_admission_done(&admission);
    return arena_failed(arena) ? err_set(err, -ENOMEM, "no memory to admit the Placement") : 0;
}
