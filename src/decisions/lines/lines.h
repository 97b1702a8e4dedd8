/*
 * Questions of one JSON object, and their answers: the steps of the scheduling of fleets, each by
 * itself, without a state, a configuration or a clock. `evenkeel simulate --lines` asks line by
 * line, and the endpoints below /clusters/v1 take the same objects as bodies.
 *
 *     {"id": 1, "step": "normalise", "value": 50.5, "min": 1, "max": 100} {"id": 1, "value": 0}
 *
 * `id` may be any JSON and comes back as it was written; null if not given. A question that cannot
 * be read or is out of range is answered {"id", "error": a sentence, "errorKind": "Input"}; the id
 * is null where the text is no JSON object. Members that a step does not know are passed over; of a
 * member that is there twice the last counts.
 *
 * A step is a row of the table in lines.c, and is answered in a file of its own.
 */
#pragma once

#include "base/json_reader.h"
#include "base/json_writer.h"

/*
 * Reads the question's members from `r`, which stands before the object, and adds the members of
 * the answer to the object that is open in `w`: either all of them, or none when it fails. What is
 * made on the way is in r's arena, and takes its steps. Errors are the question's: 0 or -errno.
 * -EDOM (see amount_decode() in model/fields.h): the question is good, but has a quantity that
 * cannot be read. It is answered {"id", "error"}, without an errorKind.
 */
typedef int line_step_fn(struct json_reader *r, struct json_writer *w, struct err *err);

struct line_step {
    const char *name;
    const char *question, *answer; /* their members, for a help text */
    line_step_fn *run;
};
extern const struct line_step line_steps[];
extern const size_t line_step_count;

/* All strings are borrowed from the text. */
struct line_question {
    struct str text;
    struct str id;                /* as written; "null" while it is not known */
    const struct line_step *step; /* NULL while it is not known */
};

/* Reads a question. After a failure `ret` has the members that could be read. 0 or -errno. */
int line_question_read(struct str text, struct arena *arena, struct line_question *ret,
                       struct err *err) MUST_CHECK;
/* Appends the answer of a question that was read, or that it is refused because of `err`. Returns
 * whether it was answered. */
bool line_question_answer(const struct line_question *q, struct arena *arena, struct strbuf *out);
void line_question_refuse(const struct line_question *q, const struct err *err, struct strbuf *out);

/* Both: appends what a text is answered, without a newline. Returns false if it is refused. */
bool line_answer(struct str text, struct arena *arena, struct strbuf *out);
