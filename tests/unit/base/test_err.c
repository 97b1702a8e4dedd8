#include "base/err.h"

#include "unit/unit.h"

#include <errno.h>

static void test_set(void **state) {
    (void)state;
    struct err err = {0};
    assert_int_equal(err_set(&err, -EINVAL, "cannot parse '%s': unknown suffix", "12x"), -EINVAL);
    assert_int_equal(err.code, -EINVAL);
    assert_string_equal(err.text, "cannot parse '12x': unknown suffix");
}

static void test_set_errno(void **state) {
    (void)state;
    struct err err = {0};
    assert_int_equal(err_set_errno(&err, ENOENT, "cannot open '%s'", "/x"), -ENOENT);
    assert_int_equal(err.code, -ENOENT);
    assert_string_equal(err.text, "cannot open '/x': No such file or directory");
}

static void test_wrap_puts_context_in_front(void **state) {
    (void)state;
    struct err err = {0};
    (void)err_set(&err, -EINVAL, "unknown suffix"); /* its return value is tested above */
    assert_int_equal(err_wrap(&err, "cannot parse quantity '%s'", "12x"), -EINVAL);
    assert_int_equal(err_wrap(&err, "node '%s'", "n1"), -EINVAL);
    assert_string_equal(err.text, "node 'n1': cannot parse quantity '12x': unknown suffix");
    assert_int_equal(err.code, -EINVAL);
}

static void test_no_err_is_fine(void **state) {
    (void)state;
    assert_int_equal(err_set(NULL, -ENOMEM, "x"), -ENOMEM);
    assert_int_equal(err_set_errno(NULL, EIO, "x"), -EIO);
    assert_true(err_wrap(NULL, "x") < 0);
}

static void test_long_texts_are_cut(void **state) {
    (void)state;
    char text[2 * ERR_TEXT_SIZE];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    struct err err = {0};
    assert_int_equal(err_set(&err, -EINVAL, "%s", text), -EINVAL);
    assert_int_equal(strlen(err.text), ERR_TEXT_SIZE - 1);
    assert_int_equal(err_wrap(&err, "context"), -EINVAL);
    assert_int_equal(strlen(err.text), ERR_TEXT_SIZE - 1);
    assert_memory_equal(err.text, "context: aaa", 12);
    assert_int_equal(err_wrap(&err, "%s", text), -EINVAL);
    assert_int_equal(strlen(err.text), ERR_TEXT_SIZE - 1);
    assert_int_equal(err_set_errno(&err, ENOENT, "%s", text), -ENOENT);
    assert_int_equal(strlen(err.text), ERR_TEXT_SIZE - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_set_errno),
        cmocka_unit_test(test_wrap_puts_context_in_front),
        cmocka_unit_test(test_no_err_is_fine),
        cmocka_unit_test(test_long_texts_are_cut),
    };
    return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
