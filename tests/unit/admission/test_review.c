/* AdmissionReviews in, answers out. */
#include "admission/review.h"

#include "base/base64.h"
#include "unit/model/decoding.h"

#include <errno.h>

#define HEAD "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","
#define PODS "\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"}"

static struct review decode(const char *json) {
    struct review review;
    struct err err;
    if (review_decode(str_of(json), &decoding_arena, &review, &err) != 0)
        fail_msg("%s", err.text);
    return review;
}

/* As an API server sends it. */
static void a_whole_review(void **state) {
    (void)state;
    struct review r = decode(
        HEAD "\"request\":{\"uid\":\"705ab4f5\",\"kind\":{\"group\":\"\",\"version\":\"v1\","
             "\"kind\":\"Pod\"}," PODS ",\"subResource\":\"eviction\",\"requestKind\":{\"group\":"
             "\"x\"},\"name\":\"\",\"namespace\":\"shop\",\"operation\":\"CREATE\",\"userInfo\":{"
             "\"username\":\"u\",\"extra\":{\"a\":[\"b\"]}},\"object\": {\"n\": 1.50} ,"
             "\"oldObject\":null,\"dryRun\":true,\"options\":{\"kind\":\"CreateOptions\"}}}");
    assert_str(r.uid, "705ab4f5");
    assert_str(r.group, "");
    assert_str(r.resource, "pods");
    assert_str(r.subresource, "eviction");
    assert_str(r.operation, "CREATE");
    assert_str(r.namespace, "shop");
    assert_str(r.object, "{\"n\": 1.50}");
    assert_str(r.old_object, "");
    assert_true(r.dry_run);
}

static void what_may_be_missing(void **state) {
    (void)state;
    struct review r = decode("{\"request\":{\"object\":null,\"operation\":\"DELETE\",\"uid\":\"1\","
                             "\"resource\":{\"group\":\"apps\",\"resource\":\"x\"}},\"kind\":"
                             "\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\"}");
    assert_str(r.group, "apps");
    assert_str(r.object, "");
    assert_false(r.dry_run);
}

static void an_update_has_both(void **state) {
    (void)state;
    struct review r =
        decode(HEAD "\"request\":{\"uid\":\"1\"," PODS ",\"operation\":\"UPDATE\",\"object\":"
                    "{\"n\": 2},\"oldObject\": {\"n\": 1} }}");
    assert_str(r.object, "{\"n\": 2}");
    assert_str(r.old_object, "{\"n\": 1}");
}

static void malformed_ones_are_refused_with_the_reason(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", "AdmissionReview: "},
        {"null", "AdmissionReview.apiVersion: expected 'admission.k8s.io/v1', found ''"},
        {"[]", "expected an object, found an array"},
        {"{", "AdmissionReview"},
        {"{\"apiVersion\":\"admission.k8s.io/v1beta1\",\"kind\":\"AdmissionReview\"}",
         "expected 'admission.k8s.io/v1', found 'admission.k8s.io/v1beta1'; register the webhook "
         "with admissionReviewVersions: [v1]"},
        {"{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"Pod\"}",
         "AdmissionReview.kind: expected 'AdmissionReview', found 'Pod'"},
        {"{\"APIVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\"}", "found ''"},
        {HEAD "\"response\":{}}", "AdmissionReview.request.uid is required"},
        {HEAD "\"request\":null}", "AdmissionReview.request.uid is required"},
        {HEAD "\"request\":{\"UID\":\"1\"}}", "AdmissionReview.request.uid is required"},
        {HEAD "\"request\":{\"uid\":5}}", "AdmissionReview.request.uid: expected a string"},
        {HEAD "\"request\":{\"uid\":\"1\"}}", "request.resource.resource is required"},
        {HEAD "\"request\":{\"uid\":\"1\"," PODS "}}", "request.operation is required"},
        {HEAD "\"request\":{\"uid\":\"1\",\"operation\":\"CREATE\"," PODS "}}",
         "AdmissionReview.request.object is required"},
        {HEAD "\"request\":{\"object\":[]}}", "AdmissionReview.request.object: expected an object"},
        {HEAD "\"request\":{\"oldObject\":1}}",
         "AdmissionReview.request.oldObject: expected an object"},
        {HEAD "\"request\":{\"dryRun\":\"no\"}}", "AdmissionReview.request.dryRun: expected"},
        {HEAD "\"request\":{\"uid\":\"1\",\"operation\":\"CREATE\"," PODS ",\"object\":{}}} x",
         "unexpected text after the value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct review review;
        struct err err = {0};
        assert_int_equal(review_decode(str_of(cases[i][0]), &decoding_arena, &review, &err),
                         -EINVAL);
        assert_contains(err.text, cases[i][1]);
    }
}

#define ANSWER                                                                                     \
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"response\":{\"uid\":"  \
    "\"1\",\"allowed\":"

