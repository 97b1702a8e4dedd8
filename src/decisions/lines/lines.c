#include "lines/lines.h"

#include "base/suggest.h"
#include "lines/karmada_options.h"
#include "lines/steps.h"

#include <errno.h>
#include <stdio.h>

const struct line_step line_steps[] = {
    {"plan", "clusters[], sums{}, terms[], number, current[], others[], weight",
     "selected[], kept[], unscheduled, skew[]", line_plan, false},
    {"estimate",
     "cluster (an object), requirements, components[], options; or nodes[], pods[], quotas[], "
     "cluster (a name), and wire, componentsWire, requirements or components[]",
     "replicas, sets, wire; or error", line_estimate, true},
    {"unschedulable", "deployments[], replicaSets[], pods[], wire, now",
     "unschedulable, wire; or error", line_unschedulable, false},
    {"available", "replicas, clusters[], estimates{}", "available{}", line_available, false},
    {"normalise", "value, min, max", "value", line_normalise, false},
    {"range", "values[], low, high", "low, high", line_range, false},
    {"quantity", "text, or a and b; wrap",
     "canonical, value, milli, format, wire; add, sub, cmp, subFormat; or error", line_quantity,
     false},
    {"wire", "message, hex, epoch", "json, hex", line_wire, false},
    {"groups", "items[], min, max, target", "groups[]", line_groups, false},
    {"select", "candidates[], replicas, placement, options", "clusters[], scores, proven, error",
     line_select, true},
    {"assign", "candidates[], spec, status, overflow, enableEmptyWorkloadPropagation, options",
     "clusters{name: replicas}, errorKind, error", line_assign, true},
    {"schedule", "clusters[], spec, status, enableEmptyWorkloadPropagation, options",
     "clusters{name: replicas}, errorKind, error", line_schedule, true},
    {"bind", "policy (a PropagationPolicy or ClusterPropagationPolicy), workload (an object)",
     "madeBinding (null if the policy does not select the workload), reason", line_bind, false},
};
const size_t line_step_count = sizeof line_steps / sizeof line_steps[0];

static const char document[] = "question"; /* name of the text in errors */

/* ---- reading ---- */

/* Checks that the text is a JSON object, and reads its id and its step. */
static int read_frame(struct str text, struct arena *arena, struct line_question *ret,
                      bool *ret_has_step, struct err *err) {
    struct json_reader r;
    struct str key, id = STR("null");
    json_reader_init(&r, text, arena, document);
    *ret_has_step = false;
    if (json_null(&r) && json_finish(&r, err) == 0)
        return err_set(err, -EINVAL, "%s: expected an object, found null", document);
    if (json_object(&r))
        while (json_member(&r, &key)) {
            const bool is_id = str_eq(key, STR("id"));
            *ret_has_step = *ret_has_step || str_eq(key, STR("step"));
            const struct str value = json_skip(&r);
            id = is_id ? value : id;
        }
    const int e = json_finish(&r, err);
    if (e == 0)
        ret->id = id;
    return e;
}

static const struct line_step *step_decode(struct json_reader *r) {
    const struct str name = json_string(r);
    struct suggestion near = suggestion_for(name);
    for (size_t i = 0; i < line_step_count; i++) {
        if (str_eq(name, str_of(line_steps[i].name)))
            return &line_steps[i];
        suggestion_offer(&near, line_steps[i].name);
    }
    if (near.best != NULL)
        json_fail(r, "there is no step '%.*s'; did you mean '%s'?", STR_ARG(name), near.best);
    else
        json_fail(r, "there is no step '%.*s'", STR_ARG(name));
    return NULL;
}

/* Reads the question's step. Call it after read_frame(), which checks that the object is
 * well-formed. */
static int read_step(struct str text, struct arena *arena, struct line_question *ret,
                     struct err *err) {
    struct json_reader r;
    struct str key;
    json_reader_init(&r, text, arena, document);
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("step")))
                ret->step = step_decode(&r);
        }
    return json_finish(&r, err);
}

int line_question_read(struct str text, struct arena *arena, struct line_question *ret,
                       struct err *err) {
    bool has_step;
    *ret = (struct line_question){.text = text, .id = STR("null")};
    int r = read_frame(text, arena, ret, &has_step, err);
    if (r == 0 && !has_step)
        return err_set(err, -EINVAL, "%s: step is required", document);
    return r == 0 ? read_step(text, arena, ret, err) : r;
}

/* ---- answering ---- */

static void begin_answer(const struct line_question *q, struct json_writer *w) {
    json_begin_object(w);
    json_key(w, STR("id"));
    json_put_raw(w, q->id);
}

static void end_refused(struct json_writer *w, const struct err *err) {
    json_key(w, STR("error"));
    json_put_text(w, str_of(err->text));
    json_put_member(w, STR("errorKind"), STR("Input"));
    json_end_object(w);
}

/* Ends the answer for a quantity that cannot be read: the error is the answer. */
static void end_unreadable(struct json_writer *w, const struct err *err) {
    json_key(w, STR("error"));
    json_put_text(w, str_of(err->text));
    json_end_object(w);
}

void line_question_refuse(const struct line_question *q, const struct err *err,
                          struct strbuf *out) {
    struct json_writer w = {.out = out};
    begin_answer(q, &w);
    end_refused(&w, err);
}

/* Adds a warning for each option that stands beside `options`, where it has no effect. */
static void put_warnings(const struct line_question *q, struct arena *arena,
                         struct json_writer *w) {
    struct json_reader r;
    struct str key;
    uint32_t seen = 0;
    if (!q->step->has_options)
        return;
    json_reader_init(&r, q->text, arena, document);
    if (json_object(&r))
        while (json_member(&r, &key)) {
            char text[160];
            const int number = karmada_option_number(key);
            (void)json_skip(&r);
            if (number < 0 || (seen & 1U << number) != 0)
                continue;
            if (seen == 0) {
                json_key(w, STR("warnings"));
                json_begin_array(w);
            }
            seen |= 1U << number;
            (void)snprintf(text, sizeof text,
                           "%s.%.*s has no effect: it is an option, so write it into %s.options",
                           document, STR_ARG(key), document); /* fits */
            json_put_text(w, str_of(text));
        }
    if (seen != 0)
        json_end_array(w);
}

bool line_question_answer(const struct line_question *q, struct arena *arena, struct strbuf *out) {
    struct json_writer w = {.out = out};
    struct json_reader r;
    struct err err;
    json_reader_init(&r, q->text, arena, document);
    begin_answer(q, &w);
    const int e = q->step->run(&r, &w, &err);
    if (e == 0) {
        put_warnings(q, arena, &w);
        json_end_object(&w);
    } else if (e == -EDOM)
        end_unreadable(&w, &err);
    else
        end_refused(&w, &err);
    return e == 0 || e == -EDOM;
}

bool line_answer(struct str text, struct arena *arena, struct strbuf *out) {
    struct line_question q;
    struct err err;
    if (line_question_read(text, arena, &q, &err) == 0)
        return line_question_answer(&q, arena, out);
    line_question_refuse(&q, &err, out);
    return false;
}
