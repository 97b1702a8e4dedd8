/*
 * Filters by resources: a node passes if its pods leave room for the pod in every resource, and in
 * the number of pods. If the pod alone is too large for a node, no preemption helps. upstream:
 * plugins/noderesources/fit.go. A DeviceClass's resource is judged like any other: devices are not
 * known here.
 *
 * A node that reports no resources has none, as upstream. If no node reports any, the state was
 * written by hand: resources are not judged, and the answer lists them as not judged.
 */
#include "base/sorted.h"
#include "engine/algorithm.h"
#include "model/resources.h"

#include <errno.h>

enum { TEXT_MAX = 240 }; /* bytes of a reason; longer texts are cut */

struct wanted {
    struct str name;
    int64_t amount;
    int64_t *removed; /* per slot: requests of pods taken out of the state */
};

struct fit_state {
    struct evaluation *e;  /* used to add reasons at the moment they are needed */
    struct wanted *wanted; /* in upstream's order */
    uint32_t count;
    uint32_t *removed_pods;        /* per slot */
    uint8_t first_reason;          /* index of this algorithm's first reason */
    uint8_t verdicts[REASONS_MAX]; /* [reason]: the verdict of this reason */
};

static int add_wanted(struct fit_state *s, const struct resource *resource) {
    struct wanted *w = &s->wanted[s->count++];
    *w = (struct wanted){.name = resource->name, .amount = resource->amount};
    w->removed =
        arena_array(s->e->arena, topology_slots(s->e->view->nodes.topology), sizeof *w->removed);
    return w->removed == NULL ? -ENOMEM : 0;
}

/* cpu, memory and ephemeral-storage come first. */
enum { OTHERS = 3 };
static uint32_t rank_of(struct str name) {
    static const struct str first[] = {{"cpu", 3}, {"memory", 6}, {"ephemeral-storage", 17}};
    uint32_t rank = 0;
    while (rank < OTHERS && !str_eq(name, first[rank]))
        rank++;
    return rank;
}

static bool is_ignored(const struct ignored_resources *ignored, struct str name) {
    const size_t slash = str_find(name, '/');
    if (slash == SIZE_MAX || ignored->name_count + ignored->group_count == 0 ||
        !resource_is_extended(name))
        return false;
    return sorted_texts_find(ignored->names, ignored->name_count, name) != UINT32_MAX ||
           sorted_texts_find(ignored->groups, ignored->group_count, (struct str){name.p, slash}) !=
               UINT32_MAX;
}

static int gather_wanted(struct fit_state *s) {
    const struct resources *resources = &s->e->pod->requests.resources;
    for (uint32_t rank = 0; rank <= OTHERS; rank++)
        for (uint32_t i = 0; i < resources->count; i++)
            if (resources->items[i].amount > 0 && rank_of(resources->items[i].name) == rank &&
                !is_ignored(&s->e->options->ignored_resources, resources->items[i].name) &&
                add_wanted(s, &resources->items[i]) != 0)
                return -ENOMEM;
    return 0;
}

static int fit_prefilter(struct evaluation *e, void **ret_state, struct err *err) {
    struct fit_state *s = arena_alloc(e->arena, sizeof *s);
    (void)err;
    if (!resources_are_known(e))
        return ALGORITHM_SKIP;
    if (s == NULL)
        return -ENOMEM;
    s->e = e;
    s->wanted = arena_array(e->arena, e->pod->requests.resources.count, sizeof *s->wanted);
    s->removed_pods =
        arena_array(e->arena, topology_slots(e->view->nodes.topology), sizeof *s->removed_pods);
    if (s->wanted == NULL || s->removed_pods == NULL || gather_wanted(s) != 0)
        return -ENOMEM;
    e->node_steps = 2 + 2 * (uint64_t)s->count;
    e->pod_steps = 2 + 2 * (uint64_t)s->count;
    /* used if there are more combinations of resources than reasons */
    s->first_reason = reason_add(e, "Insufficient resources", STR(""), "");
    s->verdicts[s->first_reason] = VERDICT_UNSCHEDULABLE;
    uint8_t second = reason_add(e, "Insufficient resources", STR(""), "");
    s->verdicts[second] = VERDICT_UNRESOLVABLE;
    *ret_state = s;
    return 0;
}

/* Returns the reason that names no resource. */
static uint8_t any_reason(const struct fit_state *s, enum verdict verdict) {
    return (uint8_t)(s->first_reason + (verdict == VERDICT_UNRESOLVABLE));
}

/* Returns the reason with this text and verdict; adds it if it is new. */
static uint8_t reason_of(struct fit_state *s, struct str text, enum verdict verdict) {
    for (uint32_t i = s->first_reason; i < s->e->reason_count; i++)
        if (s->verdicts[i] == verdict && str_eq(s->e->reasons[i], text) &&
            s->e->reason_filters[i] == fit_algorithm.plugin)
            return (uint8_t)i;
    if (s->e->reason_count >= REASON_REST)
        return any_reason(s, verdict);
    uint8_t reason = reason_add(s->e, "", text, "");
    s->verdicts[reason] = (uint8_t)verdict;
    return reason;
}

static int64_t free_of(int64_t allocatable, int64_t requested, int64_t removed) {
    /* wraps around as upstream's sums do */
    return (int64_t)((uint64_t)allocatable - (uint64_t)requested + (uint64_t)removed);
}

static struct filter_status fit_filter(const struct evaluation *e, void *state, uint32_t slot) {
    struct fit_state *s = state;
    char bytes[TEXT_MAX];
    struct strbuf text = {.p = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    enum verdict verdict = VERDICT_UNSCHEDULABLE;
    const struct cache_node node = cache_node(e->view, slot);
    int64_t pods = (int64_t)node.pods - s->removed_pods[slot];
    if (pods + 1 > cache_node_resource(e->view, slot, STR("pods")).allocatable)
        strbuf_append_str(&text, STR("Too many pods"));
    for (uint32_t i = 0; i < s->count; i++) {
        const struct wanted *w = &s->wanted[i];
        const struct cache_resource r = cache_node_resource(e->view, slot, w->name);
        if (w->amount <= free_of(r.allocatable, r.requested, w->removed[slot]))
            continue;
        strbuf_appendf(&text, "%sInsufficient %.*s", text.n > 0 ? ", " : "", STR_ARG(w->name));
        if (w->amount > r.allocatable)
            verdict = VERDICT_UNRESOLVABLE;
    }
    if (text.n == 0 && !strbuf_failed(&text))
        return (struct filter_status){VERDICT_PASS, 0};
    if (text.n == 0)
        return (struct filter_status){verdict, any_reason(s, verdict)};
    return (struct filter_status){verdict, reason_of(s, strbuf_str(&text), verdict)};
}

static void change_pod(struct fit_state *s, const struct cache_pod *pod, int by) {
    s->removed_pods[pod->slot] += (uint32_t)by;
    for (uint32_t i = 0; i < s->count; i++)
        s->wanted[i].removed[pod->slot] +=
            by * cache_pod_request(s->e->view, pod, s->wanted[i].name);
}

static void fit_remove(const struct evaluation *e, void *state, const struct cache_pod *pod) {
    (void)e;
    change_pod(state, pod, 1);
}

static void fit_restore(const struct evaluation *e, void *state, const struct cache_pod *pod) {
    (void)e;
    change_pod(state, pod, -1);
}

const struct algorithm fit_algorithm = {
    .name = "fit",
    .plugin = "NodeResourcesFit",
    .prefilter = fit_prefilter,
    .filter = fit_filter,
    .remove_pod = fit_remove,
    .restore_pod = fit_restore,
};
