#include "cli/admission_print.h"
#include "cli/simulate.h"
#include "whatif/placement_simulation.h"

int simulate_admit_placement(struct simulate_request *request, const struct configuration *c,
                             struct arena *arena) {
    struct admission_simulation result;
    struct err err;
    if (c->state.path_count == 0 &&
        (c->kubernetes.kubeconfig != NULL || c->kubernetes.in_cluster)) {
        (void)simulate_fail("--placement reads files, and no API server: give --state FILE or DIR, "
                            "or none");
        return 2;
    }
    if (placement_simulation_run(c, request->placement, request->previous, arena, &result, &err) !=
        0)
        return simulate_fail(err.text);
    return admission_simulation_print(&result, request->json, arena);
}
