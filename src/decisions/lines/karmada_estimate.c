/*
 * The step `estimate`: computes how many replicas, or sets of components, fit a cluster, as
 * Karmada's two estimators do. It uses the Cluster object (`cluster` is an object), or nodes and
 * pods (`nodes` is given). The question is in JSON, or is the message that a scheduler sends.
 */
#include "lines/karmada_estimate.h"

#include "base/json_fields.h"
#include "lines/hex.h"
#include "lines/karmada_nodes.h"
#include "lines/karmada_options.h"
#include "lines/steps.h"

#include <errno.h>

/* ---- decoding ---- */

static void quota_item_decode(struct json_reader *r, void *into) {
    quota_decode(r, into);
}

static void assumed_decode(struct json_reader *r, void *into) {
    struct assumed_workload *assumed = into;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("namespace")))
            assumed->namespace = json_string(r);
        else if (str_eq(key, STR("components")))
            assumed->components = components_decode(r, &assumed->component_count);
    }
}

/* Reads a Cluster object, or only the name of a cluster if nodes are given. */
static void cluster_decode(struct json_reader *r, struct estimate_line *line) {
    line->cluster_name = (struct str){0};
    line->has_cluster = false;
    if (json_peek(r) == JSON_STRING) {
        line->cluster_name = json_string(r);
        return;
    }
    line->has_cluster = json_peek(r) != JSON_NULL;
    karmada_cluster_decode(r, &line->cluster);
}

static void nodes_member(struct json_reader *r, struct estimate_line *line) {
    line->has_nodes = true; /* null means a cluster without nodes */
    line->nodes = json_array_of(r, sizeof *line->nodes, LIMIT_LINE_CLUSTERS, line_node_decode,
                                &line->node_count);
}

static void components_member(struct json_reader *r, struct estimate_line *line) {
    line->has_components = json_peek(r) != JSON_NULL;
    line->components = components_decode(r, &line->component_count);
}

static void member_decode(struct json_reader *r, struct str key, struct estimate_line *line) {
    if (str_eq(key, STR("cluster")))
        cluster_decode(r, line);
    else if (str_eq(key, STR("requirements")))
        replica_requirements_decode(r, &line->requirements);
    else if (str_eq(key, STR("components")))
        components_member(r, line);
    else if (str_eq(key, STR("assumedWorkloads")))
        line->assumed = json_array_of(r, sizeof *line->assumed, UINT32_MAX, assumed_decode,
                                      &line->assumed_count);
    else if (str_eq(key, STR("namespace")))
        line->namespace = json_string(r);
    else if (str_eq(key, STR("wire")))
        line->wire = hex_decode(r);
    else if (str_eq(key, STR("componentsWire")))
        line->components_wire = hex_decode(r);
    else if (str_eq(key, STR("nodes")))
        nodes_member(r, line);
    else if (str_eq(key, STR("pods")))
        line->pods =
            json_array_of(r, sizeof *line->pods, UINT32_MAX, line_pod_decode, &line->pod_count);
    else if (str_eq(key, STR("quotas")))
        line->quotas = json_array_of(r, sizeof *line->quotas, UINT32_MAX, quota_item_decode,
                                     &line->quota_count);
    else if (str_eq(key, STR("options")))
        karmada_options_decode(r, &line->options);
}

/* Is the estimate made from nodes? A message on the wire always asks for such an estimate. */
static bool by_nodes(const struct estimate_line *line) {
    return line->has_nodes || line->wire.p != NULL || line->components_wire.p != NULL;
}

static int line_check(const struct estimate_line *line, struct err *err) {
    if (!by_nodes(line) && !line->has_cluster)
        return err_set(err, -EINVAL, "question: cluster (an object) or nodes is required");
    if (!by_nodes(line))
        return 0;
    if (line->has_cluster)
        return err_set(err, -EINVAL, "question.cluster: expected a name beside nodes");
    if (line->requirements.given && line->has_components)
        return err_set(err, -EINVAL, "question: requirements and components are two questions");
    if ((line->wire.p != NULL || line->components_wire.p != NULL) &&
        (line->requirements.given || line->has_components))
        return err_set(err, -EINVAL,
                       "question: a message on the wire has its own requirements and components");
    return 0;
}

/* ---- what is asked ---- */

int estimate_prepare(const struct estimate_line *line, const struct asked *asked,
                     struct arena *arena, struct estimator_question *q) {
    int r = estimator_question_init(q, asked->requirements, asked->components,
                                    asked->component_count, arena);
    q->models = line->options.models;
    q->sets_by_name = line->options.sets_by_name;
    q->set.namespace = asked->namespace;
    if (r == 0 && line->options.overcommit_protection)
        r = estimator_question_assume(q, asked->assumed, asked->assumed_count, arena);
    return r;
}

/* ---- by the Cluster object ---- */

static int answer_cluster(const struct estimate_line *line, struct arena *arena,
                          struct json_writer *w) {
    const struct asked asked = {.requirements = &line->requirements,
                                .components = line->components,
                                .component_count = line->component_count,
                                .assumed = line->assumed,
                                .assumed_count = line->assumed_count};
    struct estimator_question q;
    struct general_estimate general;
    int64_t sets;
    int r = estimate_prepare(line, &asked, arena, &q);
    if (r == 0)
        r = estimator_general_replicas(&line->cluster, &q, arena, &general);
    if (r == 0)
        r = estimator_general_sets(&line->cluster, &q, arena, &sets);
    if (r != 0)
        return r;
    json_key(w, STR("replicas"));
    json_put_integer(w, general.replicas);
    json_key(w, STR("sets"));
    json_put_integer(w, sets);
    return 0;
}

int line_estimate(struct json_reader *r, struct json_writer *w, struct err *err) {
    struct estimate_line line = {.options = karmada_defaults};
    struct str key;
    if (json_object(r))
        while (json_member(r, &key))
            member_decode(r, key, &line);
    int e = json_finish(r, err);
    if (e == 0)
        e = line_check(&line, err);
    if (e != 0)
        return e;
    if (by_nodes(&line))
        return estimate_answer_nodes(&line, r->arena, w, err);
    e = answer_cluster(&line, r->arena, w);
    return e == 0 ? 0 : err_set(err, e, "question: too large to be answered");
}
