#include "cli/admission_print.h"

#include "base/json_writer.h"
#include "base/table.h"
#include "cli/answer.h"
#include "cli/simulate.h"
#include "cli/terminal.h"

/* Puts "policy" and "notes": [{plugin, note}], in the form of an explanation. */
static void put_annotations(const struct review_answer *answer, struct json_writer *w) {
    const struct label *notes = answer->annotations;
    for (uint32_t i = 0; i < answer->annotation_count; i++)
        if (str_eq(notes[i].key, STR("policy")))
            json_put_member(w, STR("policy"), notes[i].value);
    json_key(w, STR("notes"));
    json_begin_array(w);
    for (uint32_t i = 0; i < answer->annotation_count; i++) {
        if (str_eq(notes[i].key, STR("policy")))
            continue;
        json_begin_object(w);
        json_put_member(w, STR("plugin"), notes[i].key);
        json_key(w, STR("note"));
        json_put_text(w, notes[i].value);
        json_end_object(w);
    }
    json_end_array(w);
}

static void print_json(const struct admission_simulation *t, struct strbuf *out) {
    struct json_writer w = {.out = out};
    json_begin_object(&w);
    json_key(&w, STR("allowed"));
    json_put_bool(&w, t->answer.allowed);
    json_key(&w, STR("code"));
    json_put_integer(&w, t->answer.code);
    json_put_member(&w, STR("message"), t->answer.message);
    put_annotations(&t->answer, &w);
    json_key(&w, STR("warnings"));
    json_begin_array(&w);
    for (uint32_t i = 0; i < t->answer.warning_count; i++)
        json_put_text(&w, t->answer.warnings[i]);
    json_end_array(&w);
    json_key(&w, STR("patch"));
    patch_write(&t->patch, &w);
    json_key(&w, t->kind == &admitted_pods ? STR("pod") : STR("placement"));
    json_put_raw(&w, t->patch.document);
    json_end_object(&w);
}

static void row(struct table *t, struct str what, struct str answer) {
    table_cell(t, what);
    table_cell(t, answer);
}

static void print_table(const struct admission_simulation *t, struct arena *arena,
                        struct strbuf *out) {
    static const char *const headings[] = {"WHAT", "ANSWER"};
    static const struct str results[] = {
        [ADMISSION_UNCHANGED] = {"unchanged", 9},
        [ADMISSION_PATCHED] = {"patched", 7},
        [ADMISSION_DENIED] = {"refused", 7},
        [ADMISSION_FAILED] = {"unchanged, with a warning", 25},
    };
    struct table table;
    terminal_table_init(&table, headings, sizeof headings / sizeof headings[0], arena);
    bool partly = t->result == ADMISSION_FAILED && t->patch.count > 0;
    row(&table, t->kind == &admitted_pods ? STR("the pod is") : STR("the Placement is"),
        partly ? STR("patched, with a warning") : results[t->result]);
    if (!t->answer.allowed)
        row(&table, STR("message"), t->answer.message);
    for (uint32_t i = 0; i < t->answer.annotation_count; i++)
        row(&table, t->answer.annotations[i].key, t->answer.annotations[i].value);
    for (uint32_t i = 0; i < t->answer.warning_count; i++)
        row(&table, STR("warning"), t->answer.warnings[i]);
    for (uint32_t i = 0; i < t->patch.count; i++)
        row(&table, t->patch.operations[i].path, t->patch.operations[i].value);
    (void)table_render(&table, out); /* an error stays in the arena or in `out` */
}

int admission_simulation_print(const struct admission_simulation *t, struct questions *q,
                               struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    if (q->json) {
        print_json(t, &out);
        findings_put(t->findings, &out);
        return questions_put(q, &out, NULL, "");
    }
    print_table(t, arena, &out);
    for (uint32_t i = 0; i < t->findings->count; i++) {
        strbuf_append_str(&out, STR("note: "));
        finding_say(&t->findings->items[i], &out);
        strbuf_append_char(&out, '\n');
    }
    return arena_failed(arena) ? simulate_fail("no memory for the answer")
                               : questions_put_text(q, &out);
}
