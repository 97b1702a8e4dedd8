/* What is the same for every kind of objects: a kind of the test's own, whose plugins do what its
 * objects say. */
#include "admission/admit.h"

#include "admission/objects/objects.h"
#include "base/json_reader.h"
#include "base/limits.h"
#include "unit/model/decoding.h"

#include <errno.h>
#include <stdio.h>

struct widget_question {
    struct admission_question head;
    struct str mode; /* member "mode" of the object */
};

static struct str mode_of(const struct admission_question *question) {
    return ((const struct widget_question *)question)->mode;
}

static int decode(struct admission_question *question, struct str object, struct err *err) {
    struct json_reader r;
    json_reader_init(&r, object, question->arena, "Widget");
    ((struct widget_question *)question)->mode = json_peek_member(&r, STR("mode"));
    (void)json_skip(&r); /* json_finish() says whether it could be read */
    return json_finish(&r, err);
}

static int prepare(struct admission_question *question, struct review_answer *answer,
                   struct str *ret_settled, struct err *err) {
    review_annotate(answer, STR("prepared"), STR("yes"));
    *ret_settled = str_eq(mode_of(question), STR("settled")) ? STR("a settled widget") : STR("");
    return str_eq(mode_of(question), STR("unknown")) ? err_set(err, -ENOENT, "nobody knows") : 0;
}

static int check(const struct admission_question *now, const struct admission_question *before,
                 const char **ret_why, struct err *err) {
    *ret_why = "the widget would be refused";
    return !str_eq(mode_of(now), mode_of(before)) ? err_set(err, -EINVAL, "another mode") : 0;
}

static int set(struct patch *patch, struct str name, struct str value, struct err *err) {
    return patch_add(patch, &name, 1, value, err);
}

/* More than an answer has room for. */
enum { CHOICES = REVIEW_NOTES_MAX + 4 };
static const struct str choices[CHOICES] = {[0 ... CHOICES - 1] = {"by choice", 9}};

static int paint(const struct admission_question *question, struct patch *patch,
                 struct admission_outcome *ret, struct err *err) {
    struct str mode = mode_of(question);
    ret->note = STR("painted");
    if (str_eq(mode, STR("deny")))
        *ret = (struct admission_outcome){.refused = 403, .cause = STR("no widgets today")};
    if (str_has_prefix(mode, STR("told"))) {
        ret->warnings = choices;
        ret->warning_count = CHOICES;
    }
    if (str_has_suffix(mode, STR("change")))
        return set(patch, STR("mode"), STR("\"paint\""), err);
    int r = set(patch, STR("paint"), STR("1"), err);
    if (r == 0 && str_eq(mode, STR("long")) &&
        !steps_take(&question->arena->steps, LIMIT_REVIEW_STEPS))
        return err_set(err, -E2BIG, "there is a lot to paint");
    return r == 0 && str_eq(mode, STR("fail")) ? err_set(err, -EINVAL, "no brush") : r;
}

static int stamp(const struct admission_question *question, struct patch *patch,
                 struct admission_outcome *ret, struct err *err) {
    if (str_eq(mode_of(question), STR("told, deny")))
        *ret = (struct admission_outcome){.refused = 403, .cause = STR("no widgets today")};
    if (str_eq(mode_of(question), STR("told, fail")))
        return err_set(err, -EINVAL, "no ink");
    return set(patch, STR("stamp"), STR("2"), err);
}

static const struct admission_plugin painter = {.name = "paint", .run = paint},
                                     stamper = {.name = "stamp", .settled_too = true, .run = stamp};
static const struct admission_plugin *const plugins[] = {&painter, &stamper};

static const struct admitted_kind widgets = {.name = "widgets",
                                             .object = "the widget",
                                             .group = {"example.com", 11},
                                             .resource = {"widgets", 7},
                                             .plugins = plugins,
                                             .plugin_count = 2,
                                             .question_size = sizeof(struct widget_question),
                                             .decode = decode,
                                             .prepare = prepare,
                                             .check = check};

struct answer {
    enum admission result;
    struct patch patch;
    struct review_answer answer;
};

static struct review review_of(const char *object) {
    return (struct review){.uid = STR("u"),
                           .group = STR("example.com"),
                           .resource = STR("widgets"),
                           .operation = STR("CREATE"),
                           .object = str_of(object)};
}

