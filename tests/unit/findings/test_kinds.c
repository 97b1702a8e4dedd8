/*
 * Each kind of mistake at random places of good files: exactly its findings follow. Good files have
 * none. A code of the table has a mistake here, or stands below with the reason why it has none.
 */
#include "base/log.h"
#include "unit/findings/mistakes.h"

enum { ROUNDS = 30 };

static const struct mistake *const all[] = {mistakes_of_fields, mistakes_of_pods, mistakes_of_nodes,
                                            mistakes_of_placements, mistakes_of_bindings};
enum { TABLES = sizeof all / sizeof all[0] };

static const struct {
    enum finding_code code;
    const char *reason;
} not_drawn[] = {
    {FINDING_TEMPLATE, "the file is refused: no JSON can have it"},
};

static void good_files_have_none(void **state) {
    uint64_t random = unit_seed();
    (void)state;
    for (int i = 0; i < ROUNDS * SUBJECTS; i++) {
        struct drawn d;
        draw(&d, (enum drawn_subject)(i % SUBJECTS), &random);
        drawn_check(&d, "a good file");
        drawn_free(&d);
    }
}

static void check_mistake(const struct mistake *m, uint64_t *random) {
    struct drawn d;
    enum drawn_subject subject;
    do
        subject = (enum drawn_subject)unit_below(random, SUBJECTS);
    while ((m->subjects & 1u << subject) == 0);
    draw(&d, subject, random);
    if (m->with_state)
        drawn_need_state(&d);
    m->make(&d);
    assert_true(d.count == 0 || d.wanted[0].code == m->code);
    drawn_check(&d, m->name);
    drawn_free(&d);
}

static void each_mistake_has_its_findings(void **state) {
    uint64_t random = unit_seed();
    (void)state;
    for (size_t table = 0; table < TABLES; table++)
        for (const struct mistake *m = all[table]; m->name != NULL; m++)
            for (int i = 0; i < ROUNDS; i++)
                check_mistake(m, &random);
}

static void each_code_is_drawn(void **state) {
    bool has[FINDING_CODES] = {false};
    (void)state;
    for (size_t table = 0; table < TABLES; table++)
        for (const struct mistake *m = all[table]; m->name != NULL; m++)
            has[m->code] = true;
    for (size_t i = 0; i < sizeof not_drawn / sizeof not_drawn[0]; i++) {
        if (has[not_drawn[i].code])
            fail_msg("%s is drawn", finding_kinds[not_drawn[i].code].code);
        has[not_drawn[i].code] = true;
    }
    for (int i = 0; i < FINDING_CODES; i++)
        if (!has[i])
            fail_msg("no mistake draws %s", finding_kinds[i].code);
}

int main(void) {
    log_setup(LOG_WARN, LOG_LOGFMT, 2);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_files_have_none),
        cmocka_unit_test(each_mistake_has_its_findings),
        cmocka_unit_test(each_code_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
