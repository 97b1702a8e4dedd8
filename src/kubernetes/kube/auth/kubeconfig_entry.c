#include "base/base64.h"
#include "kube/auth/kubeconfig.h"

int kubeconfig_complain(const struct kubeconfig_file *file, const struct json_reader *r,
                        struct err *err) {
    struct err found = {0};
    char *byte = NULL;
    int code = json_check(r, &found);
    uint32_t line = yaml_line_of(&file->doc, (size_t)(r->p - file->doc.text.p));
    if (code == 0)
        return 0;
    for (char *p = found.text; (p = strstr(p, ", at byte ")) != NULL; p++)
        byte = p;
    if (line == 0 || byte == NULL)
        return err_set(err, code, "kubeconfig '%s': %s", file->path, found.text);
    *byte = '\0';
    return err_set(err, code, "kubeconfig '%s', line %u: %s", file->path, line, found.text);
}

void entry_reader_init(struct entry_reader *e, const struct kubeconfig_entry *entry,
                       const char *what, struct arena *scratch, struct arena *arena) {
    struct str nothing = {entry->file->doc.text.p, 0};
    json_reader_init(&e->r, entry->json.n > 0 ? entry->json : nothing, scratch, what);
    e->file = entry->file;
    e->arena = arena;
}

bool entry_begin(struct entry_reader *e) {
    return e->r.begin != e->r.end && json_object(&e->r);
}

int entry_check(const struct entry_reader *e, struct err *err) {
    return kubeconfig_complain(e->file, &e->r, err);
}

const char *entry_text(struct entry_reader *e) {
    struct str s = json_string(&e->r);
    if (s.n == 0)
        return NULL;
    if (str_find(s, '\0') != SIZE_MAX) {
        json_fail(&e->r, "there is a NUL in it");
        return NULL;
    }
    return arena_cstr(e->arena, s);
}

const char *entry_path(struct entry_reader *e) {
    const char *path = entry_text(e);
    const char *slash = strrchr(e->file->path, '/');
    if (path == NULL || path[0] == '/')
        return path;
    CLEANUP(strbuf_done) struct strbuf joined = {.max = 1 << 16};
    strbuf_appendf(&joined, "%.*s/%s", slash != NULL ? (int)(slash - e->file->path) : 1,
                   slash != NULL ? e->file->path : ".", path);
    if (strbuf_failed(&joined))
        json_fail(&e->r, "it is too long for a path");
    return arena_cstr(e->arena, strbuf_str(&joined));
}

struct str entry_data(struct entry_reader *e) {
    struct str data = {0}, text = json_string(&e->r);
    if (text.n > 0 && !base64_decode(text, e->arena, &data))
        json_fail(&e->r, "it is not base64");
    return data;
}
