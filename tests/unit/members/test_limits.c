/* What may be kept of a member cluster: what its users write cannot take more. */
#include "unit/members/kept.h"

#include "base/limits.h"

#include <errno.h>
#include <stdio.h>

enum { MAX = 64 << 10 };

static int give(struct informer *i, uint32_t kind, const char *json, struct err *err) {
    const int e = kept_try(i, kind, json, err);
    arena_reset(&kept_arena);
    return e;
}

static void step(struct informer *i, enum informer_listing how, uint32_t kind) {
    informer_list(&member_store, informer_write(i), kind, how);
    informer_write_done(i);
}

/* No two of these ask for the same, or have a label in common. */
static int give_nth(struct informer *i, uint32_t kind, unsigned n, struct err *err) {
    char json[500];
    const int length = snprintf(
        json, sizeof json,
        kind == MEMBER_NODES
            ? "{\"metadata\":{\"name\":\"n%u\",\"labels\":{\"k%u\":\"v%u\"}}}"
            : "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"o%u\",\"uid\":\"u%u\",\"labels\":{"
              "\"k%u\":\"v\"}},\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"resources\":{"
              "\"requests\":{\"example.com/r%u\":\"1\"}}}]},\"status\":{\"hard\":{\"cpu\":\"%u\"},"
              "\"used\":{\"cpu\":\"0\"},\"conditions\":[{\"type\":\"PodScheduled\",\"status\":"
              "\"False\",\"reason\":\"Unschedulable\"}]}}",
        n, n, n, n, n);
    assert_in_range(length, 1, sizeof json - 1);
    return give(i, kind, json, err);
}

static int opened(struct informer *i) {
    struct member_view v;
    const int r = member_view_open(i, &v);
    if (r == 0)
        member_view_close(&v);
    return r;
}

static int asked_for_workload(struct informer *i) {
    const struct member_workload workload = {.namespace = STR("ns"), .name = STR("none")};
    struct err err = {0};
    int64_t count;
    return member_unschedulable(i, &workload, &kept_arena, &count, &err);
}

/* A listing that is too much has no end, nothing of its kind stays, and one that fits is kept. */
static void beyond(void **state) {
    static const struct {
        uint32_t kind;
        uint64_t max;
        int view, workload; /* what questions of the two sorts get */
    } cases[] = {
        {MEMBER_NODES, MAX, -ENOSPC, -ENOENT},
        {MEMBER_PODS, MAX, -ENOSPC, -ENOSPC},
        {MEMBER_QUOTAS, MAX, -ENOSPC, -ENOENT},
        {MEMBER_DEPLOYMENTS, MAX / 2, 0, -ENOSPC}, /* they give way */
        {MEMBER_REPLICA_SETS, MAX / 2, 0, -ENOSPC},
    };
    struct informer *i = *state;
    const uint64_t empty = member_stats(i).bytes;
    member_limit(i, MAX);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const uint32_t kind = cases[k].kind;
        struct err err = {0};
        unsigned n = 0;
        step(i, LISTING_BEGINS, kind);
        while (give_nth(i, kind, n, &err) == 0) {
            assert_true(member_stats(i).bytes <= cases[k].max);
            assert_in_range(++n, 1, 2000);
        }
        assert_contains(err.text, "raise estimator.limits.memberBytes");
        assert_in_range(member_stats(i).bytes, cases[k].max + 1, cases[k].max + 4096);
        assert_int_equal(member_too_large(i), MEMBER_KIND(kind));
        assert_int_equal(opened(i), cases[k].view);
        assert_int_equal(asked_for_workload(i), cases[k].workload);
        /* the listing is given up; the next is too long, too */
        step(i, LISTING_FAILS, kind);
        assert_in_range(member_stats(i).bytes, empty, empty + 8192);
        assert_int_equal(opened(i), cases[k].view);
        step(i, LISTING_BEGINS, kind);
        assert_int_equal(member_too_large(i), MEMBER_KIND(kind));
        step(i, LISTING_FAILS, kind);
        /* and then one that fits */
        step(i, LISTING_BEGINS, kind);
        assert_int_equal(give_nth(i, kind, 0, &err), 0);
        step(i, LISTING_ENDS, kind);
        assert_int_equal(member_too_large(i), 0);
        assert_int_equal(opened(i), 0);
        assert_int_equal(asked_for_workload(i), -ENOENT);
        step(i, LISTING_BEGINS, kind);
        step(i, LISTING_ENDS, kind);
    }
}

/* What a watch adds is too much; what was there before is not in the way of the next listing. */
static void beyond_while_watched(void **state) {
    struct informer *i = *state;
    struct err err;
    unsigned n = 0;
    member_limit(i, MAX);
    step(i, LISTING_BEGINS, MEMBER_PODS);
    for (; member_stats(i).bytes < MAX / 4 * 3; n++)
        assert_int_equal(give_nth(i, MEMBER_PODS, n, &err), 0);
    step(i, LISTING_ENDS, MEMBER_PODS);
    const unsigned many = n;
    while (give_nth(i, MEMBER_PODS, n++, &err) == 0)
        assert_in_range(n, many, 2 * many);
    step(i, LISTING_FAILS, MEMBER_PODS);
    assert_int_equal(member_stats(i).pods, 0);
    step(i, LISTING_BEGINS, MEMBER_PODS);
    for (unsigned other = 0; other < many - 1; other++)
        assert_int_equal(give_nth(i, MEMBER_PODS, 5000 + other, &err), 0);
    step(i, LISTING_ENDS, MEMBER_PODS);
    assert_int_equal(member_too_large(i), 0);
    assert_int_equal(member_stats(i).pods, many - 1);
}

