#include "certs/bundle.h"

#include "unit/certs/issued.h"

static struct issued a, b, old;

static int make_authorities(void **state) {
    (void)state;
    struct authority *authority = new_authority("a", 3650, NOW);
    a = save(authority);
    authority_free(authority);
    authority = new_authority("b", 3650, NOW);
    b = save(authority);
    authority_free(authority);
    authority = new_authority("old", 10, NOW - 20 * DAY);
    old = save(authority);
    authority_free(authority);
    return 0;
}

static int free_authorities(void **state) {
    (void)state;
    issued_done(&a);
    issued_done(&b);
    issued_done(&old);
    return 0;
}

static struct strbuf join(struct str first, struct str second, struct str third, int64_t now_s) {
    const struct str pems[] = {first, second, third};
    struct strbuf out = {0};
    struct err err;
    check_ok(bundle_join(pems, 3, now_s, &out, &err), &err);
    return out;
}

static struct str pem(const struct issued *i) {
    return strbuf_str(&i->certificate);
}

static void test_joining(void **state) {
    (void)state;
    struct strbuf both = join(pem(&a), pem(&b), STR(""), NOW);
    assert_true(str_has_prefix(strbuf_str(&both), pem(&a))); /* the first first */
    assert_true(str_has_suffix(strbuf_str(&both), pem(&b)));
    assert_int_equal(both.n, a.certificate.n + b.certificate.n);
    struct strbuf again = join(strbuf_str(&both), pem(&b), pem(&a), NOW);
    assert_true(str_eq(strbuf_str(&again), strbuf_str(&both))); /* each once */
    strbuf_done(&again);
    again = join(STR("no PEM"), pem(&old), pem(&a), NOW);
    assert_true(str_eq(strbuf_str(&again), pem(&a))); /* what has ended is left out */
    strbuf_done(&again);
    again = join(pem(&old), STR(""), STR(""), NOW - 11 * DAY);
    assert_true(str_eq(strbuf_str(&again), pem(&old)));
    strbuf_done(&again);
    strbuf_done(&both);
}

static void test_no_more_than_some(void **state) {
    (void)state;
    struct strbuf all = {0};
    for (int i = 0; i < BUNDLE_MAX + 3; i++) {
        struct authority *authority = new_authority("many", 3650, NOW);
        struct issued one = save(authority);
        strbuf_append_str(&all, pem(&one));
        issued_done(&one);
        authority_free(authority);
    }
    struct strbuf some = join(strbuf_str(&all), STR(""), STR(""), NOW);
    int count = 0;
    strbuf_append_char(&some, '\0');
    for (const char *at = some.p; (at = strstr(at, "BEGIN")) != NULL; at++)
        count++;
    assert_int_equal(count, BUNDLE_MAX);
    strbuf_done(&some);
    strbuf_done(&all);
}

static void test_comparing(void **state) {
    (void)state;
    struct strbuf ab = join(pem(&a), pem(&b), STR(""), NOW);
    struct strbuf ba = join(pem(&b), pem(&a), STR(""), NOW);
    struct strbuf commented = {0};
    strbuf_append_str(&commented, STR("# a comment\n\n"));
    strbuf_append_str(&commented, pem(&a));
    assert_true(bundle_same(strbuf_str(&ab), strbuf_str(&ba)));
    assert_true(bundle_same(pem(&a), strbuf_str(&commented)));
    assert_false(bundle_same(strbuf_str(&ab), pem(&a)));
    assert_false(bundle_same(pem(&a), strbuf_str(&ab)));
    assert_false(bundle_same(pem(&a), pem(&b)));
    assert_false(bundle_same(pem(&a), STR("")));
    assert_false(bundle_same(STR(""), STR("")));
    assert_false(bundle_same(STR("\n"), pem(&a)));
    strbuf_done(&ab);
    strbuf_done(&ba);
    strbuf_done(&commented);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joining),
        cmocka_unit_test(test_no_more_than_some),
        cmocka_unit_test(test_comparing),
    };
    return cmocka_run_group_tests_name("bundle", tests, make_authorities, free_authorities);
}
