/*
 * Answers questions that are one JSON object each: the single steps of scheduling for fleets,
 * without a state, a configuration or a clock. `evenkeel simulate --lines` asks line by line, and
 * the endpoints below /clusters/v1 take the same objects as bodies.
 *
 *     {"id": 1, "step": "normalise", "value": 50.5, "min": 1, "max": 100}
 *     {"id": 1, "value": 0}
 *
 * `id` may be any JSON and comes back as it was written; null if not given. A question that cannot
 * be read or is out of range gets the answer {"id", "error": a sentence, "errorKind": "Input"}; the
 * id is null if the text is no JSON object. Members that a step does not know are skipped; if a
 * member is repeated, the last one counts. An option outside `options` is skipped, too, and the
 * answer has a sentence about it in `warnings`.
 *
 * A step is a row of the table in lines.c, and is answered in a file of its own.
 */
#pragma once

#include "base/json_reader.h"
#include "base/json_writer.h"

/*
 * Reads the question's members from `r`, which stands before the object, and adds the members of
 * the answer to the object that is open in `w`; if it fails, it adds no member. Temporary data is
 * in r's arena, and takes its steps. Returns 0, or -errno for errors of the question. -EDOM (see
 * amount_decode() in model/fields.h): the question is good, but has a quantity that cannot be read.
 * It gets the answer {"id", "error"}, without an errorKind.
 */
typedef int line_step_fn(struct json_reader *r, struct json_writer *w, struct err *err);

struct line_step {
    const char *name;
    const char *question, *answer; /* members of the question and of the answer, for a help text */
    line_step_fn *run;
    bool has_options; /* the question may have `options` of Karmada's scheduling */
};
extern const struct line_step line_steps[];
extern const size_t line_step_count;

/* All strings are borrowed from the text. */
struct line_question {
    struct str text;
    struct str id;                /* the id as it is written; "null" while it is not known */
    const struct line_step *step; /* the step; NULL while it is not known */
};

/* Reads a question. After a failure `ret` has the members that could be read. Returns 0 or
 * -errno. */
int line_question_read(struct str text, struct arena *arena, struct line_question *ret,
                       struct err *err) MUST_CHECK;
/* Both functions append a reply to a question that was read: the answer, or the refusal because of
 * `err`. line_question_answer() returns false if it refused the question. */
bool line_question_answer(const struct line_question *q, struct arena *arena, struct strbuf *out);
void line_question_refuse(const struct line_question *q, const struct err *err, struct strbuf *out);

/* Reads a text, and appends the answer or the refusal, without a newline. Returns false if it is
 * refused. */
bool line_answer(struct str text, struct arena *arena, struct strbuf *out);
