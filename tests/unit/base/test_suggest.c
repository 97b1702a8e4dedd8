#include "base/suggest.h"

#include "unit/unit.h"

static const char *suggest(const char *word) {
    static const char *const candidates[] = {
        "listen", "threads", "certFile", "keyFile", "log", "clientCAFile", "on", "extender-listen"};
    struct suggestion s = suggestion_for(str_of(word));
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++)
        suggestion_offer(&s, candidates[i]);
    return s.best;
}

static void test_near_words(void **state) {
    (void)state;
    static const struct {
        const char *word, *meant; /* NULL: nothing is near */
    } rows[] = {
        {"lisen", "listen"},
        {"Listen", "listen"},
        {"litsen", "listen"},
        {"listenn", "listen"},
        {"cert-file", "certFile"},
        {"cert_file", "certFile"},
        {"clientCaFile", "clientCAFile"},
        {"--extender-lisen", "extender-listen"},
        {"lgo", "log"},
        {"_l_o_g_", "log"},
        {"-l-o-g-", "log"},
        {"kyeFile", "keyFile"},
        {"fileKey", NULL},
        {"", NULL},
        {"zebra", NULL},
        {"no", NULL},
        {"l", NULL},
        {"logarithms", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *got = suggest(rows[i].word);
        bool same = got == NULL || rows[i].meant == NULL ? got == rows[i].meant
                                                         : strcmp(got, rows[i].meant) == 0;
        if (!same)
            fail_msg("'%s' -> '%s'", rows[i].word, got != NULL ? got : "nothing");
    }
}

/* One that is as near as the nearest so far is no nearer. */
static void test_the_first_of_equals(void **state) {
    (void)state;
    static const char *const candidates[] = {"certPath", "certFile", "certLine"};
    struct suggestion s = suggestion_for(STR("certBile"));
    for (size_t i = 0; i < 3; i++)
        suggestion_offer(&s, candidates[i]);
    assert_string_equal(s.best, "certFile");
    s = suggestion_for(STR("certFinea"));
    suggestion_offer(&s, "certFine");
    suggestion_offer(&s, "certFineb");
    assert_string_equal(s.best, "certFine");
}

static void test_long_words(void **state) {
    (void)state;
    char word[5000];
    memset(word, 'a', sizeof word);
    struct suggestion s = suggestion_for((struct str){word, sizeof word});
    suggestion_offer(&s, "listen");
    assert_null(s.best);
    suggestion_offer(&s, "");
    assert_null(s.best);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near_words),
        cmocka_unit_test(test_the_first_of_equals),
        cmocka_unit_test(test_long_words),
    };
    return cmocka_run_group_tests_name("suggest", tests, NULL, NULL);
}
