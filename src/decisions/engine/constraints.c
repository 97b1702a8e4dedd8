/*
 * Makes the pod's constraints (or the defaults) ready: selectors compiled, counters looked up.
 * upstream: podtopologyspread/common.go filterTopologySpreadConstraints, plugin.go
 * buildDefaultConstraints.
 */
#include "engine/spread.h"

#include <errno.h>

const struct spread_constraint engine_system_defaults[ENGINE_SYSTEM_DEFAULTS] = {
    {.topology_key = TOPOLOGY_KEY_HOSTNAME,
     .max_skew = 3,
     .min_domains = 1,
     .honor_affinity = true},
    {.topology_key = TOPOLOGY_KEY_ZONE, .max_skew = 5, .min_domains = 1, .honor_affinity = true},
};

int labels_of_keys(const struct str *keys, uint32_t key_count, const struct labels *labels,
                   struct arena *arena, struct labels *ret) {
    struct label *items = arena_array(arena, key_count, sizeof *items);
    if (items == NULL)
        return -ENOMEM;
    uint32_t count = 0;
    for (uint32_t i = 0; i < key_count; i++) {
        struct str value;
        if (labels_lookup(labels, keys[i], &value))
            items[count++] = (struct label){keys[i], value};
    }
    *ret = (struct labels){items, count};
    return 0;
}

uint8_t inclusion_flags(const struct spread_constraint *constraint) {
    return (uint8_t)(CANDIDATE_KNOWN | (constraint->honor_affinity ? CANDIDATE_AFFINITY : 0) |
                     (constraint->honor_taints ? CANDIDATE_TAINTS : 0));
}

static int compile_own(struct evaluation *e, uint32_t index) {
    const struct spread_constraint *c = &e->pod->constraints[index];
    struct own_constraint *own = &e->own[index];
    struct labels merged;
    int r = labels_of_keys(c->match_label_keys, c->match_label_key_count, &e->pod->meta.labels,
                           e->arena, &merged);
    if (r == 0)
        r = selector_compile(&c->selector, merged, e->arena, &own->selector, &e->own_err);
    if (r == -EINVAL)
        return err_wrap(&e->own_err, "spec.topologySpreadConstraints[%u].labelSelector", index);
    return r == 0 ? counter_question_init(&own->question, e->pod->meta.namespace, &own->selector)
                  : r;
}

int constraints_compile(struct evaluation *e, bool hard) {
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < e->pod->constraint_count; i++)
        if (e->pod->constraints[i].hard == hard)
            r = compile_own(e, i);
    return r;
}

/* Sets the members that counting needs; `question` is about the compiled selector. */
static int make_ready(struct evaluation *e, const struct spread_constraint *c,
                      const struct counter_question *question, struct ready_constraint *ret) {
    const struct selector selector = *question->selector;
    bool everything = !selector.nothing && selector.count == 0;
    *ret = (struct ready_constraint){.constraint = c,
                                     .selector = selector,
                                     .selector_steps = question->cost.steps,
                                     .required_flags = inclusion_flags(c)};
    int r = evaluation_take(e, question->cost.steps);
    if (r == 0)
        r = topology_column(&e->view->nodes, c->topology_key, &ret->column);
    ret->self = r == 0 && selector_matches(&selector, labels_lookup, &e->pod->meta.labels);
    if (r != 0 || selector.nothing || (everything && !e->options->empty_selector_counts_all))
        return r;
    r = cache_counter_of(e->view, question, &ret->counts, &ret->assumed);
    e->assumed = e->assumed || (r == 0 && ret->assumed != NULL);
    return r;
}

static int own_ready(struct evaluation *e, bool hard, struct ready_constraints *ret,
                     struct err *err) {
    ret->require_all = true;
    if (e->own_failed != 0)
        return err_set(err, e->own_failed, "%s", e->own_err.text);
    for (uint32_t i = 0; i < e->pod->constraint_count; i++) {
        const struct spread_constraint *c = &e->pod->constraints[i];
        if (c->hard != hard)
            continue;
        int r = make_ready(e, c, &e->own[i].question, &ret->items[ret->count++]);
        if (r != 0)
            return r;
    }
    return 0;
}

static int defaults_ready(struct evaluation *e, bool hard, const struct spread_constraint *defaults,
                          uint32_t count, struct ready_constraints *ret, struct err *err) {
    struct selector borrowed, selector;
    struct counter_question question;
    int r = cache_default_selector(e->view, &e->pod->meta, e->arena, &borrowed, err);
    if (r != 0 || borrowed.count == 0)
        return r;
    r = selector_copy(&borrowed, e->arena, &selector); /* for use after the view is closed */
    if (r == 0)
        r = counter_question_init(&question, e->pod->meta.namespace, &selector);
    ret->require_all = !e->options->system_defaults;
    for (uint32_t i = 0; r == 0 && i < count; i++)
        if (defaults[i].hard == hard)
            r = make_ready(e, &defaults[i], &question, &ret->items[ret->count++]);
    return r;
}

static int note_applied(struct evaluation *e, const struct ready_constraints *ready) {
    enum constraint_origin origin =
        e->pod->constraint_count > 0 ? CONSTRAINT_OF_POD : CONSTRAINT_OF_DEFAULTS;
    for (uint32_t i = 0; i < ready->count; i++) {
        struct applied_constraint *noted = applied_add(e, ready->items[i].constraint, origin);
        if (noted == NULL)
            return -ENOMEM;
        noted->selector = &ready->items[i].selector;
    }
    return 0;
}

/* Finds the nodes that carry all keys, unless a single key decides this already. */
static int find_keyed(struct evaluation *e, struct ready_constraints *ready) {
    const uint32_t slots = topology_slots(e->view->nodes.topology);
    bool everywhere = true;
    for (uint32_t i = 0; i < ready->count; i++)
        everywhere = everywhere && ready->items[i].column.everywhere;
    if (everywhere || ready->count == 1)
        return 0;
    int r = evaluation_take(e, (uint64_t)slots * ready->count);
    if (r != 0)
        return r;
    bool *keyed = arena_array_unset(e->arena, slots, sizeof *keyed);
    if (keyed == NULL)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t i = 0;
        while (i < ready->count && ready->items[i].column.domain_of[slot] != TOPOLOGY_NONE)
            i++;
        keyed[slot] = i == ready->count;
    }
    ready->keyed = keyed;
    return 0;
}

int constraints_ready(struct evaluation *e, bool hard, struct ready_constraints *ret,
                      struct err *err) {
    const struct engine_options *o = e->options;
    const struct spread_constraint *defaults =
        o->system_defaults ? engine_system_defaults : o->default_constraints;
    uint32_t default_count =
        o->system_defaults ? ENGINE_SYSTEM_DEFAULTS : o->default_constraint_count;
    uint32_t room = e->pod->constraint_count > 0 ? e->pod->constraint_count : default_count;
    *ret = (struct ready_constraints){.items = arena_array(e->arena, room, sizeof *ret->items)};
    if (ret->items == NULL)
        return -ENOMEM;
    int r = e->pod->constraint_count > 0
                ? own_ready(e, hard, ret, err)
                : defaults_ready(e, hard, defaults, default_count, ret, err);
    if (r != 0)
        return r;
    if (ret->count == 0)
        return ALGORITHM_SKIP;
    r = note_applied(e, ret);
    if (r == 0)
        r = find_keyed(e, ret);
    return r == 0 ? topology_feasible_common(&e->view->nodes, &e->feasibility, &ret->feasible,
                                             &ret->common)
                  : r;
}
