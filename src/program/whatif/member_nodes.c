#include "whatif/member_nodes.h"

#include "estimator/asked_nodes.h"
#include "model/names.h"
#include "whatif/cluster_objects.h"

#include <errno.h>

struct member_objects {
    struct arena *arena;
    struct node *nodes;
    struct karmada_pod *pods;
    uint32_t node_count, node_cap, pod_count, pod_cap;
};

/* Decodes with the answer's arena, because the decoded object outlives the walk, like its text. */
static struct json_reader reader_of(const struct member_objects *m, struct str text,
                                    const char *kind) {
    struct json_reader r;
    json_reader_init(&r, text, m->arena, kind);
    return r;
}

static int take_node(struct member_objects *m, struct str text, struct err *err) {
    struct json_reader r = reader_of(m, text, NODE_KIND);
    struct node *nodes = arena_push(m->arena, m->nodes, m->node_count, &m->node_cap, sizeof *nodes);
    if (nodes == NULL)
        return err_set(err, -ENOMEM, "no memory for the member's nodes");
    m->nodes = nodes;
    asked_node_decode(&r, &nodes[m->node_count++]);
    return json_finish(&r, err);
}

static int take_pod(struct member_objects *m, struct str text, struct err *err) {
    struct json_reader r = reader_of(m, text, POD_KIND);
    struct karmada_pod *pods =
        arena_push(m->arena, m->pods, m->pod_count, &m->pod_cap, sizeof *pods);
    if (pods == NULL)
        return err_set(err, -ENOMEM, "no memory for the member's pods");
    m->pods = pods;
    karmada_pod_decode(&r, &pods[m->pod_count++]);
    return json_finish(&r, err);
}

static int take(void *ctx, struct object_type type, struct json_reader *r, struct err *err) {
    struct member_objects *m = ctx;
    const bool is_core = type.group.p != NULL && str_empty(type.group);
    const struct str text = json_skip(r);
    if (json_failed(r) || !is_core)
        return 0;
    if (str_eq(type.kind, STR(NODE_KIND)))
        return take_node(m, text, err);
    return str_eq(type.kind, STR(POD_KIND)) ? take_pod(m, text, err) : 0;
}

static int estimate(const struct member_objects *m, const struct binding_spec *spec, int64_t *ret,
                    struct err *err) {
    struct asked_nodes asked;
    struct estimator_question q;
    int r = asked_nodes_init(&asked, m->nodes, m->node_count, m->pods, m->pod_count, m->arena, err);
    if (r != 0)
        return r;
    r = estimator_question_init(&q, &spec->requirements, NULL, 0, m->arena);
    if (r == 0)
        r = estimator_nodes_replicas(&asked.nodes, &asked.view, &q, m->arena, ret);
    asked_nodes_done(&asked);
    return r == 0 ? 0 : err_set(err, r, "the member's nodes are too many to be asked");
}

int member_nodes_replicas(const struct configuration *c, const struct binding_spec *spec,
                          struct arena *arena, int64_t *ret, struct err *err) {
    struct member_objects m = {.arena = arena};
    struct cluster_objects objects;
    int r = cluster_objects_read(c, &objects, err);
    if (r == 0)
        r = cluster_objects_walk(&objects, take, &m, err);
    if (r == 0)
        r = estimate(&m, spec, ret, err);
    cluster_objects_done(&objects);
    return r;
}
