#include "cli/questions.h"

#include "base/json_writer.h"
#include "base/limits.h"
#include "base/table.h"

#include <errno.h>

/* ---- answers ---- */

static int check_answers(const struct questions *q) {
    return strbuf_failed(&q->answers) ? answer_fail(q->command, "no memory for the answers") : 0;
}

/* Returns the name of the question's object; "" without a file. */
static struct str subject_of(const struct questions *q, struct arena *arena) {
    return q->document != NULL ? document_name(q->document, arena) : STR("");
}

/* Appends the object with one more member, "subject". */
static void append_json(struct questions *q, struct str json) {
    CLEANUP(arena_done) struct arena arena;
    struct json_writer w = {.out = &q->answers};
    const bool is_empty = str_eq(json, STR("{}"));
    arena_init(&arena, LIMIT_REQUEST_ARENA);
    strbuf_append_str(&q->answers, q->answers.n == 0 ? STR("{\"answers\":[") : STR(","));
    json_begin_object(&w);
    json_put_member(&w, STR("subject"), subject_of(q, &arena));
    strbuf_append_str(&q->answers, is_empty ? STR("") : STR(","));
    strbuf_append_str(&q->answers, (struct str){json.p + 1, json.n - 1});
}

static void append_heading(struct questions *q) {
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, LIMIT_REQUEST_ARENA);
    strbuf_append_str(&q->answers, q->answers.n == 0 ? STR("") : STR("\n"));
    table_text(subject_of(q, &arena), &q->answers);
    strbuf_append_str(&q->answers, STR(":\n"));
}

int questions_put_text(struct questions *q, const struct strbuf *text) {
    if (q->count == 1)
        return answer_put_out(q->command, text);
    append_heading(q);
    strbuf_append_str(&q->answers, strbuf_str(text));
    return strbuf_failed(text) ? answer_fail(q->command, "no memory for the answer")
                               : check_answers(q);
}

int questions_put(struct questions *q, struct strbuf *json, answer_print_fn *print,
                  const char *note) {
    struct err err;
    if (q->count == 1)
        return answer_write(q->command, json, q->json ? NULL : print, NULL, note);
    if (strbuf_failed(json))
        return answer_fail(q->command, "no memory for the answer");
    if (q->json) {
        append_json(q, strbuf_str(json));
    } else {
        append_heading(q);
        if (answer_print(strbuf_str(json), print, NULL, &q->answers, &err) != 0)
            return answer_fail(q->command, err.text);
        strbuf_append_str(&q->answers, str_of(note));
    }
    return check_answers(q);
}

/* ---- questions ---- */

/* Answers a question with its own memory and its own budget of steps. */
static int answer_one(struct questions *q, const struct document *d, question_fn *answer,
                      void *ctx) {
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, LIMIT_REQUEST_ARENA);
    q->document = d;
    return answer(q, ctx, &arena);
}

static int read_documents(const struct questions *q, struct arena *arena, struct documents *ret,
                          struct err *err) {
    int r = documents_read(q->path, q->kind, arena, ret, err);
    if (r == 0 && q->name != NULL)
        r = documents_choose(ret, q->name, arena, err);
    if (r == 0 && ret->count > LIMIT_QUESTIONS)
        r = err_set(err, -E2BIG,
                    "%s '%s': %u objects, and at most %d are answered; pick some with "
                    "--name",
                    q->kind->what, q->path, ret->count, LIMIT_QUESTIONS);
    return r;
}

static int answer_all(struct questions *q, const struct documents *d, question_fn *answer,
                      void *ctx) {
    int worst = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        const int status = answer_one(q, &d->items[i], answer, ctx);
        if (status == 1 || status == 2)
            return status;
        worst = status > worst ? status : worst;
    }
    if (q->count == 1)
        return worst;
    strbuf_append_str(&q->answers, q->json ? STR("]}\n") : STR(""));
    const int printed = answer_put_out(q->command, &q->answers);
    return printed != 0 ? printed : worst;
}

int questions_answer(struct questions *q, question_fn *answer, void *ctx) {
    CLEANUP(arena_done) struct arena arena;
    struct documents documents;
    struct err err;
    q->count = 1;
    q->answers = (struct strbuf){.max = LIMIT_ANSWER_BYTES};
    arena_init(&arena, LIMIT_REQUEST_ARENA);
    if (q->path == NULL)
        return answer_one(q, NULL, answer, ctx);
    if (read_documents(q, &arena, &documents, &err) != 0)
        return answer_fail(q->command, err.text);
    q->count = documents.count;
    const int status = answer_all(q, &documents, answer, ctx);
    strbuf_done(&q->answers);
    return status;
}
