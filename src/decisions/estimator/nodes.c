#include "estimator/nodes.h"

#include "base/sorted.h"
#include "estimator/internal.h"

#include <errno.h>
#include <stdlib.h>

enum node_native node_native_of(struct str name) {
    static const struct str names[NODE_NATIVES] = {
        [NODE_PODS] = STR("pods"),
        [NODE_CPU] = STR("cpu"),
        [NODE_MEMORY] = STR("memory"),
        [NODE_EPHEMERAL] = STR("ephemeral-storage"),
    };
    for (int i = 0; i < NODE_NATIVES; i++)
        if (str_eq(name, names[i]))
            return (enum node_native)i;
    return NODE_NATIVES;
}

uint32_t estimator_nodes_name(const struct estimator_nodes *nodes, struct str name) {
    return sorted_texts_find(nodes->names, nodes->name_count, name);
}

/* ---- making nodes ---- */

/* State while the nodes are made. */
struct making {
    struct topology *topology;
    const struct node **rows; /* the node of each row */
    uint32_t *row_of;         /* [topology_cap()]: each slot's row, or TOPOLOGY_NONE */
    uint32_t count;
    uint32_t *slots;
    int64_t *native[NODE_NATIVES];
    uint32_t *begin;
    struct node_scalar *scalars;
    struct arena *arena;
};

/* Adds a node to the topology. A cordon counts as a taint. */
static int apply_node(struct making *m, const struct node *node) {
    struct candidate candidate = {node->meta.name, node->meta.labels, node->taints,
                                  node->taint_count};
    if (!steps_take(&m->arena->steps, 16 + node->meta.labels.count + node->taint_count))
        return -E2BIG;
    if (node->unschedulable) {
        struct taint *taints =
            arena_array_unset(m->arena, (size_t)node->taint_count + 1, sizeof *taints);
        if (taints == NULL)
            return -ENOMEM;
        if (node->taint_count > 0)
            memcpy(taints, node->taints, node->taint_count * sizeof *taints);
        taints[node->taint_count] = cordon_taint;
        candidate.taints = taints;
        candidate.taint_count++;
    }
    return topology_apply(m->topology, &candidate);
}

static int apply_nodes(struct making *m, const struct node *nodes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const int r = apply_node(m, &nodes[i]);
        if (r != 0)
            return r;
    }
    const uint32_t cap = topology_cap(m->topology);
    m->row_of = arena_array_unset(m->arena, cap, sizeof *m->row_of);
    m->rows = arena_array_unset(m->arena, count, sizeof(const struct node *));
    m->slots = arena_array_unset(m->arena, count, sizeof *m->slots);
    if (m->row_of == NULL || m->rows == NULL || m->slots == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < cap; slot++)
        m->row_of[slot] = TOPOLOGY_NONE;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t slot = topology_slot(m->topology, nodes[i].meta.name);
        if (m->row_of[slot] == TOPOLOGY_NONE) {
            m->slots[m->count] = slot;
            m->row_of[slot] = m->count++;
        }
        m->rows[m->row_of[slot]] = &nodes[i];
    }
    return 0;
}

static int by_name(const void *a, const void *b) {
    const struct str *left = a, *right = b;
    return str_cmp(*left, *right);
}

/* Collects the names of all resources that only some nodes have. */
static int gather_names(struct making *m, struct estimator_nodes *ret) {
    uint64_t all = 0;
    uint32_t count = 0, kept = 0;
    for (uint32_t row = 0; row < m->count; row++)
        all += m->rows[row]->allocatable.count;
    if (all > UINT32_MAX || !steps_take_sort(&m->arena->steps, all))
        return -E2BIG;
    struct str *names = arena_array_unset(m->arena, all, sizeof *names);
    if (names == NULL)
        return -ENOMEM;
    for (uint32_t row = 0; row < m->count; row++)
        for (uint32_t i = 0; i < m->rows[row]->allocatable.count; i++)
            if (node_native_of(m->rows[row]->allocatable.items[i].name) == NODE_NATIVES)
                names[count++] = m->rows[row]->allocatable.items[i].name;
    if (count > 1)
        qsort(names, count, sizeof *names, by_name);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || !str_eq(names[kept - 1], names[i]))
            names[kept++] = names[i];
    ret->names = names;
    ret->name_count = kept;
    m->scalars = arena_array_unset(m->arena, count, sizeof *m->scalars);
    return m->scalars == NULL ? -ENOMEM : 0;
}

