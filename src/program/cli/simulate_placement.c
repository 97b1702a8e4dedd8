#include "cli/simulate.h"

#include "base/time.h"
#include "cli/placement_print.h"
#include "clusters/ask.h"
#include "clusters/state.h"
#include "findings/placement.h"
#include "findings/state/fleet.h"

int simulate_placement(struct simulate_request *request, const struct configuration *c,
                       struct arena *arena) {
    struct clusters_question q = {.has_placement = true,
                                  .has_now = request->has_now,
                                  .now_ms = request->now_ms,
                                  .with_rounds = request->rounds};
    CLEANUP(strbuf_done) struct strbuf json = {.max = LIMIT_STATE_BYTES};
    struct clusters_state state = {.fleet = NULL};
    CLEANUP(arena_done) struct arena of_findings;
    struct findings findings;
    const int64_t now_ms = kube_wall_us() / 1000;
    struct err err;
    findings_init(&findings, &of_findings);
    if (c->state.path_count == 0) {
        (void)simulate_fail("--placement reads files, and no API server: give --state FILE or DIR");
        return 2;
    }
    int r = clusters_placement_read(request->questions->document, arena, &q.placement, &err);
    if (r == 0)
        r = clusters_state_load(c->state.paths, c->state.path_count, c->policies.paths,
                                c->policies.path_count, &state, &err);
    const struct clusters_known known = {state.fleet, state.policies};
    if (r == 0)
        r = clusters_ask(&known, &q, PLACEMENT_SELECT, now_ms, arena, &json, &err);
    if (r == 0) {
        (void)findings_of_placement(request->questions->document->text, &q.placement, &findings);
        (void)findings_of_fleet(state.fleet, &q.placement, q.has_now ? q.now_ms : now_ms,
                                &findings);
    }
    clusters_state_done(&state);
    return r != 0 ? simulate_fail(err.text)
                  : simulate_answer(request, &json, &findings, placement_print, "", false);
}
