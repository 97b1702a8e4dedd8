/*
 * Any text as YAML: what is accepted must be JSON to the program's own reader, document for
 * document; marks must be sorted and inside the text.
 */
#include "base/json_reader.h"
#include "fuzz/fuzz.h"
#include "yaml/yaml.h"

#include <errno.h>

enum { ARENA_MAX = 1 << 20 };

static void check_document(struct str json, struct arena *arena) {
    struct json_reader r;
    struct err err = {0};
    json_reader_init(&r, json, arena, "document");
    struct str value = json_skip(&r);
    int e = json_finish(&r, &err);
    require(e == 0);
    require(value.p == json.p && value.n == json.n);
}

static void check_marks(const struct yaml_json *json) {
    for (size_t i = 0; i < json->mark_count; i++) {
        require(json->marks[i].line >= 1);
        require(json->marks[i].json_offset <= json->text.n);
        require(i == 0 || json->marks[i - 1].json_offset <= json->marks[i].json_offset);
    }
    require(json->document_count == 0 ||
            yaml_line_of(json, (size_t)(json->documents[0].p - json->text.p)) >= 1);
}

static int try_input(const uint8_t *bytes, size_t n) {
    struct str text = {(const char *)bytes, n};
    struct arena arena, reading;
    struct yaml_json json = {0}, marked = {0};
    struct err err = {0};
    arena_init(&arena, ARENA_MAX);
    arena_init(&reading, (size_t)4 * ARENA_MAX);
    int r = yaml_to_json(text, false, &arena, &json, &err);
    require(r == 0 || r == -EINVAL || r == -E2BIG || r == -ENOMEM);
    require(r == err.code && (r == 0 || err.text[0] != '\0'));
    if (r == 0)
        for (size_t i = 0; i < json.document_count; i++)
            check_document(json.documents[i], &reading);
    arena_done(&arena);
    if (r == 0 && yaml_to_json(text, true, &arena, &marked, &err) == 0)
        check_marks(&marked);
    arena_done(&arena);
    arena_done(&reading);
    return 0;
}
