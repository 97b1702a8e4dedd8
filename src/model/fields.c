#include "model/fields.h"

#include "base/suggest.h"
#include "base/timestamp.h"

#include <errno.h>

static void refuse(struct json_reader *r, struct str word, const char *const *words,
                   uint32_t count) {
    struct suggestion near = suggestion_for(word);
    struct strbuf list = {.max = 200}; /* a longer list is cut */
    for (uint32_t i = 0; i < count && words[i][0] != '\0'; i++) {
        suggestion_offer(&near, words[i]);
        strbuf_appendf(&list, "%s%s", i > 0 ? ", " : "", words[i]);
    }
    if (near.best != NULL)
        json_fail(r, "'%.*s': did you mean '%s'?", STR_ARG(word), near.best);
    else
        json_fail(r, "'%.*s' is not one of %.*s", STR_ARG(word), STR_ARG(strbuf_str(&list)));
    strbuf_done(&list);
}

uint32_t word_decode(struct json_reader *r, const char *const *words, uint32_t count,
                     uint32_t absent) {
    if (json_null(r))
        return absent;
    const struct str word = json_string(r);
    for (uint32_t i = 0; i < count; i++)
        if (str_eq(word, str_of(words[i])))
            return i;
    if (!json_failed(r))
        refuse(r, word, words, count);
    return absent;
}

bool time_decode(struct json_reader *r, int64_t *ret_ms) {
    if (json_null(r))
        return false;
    const struct str text = json_string(r);
    if (json_failed(r))
        return false;
    if (!timestamp_parse(text, ret_ms))
        json_fail(r, "'%.*s' is not a time such as 2026-01-02T03:04:05Z", STR_ARG(text));
    return !json_failed(r);
}

struct quantity amount_decode(struct json_reader *r, struct str *ret_text) {
    const bool failed = json_failed(r);
    const enum json_kind kind = json_peek(r);
    const struct quantity amount = quantity_decode(r, ret_text);
    if (!failed && json_failed(r) && (kind == JSON_STRING || kind == JSON_NUMBER))
        r->error.code = -EDOM;
    return amount;
}
