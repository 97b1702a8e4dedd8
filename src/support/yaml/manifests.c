#include "yaml/manifests.h"

#include "base/file.h"
#include "base/limits.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void manifests_done(struct manifests *files) {
    for (size_t i = 0; i < files->count; i++) {
        free(files->items[i].path);
        strbuf_done(&files->items[i].bytes);
        arena_done(&files->items[i].yaml);
    }
    free(files->items);
    *files = (struct manifests){0};
}

static int add_file(struct manifests *files, const char *path, struct err *err) {
    if (files->count == files->cap) {
        size_t cap = files->cap == 0 ? 8 : files->cap * 2;
        struct manifest_file *items = realloc(files->items, cap * sizeof *items);
        if (items == NULL)
            return err_set(err, -ENOMEM, "no memory for the list of %s files", files->what);
        files->items = items;
        files->cap = cap;
    }
    char *copy = strdup(path);
    if (copy == NULL)
        return err_set(err, -ENOMEM, "no memory for the list of %s files", files->what);
    files->items[files->count++] = (struct manifest_file){.path = copy};
    return 0;
}

static bool is_manifest_name(const char *name) {
    struct str s = str_of(name);
    return name[0] != '.' && (str_has_suffix(s, STR(".json")) || str_has_suffix(s, STR(".yaml")) ||
                              str_has_suffix(s, STR(".yml")));
}

static int wanted(const struct dirent *entry) {
    return is_manifest_name(entry->d_name);
}

static int add_folder(struct manifests *files, const char *folder, struct err *err) {
    struct dirent **entries;
    int n = scandir(folder, &entries, wanted, alphasort), r = 0;
    if (n < 0)
        return err_set_errno(err, errno, "cannot list '%s'", folder);
    for (int i = 0; i < n; i++) {
        char path[4096];
        int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (r == 0 && (length < 0 || (size_t)length >= sizeof path))
            r = err_set(err, -ENAMETOOLONG, "path too long in '%s'", folder);
        if (r == 0)
            r = add_file(files, path, err);
        free(entries[i]);
    }
    free(entries);
    return r;
}

int manifests_list(const char *const *paths, size_t count, const char *what, struct manifests *ret,
                   struct err *err) {
    *ret = (struct manifests){.what = what};
    for (size_t i = 0; i < count; i++) {
        struct stat st;
        bool given = file_is_given(paths[i]);
        if (!given && stat(paths[i], &st) != 0)
            return err_set_errno(err, errno, "cannot read %s '%s'", what, paths[i]);
        int r = !given && S_ISDIR(st.st_mode) ? add_folder(ret, paths[i], err)
                                              : add_file(ret, paths[i], err);
        if (r != 0)
            return r;
    }
    return 0;
}

uint64_t manifests_fingerprint(const struct manifests *files) {
    uint64_t hash = files->count;
    for (size_t i = 0; i < files->count; i++) {
        struct file_signature signature = file_sign(files->items[i].path);
        const uint64_t parts[] = {signature.device, signature.inode, signature.size,
                                  (uint64_t)signature.mtime_ns, (uint64_t)signature.ctime_ns};
        for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
            hash = (hash ^ parts[p]) * 0x9e3779b97f4a7c15u + (hash >> 29);
    }
    return hash;
}

/* Does the text look like JSON? A large JSON list should not go through the slow YAML parser, but
 * `{kind: Pod}` is YAML. */
static bool looks_like_json(struct str text) {
    text = str_trim(text);
    if (text.n > 0 && text.p[0] == '[')
        return true;
    if (text.n == 0 || text.p[0] != '{')
        return false;
    text = str_trim((struct str){text.p + 1, text.n - 1});
    return text.n > 0 && (text.p[0] == '"' || text.p[0] == '}');
}

/* Removes and returns the first document. A line that begins with three hyphens ends it, because no
 * JSON text has such a line. */
static struct str cut_document(struct str *rest) {
    static const char divider[] = "\n---";
    const char *end = memmem(rest->p, rest->n, divider, sizeof divider - 1);
    const struct str document = {rest->p, end != NULL ? (size_t)(end - rest->p) : rest->n};
    const size_t cut = document.n + (end != NULL ? sizeof divider - 1 : 0);
    *rest = (struct str){rest->p + cut, rest->n - cut};
    return document;
}

/* Finds the documents of a JSON file; finds none if the file is YAML. */
static int find_json(struct manifest_file *file, struct err *err) {
    const bool is_one = str_has_suffix(str_of(file->path), STR(".json"));
    struct str *documents = NULL, rest = strbuf_str(&file->bytes);
    uint32_t cap = 0;
    size_t count = 0;
    do {
        const struct str document = is_one ? rest : cut_document(&rest);
        if (is_one || looks_like_json(document)) {
            documents = arena_push(&file->yaml, documents, count, &cap, sizeof *documents);
            if (documents == NULL)
                return err_set(err, -ENOMEM, "no memory to read '%s'", file->path);
            documents[count++] = document;
        } else if (count == 0 || !str_empty(str_trim(document)))
            return 0;
    } while (!is_one && rest.n > 0);
    file->documents = documents;
    file->document_count = count;
    return 0;
}

/* Reads the file's documents into memory, as JSON texts; subtracts its bytes from `left`. */
static int read_file(struct manifest_file *file, const char *what, size_t *left, struct err *err) {
    arena_init(&file->yaml, 4ull * LIMIT_YAML_BYTES);
    int r = file_read(file->path, *left, &file->bytes, err);
    if (r != 0)
        return r;
    *left -= file->bytes.n;
    struct str text = strbuf_str(&file->bytes);
    r = yaml_skip_mark(&text, err);
    if (r != 0)
        return err_wrap(err, "%s file '%s'", what, file->path);
    if (text.n < file->bytes.n) {
        memmove(file->bytes.p, text.p, text.n);
        file->bytes.n = text.n;
    }
    r = find_json(file, err);
    if (r != 0 || file->document_count > 0)
        return r;
    struct yaml_json json;
    bool is_small = file->bytes.n <= LIMIT_CONFIG_BYTES; /* lines cost 8 bytes a value */
    r = yaml_to_json(strbuf_str(&file->bytes), is_small, &file->yaml, &json, err);
    if (r != 0)
        return err_wrap(err, "%s file '%s'", what, file->path);
    if (json.document_count == 0) /* a file may be empty for a moment while it is rewritten */
        return err_set(err, -EINVAL, "%s file '%s': no object in it", what, file->path);
    strbuf_done(&file->bytes);
    file->made = json;
    file->documents = json.documents;
    file->document_count = json.document_count;
    return 0;
}

int manifests_read(struct manifests *files, size_t max, struct err *err) {
    size_t left = max;
    for (size_t i = 0; i < files->count; i++) {
        int r = read_file(&files->items[i], files->what, &left, err);
        if (r != 0)
            return r;
    }
    return 0;
}

int manifests_complain(const struct manifests *files, size_t file, size_t document,
                       struct err *err) {
    const struct manifest_file *of = &files->items[file];
    if (of->made.document_count > 0)
        yaml_say_line(&of->made, of->documents[document], err);
    return of->document_count > 1
               ? err_wrap(err, "%s file '%s', document %zu", files->what, of->path, document + 1)
               : err_wrap(err, "%s file '%s'", files->what, of->path);
}
