#include "cli/simulate.h"

#include "base/time.h"
#include "cli/binding_print.h"
#include "whatif/binding_simulation.h"

int simulate_binding(struct simulate_request *request, const struct configuration *c,
                     struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf json = {.max = LIMIT_STATE_BYTES};
    CLEANUP(arena_done) struct arena of_findings;
    struct findings findings;
    const struct binding_simulation how = {
        .path = request->binding,
        .member = str_of(request->member),
        .findings = &findings,
        .now_ms = request->has_now ? request->now_ms : kube_wall_us() / 1000,
    };
    struct err err;
    findings_init(&findings, &of_findings);
    if (c->state.path_count == 0) {
        (void)simulate_fail("--binding reads files, and no API server: give --state FILE or DIR");
        return 2;
    }
    if (binding_simulation_run(c, &how, arena, &json, &err) != 0)
        return simulate_fail(err.text);
    return simulate_answer(request, &json, &findings, binding_print, "", false);
}
