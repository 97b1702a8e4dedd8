/*
 * A command's questions about the objects of one file: of a single object, or of several, which are
 * answered one after the other, each as if it were alone.
 */
#pragma once

#include "cli/answer.h"
#include "state/documents.h"

struct questions {
    const char *command;              /* for errors */
    const char *path;                 /* of the file; NULL: there is one question, about no file */
    const struct document_kind *kind; /* of its objects */
    const char *name;                 /* picks objects as documents_choose() does; NULL: all */
    bool json;

    /* for question_fn */
    const struct document *document; /* that the question is about; NULL without a file */
    uint32_t count;

    /* inside */
    struct strbuf answers; /* if there are several questions */
};

/* Answers the question about q->document by questions_put(). Returns the exit code of the command.
 * The arena is for this question. */
typedef int question_fn(struct questions *q, void *ctx, struct arena *arena);

/*
 * Answers all questions, at most LIMIT_QUESTIONS, and prints the answers. A single answer is
 * printed as it is. Several are {"answers":[...]}, each with its "subject", or texts with a heading
 * each. Returns the worst exit code; after a failure (1 or 2) there are no further questions, and
 * several answers are not printed.
 */
int questions_answer(struct questions *q, question_fn *answer, void *ctx);

/* Prints or keeps an answer: the JSON, or for people what `print` makes of it, and a note. Returns
 * the exit code. */
int questions_put(struct questions *q, struct strbuf *json, answer_print_fn *print,
                  const char *note);
/* The same for an answer that is a text for people already. */
int questions_put_text(struct questions *q, const struct strbuf *text);
