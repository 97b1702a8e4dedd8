/*
 * Who has most, beside a list that says it in the plainest way: random connections of addresses in
 * IPv4 and IPv6, some of which share a network, and some of which have the same last bytes.
 */
#include "net/shares.h"

#include "unit/unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

enum { ADDRESSES = 12, CONNECTIONS = 24, ROUNDS = 20000 };

static const char *const texts[ADDRESSES] = {"10.0.1.1", "10.0.1.2",      "10.0.1.255", "10.0.2.1",
                                             "10.0.2.2", "10.1.1.1",      "fd00::1",    "fd00::1:1",
                                             "fd00::2",  "fd00:0:0:1::1", "fd00:1::1",  "::1"};
/* By hand: a /24 of IPv4, a /64 of IPv6. */
static const int networks[ADDRESSES] = {0, 0, 0, 1, 1, 2, 3, 3, 3, 4, 5, 6};
enum { NETWORKS = 7 };

static struct address_key key_of(int address) {
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, texts[address], &v4.sin_addr) == 1)
        return address_key((struct sockaddr *)&v4);
    assert_int_equal(inet_pton(AF_INET6, texts[address], &v6.sin6_addr), 1);
    return address_key((struct sockaddr *)&v6);
}

/* How many connections an address or a network has, and since when that many. */
struct plain {
    unsigned size;
    int since;
};

struct model {
    struct shares shares;
    struct share *of[ADDRESSES]; /* NULL: it has no connection */
    struct plain addresses[ADDRESSES], networks[NETWORKS];
    unsigned all;
};

static int find_address(const struct model *m, const struct share *share) {
    for (int a = 0; a < ADDRESSES; a++)
        if (m->of[a] == share)
            return a;
    fail_msg("%s", "no such share");
    return -1;
}

/* Most of all; of equals the one that has been as large for longest. */
static bool is_before(const struct plain *a, const struct plain *b) {
    return a->size > b->size || (a->size == b->size && a->since < b->since);
}

static void check_largest(struct model *m) {
    const struct share *largest = shares_largest(&m->shares);
    if (m->all == 0) {
        assert_null(largest);
        return;
    }
    assert_non_null(largest);
    const int found = find_address(m, largest), network = networks[found];
    for (int n = 0; n < NETWORKS; n++)
        assert_false(is_before(&m->networks[n], &m->networks[network]));
    for (int a = 0; a < ADDRESSES; a++)
        if (networks[a] == network)
            assert_false(is_before(&m->addresses[a], &m->addresses[found]));
}

/* upstream of the rule: slots.h, "if the newcomer has less than that address or network even then".
 */
static void check_exceeds(const struct model *m) {
    for (int a = 0; a < ADDRESSES; a++)
        for (int b = 0; b < ADDRESSES; b++) {
            if (m->of[a] == NULL || m->of[b] == NULL)
                continue;
            bool same = networks[a] == networks[b];
            unsigned x = same ? m->addresses[a].size : m->networks[networks[a]].size;
            unsigned y = same ? m->addresses[b].size : m->networks[networks[b]].size;
            assert_int_equal(shares_exceeds(m->of[a], m->of[b]), x >= y + 2);
        }
}

static void check_counts(const struct model *m) {
    unsigned known = 0;
    assert_int_equal(m->shares.everybody.size, m->all);
    for (int a = 0; a < ADDRESSES; a++) {
        if (m->of[a] == NULL)
            continue;
        assert_int_equal(m->of[a]->size, m->addresses[a].size);
        assert_int_equal(m->of[a]->parent->size, m->networks[networks[a]].size);
        known++;
    }
    for (int n = 0; n < NETWORKS; n++)
        known += m->networks[n].size > 0;
    unsigned unused = 0;
    for (const struct list *at = m->shares.unused.next; at != &m->shares.unused; at = at->next)
        unused++;
    assert_int_equal(m->shares.fresh - unused, known); /* the others are free again */
}

static void change(struct model *m, int a, bool grows, int now) {
    struct plain *const both[] = {&m->addresses[a], &m->networks[networks[a]]};
    for (int i = 0; i < 2; i++) {
        both[i]->size += grows ? 1 : -1u;
        both[i]->since = now;
    }
    m->all += grows ? 1 : -1u;
}

static void grow(struct model *m, int a, int now) {
    const struct address_key key = key_of(a);
    struct share *share = shares_of(&m->shares, &key);
    assert_non_null(share);
    if (m->of[a] != NULL)
        assert_ptr_equal(share, m->of[a]);
    m->of[a] = share;
    shares_grow(&m->shares, share);
    change(m, a, true, now);
}

static void shrink(struct model *m, int a, int now) {
    shares_shrink(&m->shares, m->of[a]);
    change(m, a, false, now);
    if (m->addresses[a].size == 0)
        m->of[a] = NULL;
}

/* One that is asked for and gets no connection, even if all others are there. */
static void look_at(struct model *m, int a) {
    const struct address_key key = key_of(a);
    struct share *share = shares_of(&m->shares, &key);
    assert_non_null(share);
    shares_drop(&m->shares, share); /* one with connections stays */
}

static void random_connections(void **state) {
    static struct model m;
    uint64_t random = unit_seed();
    (void)state;
    m = (struct model){.all = 0};
    assert_true(shares_init(&m.shares, CONNECTIONS));
    for (int i = 1; i <= ROUNDS; i++) {
        int a = (int)unit_below(&random, ADDRESSES);
        /* whether there tend to be more or fewer changes with time */
        bool more = unit_below(&random, 8) < (i / 500 % 2 == 0 ? 5u : 3u);
        if (more && m.all < CONNECTIONS)
            grow(&m, a, i);
        else if (!more && m.of[a] != NULL)
            shrink(&m, a, i);
        look_at(&m, (int)unit_below(&random, ADDRESSES));
        check_largest(&m);
        check_exceeds(&m);
        check_counts(&m);
    }
    for (int a = 0; a < ADDRESSES; a++)
        while (m.of[a] != NULL)
            shrink(&m, a, ROUNDS + 1);
    check_largest(&m);
    check_counts(&m);
    assert_int_equal(m.shares.everybody.children, 0);
    assert_int_equal(m.shares.everybody.largest, 0);
    shares_done(&m.shares);
}

/* Each connection has an address and a network to itself, and there is room for a newcomer's. */
static void as_many_addresses_as_connections(void **state) {
    (void)state;
    for (unsigned n = 1; n <= 40; n++) {
        struct shares shares;
        assert_true(shares_init(&shares, n));
        for (unsigned i = 0; i <= n; i++) {
            const struct sockaddr_in from = {.sin_family = AF_INET,
                                             .sin_addr.s_addr = htonl(0x0a000001 + (i << 8))};
            const struct address_key key = address_key((const struct sockaddr *)&from);
            struct share *share = shares_of(&shares, &key);
            assert_non_null(share);
            if (i < n)
                shares_grow(&shares, share);
        }
        shares_done(&shares);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_connections),
        cmocka_unit_test(as_many_addresses_as_connections),
    };
    return cmocka_run_group_tests_name("shares", tests, NULL, NULL);
}
