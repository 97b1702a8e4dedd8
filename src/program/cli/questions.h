/*
 * A command's questions about the objects of one file: about a single object, or about several
 * objects, which are answered one after the other. Each answer is independent of the others.
 */
#pragma once

#include "cli/answer.h"
#include "state/documents.h"

struct questions {
    const char *command; /* the command's name, for errors */
    const char *path;    /* path of the file; NULL: there is one question, without a file */
    const struct document_kind *kind; /* the kind of the file's objects */
    const char *name;                 /* picks objects as documents_choose() does; NULL: all */
    bool json;

    /* for question_fn */
    const struct document *document; /* the question's object; NULL without a file */
    uint32_t count;

    /* inside */
    struct strbuf answers; /* the answers so far, if there are several questions */
};

/* Answers the question about q->document by questions_put(). Returns the exit code of the command.
 * The arena is for this question. */
typedef int question_fn(struct questions *q, void *ctx, struct arena *arena);

/*
 * Answers all questions, at most LIMIT_QUESTIONS, and prints the answers. A single answer is
 * printed as it is. Several answers are printed as {"answers":[...]}, each with its "subject", or
 * as texts, each with a heading. Returns the worst exit code; after a failure (1 or 2) there are no
 * further questions, and several answers are not printed.
 */
int questions_answer(struct questions *q, question_fn *answer, void *ctx);

/* Prints or stores an answer: the JSON, or for people the text that `print` makes from the JSON,
 * and a note. Returns the exit code. */
int questions_put(struct questions *q, struct strbuf *json, answer_print_fn *print,
                  const char *note);
/* Prints or stores an answer that is a text for people already. */
int questions_put_text(struct questions *q, const struct strbuf *text);