static void answers(const struct review_answer *answer, const char *rest) {
    struct strbuf out = {0}, wanted = {0};
    assert_int_equal(review_encode(answer, &out), 0);
    strbuf_appendf(&wanted, "%s%s}}", ANSWER, rest);
    strbuf_append(&wanted, "", 1);
    assert_str(strbuf_str(&out), wanted.p);
    strbuf_done(&out);
    strbuf_done(&wanted);
}

static void nothing_to_change(void **state) {
    (void)state;
    struct patch empty;
    struct review_answer answer = {.uid = STR("1"), .allowed = true};
    answers(&answer, "true");
    patch_init(&empty, STR("{}"), &decoding_arena);
    answer.patch = &empty;
    answers(&answer, "true");
}

static void a_patch_in_base64(void **state) {
    (void)state;
    static const char text[] = "[{\"op\":\"add\",\"path\":\"/a\",\"value\":\"\\u00fc\"}]";
    const struct str path[] = {STR("a")};
    struct strbuf rest = {0};
    struct patch patch;
    patch_init(&patch, STR("{}"), &decoding_arena);
    assert_int_equal(patch_add(&patch, path, 1, STR("\"\\u00fc\""), NULL), 0);
    struct review_answer answer = {.uid = STR("1"), .allowed = true, .patch = &patch};
    strbuf_appendf(&rest, "true,\"patchType\":\"JSONPatch\",\"patch\":\"");
    base64_append(&rest, str_of(text));
    strbuf_append(&rest, "\"", 2);
    answers(&answer, rest.p);
    answer.allowed = false; /* a denial has no patch */
    answer.code = 422;
    answer.message = STR("no \"x\"");
    answers(&answer, "false,\"status\":{\"code\":422,\"message\":\"no \\\"x\\\"\"}");
    strbuf_done(&rest);
}

static void notes(void **state) {
    (void)state;
    struct review_answer answer = {.uid = STR("1"), .allowed = true};
    review_warn(&answer, STR("")); /* nothing to say */
    review_annotate(&answer, STR("a"), STR(""));
    answers(&answer, "true");
    review_warn(&answer, STR("one"));
    review_warn(&answer, STR("bad \xff"));
    review_annotate(&answer, STR("policy"), STR("web"));
    answers(&answer, "true,\"warnings\":[\"one\",\"bad \xef\xbf\xbd\"],"
                     "\"auditAnnotations\":{\"policy\":\"web\"}");
}

/* The API server would cut them, and it counts characters. */
static void long_warnings_are_cut_between_characters(void **state) {
    (void)state;
    struct review_answer answer = {.uid = STR("1"), .allowed = true};
    struct strbuf text = {0}, wanted = {0};
    for (int i = 0; i < 300; i++)
        strbuf_append(&text, "\xc3\xbc", 2);
    strbuf_appendf(&wanted, "true,\"warnings\":[\"%.*s\"]", 512, text.p);
    strbuf_append(&wanted, "", 1);
    review_warn(&answer, strbuf_str(&text));
    answers(&answer, wanted.p);
    strbuf_done(&text);
    strbuf_done(&wanted);
}

/* What an annotation brings must not move the cursor of whoever reads the warning. */
static void controls_are_not_shown(void **state) {
    struct review_answer denied = {.uid = STR("1"), .code = 422, .message = STR("no '\x1b[2J'")},
                         warned = {.uid = STR("1"), .allowed = true};
    (void)state;
    review_warn(&warned, STR("is '\x1b[31m\r\n\t\x7f\xc3\xa4'"));
    answers(&warned, "true,\"warnings\":[\"is '?[31m????\xc3\xa4'\"]");
    answers(&denied, "false,\"status\":{\"code\":422,\"message\":\"no '?[2J'\"}");
}

static void too_many_notes_are_dropped(void **state) {
    (void)state;
    struct review_answer answer = {.uid = STR("1"), .allowed = true};
    for (int i = 0; i < 2 * REVIEW_NOTES_MAX; i++) {
        review_warn(&answer, STR("w"));
        review_annotate(&answer, STR("k"), STR("v"));
    }
    assert_int_equal(answer.warning_count, REVIEW_NOTES_MAX);
    assert_int_equal(answer.annotation_count, REVIEW_NOTES_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        DECODING_TEST(a_whole_review),
        DECODING_TEST(what_may_be_missing),
        DECODING_TEST(an_update_has_both),
        DECODING_TEST(malformed_ones_are_refused_with_the_reason),
        DECODING_TEST(nothing_to_change),
        DECODING_TEST(a_patch_in_base64),
        DECODING_TEST(notes),
        DECODING_TEST(long_warnings_are_cut_between_characters),
        DECODING_TEST(controls_are_not_shown),
        DECODING_TEST(too_many_notes_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
