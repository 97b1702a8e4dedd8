#include "admission/admit.h"

#include "base/limits.h"

#include <errno.h>
#include <stdio.h>

struct admitting {
    const struct admitted_kind *kind;
    struct admission_question *question; /* the question, in the struct of the object's kind, like
                                            the next two members */
    struct admission_question *came;     /* the object as it came */
    struct admission_question *before;   /* the object before the plugin ran */
    struct review_answer *answer;
    struct patch *patch;
    uint32_t notes, choices; /* number of annotations and other warnings not from plugins */
    bool failed, denied;
    bool lacks_memory; /* the user has been warned of the lack of memory */
};

/* ---- warnings ---- */

/* Returns a warning that needs no memory: it names the limit that was hit and the object's size. */
static struct str memory_warning(struct admitting *a) {
    const struct arena *arena = a->question->arena;
    char *text = a->answer->spare;
    size_t size = sizeof a->answer->spare;
    int n = arena->full
                ? snprintf(text, size,
                           "evenkeel: %s did not get all changes: its review, of %zu bytes, takes "
                           "more than the limit of %zu KiB of memory",
                           a->kind->object, a->question->review->object.n, arena->max >> 10)
                : snprintf(text, size, "evenkeel: out of memory; %s did not get all changes",
                           a->kind->object);
    return (struct str){text, (size_t)n < size ? (size_t)n : size - 1};
}

/* The user may not know Evenkeel, so the warning begins with its name. */
static void warn(struct admitting *a, const char *what, const struct err *err) {
    struct strbuf text = {.max = 1024};
    strbuf_appendf(&text, "evenkeel: %s: %s", what, err->text);
    struct str copy = arena_str(a->question->arena, strbuf_str(&text));
    strbuf_done(&text);
    a->failed = true;
    if (!str_empty(copy))
        review_fail(a->answer, copy);
    else if (!a->lacks_memory)
        review_fail(a->answer, memory_warning(a));
    a->lacks_memory = str_empty(copy);
}

static bool is_spent(const struct admitting *a) {
    return steps_spent(&a->question->arena->steps);
}

static void warn_unchanged(struct admitting *a, const struct err *err) {
    char text[80];
    (void)snprintf(text, sizeof text, "%s is unchanged", a->kind->object); /* the text fits */
    warn(a, text, err);
}

/* ---- plugins ---- */

/* Takes back all changes, notes and warnings of the plugins. Failures stay: they are still true. */
static void rewind_all(struct admitting *a) {
    uint32_t kept = a->answer->failure_count + a->choices;
    if (a->answer->warning_count > kept)
        a->answer->warning_count = kept;
    a->answer->annotation_count = a->notes;
    patch_rewind(a->patch, (struct patch_mark){a->question->review->object, 0, 0});
    if (a->kind->undone != NULL)
        a->kind->undone(a->question);
}

static void deny(struct admitting *a, const struct admission_outcome *outcome) {
    rewind_all(a);
    a->answer->allowed = false;
    a->answer->code = outcome->refused;
    a->answer->message = outcome->cause;
    a->denied = true;
}

/* Warns the user of requests that a plugin chose not to meet; an error is reported elsewhere. */
static void say(struct admitting *a, const struct admission_outcome *outcome) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    for (uint32_t i = 0; i < outcome->warning_count; i++) {
        strbuf_clear(&text);
        strbuf_appendf(&text, "evenkeel: %.*s", STR_ARG(outcome->warnings[i]));
        struct str copy = arena_str(a->question->arena, strbuf_str(&text));
        if (!str_empty(copy)) {
            review_warn(a->answer, copy);
            continue;
        }
        a->failed = true;
        if (!a->lacks_memory)
            review_fail(a->answer, memory_warning(a));
        a->lacks_memory = true;
    }
}

static void run_plugin(struct admitting *a, const struct admission_plugin *plugin) {
    const struct patch_mark before = patch_mark(a->patch);
    struct admission_outcome outcome = {0};
    struct err err = {0};
    memcpy(a->before, a->question, a->kind->question_size);
    int r = plugin->run(a->question, a->patch, &outcome, &err);
    if (r == 0 && outcome.refused != 0) {
        deny(a, &outcome);
        return;
    }
    if (r == 0 && a->patch->count > before.count)
        r = a->kind->decode(a->question, a->patch->document, &err);
    if (is_spent(a))
        return; /* all changes are discarded: see give_up() */
    if (r == 0) {
        review_annotate(a->answer, str_of(plugin->name), outcome.note);
        say(a, &outcome);
        return;
    }
    patch_rewind(a->patch, before);
    memcpy(a->question, a->before, a->kind->question_size);
    warn(a, plugin->name, &err);
}

/* Checks that the API server accepts the patched object, and that the object still is what the user
 * wants. If not, the object is admitted as it came. */
static void check_result(struct admitting *a) {
    struct err err = {0};
    const char *why = "";
    if (a->patch->count == 0 || is_spent(a) ||
        a->kind->check(a->question, a->came, &why, &err) == 0 || is_spent(a))
        return;
    rewind_all(a);
    warn(a, why, &err);
}

