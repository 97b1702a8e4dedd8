#include "admission/pods/annotate.h"

#include "base/json_writer.h"
#include "model/names.h"

#include <errno.h>

static const struct str annotation = {EXPLAINED_ANNOTATION, sizeof EXPLAINED_ANNOTATION - 1};

enum { SHOWN = 1024 }; /* bytes of the line, at most */

/* upstream: apimachinery pkg/api/validation TotalAnnotationSizeLimitB: keys and values together. */
static bool has_room(const struct labels *annotations, size_t more) {
    enum { TOTAL = 256 << 10 };
    size_t total = annotation.n + more;
    for (uint32_t i = 0; i < annotations->count; i++)
        total += annotations->items[i].key.n + annotations->items[i].value.n;
    return total <= TOTAL;
}

/* Writes "policy: web; spread: added: zone", or the beginning of it. */
static void write_line(const struct review_answer *answer, struct strbuf *out) {
    for (uint32_t i = 0; i < answer->annotation_count; i++) {
        const struct label *note = &answer->annotations[i];
        if (str_eq(note->key, str_of(pod_plugin_audit.name)))
            continue; /* mode Audit leaves no trace in the pod */
        strbuf_append_str(out, out->n > 0 ? STR("; ") : STR(""));
        strbuf_append_str(out, note->key);
        strbuf_append_str(out, STR(": "));
        strbuf_append_str(out, note->value);
    }
    if (out->n > SHOWN)
        for (out->n = SHOWN; out->n > 0 && ((unsigned char)out->p[out->n] & 0xc0) == 0x80;)
            out->n--;
}

int annotate_pod(const struct admission_question *question, const struct review_answer *answer,
                 struct patch *patch, struct err *err) {
    const struct str path[] = {STR("metadata"), STR("annotations"), annotation};
    const struct patch_mark before = patch_mark(patch);
    struct strbuf line = {0}, text = {0};
    struct json_writer w = {.out = &text};
    write_line(answer, &line);
    json_put_text(&w, strbuf_str(&line));
    struct str value = arena_str(question->arena, strbuf_str(&text));
    bool failed = strbuf_failed(&line) || strbuf_failed(&text) || arena_failed(question->arena);
    int r = failed ? err_set(err, -ENOMEM, "no memory for the annotation") : 0;
    if (r == 0 && has_room(&pod_question(question)->details.annotations, line.n))
        r = patch_add(patch, path, 3, value, err);
    if (r != 0)
        patch_rewind(patch, before);
    strbuf_done(&line);
    strbuf_done(&text);
    return r == -ENOMEM ? r : 0;
}
