#include "cli/simulate.h"

#include "cli/admission_print.h"
#include "clusters/question.h"
#include "whatif/placement_simulation.h"

static int print(const struct simulate_request *request, const struct admission_simulation *result,
                 struct arena *arena) {
    const int status = admission_simulation_print(result, request->questions, arena);
    return status == 0 && request->strict && result->findings->count > 0 ? 3 : status;
}

static int admit(const struct simulate_request *request, const struct configuration *c,
                 const struct simulation_state *state, struct arena *arena) {
    CLEANUP(arena_done) struct arena of_findings;
    struct findings findings;
    struct admission_simulation result = {.findings = &findings};
    struct err err;
    findings_init(&findings, &of_findings);
    if (admission_simulation_run(c, state, request->questions->document, arena, &result, &err) != 0)
        return simulate_fail(err.text);
    return print(request, &result, arena);
}

int simulate_admit(struct simulate_request *request, const struct configuration *c,
                   struct arena *arena) {
    struct simulation_state state = {.cache = NULL};
    struct err err;
    int r = simulate_read(c, NULL, &state, &err);
    int status = r != 0 ? simulate_fail(err.text) : admit(request, c, &state, arena);
    simulation_state_done(&state);
    return status;
}

int simulate_admit_placement(struct simulate_request *request, const struct configuration *c,
                             struct arena *arena) {
    CLEANUP(arena_done) struct arena of_findings;
    struct findings findings;
    struct admission_simulation result = {.findings = &findings};
    struct err err;
    findings_init(&findings, &of_findings);
    if (c->state.path_count == 0 &&
        (c->kubernetes.kubeconfig != NULL || c->kubernetes.in_cluster)) {
        (void)simulate_fail("--placement reads files, and no API server: give --state FILE or DIR, "
                            "or none");
        return 2;
    }
    if (request->previous != NULL && request->questions->count > 1) {
        (void)simulate_fail("--previous is about one Placement: pick it with --name");
        return 2;
    }
    struct document previous;
    int r = 0;
    if (request->previous != NULL)
        r = document_read_only(request->previous, &placement_documents, arena, &previous, &err);
    if (r == 0)
        r = placement_simulation_run(c, request->questions->document,
                                     request->previous != NULL ? &previous : NULL, arena, &result,
                                     &err);
    if (r != 0)
        return simulate_fail(err.text);
    return print(request, &result, arena);
}
