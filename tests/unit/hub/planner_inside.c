#include "unit/hub/planner_inside.h"

#include "hub/planner_internal.h"
#include "unit/unit.h"

#include <stdatomic.h>

unsigned planner_inside_count(struct planner *p) {
    unsigned count = 0;
    mutex_lock(&p->mutex);
    for (POOL_EACH(&p->records, id))
        count += planner_key_of(strbuf_str(&planner_record(p, id)->name)).name.n > 0;
    mutex_unlock(&p->mutex);
    return count;
}

void planner_inside_is_empty(struct planner *p) {
    struct planner_metrics *m = &p->metrics;
    assert_int_equal(planner_inside_count(p), 0);
    mutex_lock(&p->mutex);
    for (int i = 0; i < 4; i++)
        assert_int_equal(atomic_load(&m->placements[i / 2][i % 2].value), 0);
    assert_int_equal(atomic_load(&m->waiting.value), 0);
    assert_int_equal(atomic_load(&m->skewed.value), 0);
    assert_int_equal(atomic_load(&m->refused.value), 0);
    assert_int_equal(p->by_waiting.count, 0);
    assert_int_equal(p->by_key.count, 0);
    mutex_unlock(&p->mutex);
}