static void ask(const struct review *review, struct arena *arena, struct answer *ret) {
    static const struct admission_options options;
    ret->result = admit_object(&widgets, &options, review, arena, &ret->patch, &ret->answer);
}

static void plugins_follow_the_row(void **state) {
    (void)state;
    static const struct {
        const char *object, *document, *warning;
        enum admission result;
    } cases[] = {
        {"{}", "{\"paint\":1,\"stamp\":2}", "", ADMISSION_PATCHED},
        {"{\"mode\":\"settled\"}", "{\"mode\":\"settled\",\"stamp\":2}", "", ADMISSION_PATCHED},
        {"{\"mode\":\"fail\"}", "{\"mode\":\"fail\",\"stamp\":2}", "evenkeel: paint: no brush",
         ADMISSION_FAILED},
        {"{\"mode\":\"change\"}", "{\"mode\":\"change\"}",
         "evenkeel: the widget would be refused: another mode", ADMISSION_FAILED},
        {"{\"mode\":\"unknown\"}", "{\"mode\":\"unknown\"}",
         "evenkeel: the widget is unchanged: nobody knows", ADMISSION_FAILED},
        {"{\"mode\":", "{\"mode\":", "evenkeel: the widget is unchanged: Widget", ADMISSION_FAILED},
        {"{\"mode\":\"deny\"}", "{\"mode\":\"deny\"}", "", ADMISSION_DENIED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct answer a;
        const struct review review = review_of(cases[i].object);
        ask(&review, &decoding_arena, &a);
        assert_int_equal(a.result, cases[i].result);
        assert_str(a.patch.document, cases[i].document);
        assert_int_equal(a.answer.warning_count, cases[i].warning[0] != '\0');
        if (a.answer.warning_count > 0)
            assert_true(str_has_prefix(a.answer.warnings[0], str_of(cases[i].warning)));
        assert_int_equal(a.answer.allowed, cases[i].result != ADMISSION_DENIED);
        if (!a.answer.allowed)
            assert_str(a.answer.message, "no widgets today");
    }
}

/* What could not be done comes first and always fits; what was done by choice is no longer said
 * once it was taken back. */
static void failures_come_before_choices(void **state) {
    (void)state;
    static const struct {
        const char *object, *warning;
        uint32_t warnings;
        enum admission result;
    } cases[] = {
        {"{\"mode\":\"told\"}", "evenkeel: by choice", REVIEW_NOTES_MAX, ADMISSION_PATCHED},
        {"{\"mode\":\"told, fail\"}", "evenkeel: stamp: no ink", REVIEW_NOTES_MAX,
         ADMISSION_FAILED},
        {"{\"mode\":\"told, change\"}", "evenkeel: the widget would be refused: another mode", 1,
         ADMISSION_FAILED},
        {"{\"mode\":\"told, deny\"}", "", 0, ADMISSION_DENIED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct answer a;
        const struct review review = review_of(cases[i].object);
        ask(&review, &decoding_arena, &a);
        assert_int_equal(a.result, cases[i].result);
        assert_int_equal(a.answer.warning_count, cases[i].warnings);
        if (cases[i].warnings > 0)
            assert_str(a.answer.warnings[0], cases[i].warning);
    }
}

static void only_its_own_objects_are_looked_at(void **state) {
    (void)state;
    struct review others[4];
    for (size_t i = 0; i < 4; i++)
        others[i] = review_of("{}");
    others[0].operation = STR("UPDATE");
    others[1].group = STR("");
    others[2].resource = STR("gadgets");
    others[3].subresource = STR("status");
    for (size_t i = 0; i < 4; i++) {
        struct answer a;
        ask(&others[i], &decoding_arena, &a);
        assert_int_equal(a.result, ADMISSION_UNCHANGED);
        assert_true(a.answer.allowed && a.answer.annotation_count == 0);
        assert_str(a.answer.uid, "u");
    }
}

/* The user is told which limit it was, and how large the object is: nobody else can do anything. */
static void a_limit_of_memory_is_named(void **state) {
    (void)state;
    struct strbuf object = {0};
    struct arena small;
    struct answer a;
    strbuf_append_str(&object, STR("{\"mode\":\""));
    while (object.n < 5000)
        strbuf_append_str(&object, STR("\\n"));
    strbuf_append(&object, "\"}", 3);
    for (size_t kib = 1; kib <= 8; kib *= 8) { /* before anything is read, and later */
        const struct review review = review_of(object.p);
        char want[200];
        arena_init(&small, kib << 10);
        arena_alloc(&small, kib == 1 ? 1000 : 1);
        ask(&review, &small, &a);
        assert_int_equal(a.result, ADMISSION_FAILED);
        (void)snprintf(want, sizeof want,
                       "evenkeel: the widget did not get all changes: its review, of %zu bytes, "
                       "takes more than the limit of %zu KiB of memory",
                       review.object.n, kib);
        assert_int_equal(a.answer.warning_count, 1);
        assert_str(a.answer.warnings[0], want);
        arena_done(&small);
    }
    strbuf_done(&object);
}

/* However much was done by then; and the next review has steps of its own. */
static void no_steps_left(void **state) {
    (void)state;
    struct answer a;
    const struct review review = review_of("{\"mode\":\"long\"}"), other = review_of("{}");
    decoding_arena.steps = (struct steps){.used = 5, .max = 7};
    ask(&review, &decoding_arena, &a);
    assert_int_equal(a.result, ADMISSION_FAILED);
    assert_true(a.answer.gave_up && a.answer.allowed);
    assert_true(a.answer.steps > LIMIT_REVIEW_STEPS);
    assert_str(a.patch.document, "{\"mode\":\"long\"}");
    assert_int_equal(a.patch.count, 0);
    assert_int_equal(a.answer.warning_count, 1);
    assert_str(a.answer.warnings[0],
               "evenkeel: the widget is unchanged: its review takes more than 1000000 steps; it "
               "needs fewer labels, terms, values, preferences, constraints or mounts");
    assert_int_equal(a.answer.annotation_count, 1); /* what was found out, not what was done */
    ask(&other, &decoding_arena, &a);
    assert_int_equal(a.result, ADMISSION_PATCHED);
    assert_false(a.answer.gave_up);
    assert_int_equal(decoding_arena.steps.used, 5);
    assert_int_equal(decoding_arena.steps.max, 7);
    decoding_arena.steps = (struct steps){0};
}

/* Whatever finds a kind by one of these finds no other. */
static void rows_have_names_of_their_own(void **state) {
    (void)state;
    for (size_t i = 0; i < ADMITTED_KINDS; i++) {
        const struct admitted_kind *kind = admitted_kinds[i];
        assert_true(kind->kind.n > 0 && kind->resource.n > 0);
        assert_true(kind->question_size >= sizeof(struct admission_question));
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(kind->name, admitted_kinds[k]->name);
    }
}

/* ---- mistakes ---- */

static uint64_t steps_to_find;

static void find(const struct admission_question *question, struct findings *f) {
    (void)question;
    steps_to_find = f->arena->steps.max;
    findings_add(f, FINDING_INVALID, STR("paint"), STR("Write blue"), "no such colour");
}

/* The review waits for them, so they take a part of its time. */
static void mistakes_are_looked_for_in_time(void **state) {
    (void)state;
    static const struct admission_options options = {.finds = true};
    const struct review review = review_of("{}");
    struct admitted_kind kind = widgets;
    struct answer a;
    kind.find = find;
    a.result = admit_object(&kind, &options, &review, &decoding_arena, &a.patch, &a.answer);
    assert_int_equal(a.result, ADMISSION_PATCHED);
    assert_int_equal(a.answer.mistake_count, 1);
    assert_str(a.answer.mistakes[0], "paint: no such colour. Write blue");
    assert_in_range(steps_to_find, 1, LIMIT_REVIEW_STEPS / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(plugins_follow_the_row),
        DECODING_TEST(failures_come_before_choices),
        DECODING_TEST(only_its_own_objects_are_looked_at),
        DECODING_TEST(a_limit_of_memory_is_named),
        DECODING_TEST(no_steps_left),
        DECODING_TEST(rows_have_names_of_their_own),
        DECODING_TEST(mistakes_are_looked_for_in_time),
    };
    return cmocka_run_group_tests_name("admit", tests, NULL, NULL);
}
