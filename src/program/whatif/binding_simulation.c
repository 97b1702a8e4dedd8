#include "whatif/binding_simulation.h"

#include "clusters/ask.h"
#include "clusters/state.h"
#include "config/karmada.h"
#include "findings/schemas.h"
#include "findings/state/binding.h"
#include "whatif/binding_file.h"
#include "whatif/member_nodes.h"

static void state_cleanup(struct clusters_state *state) {
    clusters_state_done(state);
}

int binding_simulation_run(const struct configuration *c, const struct binding_simulation *how,
                           struct arena *arena, struct strbuf *out, struct err *err) {
    CLEANUP(state_cleanup) struct clusters_state state = {.fleet = NULL};
    struct clusters_question question = {.has_binding = true};
    struct karmada_options options;
    struct str json;
    struct binding_asked asked = {.question = &question,
                                  .verb = BINDING_SELECT,
                                  .with_plan = true,
                                  .now_ms = how->now_ms,
                                  .options = &options,
                                  .member = how->member};
    int r = binding_file_read(how->path, arena, &question.binding, &json, err);
    if (r == 0)
        r = clusters_state_load(c->state.paths, c->state.path_count, NULL, 0, &state, err);
    if (r == 0 && !str_empty(how->member))
        r = member_nodes_replicas(c, &question.binding.spec, arena, &asked.accurate, err);
    if (r != 0)
        return r;
    configuration_karmada(c, &options);
    struct binding_answer answer;
    r = clusters_ask_binding(state.karmada, &asked, arena, out, err);
    if (r == 0)
        r = binding_answer_read(strbuf_str(out), arena, &answer, err);
    if (r != 0)
        return r;
    (void)schema_check(json, &schema_of_binding, how->findings);
    findings_of_binding(&question.binding, &options, &answer, how->findings);
    (void)findings_of_karmada(state.karmada, &question.binding, &answer, how->findings);
    return 0;
}
