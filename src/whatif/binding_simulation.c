#include "whatif/binding_simulation.h"

#include "clusters/state.h"
#include "config/karmada.h"
#include "explain/binding.h"
#include "fleet/karmada.h"
#include "whatif/binding_file.h"

#include <errno.h>

static void state_cleanup(struct clusters_state *state) {
    clusters_state_done(state);
}

static int answer(const struct configuration *c, const struct binding_simulation *how,
                  const struct binding *binding, const struct karmada_view *view,
                  struct arena *arena, struct strbuf *out, struct err *err) {
    struct karmada_options options;
    struct karmada_question q = {.options = &options};
    struct karmada_outcome outcome;
    configuration_karmada(c, &options);
    if (karmada_view_clusters(view, arena, &q.clusters, &q.cluster_count) != 0)
        return err_set(err, -ENOMEM, "no memory for clusters");
    const int r = karmada_schedule_binding(binding, &q, arena, &outcome, err);
    if (r != 0)
        return r;
    const struct binding_report report = {binding, &q, &outcome};
    return binding_render(&report, &(struct binding_rendering){.now_ms = how->now_ms}, arena, out,
                          err);
}

int binding_simulation_run(const struct configuration *c, const struct binding_simulation *how,
                           struct arena *arena, struct strbuf *out, struct err *err) {
    CLEANUP(state_cleanup) struct clusters_state state = {.fleet = NULL};
    struct binding binding;
    struct karmada_view view;
    int r = binding_file_read(how->path, arena, &binding, err);
    if (r == 0)
        r = clusters_state_load(c->state.paths, c->state.path_count, NULL, 0, &state, err);
    if (r != 0)
        return r;
    karmada_view_open(state.karmada, &view);
    r = answer(c, how, &binding, &view, arena, out, err);
    karmada_view_close(&view);
    return r;
}
