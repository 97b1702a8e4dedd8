#include "whatif/admission_simulation.h"

#include "data/source.h"
#include "findings/workload.h"
#include "policy/policies.h"
#include "volumes/store.h"

#include <errno.h>

static void set_cleanup(struct fluid_set **held) {
    fluid_release(*held);
}

/* Copies the texts that the answer borrows from policies, which do not outlive the simulation. */
static void keep_notes(struct review_answer *answer, struct arena *arena) {
    for (uint32_t i = 0; i < answer->annotation_count; i++)
        answer->annotations[i].value = arena_str(arena, answer->annotations[i].value);
}

int admission_simulation_run(const struct configuration *c, const struct simulation_state *state,
                             const struct document *document, struct arena *arena,
                             struct admission_simulation *ret, struct err *err) {
    struct pod pod;
    struct pod_file file;
    int r = simulation_read_pod(document, arena, &file, &pod, err);
    if (r != 0)
        return r;
    if (ret->findings != NULL)
        (void)findings_of_workload(file.json, &pod, str_of(file.spec), ret->findings);
    struct policies *held = policies_hold(state->data.policies);
    CLEANUP(set_cleanup) struct fluid_set *data = fluid_hold(state->data.fluid);
    struct pod_options options = {.head.annotate = c->webhook.annotate,
                                  .cache = state->cache,
                                  .volumes = state->volumes,
                                  .data = fluid_set_data(data)};
    options.head.policies = policies_items(held, &options.head.policy_count);
    ret->kind = &admitted_pods;
    ret->review = (struct review){.uid = STR("simulate"),
                                  .resource = STR("pods"),
                                  .operation = STR("CREATE"),
                                  .namespace = pod.meta.namespace,
                                  .object = file.pod};
    ret->result =
        admit_object(&admitted_pods, &options.head, &ret->review, arena, &ret->patch, &ret->answer);
    keep_notes(&ret->answer, arena);
    policies_release(held);
    return arena_failed(arena) ? err_set(err, -ENOMEM, "no memory to admit the pod") : 0;
}
