#include "unit/ocm/small_fleet.h"

void small_fleet_init(struct small_fleet *f) {
    struct err err;
    *f = (struct small_fleet){.count = 0};
    arena_init(&f->arena, 64u << 20);
    assert_int_equal(
        topology_new(&(struct topology_options){.strings = &f->strings}, &f->topology, &err), 0);
}

uint32_t small_fleet_add(struct small_fleet *f, const char *name, const struct label *labels,
                         uint32_t count) {
    const struct candidate c = {.name = str_of(name), .labels = {labels, count}};
    assert_true(f->count < SMALL_FLEET);
    assert_int_equal(topology_apply(f->topology, &c), 0);
    const uint32_t slot = topology_slot(f->topology, c.name);
    f->slots[f->count++] = slot;
    return slot;
}

void small_fleet_open(struct small_fleet *f) {
    for (uint32_t i = 1; i < f->count; i++)
        for (uint32_t k = i; k > 0 && str_cmp(topology_name(f->topology, f->slots[k]),
                                              topology_name(f->topology, f->slots[k - 1])) < 0;
             k--) {
            const uint32_t slot = f->slots[k];
            f->slots[k] = f->slots[k - 1];
            f->slots[k - 1] = slot;
        }
    topology_view_open(f->topology, &f->view);
    f->view.steps = &f->steps;
}

void small_fleet_close(struct small_fleet *f) {
    topology_view_close(&f->view);
    topology_free(f->topology);
    intern_done(&f->strings);
    arena_done(&f->arena);
}

struct plan_question small_fleet_question(const struct small_fleet *f) {
    return (struct plan_question){.candidates = f->slots,
                                  .candidate_count = f->count,
                                  .sums = f->sums,
                                  .members = f->members,
                                  .others = f->others};
}

struct plan small_fleet_plan(struct small_fleet *f, const struct plan_question *q) {
    struct plan plan;
    assert_int_equal(ocm_plan(&f->view, q, &f->arena, &plan), 0);
    return plan;
}

void small_fleet_names(const struct small_fleet *f, const uint32_t *slots, uint32_t count,
                       struct strbuf *out) {
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            strbuf_append_char(out, ' ');
        strbuf_append_str(out, topology_name(f->topology, slots[i]));
    }
}
