/* The step `schedule`: all that Karmada's scheduler decides of a binding. */
#include "karmada/schedule.h"

#include "base/json_fields.h"
#include "base/limits.h"
#include "lines/candidates.h"
#include "lines/karmada_options.h"
#include "lines/steps.h"

#include <errno.h>

struct schedule_line {
    const struct karmada_cluster *clusters;
    uint32_t cluster_count;
    struct binding_spec spec;
    struct binding_status status;
    struct karmada_options options;
    bool empty_propagation;
};

static void cluster_decode(struct json_reader *r, void *into) {
    struct karmada_cluster *cluster = into;
    karmada_cluster_decode(r, cluster);
    if (str_empty(cluster->meta.name))
        json_fail(r, "metadata.name is required");
}

static void clusters_decode(struct json_reader *r, struct schedule_line *line) {
    line->clusters = json_array_of(r, sizeof *line->clusters, LIMIT_LINE_CLUSTERS, cluster_decode,
                                   &line->cluster_count);
    if (line->clusters != NULL && !json_failed(r) && !arena_failed(r->arena))
        names_refuse_repeated(r, &line->clusters->meta.name, sizeof *line->clusters,
                              line->cluster_count);
}

static void line_decode(struct json_reader *r, struct schedule_line *line) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("clusters")))
            clusters_decode(r, line);
        else if (str_eq(key, STR("spec")))
            binding_spec_decode(r, &line->spec);
        else if (str_eq(key, STR("status")))
            binding_status_decode(r, &line->status);
        else if (str_eq(key, STR("options")))
            karmada_options_decode(r, &line->options);
        else if (str_eq(key, STR("enableEmptyWorkloadPropagation")))
            line->empty_propagation = json_bool(r);
    }
}

static int schedule(const struct schedule_line *line, struct arena *arena,
                    struct karmada_decision *ret, struct err *err) {
    const struct karmada_cluster **clusters =
        arena_array_unset(arena, line->cluster_count, sizeof *clusters);
    struct karmada_options options = line->options;
    options.empty_propagation = line->empty_propagation;
    if (clusters == NULL)
        return err_set(err, -ENOMEM, "no memory for clusters");
    for (uint32_t i = 0; i < line->cluster_count; i++)
        clusters[i] = &line->clusters[i];
    const struct karmada_question q = {.clusters = clusters,
                                       .cluster_count = line->cluster_count,
                                       .spec = &line->spec,
                                       .status = &line->status,
                                       .options = &options};
    return karmada_schedule(&q, arena, ret, err);
}

int line_schedule(struct json_reader *r, struct json_writer *w, struct err *err) {
    struct schedule_line line = {.options = karmada_defaults};
    struct karmada_decision decision;
    line_decode(r, &line);
    int e = json_finish(r, err);
    if (e == 0)
        e = schedule(&line, r->arena, &decision, err);
    if (e != 0)
        return e;
    json_key(w, STR("clusters"));
    json_begin_object(w);
    for (uint32_t i = 0; i < decision.assignment.count; i++) {
        json_key(w, decision.assignment.clusters[i].name);
        json_put_integer(w, decision.assignment.clusters[i].replicas);
    }
    json_end_object(w);
    json_put_member(w, STR("errorKind"), karmada_error_names[decision.kind]);
    json_put_member(w, STR("error"), decision.error);
    return 0;
}
