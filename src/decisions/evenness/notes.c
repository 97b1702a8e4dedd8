/*
 * Writes the notes of a report, one for each tag, which stands for a policy: the number of
 * workloads that are uneven by one of its keys, and the worst of them. Makes one pass over the
 * workloads of each key, from the worst on.
 */
#include "evenness/latest.h"

#include "base/json_writer.h"

#include <errno.h>
#include <stdlib.h>

struct tally {
    uint32_t uneven, named;
    uint32_t worst[EVENNESS_WORST];
};

/* A workload that is uneven by several keys counts once, for the first of these keys. */
static bool is_first(const struct evenness_report *r, const struct evenness_tag *tag, uint32_t key,
                     uint32_t number) {
    for (uint32_t k = 0; k < key; k++)
        if ((tag->keys >> k & 1) != 0 && r->keys[k].results[number].state == EVENNESS_UNEVEN)
            return false;
    return true;
}

static void count(const struct evenness_report *r, const struct evenness_tag *tags,
                  uint32_t tag_count, struct tally *tallies) {
    for (uint32_t k = 0; k < r->key_count; k++)
        for (uint32_t i = 0; i < r->workload_count; i++) {
            uint32_t number = r->keys[k].worst[i], tag = r->workloads[number].tag;
            if (r->keys[k].results[number].state != EVENNESS_UNEVEN)
                break; /* the worst are first */
            if (tag >= tag_count || (tags[tag].keys >> k & 1) == 0 ||
                !is_first(r, &tags[tag], k, number))
                continue;
            struct tally *t = &tallies[tag];
            t->uneven++;
            if (t->named < EVENNESS_WORST)
                t->worst[t->named++] = number;
        }
}

static struct str text_of(const struct evenness_report *r, const struct tally *t) {
    CLEANUP(strbuf_done) struct strbuf out = {0}, name = {0};
    struct json_writer w = {.out = &out};
    json_begin_object(&w);
    json_key(&w, STR("workloads"));
    json_put_integer(&w, t->uneven);
    json_key(&w, STR("worst"));
    json_begin_array(&w);
    for (uint32_t i = 0; i < t->named; i++) {
        const struct evenness_workload *workload = &r->workloads[t->worst[i]];
        strbuf_clear(&name);
        strbuf_append_str(&name, workload->namespace);
        strbuf_append_char(&name, '/');
        strbuf_append_str(&name, workload->name);
        json_put_string(&w, strbuf_str(&name));
    }
    json_end_array(&w);
    json_end_object(&w);
    r->arena->failed |= strbuf_failed(&out) || strbuf_failed(&name);
    return arena_str(r->arena, strbuf_str(&out));
}

static int by_name(const void *a, const void *b) {
    const struct evenness_note *x = a, *y = b;
    return str_cmp(x->about, y->about);
}

int evenness_report_note(struct evenness_report *r, const struct evenness_tag *tags,
                         uint32_t tag_count) {
    struct tally *tallies = calloc(tag_count + 1, sizeof *tallies);
    r->notes = arena_array(r->arena, tag_count, sizeof *r->notes);
    if (tallies == NULL || r->notes == NULL) {
        free(tallies);
        return -ENOMEM;
    }
    count(r, tags, tag_count, tallies);
    for (uint32_t i = 0; i < tag_count; i++)
        if (tags[i].keys != 0)
            r->notes[r->note_count++] =
                (struct evenness_note){arena_str(r->arena, tags[i].about), text_of(r, &tallies[i])};
    free(tallies);
    if (r->note_count > 1)
        qsort(r->notes, r->note_count, sizeof *r->notes, by_name);
    return arena_failed(r->arena) ? -ENOMEM : 0;
}
