#include "admission/review.h"

#include "base/base64.h"
#include "base/json_fields.h"
#include "base/table.h"
#include "model/names.h"

#include <errno.h>
#include <stddef.h>

#define API_VERSION STR(ADMISSION_API)
#define KIND STR(ADMISSION_REVIEW_KIND)

/* ---- decoding ---- */

static void resource_decode(struct json_reader *r, struct review *review) {
    static const struct json_field fields[] = {
        JSON_TEXT("group", struct review, group),
        JSON_TEXT("resource", struct review, resource),
    };
    json_fields(r, &JSON_ROWS(fields), review);
}

static void user_decode(struct json_reader *r, struct review *review) {
    static const struct json_field fields[] = {
        JSON_TEXT("username", struct review, user),
    };
    json_fields(r, &JSON_ROWS(fields), review);
}

static struct str object_text(struct json_reader *r) {
    enum json_kind kind = json_peek(r);
    if (kind != JSON_OBJECT && kind != JSON_NULL)
        json_fail(r, "expected an object");
    struct str text = json_skip(r);
    return kind == JSON_OBJECT ? text : (struct str){0};
}

static void request_decode(struct json_reader *r, struct review *review) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("uid")))
            review->uid = json_string(r);
        else if (str_eq(key, STR("resource")))
            resource_decode(r, review);
        else if (str_eq(key, STR("subResource")))
            review->subresource = json_string(r);
        else if (str_eq(key, STR("operation")))
            review->operation = json_string(r);
        else if (str_eq(key, STR("namespace")))
            review->namespace = json_string(r);
        else if (str_eq(key, STR("object")))
            review->object = object_text(r);
        else if (str_eq(key, STR("oldObject")))
            review->old_object = object_text(r);
        else if (str_eq(key, STR("userInfo")))
            user_decode(r, review);
        else if (str_eq(key, STR("dryRun")))
            review->dry_run = json_bool(r);
    }
}

/* Checks that the review has the members that an answer needs. */
static int check(const struct review *review, struct str version, struct str kind,
                 struct err *err) {
    if (!str_eq(version, API_VERSION))
        return err_set(err, -EINVAL, "AdmissionReview.apiVersion: expected '%.*s', found '%.*s'%s",
                       STR_ARG(API_VERSION), STR_ARG(version),
                       str_eq(version, STR(ADMISSION_API_BETA))
                           ? "; register the webhook with admissionReviewVersions: [v1]"
                           : "");
    if (!str_eq(kind, KIND))
        return err_set(err, -EINVAL, "AdmissionReview.kind: expected '%.*s', found '%.*s'",
                       STR_ARG(KIND), STR_ARG(kind));
    if (str_empty(review->uid))
        return err_set(err, -EINVAL, "AdmissionReview.request.uid is required");
    if (str_empty(review->resource))
        return err_set(err, -EINVAL, "AdmissionReview.request.resource.resource is required");
    if (str_empty(review->operation))
        return err_set(err, -EINVAL, "AdmissionReview.request.operation is required");
    if (str_eq(review->operation, STR("CREATE")) && str_empty(review->object))
        return err_set(err, -EINVAL, "AdmissionReview.request.object is required");
    return 0;
}

int review_decode(struct str body, struct arena *arena, struct review *ret, struct err *err) {
    struct review review = {0};
    struct str key, version = {0}, kind = {0};
    struct json_reader r;
    json_reader_init(&r, body, arena, ADMISSION_REVIEW_KIND);
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("apiVersion")))
                version = json_string(&r);
            else if (str_eq(key, STR("kind")))
                kind = json_string(&r);
            else if (str_eq(key, STR("request")))
                request_decode(&r, &review);
        }
    int failed = json_finish(&r, err);
    if (failed == 0)
        failed = check(&review, version, kind, err);
    if (failed == 0)
        *ret = review;
    return failed;
}

/* ---- answers ---- */