/* Runs every plugin; if there is nothing to decide, runs only plugins with settled_too. */
static void run_plugins(struct admitting *a, bool is_settled) {
    const struct admission_options *o = a->question->options;
    const struct admission_plugin *const *plugins =
        o->plugins != NULL ? o->plugins : a->kind->plugins;
    uint32_t count = o->plugins != NULL ? o->plugin_count : a->kind->plugin_count;
    for (uint32_t i = 0; i < count && !a->denied && !is_spent(a); i++)
        if (!is_settled || plugins[i]->settled_too)
            run_plugin(a, plugins[i]);
    check_result(a);
}

/* Discards all changes because the budget of steps is spent. */
static void give_up(struct admitting *a) {
    struct err err = {0};
    a->question->arena->steps.max = 0; /* writing the warning takes steps */
    a->answer->gave_up = true;
    a->answer->warning_count = a->answer->failure_count = 0;
    a->failed = true;
    rewind_all(a);
    (void)err_set(&err, -E2BIG, /* the warning's text */
                  "its review takes more than %u steps; it needs fewer labels, terms, values, "
                  "preferences, constraints or mounts",
                  LIMIT_REVIEW_STEPS);
    warn_unchanged(a, &err);
}

static void annotate(struct admitting *a) {
    struct err err = {0};
    if (is_spent(a) || !a->question->options->annotate || a->kind->annotate == NULL ||
        a->patch->count == 0 || a->kind->annotate(a->question, a->answer, a->patch, &err) == 0)
        return;
    char text[80];
    (void)snprintf(text, sizeof text, "%s lacks the annotation that tells what changed it",
                   a->kind->object); /* the text fits */
    warn(a, text, &err);
}

/* Adds warnings of mistakes in the object as it came. They are the last warnings, because the API
 * server drops warnings that are too long together. */
static void find_mistakes(struct admitting *a) {
    CLEANUP(arena_done) struct arena own;
    CLEANUP(strbuf_done) struct strbuf text = {.max = LIMIT_FINDING_BYTES * 4};
    struct review_answer *answer = a->answer;
    struct findings f;
    findings_init(&f, &own);
    own.steps.max = LIMIT_REVIEW_FINDINGS_STEPS;
    a->kind->find(a->came, &f);
    bool has_memory = !arena_failed(&own);
    for (uint32_t i = 0; i < f.count && i < LIMIT_FINDING_WARNINGS; i++) {
        strbuf_clear(&text);
        finding_say(&f.items[i], &text);
        const struct str said = str_cut(strbuf_str(&text), LIMIT_FINDING_WARNING);
        const struct str copy =
            strbuf_failed(&text) ? STR("") : arena_str(a->question->arena, said);
        if (!str_empty(copy))
            answer->mistakes[answer->mistake_count++] = copy;
        has_memory &= !str_empty(copy);
    }
    if (!has_memory && !is_spent(a) && answer->mistake_count < LIMIT_FINDING_WARNINGS)
        answer->mistakes[answer->mistake_count++] =
            STR("mistakes are left out: no memory for them");
}

static void decide(struct admitting *a) {
    struct err err = {0};
    struct str settled = {0};
    int r = a->kind->decode(a->question, a->question->review->object, &err);
    if (r == 0)
        r = a->kind->prepare(a->question, a->answer, &settled, &err);
    a->notes = a->answer->annotation_count;
    a->choices = a->answer->warning_count - a->answer->failure_count;
    if (is_spent(a))
        return;
    if (r != 0) {
        warn_unchanged(a, &err);
        return;
    }
    memcpy(a->came, a->question, a->kind->question_size);
    run_plugins(a, !str_empty(settled));
    annotate(a);
    if (a->patch->count == 0)
        review_annotate(a->answer, STR("unchanged"), settled);
    if (str_empty(settled) && a->kind->find != NULL && a->question->options->finds && !a->denied)
        find_mistakes(a);
}

/* ---- the whole ---- */

static bool is_about(const struct review *review, const struct admitted_kind *kind) {
    bool is_seen = str_eq(review->operation, STR("CREATE")) ||
                   (kind->updates && str_eq(review->operation, STR("UPDATE")));
    return is_seen && str_eq(review->group, kind->group) &&
           str_eq(review->resource, kind->resource) && str_empty(review->subresource);
}

enum admission admit_object(const struct admitted_kind *kind,
                            const struct admission_options *options, const struct review *review,
                            struct arena *arena, struct patch *patch, struct review_answer *ret) {
    struct admission_question head = {review, options, arena};
    struct admitting a = {.kind = kind,
                          .question = arena_alloc(arena, kind->question_size),
                          .came = arena_alloc(arena, kind->question_size),
                          .before = arena_alloc(arena, kind->question_size),
                          .answer = ret,
                          .patch = patch};
    *ret = (struct review_answer){.uid = review->uid, .allowed = true, .code = 200, .patch = patch};
    patch_init(patch, review->object, arena);
    if (!is_about(review, kind))
        return ADMISSION_UNCHANGED;
    if (a.before == NULL) { /* the last allocation */
        a.question = &head;
        warn_unchanged(&a, &(struct err){.text = "out of memory"});
        return ADMISSION_FAILED;
    }
    *a.question = head;
    const struct steps outer = arena->steps;
    arena->steps = (struct steps){.max = LIMIT_REVIEW_STEPS};
    decide(&a);
    if (is_spent(&a))
        give_up(&a);
    ret->steps = arena->steps.used;
    arena->steps = outer;
    if (a.denied)
        return ADMISSION_DENIED;
    if (a.failed)
        return ADMISSION_FAILED;
    return patch->count > 0 ? ADMISSION_PATCHED : ADMISSION_UNCHANGED;
}
