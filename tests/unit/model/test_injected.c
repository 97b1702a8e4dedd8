/* What Evenkeel adds to a Placement, as text. */
#include "model/injected.h"

#include "unit/unit.h"

/* Another process, of any version, has to find the same: values from another implementation of
 * FNV-1a. */
static void keys_of_uids(void **state) {
    (void)state;
    const struct injected_key key = injected_key_of(STR("0f8fad5b-d9cb-469f-a165-70867728950e"), 4);
    assert_int_equal(key.shard, 0);
    assert_int_equal(key.number, 0xcdc744c1);
    assert_int_equal(injected_key_of(STR("a"), 1).shard, 0);
    assert_int_equal(injected_key_of(STR("a"), 1).number, 0x8601ec8c);
    assert_int_equal(injected_key_of(STR("a"), 1000).shard, 0xaf63dc4c % 1000);
    assert_int_equal(injected_key_of(STR("a"), 2000).shard, 0xaf63dc4c % INJECTED_SHARDS);
    assert_int_equal(injected_key_of(STR("a"), 0).shard, 0);
}

static void resources(void **state) {
    static const struct {
        const char *text;
        bool ours;
        uint32_t shard;
    } table[] = {{"evenkeel-0", true, 0},     {"evenkeel-999", true, 999},
                 {"evenkeel-1000", false, 0}, {"evenkeel-01", false, 0},
                 {"evenkeel-", false, 0},     {"evenkeel-x", false, 0},
                 {"evenkeel", false, 0},      {"xevenkeel-1", false, 0}};
    uint32_t shard;
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        assert_int_equal(injected_resource_read(str_of(table[i].text), &shard), table[i].ours);
        if (table[i].ours)
            assert_int_equal(shard, table[i].shard);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_uids),
        cmocka_unit_test(resources),
    };
    return cmocka_run_group_tests_name("injected", tests, NULL, NULL);
}
