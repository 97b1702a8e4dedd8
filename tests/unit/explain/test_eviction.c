/*
 * Which place a new decision takes: random owners, beside a list that does it in the plainest way.
 * Whatever the order, nobody loses a decision while another has two more than they.
 */
#include "explain/eviction.h"

#include "unit/unit.h"

enum { PLACES = 12, OWNERS = 7, ROUNDS = 3000 };

/* The kept ones, the oldest first. */
struct naive {
    struct kept {
        uint64_t owner;
        uint32_t place;
    } kept[PLACES];
    uint32_t count;
};

static uint32_t count_of(const struct naive *n, uint64_t owner) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->count; i++)
        count += n->kept[i].owner == owner;
    return count;
}

static uint32_t most_of(const struct naive *n) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < n->count; i++)
        if (count_of(n, n->kept[i].owner) > most)
            most = count_of(n, n->kept[i].owner);
    return most;
}

/* The place that was taken must be the oldest of an owner who has most, of the new one if it does.
 */
static void check_victim(const struct naive *n, uint64_t owner, uint32_t place) {
    uint32_t at = 0;
    while (n->kept[at].place != place)
        at++; /* all places are kept */
    const uint64_t victim = n->kept[at].owner;
    assert_int_equal(count_of(n, victim), most_of(n));
    if (count_of(n, owner) == most_of(n))
        assert_true(victim == owner);
    for (uint32_t i = 0; i < at; i++)
        assert_true(n->kept[i].owner != victim);
}

static void naive_add(struct naive *n, uint64_t owner, uint32_t place) {
    uint32_t to = 0;
    for (uint32_t i = 0; i < n->count; i++)
        if (n->kept[i].place != place)
            n->kept[to++] = n->kept[i];
    n->kept[to] = (struct kept){owner, place};
    n->count = to + 1;
}

static void check_order(const struct naive *n, const struct eviction *s) {
    uint32_t place = eviction_newest(s);
    for (uint32_t i = n->count; i-- > 0; place = eviction_older(s, place))
        assert_int_equal(place, n->kept[i].place);
    assert_int_equal(place, EVICTION_NONE);
}

static void random_owners(void **state) {
    uint64_t random = unit_seed();
    (void)state;
    for (uint32_t places = 1; places <= PLACES; places++) {
        struct naive n = {.count = 0};
        struct eviction *s;
        assert_int_equal(eviction_new(places, &s), 0);
        for (int i = 0; i < ROUNDS; i++) {
            /* owners with equal low bits, and one that comes as often as all the others */
            uint64_t owner =
                unit_below(&random, 2) == 0 ? 5 : (uint64_t)unit_below(&random, OWNERS) << 32;
            uint32_t place = eviction_place(s, owner);
            if (n.count < places)
                assert_int_equal(place, n.count);
            else
                check_victim(&n, owner, place);
            naive_add(&n, owner, place);
            check_order(&n, s);
        }
        eviction_free(s);
    }
    eviction_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_owners)};
    return cmocka_run_group_tests_name("eviction", tests, NULL, NULL);
}
