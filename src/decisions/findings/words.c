#include "findings/words.h"

#include "base/suggest.h"

enum { REMEDY_BYTES = 200 };

static bool is_among(struct str word, const char *const *words) {
    for (; *words != NULL; words++)
        if (str_eq(word, str_of(*words)))
            return true;
    return false;
}

bool findings_of_word(struct str word, const char *const *words, const char *what, struct str path,
                      struct findings *f) {
    struct suggestion near = suggestion_for(word);
    CLEANUP(strbuf_done) struct strbuf remedy = {.max = REMEDY_BYTES};
    if (str_empty(word) || is_among(word, words))
        return true;
    for (uint32_t i = 0; words[i] != NULL; i++)
        if (steps_take(&f->arena->steps, SUGGESTION_STEPS))
            suggestion_offer(&near, words[i]);
    strbuf_append_str(&remedy, STR("Write "));
    for (uint32_t i = 0; near.best == NULL && words[i] != NULL; i++)
        strbuf_appendf(&remedy, "%s%s", i > 0 ? ", " : "", words[i]);
    strbuf_append_str(&remedy, near.best != NULL ? str_of(near.best) : STR(""));
    findings_add(f, FINDING_INVALID, path, strbuf_str(&remedy), "'%.*s' is no %s", STR_ARG(word),
                 what);
    return false;
}
