/* The step `estimate` with nodes and pods, as Karmada's accurate estimator answers it. */
#include "lines/karmada_estimate.h"

#include "lines/hex.h"
#include "lines/karmada_nodes.h"

#include <errno.h>

static int least_of_quotas(const struct estimate_line *line, const struct estimator_question *q,
                           bool sets, struct arena *arena, int64_t *least) {
    struct estimator_quota *quotas = arena_array(arena, line->quota_count, sizeof *quotas);
    int r = quotas == NULL ? -ENOMEM : 0;
    int64_t left;
    for (uint32_t i = 0; r == 0 && i < line->quota_count; i++)
        r = estimator_quota_init(&line->quotas[i], arena, &quotas[i]);
    if (r == 0)
        r = sets ? estimator_quotas_sets(quotas, line->quota_count, q, arena, &left)
                 : estimator_quotas_replicas(quotas, line->quota_count, q, arena, &left);
    if (r == 0 && left < *least)
        *least = left;
    return r;
}

static int estimate_nodes(const struct estimate_line *line, struct asked_nodes *nodes,
                          const struct asked *asked, struct arena *arena, int64_t *ret) {
    struct estimator_question q;
    int r = estimate_prepare(line, asked, arena, &q);
    if (r == 0)
        r = asked->sets ? estimator_nodes_sets(&nodes->nodes, &nodes->view, &q, arena, ret)
                        : estimator_nodes_replicas(&nodes->nodes, &nodes->view, &q, arena, ret);
    if (r == 0 && line->options.resource_quota && nodes->nodes.count > 0)
        r = least_of_quotas(line, &q, asked->sets, arena, ret);
    return r;
}

/* Returns the first question that names another cluster than the line; NULL if no question does. */
static const struct asked *find_foreign(const struct estimate_line *line, const struct asked *asked,
                                        uint32_t count) {
    for (uint32_t i = 0; line->cluster_name.p != NULL && i < count; i++)
        if (asked[i].cluster.p != NULL && !str_eq(asked[i].cluster, line->cluster_name))
            return &asked[i];
    return NULL;
}

static int put_foreign(const struct estimate_line *line, const struct asked *foreign,
                       struct arena *arena, struct json_writer *w) {
    const struct str text =
        arena_printf(arena, "cluster name does not match, got: %.*s, desire: %.*s",
                     STR_ARG(foreign->cluster), STR_ARG(line->cluster_name));
    if (arena_failed(arena))
        return -ENOMEM;
    json_key(w, STR("error"));
    json_put_text(w, text);
    return 0;
}

static void put_response(struct json_writer *w, int64_t count) {
    CLEANUP(strbuf_done) struct strbuf bytes = {0}, hex = {0};
    wire_response_encode((int32_t)count, WIRE_BYTES, &bytes);
    hex_append(strbuf_str(&bytes), &hex);
    json_put_member(w, STR("wire"), strbuf_str(&hex));
}

/* Writes replicas, sets, or both, if messages ask for both. The response message is that of the
 * first question. */
static int answer_all(const struct estimate_line *line, struct asked_nodes *nodes,
                      const struct asked *asked, uint32_t count, struct arena *arena,
                      struct json_writer *w) {
    int64_t answers[2];
    for (uint32_t i = 0; i < count; i++) {
        const int r = estimate_nodes(line, nodes, &asked[i], arena, &answers[i]);
        if (r != 0)
            return r;
    }
    for (uint32_t i = 0; i < count; i++) {
        json_key(w, asked[i].sets ? STR("sets") : STR("replicas"));
        json_put_integer(w, answers[i]);
    }
    put_response(w, answers[0]);
    return 0;
}

/* Finds the one or two questions of the line. */
static int find_asked(const struct estimate_line *line, struct arena *arena, struct asked ret[2],
                      struct wire_replicas *replicas, struct wire_sets *sets, uint32_t *ret_count,
                      struct err *err) {
    int r = 0;
    *ret_count = 0;
    if (line->wire.p != NULL) {
        r = wire_replicas_decode(line->wire, arena, replicas, err);
        ret[(*ret_count)++] = (struct asked){.cluster = replicas->cluster,
                                             .requirements = &replicas->requirements,
                                             .assumed = replicas->assumed,
                                             .assumed_count = replicas->assumed_count};
    }
    if (r == 0 && line->components_wire.p != NULL) {
        r = wire_sets_decode(line->components_wire, arena, sets, err);
        ret[(*ret_count)++] = (struct asked){.cluster = sets->cluster,
                                             .sets = true,
                                             .requirements = &line->requirements,
                                             .components = sets->components,
                                             .component_count = sets->component_count,
                                             .namespace = sets->namespace,
                                             .assumed = sets->assumed,
                                             .assumed_count = sets->assumed_count};
    }
    if (r != 0)
        return err_wrap(err, "question.%s",
                        *ret_count == 1 && line->wire.p != NULL ? "wire" : "componentsWire");
    if (*ret_count == 0)
        ret[(*ret_count)++] = (struct asked){.sets = line->has_components,
                                             .requirements = &line->requirements,
                                             .components = line->components,
                                             .component_count = line->component_count,
                                             .namespace = line->namespace,
                                             .assumed = line->assumed,
                                             .assumed_count = line->assumed_count};
    return 0;
}

int estimate_answer_nodes(const struct estimate_line *line, struct arena *arena,
                          struct json_writer *w, struct err *err) {
    struct asked asked[2];
    struct wire_replicas replicas = {.assumed = NULL};
    struct wire_sets sets = {.assumed = NULL};
    struct asked_nodes nodes;
    uint32_t count;
    int r = find_asked(line, arena, asked, &replicas, &sets, &count, err);
    if (r == 0)
        r = asked_nodes_init(&nodes, line->nodes, line->node_count, line->pods, line->pod_count,
                             arena, err);
    if (r != 0)
        return r;
    const struct asked *foreign = find_foreign(line, asked, count);
    r = foreign != NULL ? put_foreign(line, foreign, arena, w)
                        : answer_all(line, &nodes, asked, count, arena, w);
    asked_nodes_done(&nodes);
    return r == 0 ? 0 : err_set(err, r, "question: too large to be answered");
}