/* Fills the resources of each node. */
static int fill_rows(struct making *m, const struct estimator_nodes *ret) {
    uint32_t at = 0;
    for (int i = 0; i < NODE_NATIVES; i++)
        m->native[i] = arena_array(m->arena, m->count, sizeof *m->native[i]);
    m->begin = arena_array(m->arena, (size_t)m->count + 1, sizeof *m->begin);
    if (arena_failed(m->arena))
        return -ENOMEM;
    for (uint32_t row = 0; row < m->count; row++) {
        const struct resources *has = &m->rows[row]->allocatable;
        m->begin[row] = at;
        for (uint32_t i = 0; i < has->count; i++) {
            const struct resource *resource = &has->items[i];
            const enum node_native native = node_native_of(resource->name);
            if (native != NODE_NATIVES)
                m->native[native][row] = resource->amount;
            else
                m->scalars[at++] = (struct node_scalar){estimator_nodes_name(ret, resource->name),
                                                        resource->amount};
        }
    }
    m->begin[m->count] = at;
    return 0;
}

static void take(int64_t *from, int64_t amount) {
    if (__builtin_sub_overflow(*from, amount, from))
        *from = INT64_MIN;
}

static struct node_scalar *scalar_in(const struct making *m, uint32_t row, uint32_t name) {
    uint32_t low = m->begin[row], high = m->begin[row + 1];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (m->scalars[middle].name == name)
            return &m->scalars[middle];
        if (m->scalars[middle].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static int take_pod(struct making *m, const struct estimator_nodes *nodes,
                    const struct karmada_pod *pod) {
    if (!steps_take(&m->arena->steps, 4 + pod->requests.count))
        return -E2BIG;
    if (str_empty(pod->node_name) || pod->finished)
        return 0;
    const uint32_t slot = topology_slot(m->topology, pod->node_name);
    if (slot == TOPOLOGY_NONE || m->row_of[slot] == TOPOLOGY_NONE)
        return 0;
    const uint32_t row = m->row_of[slot];
    if (pod->beyond > 0 && !steps_take(&m->arena->steps, m->begin[row + 1] - m->begin[row]))
        return -E2BIG;
    take(&m->native[NODE_PODS][row], 1);
    for (uint32_t i = 0; i < pod->requests.count; i++) {
        const struct resource *request = &pod->requests.items[i];
        const enum node_native native = node_native_of(request->name);
        struct node_scalar *scalar =
            native == NODE_NATIVES ? scalar_in(m, row, estimator_nodes_name(nodes, request->name))
                                   : NULL;
        if (native != NODE_NATIVES)
            take(&m->native[native][row], request->amount);
        else if (scalar != NULL)
            take(&scalar->free, request->amount);
    }
    for (uint32_t at = m->begin[row]; pod->beyond > 0 && at < m->begin[row + 1]; at++)
        take(&m->scalars[at].free, pod->beyond);
    return 0;
}

static void floor_rows(struct making *m) {
    for (int i = 0; i < NODE_NATIVES; i++)
        for (uint32_t row = 0; row < m->count; row++)
            if (m->native[i][row] < 0)
                m->native[i][row] = 0;
    for (uint32_t i = 0; i < m->begin[m->count]; i++)
        if (m->scalars[i].free < 0)
            m->scalars[i].free = 0;
}

int estimator_nodes_make(struct topology *topology, const struct node *nodes, uint32_t node_count,
                         const struct karmada_pod *pods, uint32_t pod_count, struct arena *arena,
                         struct estimator_nodes *ret) {
    struct making m = {.topology = topology, .arena = arena};
    *ret = (struct estimator_nodes){.count = 0};
    int r = apply_nodes(&m, nodes, node_count);
    if (r == 0)
        r = gather_names(&m, ret);
    if (r == 0)
        r = fill_rows(&m, ret);
    for (uint32_t i = 0; r == 0 && i < pod_count; i++)
        r = take_pod(&m, ret, &pods[i]);
    if (r != 0)
        return r;
    floor_rows(&m);
    ret->count = m.count;
    ret->slots = m.slots;
    for (int i = 0; i < NODE_NATIVES; i++)
        ret->native[i] = m.native[i];
    ret->scalar_begin = m.begin;
    ret->scalars = m.scalars;
    return 0;
}

/* ---- replicas ---- */

/* The amounts that one replica needs from its node; 0: it does not need the resource. */
struct node_need {
    int64_t native[NODE_NATIVES];
    struct node_scalar *scalars; /* sorted by name; `free` is the needed amount */
    uint32_t scalar_count;
    bool impossible; /* the replica needs a resource that no node has */
};

/* Demands and names are sorted: so the scalars of the need are sorted by name, too. */
static int need_init(const struct estimator_nodes *nodes, const struct demands *demands,
                     struct arena *arena, struct node_need *ret) {
    *ret = (struct node_need){.native[NODE_PODS] = 1};
    ret->scalars = arena_array_unset(arena, demands->count, sizeof *ret->scalars);
    if (ret->scalars == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < demands->count; i++) {
        const struct demand *demand = &demands->items[i];
        const enum node_native native = node_native_of(demand->name);
        if (!demand->scheduled)
            continue;
        if (native != NODE_NATIVES) {
            ret->native[native] = demand->amount;
            continue;
        }
        const uint32_t name = estimator_nodes_name(nodes, demand->name);
        ret->impossible = ret->impossible || name == UINT32_MAX;
        ret->scalars[ret->scalar_count++] = (struct node_scalar){name, demand->amount};
    }
    return 0;
}

static int64_t divide_scalars(const struct estimator_nodes *nodes, uint32_t row,
                              const struct node_need *need, int64_t least) {
    uint32_t at = nodes->scalar_begin[row];
    const uint32_t end = nodes->scalar_begin[row + 1];
    for (uint32_t i = 0; i < need->scalar_count; i++) {
        while (at < end && nodes->scalars[at].name < need->scalars[i].name)
            at++;
        if (at == end || nodes->scalars[at].name != need->scalars[i].name)
            return 0;
        const int64_t fits = nodes->scalars[at].free / need->scalars[i].free;
        least = fits < least ? fits : least;
    }
    return least;
}

static int64_t divide_row(const struct estimator_nodes *nodes, uint32_t row,
                          const struct node_need *need) {
    int64_t least = nodes->native[NODE_PODS][row];
    for (int i = NODE_PODS + 1; i < NODE_NATIVES; i++)
        if (need->native[i] > 0) {
            const int64_t fits = nodes->native[i][row] / need->native[i];
            least = fits < least ? fits : least;
        }
    return need->scalar_count == 0 ? least : divide_scalars(nodes, row, need, least);
}

static int count_rows(const struct estimator_nodes *nodes, const uint8_t *flags,
                      const struct estimator_question *q, struct arena *arena, int64_t *ret) {
    struct node_need need;
    int64_t total = 0;
    const int r = need_init(nodes, &q->demands, arena, &need);
    if (r != 0)
        return r;
    if (!steps_take(&arena->steps,
                    (uint64_t)nodes->count * (2 + need.scalar_count) +
                        (need.scalar_count > 0 ? nodes->scalar_begin[nodes->count] : 0)))
        return -E2BIG;
    for (uint32_t row = 0; !need.impossible && row < nodes->count; row++) {
        if ((flags[nodes->slots[row]] & NODE_USABLE) != NODE_USABLE)
            continue;
        const int64_t fits = divide_row(nodes, row, &need);
        total += fits < ESTIMATE_MAX ? fits : ESTIMATE_MAX; /* 2^32 such numbers fit */
    }
    *ret = total < ESTIMATE_MAX ? total : ESTIMATE_MAX;
    return 0;
}

int estimator_nodes_replicas(const struct estimator_nodes *nodes, struct topology_view *view,
                             const struct estimator_question *q, struct arena *arena,
                             int64_t *ret) {
    const uint8_t *flags;
    *ret = 0;
    if (nodes->count == 0)
        return 0;
    if (q->assumed_count > 0)
        return estimator_replicas_beside(nodes, view, q, arena, ret);
    const int r =
        topology_feasibility(view, &q->requirements->claim, q->requirements->tolerations, &flags);
    return r == 0 ? count_rows(nodes, flags, q, arena, ret) : r;
}
