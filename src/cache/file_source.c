#include "cache/file_source.h"

#include "base/file.h"
#include "yaml/yaml.h"

#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 64 }; /* objects applied under one hold of the cache's lock */

struct state_file {
    char *path; /* owned */
    struct strbuf bytes;
    struct arena yaml; /* JSON made of a YAML file */
    const struct str *documents;
    size_t document_count;
};

struct state_files {
    struct state_file *items; /* owned */
    size_t count, cap;
};

struct file_source {
    char **paths; /* owned */
    size_t path_count;
    struct cache *cache;
    uint64_t seen; /* fingerprint of the files at the last load; 0: none could be listed */
};

static void state_files_done(struct state_files *files) {
    for (size_t i = 0; i < files->count; i++) {
        free(files->items[i].path);
        strbuf_done(&files->items[i].bytes);
        arena_done(&files->items[i].yaml);
    }
    free(files->items);
}

static void arena_cleanup(struct arena *arena) {
    arena_done(arena);
}

/* ---- life ---- */

int file_source_new(const char *const *paths, size_t count, struct cache *cache,
                    struct file_source **ret, struct err *err) {
    struct file_source *s = calloc(1, sizeof *s);
    char **copies = calloc(count + 1, sizeof *copies);
    if (s != NULL && copies != NULL) {
        *s = (struct file_source){.paths = copies, .cache = cache};
        while (s->path_count < count &&
               (copies[s->path_count] = strdup(paths[s->path_count])) != NULL)
            s->path_count++;
        if (s->path_count == count) {
            *ret = s;
            return 0;
        }
        file_source_free(s);
        return err_set(err, -ENOMEM, "no memory for the list of state files");
    }
    free(s);
    free(copies);
    return err_set(err, -ENOMEM, "no memory for the list of state files");
}

void file_source_free(struct file_source *s) {
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->path_count; i++)
        free(s->paths[i]);
    free(s->paths);
    free(s);
}

/* ---- which files ---- */

static int add_file(struct state_files *files, const char *path, struct err *err) {
    if (files->count == files->cap) {
        size_t cap = files->cap == 0 ? 8 : files->cap * 2;
        struct state_file *items = realloc(files->items, cap * sizeof *items);
        if (items == NULL)
            return err_set(err, -ENOMEM, "no memory for the list of state files");
        files->items = items;
        files->cap = cap;
    }
    char *copy = strdup(path);
    if (copy == NULL)
        return err_set(err, -ENOMEM, "no memory for the list of state files");
    files->items[files->count++] = (struct state_file){.path = copy};
    return 0;
}

static bool is_state_name(const char *name) {
    struct str s = str_of(name);
    return name[0] != '.' && (str_has_suffix(s, STR(".json")) || str_has_suffix(s, STR(".yaml")) ||
                              str_has_suffix(s, STR(".yml")));
}

static int wanted(const struct dirent *entry) {
    return is_state_name(entry->d_name);
}

