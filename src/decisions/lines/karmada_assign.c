/* The step `assign`: how many replicas each selected cluster of Karmada gets. */
#include "karmada/assign.h"

#include "lines/candidates.h"
#include "lines/karmada_options.h"
#include "lines/steps.h"

struct assign_question {
    const struct karmada_candidate *candidates;
    uint32_t count;
    struct binding_spec spec;
    struct binding_status status;
    bool has_overflow, overflow; /* the question's member `overflow`; if given, it is used instead
                                    of spec and status */
    bool with_empty;             /* enableEmptyWorkloadPropagation */
    struct karmada_options options;
};

static void question_decode(struct json_reader *r, struct assign_question *q) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("candidates")))
            q->candidates = candidates_decode(r, false, &q->count);
        else if (str_eq(key, STR("spec")))
            binding_spec_decode(r, &q->spec);
        else if (str_eq(key, STR("status")))
            binding_status_decode(r, &q->status);
        else if (str_eq(key, STR("options")))
            karmada_options_decode(r, &q->options);
        else if (str_eq(key, STR("enableEmptyWorkloadPropagation")))
            q->with_empty = json_bool(r);
        else if (str_eq(key, STR("overflow"))) {
            q->has_overflow = json_peek(r) != JSON_NULL;
            q->overflow = json_bool(r);
        }
    }
}

static void put_assignment(const struct karmada_assignment *answer, struct json_writer *w) {
    json_key(w, STR("clusters"));
    json_begin_object(w);
    for (uint32_t i = 0; i < answer->count; i++) {
        json_key(w, answer->clusters[i].name);
        json_put_integer(w, answer->clusters[i].replicas);
    }
    json_end_object(w);
    json_put_member(w, STR("errorKind"), karmada_error_names[answer->kind]);
    json_put_member(w, STR("error"), answer->error);
}

int line_assign(struct json_reader *r, struct json_writer *w, struct err *err) {
    struct assign_question q = {.options = karmada_defaults};
    struct karmada_assignment answer;
    question_decode(r, &q);
    int e = json_finish(r, err);
    if (e != 0)
        return e;
    q.options.empty_propagation = q.with_empty;
    if (!q.has_overflow)
        q.overflow = karmada_assign_overflows(&q.spec, &q.status);
    e = karmada_assign(q.candidates, q.count, &q.spec, &q.status, q.overflow, &q.options, r->arena,
                       &answer, err);
    if (e == 0)
        put_assignment(&answer, w);
    else
        (void)err_wrap(err, "question");
    return e;
}
