#include "whatif/member_nodes.h"

#include "model/names.h"

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

int member_nodes_read(const struct configuration *c, struct arena *arena, struct member_nodes *ret,
                      struct err *err) {
    struct member_objects m = {.arena = arena};
    *ret = (struct member_nodes){.made = false};
    int r = cluster_objects_read(c, &ret->objects, err);
    if (r == 0)
        r = cluster_objects_walk(&ret->objects, take, &m, err);
    if (r == 0)
        r = asked_nodes_init(&ret->asked, m.nodes, m.node_count, m.pods, m.pod_count, arena, err);
    ret->made = r == 0;
    return r;
}

void member_nodes_done(struct member_nodes *m) {
    if (m->made)
        asked_nodes_done(&m->asked);
    cluster_objects_done(&m->objects);
}

int member_nodes_replicas(struct member_nodes *m, const struct binding_spec *spec,
                          const struct component_set *assumed, uint32_t assumed_count,
                          struct arena *arena, int64_t *ret, struct err *err) {
    struct estimator_question q;
    int r = estimator_question_init(&q, &spec->requirements, NULL, 0, arena);
    if (r == 0) {
        q.assumed = assumed;
        q.assumed_count = assumed_count;
        r = estimator_nodes_replicas(&m->asked.nodes, &m->asked.view, &q, arena, ret);
    }
    return r == 0 ? 0 : err_set(err, r, "the member's nodes are too many to be asked");
}
