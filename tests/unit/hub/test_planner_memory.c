/* Placements that find no memory are tried again after a pause. */
#include "unit/short_memory.h"

#include "hub/planner_internal.h"
#include "unit/unit.h"

static int64_t at_five(struct clock *clock) {
    (void)clock;
    return 5000;
}

static void a_placement_without_a_record(void **state) {
    struct clock clock = {.now_ms = at_five};
    struct planner p = {.options = {.clock = &clock}, .again_ms = INT64_MAX};
    const struct planner_key key = {STR("n"), STR("p")};
    (void)state;
    if (!can_fail())
        skip();
    pool_init(&p.records, sizeof(struct planner_record));
    turns_init(&p.dirty, 1);
    mutex_init(&p.mutex);
    condition_init(&p.wake);
    arm(0, true);
    armed = true;
    planner_mark_name(&p, key);
    armed = false;
    assert_false(p.all_dirty); /* it would be marked again at once, and for ever */
    assert_int_equal(p.again_ms, 6000);
    planner_mark_name(&p, key);
    assert_int_equal(p.records.count, 1);
    assert_true(turns_any(&p.dirty));
    planner_metrics_start(&p.metrics);
    planner_drop(&p, planner_find(&p, key));
    planner_metrics_stop(&p.metrics);
    pool_done(&p.records);
    turns_done(&p.dirty);
    hashmap_done(&p.index);
    condition_done(&p.wake);
    mutex_done(&p.mutex);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_placement_without_a_record)};
    return cmocka_run_group_tests_name("a planner without memory", tests, NULL, NULL);
}
