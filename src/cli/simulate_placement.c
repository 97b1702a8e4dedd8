#include "cli/simulate.h"

#include "base/time.h"
#include "cli/placement_print.h"
#include "clusters/ask.h"
#include "clusters/state.h"

/* The table is made of the same object that -o json prints. */
static int answer(const struct simulate_request *request, const struct clusters_question *q,
                  const struct clusters_state *state, struct arena *arena, struct strbuf *out,
                  struct err *err) {
    CLEANUP(strbuf_done) struct strbuf json = {.max = LIMIT_STATE_BYTES};
    const struct clusters_known known = {state->fleet, state->policies};
    int r = clusters_ask(&known, q, PLACEMENT_SELECT, kube_wall_us() / 1000, arena, &json, err);
    if (r != 0)
        return r;
    if (!request->json)
        return answer_print(strbuf_str(&json), placement_print, arena, out, err);
    strbuf_append_char(&json, '\n');
    strbuf_append_str(out, strbuf_str(&json));
    return 0;
}

int simulate_placement(struct simulate_request *request, const struct configuration *c,
                       struct arena *arena) {
    struct clusters_question q = {.has_placement = true,
                                  .has_now = request->has_now,
                                  .now_ms = request->now_ms,
                                  .with_rounds = request->rounds};
    struct clusters_state state = {.fleet = NULL};
    struct strbuf out = {.max = LIMIT_STATE_BYTES};
    struct err err;
    if (c->state.path_count == 0) {
        (void)simulate_fail("--placement reads files, and no API server: give --state FILE or DIR");
        return 2;
    }
    int r = clusters_placement_read(request->placement, arena, &q.placement, &err);
    if (r == 0)
        r = clusters_state_load(c->state.paths, c->state.path_count, c->policies.paths,
                                c->policies.path_count, &state, &err);
    if (r == 0)
        r = answer(request, &q, &state, arena, &out, &err);
    int status = r == 0 ? simulate_print(&out, true) : simulate_fail(err.text);
    if (r != 0)
        strbuf_done(&out);
    clusters_state_done(&state);
    return status;
}