void review_warn(struct review_answer *answer, struct str warning) {
    if (answer->warning_count < REVIEW_NOTES_MAX && !str_empty(warning))
        answer->warnings[answer->warning_count++] = warning;
}

void review_fail(struct review_answer *answer, struct str warning) {
    uint32_t at = answer->failure_count;
    if (at == REVIEW_NOTES_MAX || str_empty(warning))
        return;
    if (answer->warning_count < REVIEW_NOTES_MAX)
        answer->warning_count++;
    for (uint32_t i = answer->warning_count - 1; i > at; i--)
        answer->warnings[i] = answer->warnings[i - 1];
    answer->warnings[at] = warning;
    answer->failure_count++;
}

void review_annotate(struct review_answer *answer, struct str key, struct str value) {
    if (answer->annotation_count < REVIEW_NOTES_MAX && !str_empty(value))
        answer->annotations[answer->annotation_count++] = (struct label){key, value};
}

/* upstream: apiserver cuts a warning after 256 characters; so do we, at a character's end. */
static struct str cut(struct str text) {
    size_t i = 0;
    for (int characters = 0; i < text.n && characters < 256; characters++) {
        size_t n = str_utf8_length((struct str){text.p + i, text.n - i});
        i += n > 0 ? n : 1;
    }
    return (struct str){text.p, i};
}

/* Texts quote the user's input and are read in terminals. */
static void put_readable(struct json_writer *w, struct str text) {
    CLEANUP(strbuf_done) struct strbuf readable = {0};
    table_text(text, &readable);
    json_put_text(w, strbuf_str(&readable));
    w->out->failed |= strbuf_failed(&readable);
}

static void put_patch(const struct review_answer *answer, struct json_writer *w) {
    struct strbuf patch = {0}, encoded = {0};
    struct json_writer inner = {.out = &patch};
    patch_write(answer->patch, &inner);
    base64_append(&encoded, strbuf_str(&patch));
    json_put_member(w, STR("patchType"), STR("JSONPatch"));
    json_put_member(w, STR("patch"), strbuf_str(&encoded));
    w->out->failed |= strbuf_failed(&patch) || strbuf_failed(&encoded);
    strbuf_done(&patch);
    strbuf_done(&encoded);
}

static void put_denial(const struct review_answer *answer, struct json_writer *w) {
    json_key(w, STR("status"));
    json_begin_object(w);
    json_key(w, STR("code"));
    json_put_integer(w, answer->code);
    json_key(w, STR("message"));
    put_readable(w, answer->message);
    json_end_object(w);
}

static void put_notes(const struct review_answer *answer, struct json_writer *w) {
    if (answer->warning_count + answer->mistake_count > 0) {
        json_key(w, STR("warnings"));
        json_begin_array(w);
        for (uint32_t i = 0; i < answer->warning_count; i++)
            put_readable(w, cut(answer->warnings[i]));
        for (uint32_t i = 0; i < answer->mistake_count; i++)
            put_readable(w, answer->mistakes[i]);
        json_end_array(w);
    }
    if (answer->annotation_count > 0) {
        json_key(w, STR("auditAnnotations"));
        json_begin_object(w);
        for (uint32_t i = 0; i < answer->annotation_count; i++) {
            json_key(w, answer->annotations[i].key);
            json_put_text(w, answer->annotations[i].value);
        }
        json_end_object(w);
    }
}

int review_encode(const struct review_answer *answer, struct strbuf *out) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_put_member(&w, STR("apiVersion"), API_VERSION);
    json_put_member(&w, STR("kind"), KIND);
    json_key(&w, STR("response"));
    json_begin_object(&w);
    json_put_member(&w, STR("uid"), answer->uid);
    json_key(&w, STR("allowed"));
    json_put_bool(&w, answer->allowed);
    if (!answer->allowed)
        put_denial(answer, &w);
    else if (answer->patch != NULL && answer->patch->count > 0)
        put_patch(answer, &w);
    put_notes(answer, &w);
    json_end_object(&w);
    json_end_object(&w);
    return strbuf_failed(out) ? -ENOMEM : 0;
}
