/* Secrets are overwritten before their memory is given back, and a buffer of one never moves. */
#include "base/secret.h"

#include "base/file.h"
#include "base/limits.h"
#include "unit/short_memory.h"
#include "unit/unit.h"

#include <stdio.h>
#include <unistd.h>

enum { BYTES = 20 };

static const char *watched; /* memory that held a secret of BYTES bytes */
static bool freed, wiped;

static void look(const void *p) {
    if (p != watched || watched == NULL)
        return;
    freed = wiped = true;
    for (size_t i = 0; i < BYTES; i++)
        wiped = wiped && watched[i] == '\0';
}

static void watch(const char *p) {
    watched = p;
    freed = wiped = false;
    before_free = look;
}

static void expect_wiped(void) {
    before_free = NULL;
    if (!can_fail())
        return; /* a sanitizer's free() */
    assert_true(freed);
    assert_true(wiped);
}

static const struct str token = {"a secret of 20 bytes", BYTES};

static void a_secret_is_overwritten(void **state) {
    struct secret s = {0};
    (void)state;
    assert_int_equal(secret_set(&s, token), 0);
    assert_str(secret_str(&s), token.p);
    assert_ptr_not_equal(s.p, token.p);
    watch(s.p);
    assert_int_equal(secret_set(&s, STR("another")), 0);
    expect_wiped();
    assert_str(secret_str(&s), "another");
    assert_int_equal(secret_set(&s, token), 0);
    watch(s.p);
    secret_done(&s);
    expect_wiped();
    assert_int_equal(s.n, 0);
    assert_int_equal(secret_set(&s, STR("")), 0); /* usable again, and may be empty */
    assert_str(secret_str(&s), "");
    secret_done(&s);
    secret_done(&s);
}

static void without_memory_it_stays(void **state) {
    struct secret s = {0};
    (void)state;
    if (!can_fail())
        return;
    assert_int_equal(secret_set(&s, token), 0);
    arm(0, true);
    armed = true;
    int r = secret_set(&s, STR("another"));
    armed = false;
    assert_int_equal(r, -ENOMEM);
    assert_str(secret_str(&s), token.p);
    secret_done(&s);
}

static void a_buffer_is_overwritten(void **state) {
    struct strbuf b;
    struct err err;
    (void)state;
    assert_int_equal(secret_buffer_init(&b, 64, &err), 0);
    const char *at = b.p;
    strbuf_append_str(&b, token);
    while (b.n < 64)
        strbuf_append_char(&b, 'x');
    assert_ptr_equal(b.p, at); /* it has not moved */
    strbuf_append_char(&b, 'x');
    assert_true(strbuf_failed(&b)); /* and does not grow */
    watch(b.p);
    secret_buffer_done(&b);
    expect_wiped();
    assert_int_equal(b.n, 0);
}

/* A file of the limit, one byte less and one more. */
static void files(void **state) {
    char path[] = "/tmp/evenkeel-secret-XXXXXX", *bytes = malloc(LIMIT_KUBE_CREDENTIAL_BYTES + 1);
    (void)state;
    assert_non_null(bytes);
    assert_return_code(mkstemp(path), 0);
    memset(bytes, 's', LIMIT_KUBE_CREDENTIAL_BYTES + 1);
    for (size_t n = LIMIT_KUBE_CREDENTIAL_BYTES - 1; n <= LIMIT_KUBE_CREDENTIAL_BYTES + 1; n++) {
        struct strbuf b = {0};
        struct err err;
        assert_int_equal(file_write_atomic(path, (struct str){bytes, n}, 0600, NULL), 0);
        int r = secret_read(path, &b, &err);
        assert_int_equal(r, n <= LIMIT_KUBE_CREDENTIAL_BYTES ? 0 : -EFBIG);
        if (r == 0)
            assert_int_equal(b.n, n);
        watch(b.p);
        secret_buffer_done(&b);
        expect_wiped();
    }
    assert_int_equal(unlink(path), 0);
    struct strbuf none = {0};
    assert_int_equal(secret_read(path, &none, NULL), -ENOENT);
    secret_buffer_done(&none);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_is_overwritten),
        cmocka_unit_test(without_memory_it_stays),
        cmocka_unit_test(a_buffer_is_overwritten),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests_name("secret", tests, NULL, NULL);
}