static int add_folder(struct state_files *files, const char *folder, struct err *err) {
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

static int list_files(const struct file_source *s, struct state_files *files, struct err *err) {
    for (size_t i = 0; i < s->path_count; i++) {
        struct stat st;
        if (stat(s->paths[i], &st) != 0)
            return err_set_errno(err, errno, "cannot read state '%s'", s->paths[i]);
        int r = S_ISDIR(st.st_mode) ? add_folder(files, s->paths[i], err)
                                    : add_file(files, s->paths[i], err);
        if (r != 0)
            return r;
    }
    if (files->count == 0)
        return err_set(err, -ENOENT, "no .json, .yaml or .yml file in '%s'",
                       s->path_count > 0 ? s->paths[0] : "");
    return 0;
}

/* Changes when any file's signature does, or when files come or go. */
static uint64_t fingerprint(const struct state_files *files) {
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

bool file_source_changed(struct file_source *s) {
    CLEANUP(state_files_done) struct state_files files = {0};
    if (list_files(s, &files, NULL) != 0)
        return s->seen != 0;
    return fingerprint(&files) != s->seen;
}

/* ---- reading ---- */

static bool is_json(const struct state_file *file) {
    struct str text = str_trim(strbuf_str(&file->bytes));
    return str_has_suffix(str_of(file->path), STR(".json")) ||
           (text.n > 0 && (text.p[0] == '{' || text.p[0] == '['));
}

/* Brings the file's documents, as JSON texts, into memory; takes its bytes off `left`. */
static int read_file(struct state_file *file, size_t *left, struct err *err) {
    arena_init(&file->yaml, 4ull * LIMIT_YAML_BYTES);
    int r = file_read(file->path, *left, &file->bytes, err);
    if (r != 0)
        return r;
    *left -= file->bytes.n;
    if (is_json(file)) {
        struct str *whole = arena_alloc(&file->yaml, sizeof *whole);
        if (whole == NULL)
            return err_set(err, -ENOMEM, "no memory to read '%s'", file->path);
        *whole = strbuf_str(&file->bytes);
        file->documents = whole;
        file->document_count = 1;
        return 0;
    }
    struct yaml_json json;
    r = yaml_to_json(strbuf_str(&file->bytes), false, &file->yaml, &json, err);
    if (r != 0)
        return err_wrap(err, "state file '%s'", file->path);
    if (json.document_count == 0) /* a file that is being written anew is empty for a moment */
        return err_set(err, -EINVAL, "state file '%s': no object in it", file->path);
    strbuf_done(&file->bytes);
    file->documents = json.documents;
    file->document_count = json.document_count;
    return 0;
}

static int read_files(struct state_files *files, struct err *err) {
    size_t left = LIMIT_STATE_BYTES;
    for (size_t i = 0; i < files->count; i++) {
        int r = read_file(&files->items[i], &left, err);
        if (r != 0)
            return r;
    }
    return 0;
}

struct pass {
    enum { CHECK, APPLY, UNDO } what;
    struct cache *cache;
    uint32_t objects, in_batch;
};

static int visit(void *ctx, const struct object *object, struct err *err) {
    struct pass *pass = ctx;
    int r = 0;
    pass->objects++;
    if (pass->what == CHECK)
        return 0;
    if (pass->in_batch++ == 0)
        cache_write_begin(pass->cache);
    if (pass->what == APPLY)
        r = cache_apply(pass->cache, object);
    else
        cache_remove(pass->cache, object);
    if (r != 0)
        return err_set(err, r, "no memory for object '%.*s'", STR_ARG(object->meta.name));
    if (pass->in_batch == BATCH) {
        cache_write_end(pass->cache);
        pass->in_batch = 0;
    }
    return 0;
}

static int read_documents(const struct state_files *files, struct pass *pass, struct err *err) {
    CLEANUP(arena_cleanup) struct arena arena;
    arena_init(&arena, LIMIT_STATE_OBJECT_ARENA);
    for (size_t i = 0; i < files->count; i++)
        for (size_t d = 0; d < files->items[i].document_count; d++) {
            int r =
                objects_read(files->items[i].documents[d], POD_PLACEMENT, &arena, visit, pass, err);
            arena_reset(&arena);
            if (r != 0)
                return err_wrap(err, "state file '%s'", files->items[i].path);
        }
    return 0;
}

static int run_pass(const struct state_files *files, struct pass *pass, struct err *err) {
    int r = read_documents(files, pass, err);
    if (pass->in_batch > 0)
        cache_write_end(pass->cache); /* of the last batch */
    return r;
}

static int apply_all(struct file_source *s, const struct state_files *files,
                     struct file_source_result *result, struct err *err) {
    struct pass pass = {.what = APPLY, .cache = s->cache};
    cache_write_begin(s->cache);
    cache_sync_begin(s->cache, CACHE_ALL_KINDS);
    cache_write_end(s->cache);
    int r = run_pass(files, &pass, err);
    if (r != 0)
        return r;
    cache_write_begin(s->cache);
    cache_sync_end(s->cache, CACHE_ALL_KINDS);
    cache_write_end(s->cache);
    result->objects = pass.objects;
    return 0;
}

/* Nobody is served yet, so there is nothing that a bad file could damage: no pass to check comes
 * first, and what was applied is taken back object by object. */
static int apply_first(struct file_source *s, const struct state_files *files,
                       struct file_source_result *result, struct err *err) {
    int r = apply_all(s, files, result, err);
    if (r != 0) /* stops where applying did, or earlier when memory is still short */
        (void)run_pass(files, &(struct pass){.what = UNDO, .cache = s->cache}, NULL);
    return r;
}

static int apply_again(struct file_source *s, const struct state_files *files,
                       struct file_source_result *result, struct err *err) {
    int r = run_pass(files, &(struct pass){.what = CHECK}, err);
    if (r != 0)
        return r;
    r = apply_all(s, files, result, err);
    if (r != 0) {
        s->seen = 0; /* the files are good: try again */
        (void)err_wrap(err, "applied in part");
    }
    return r;
}

static int load(struct file_source *s, struct file_source_result *result, struct err *err) {
    CLEANUP(state_files_done) struct state_files files = {0};
    s->seen = 0;
    int r = list_files(s, &files, err);
    if (r != 0)
        return r;
    s->seen = fingerprint(&files); /* before reading: a change meanwhile is seen next time */
    result->files = (uint32_t)files.count;
    r = read_files(&files, err);
    if (r != 0)
        return r;
    return cache_ready(s->cache) ? apply_again(s, &files, result, err)
                                 : apply_first(s, &files, result, err);
}

int file_source_load(struct file_source *s, struct file_source_result *ret, struct err *err) {
    struct file_source_result result = {0};
    int64_t start_ns = clock_now_ns();
    int r = load(s, &result, err);
    result.duration_ms = (clock_now_ns() - start_ns) / 1000000;
    if (r == 0)
        *ret = result;
    (void)malloc_trim(0); /* the files' bytes are no longer needed: give the pages back */
    return r;
}
