#include "explain/admission.h"

/* Writes {first: a, second: b}, as a whole or not at all. */
static bool put_pair(struct decision *d, const struct label *keys, struct str a, struct str b) {
    struct decision_mark before = decision_mark(d);
    json_begin_object(&d->w);
    json_put_member(&d->w, keys->key, a);
    json_key(&d->w, keys->value);
    json_put_text(&d->w, b);
    json_end_object(&d->w);
    return decision_keep(d, before);
}

/* Writes the annotations of the audit log, except those that are also in other members. */
static void put_notes(struct decision *d, const struct review_answer *answer) {
    static const struct label keys = {{"plugin", 6}, {"note", 4}};
    if (!decision_begin_list(d, STR("notes")))
        return;
    for (uint32_t i = 0; i < answer->annotation_count; i++) {
        const struct label *note = &answer->annotations[i];
        if (!str_eq(note->key, STR("policy")) && !str_eq(note->key, STR("unchanged")) &&
            !put_pair(d, &keys, note->key, note->value))
            break;
    }
    json_end_array(&d->w);
}

static void put_warnings(struct decision *d, const struct review_answer *answer) {
    if (!decision_begin_list(d, STR("warnings")))
        return;
    for (uint32_t i = 0; i < answer->warning_count; i++) {
        struct decision_mark before = decision_mark(d);
        json_put_text(&d->w, decision_first_bytes(answer->warnings[i], DECISION_MESSAGE_SHOWN));
        if (!decision_keep(d, before))
            break;
    }
    json_end_array(&d->w);
}

/* Writes the operation with its whole value or, if that does not fit, with the value's length: a
 * part of a value would look like the whole value of the patch. */
static bool put_operation(struct decision *d, const struct patch_operation *o) {
    static const struct label keys = {{"path", 4}, {"value", 5}};
    struct decision_mark before = decision_mark(d);
    if (put_pair(d, &keys, o->path, o->value))
        return true;
    json_begin_object(&d->w);
    json_put_member(&d->w, keys.key, o->path);
    json_key(&d->w, STR("valueBytes"));
    json_put_integer(&d->w, (int64_t)o->value.n);
    json_end_object(&d->w);
    return decision_keep(d, before);
}

static void put_patch(struct decision *d, const struct patch *patch) {
    if (!decision_begin_list(d, STR("patch")))
        return;
    for (uint32_t i = 0; patch != NULL && i < patch->count; i++)
        if (!put_operation(d, &patch->operations[i]))
            break;
    json_end_array(&d->w);
}

static void put_dry_run(struct decision *d) {
    struct decision_mark before = decision_mark(d);
    json_key(&d->w, STR("dryRun"));
    json_put_bool(&d->w, true);
    (void)decision_keep(d, before); /* if there is no room, the member is left out */
}

void decision_put_admission(struct decision *d, const struct review *review,
                            const struct review_answer *answer) {
    if (review->dry_run)
        put_dry_run(d);
    for (uint32_t i = 0; i < answer->annotation_count; i++)
        if (str_eq(answer->annotations[i].key, STR("policy")))
            decision_put_string(d, STR("policy"), answer->annotations[i].value);
    put_notes(d, answer);
    put_warnings(d, answer);
    put_patch(d, answer->patch);
}