/* 100,000 pods of one tenant, each of which asks for something of its own. */
static void many_pods(void **state) {
    struct informer *i = *state;
    struct err err;
    uint64_t most = 0;
    member_limit(i, 1 << 20);
    for (unsigned n = 0; n < 100000; n++) {
        const int r = give_nth(i, MEMBER_PODS, n, &err);
        assert_true(r == 0 || r == -ENOSPC);
        most = member_stats(i).bytes > most ? member_stats(i).bytes : most;
        if (r == -ENOSPC)
            step(i, LISTING_FAILS, MEMBER_PODS);
    }
    assert_in_range(most, 1 << 20, (1 << 20) + 4096);
    assert_int_equal(opened(i), -ENOSPC);
}

/* What others have is kept as before. */
static void without_a_limit(void **state) {
    struct informer *i = *state;
    struct err err;
    for (unsigned n = 0; n < 2000; n++)
        assert_int_equal(give_nth(i, MEMBER_PODS, n, &err), 0);
    assert_int_equal(member_too_large(i), 0);
    assert_int_equal(member_stats(i).pods, 2000);
    step(i, LISTING_BEGINS, MEMBER_PODS);
    step(i, LISTING_FAILS, MEMBER_PODS);
    assert_int_equal(member_stats(i).pods, 2000);
}

/* Pods on nodes that are not there, and then none: all that they took is given back. */
static void a_burst_of_pods(void **state) {
    enum { PODS = 2000, INDEX_BYTES = 4096 };
    struct informer *i = *state;
    char json[200], name[16];
    struct err err;
    const uint64_t empty = member_stats(i).bytes;
    for (int n = 0; n < PODS; n++) {
        (void)snprintf(json, sizeof json,
                       "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p%d\"},\"spec\":{"
                       "\"nodeName\":\"ghost%d\"}}",
                       n, n);
        assert_int_equal(give(i, MEMBER_PODS, json, &err), 0);
    }
    assert_true(member_stats(i).bytes > empty + PODS * 200);
    for (int n = 0; n < PODS; n++) {
        (void)snprintf(name, sizeof name, "p%d", n);
        kept_take(i, MEMBER_PODS, "ns", name);
    }
    assert_in_range(member_stats(i).bytes, empty, empty + INDEX_BYTES);
}

/* With so many bytes of text between these. */
static int give_text(struct informer *i, uint32_t kind, const char *before, size_t bytes,
                     const char *after) {
    CLEANUP(strbuf_done) struct strbuf json = {0};
    struct err err = {0};
    strbuf_appendf(&json, "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"d\",\"uid\":\"u\"%s",
                   before);
    memset(strbuf_reserve(&json, bytes), 'x', bytes);
    json.n += bytes;
    strbuf_append_str(&json, str_of(after));
    strbuf_append_char(&json, '\0');
    return give(i, kind, json.p, &err);
}

/* Keys count, too. */
static int give_labelled(struct informer *i, uint32_t kind, size_t bytes) {
    return give_text(i, kind, ",\"labels\":{\"k\":\"", bytes - 1, "\"}},\"spec\":{}}");
}

/* As it stands in the text. */
static int give_selecting(struct informer *i, size_t bytes) {
    return give_text(i, MEMBER_DEPLOYMENTS, "},\"spec\":{\"selector\":{\"k\":\"", bytes - 8,
                     "\"}}}");
}

/* One object with too much text is passed over, and what there was of it is gone. */
static void long_texts(void **state) {
    struct informer *i = *state;
    const uint64_t empty = member_stats(i).bytes;
    assert_int_equal(give_labelled(i, MEMBER_DEPLOYMENTS, LIMIT_MEMBER_OBJECT), 0);
    assert_true(member_stats(i).bytes > empty + LIMIT_MEMBER_OBJECT);
    assert_int_equal(give_labelled(i, MEMBER_DEPLOYMENTS, LIMIT_MEMBER_OBJECT + 1), -E2BIG);
    assert_true(member_stats(i).bytes < empty + 1000);
    assert_int_equal(give_labelled(i, MEMBER_REPLICA_SETS, LIMIT_MEMBER_OBJECT - 1), 0);
    assert_int_equal(give_selecting(i, LIMIT_MEMBER_OBJECT), 0);
    assert_int_equal(give_selecting(i, LIMIT_MEMBER_OBJECT + 1), -E2BIG);
    assert_int_equal(member_too_large(i), 0);
}

/* As much as may be kept is kept. */
static void to_the_byte(void **state) {
    struct informer *i = *state;
    struct err err = {0};
    assert_int_equal(give_nth(i, MEMBER_PODS, 1, &err), 0);
    member_limit(i, member_stats(i).bytes);
    assert_int_equal(give_nth(i, MEMBER_PODS, 1, &err), 0);
    member_limit(i, member_stats(i).bytes - 1);
    assert_int_equal(give_nth(i, MEMBER_PODS, 1, &err), -ENOSPC);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(beyond, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(beyond_while_watched, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(many_pods, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(without_a_limit, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(a_burst_of_pods, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(long_texts, kept_setup, kept_teardown),
        cmocka_unit_test_setup_teardown(to_the_byte, kept_setup, kept_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
