/*
 * Two documents, a line each: the difference is refused, and then nothing has changed, or it is a
 * patch that leaves no difference, in a document that can be read.
 */
#include "admission/patch_diff.h"
#include "base/json_reader.h"
#include "fuzz/fuzz.h"

static bool readable(struct str text, struct arena *arena) {
    struct json_reader r;
    json_reader_init(&r, text, arena, "document");
    (void)json_skip(&r); /* json_finish() says whether it could be read */
    return json_finish(&r, NULL) == 0;
}

static void check(struct str before, struct str after, struct arena *arena) {
    struct patch p;
    struct strbuf out = {0};
    struct json_writer w = {.out = &out};
    patch_init(&p, before, arena);
    if (patch_diff(&p, after, NULL) != 0) {
        require(p.count == 0 && p.document.p == before.p);
        return;
    }
    uint32_t count = p.count;
    require(readable(p.document, arena));
    require(patch_diff(&p, after, NULL) == 0 && p.count == count);
    patch_write(&p, &w);
    require(readable(strbuf_str(&out), arena));
    strbuf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    struct arena arena;
    struct str text = {(const char *)bytes, n};
    size_t line = str_find(text, '\n');
    if (line == SIZE_MAX || n > 1 << 16)
        return 0;
    arena_init(&arena, 256u << 20);
    if (readable((struct str){text.p, line}, &arena))
        check((struct str){text.p, line}, (struct str){text.p + line + 1, n - line - 1}, &arena);
    arena_done(&arena);
    return 0;
}
