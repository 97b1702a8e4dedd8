#include "state/file_source.h"

#include "base/clock.h"
#include "state/files.h"
#include "yaml/manifests.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

struct file_source {
    char **paths; /* owned */
    size_t path_count;
    const struct file_target *target; /* borrowed; NULL: none */
    struct file_follower *followers;  /* borrowed */
    uint64_t seen; /* fingerprint of the files at the last load; 0: the files could not be listed */
};

/* ---- life ---- */

int file_source_new(const char *const *paths, size_t count, const struct file_target *target,
                    struct file_source **ret, struct err *err) {
    struct file_source *s = calloc(1, sizeof *s);
    char **copies = calloc(count + 1, sizeof *copies);
    if (s != NULL && copies != NULL) {
        *s = (struct file_source){.paths = copies, .target = target};
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

void file_source_follow(struct file_source *s, struct file_follower *follower) {
    struct file_follower **link = &s->followers;
    while (*link != NULL)
        link = &(*link)->next;
    follower->next = NULL;
    *link = follower;
}

/* ---- the list of files ---- */

static int list_files(const struct file_source *s, struct manifests *files, struct err *err) {
    int r = manifests_list((const char *const *)s->paths, s->path_count, "state", files, err);
    if (r == 0 && files->count == 0)
        r = err_set(err, -ENOENT, "no .json, .yaml or .yml file in '%s'",
                    s->path_count > 0 ? s->paths[0] : "");
    return r;
}

bool file_source_changed(struct file_source *s) {
    CLEANUP(manifests_done) struct manifests files = {0};
    if (list_files(s, &files, NULL) != 0)
        return s->seen != 0;
    return manifests_fingerprint(&files) != s->seen;
}

/* ---- reading ---- */

struct pass {
    enum file_pass what;
    const struct file_target *target;
    const struct file_follower *followers; /* the followers of this pass; NULL: none */
    uint32_t objects;
};

static int read_object(void *ctx, struct object_type type, struct json_reader *r, struct err *err) {
    struct pass *pass = ctx;
    int failed = 0;
    (void)json_peek(r); /* skips blanks before the object */
    const char *begin = r->p;
    const enum object_kind kind = object_kind_of(type);
    if (pass->target != NULL)
        failed = pass->target->read(pass->target->ctx, pass->what, kind, r, err);
    else
        (void)json_skip(r); /* errors stay in r */
    if (json_failed(r) || arena_failed(r->arena))
        return 0; /* the walk ends with the error in r */
    const struct file_object raw = {type, {begin, (size_t)(r->p - begin)}, r->arena, r};
    for (const struct file_follower *f = pass->followers; failed == 0 && f != NULL; f = f->next)
        failed = f->take(f->ctx, &raw, err);
    pass->objects += kind != OBJECT_OTHER;
    return failed;
}

static int run_pass(const struct manifests *files, struct pass *pass, struct err *err) {
    int r = state_files_walk(files, read_object, pass, err);
    if (pass->target != NULL)
        pass->target->pass_done(pass->target->ctx);
    return r;
}

static int begin_followers(const struct file_source *s, struct err *err) {
    int r = 0;
    for (const struct file_follower *f = s->followers; r == 0 && f != NULL; f = f->next)
        r = f->begin(f->ctx, err);
    return r;
}

static int end_followers(const struct file_source *s, struct err *err) {
    int r = 0;
    for (const struct file_follower *f = s->followers; r == 0 && f != NULL; f = f->next)
        r = f->end(f->ctx, err);
    return r;
}

static void give_up(const struct file_source *s) {
    for (const struct file_follower *f = s->followers; f != NULL; f = f->next)
        f->give_up(f->ctx);
}

/* Applies all files. `followed`: this is the first pass, in which followers take part. */
static int apply_all(struct file_source *s, const struct manifests *files, bool followed,
                     struct file_source_result *result, struct err *err) {
    const struct file_target *target = s->target;
    struct pass pass = {
        .what = FILE_APPLY, .target = target, .followers = followed ? s->followers : NULL};
    if (target != NULL)
        target->begin(target->ctx);
    int r = run_pass(files, &pass, err);
    if (r == 0 && followed)
        r = end_followers(s, err);
    if (r != 0)
        return r;
    if (target != NULL)
        target->end(target->ctx);
    result->objects = pass.objects;
    return 0;
}

/* Applies files without a checking pass first: the target does not serve yet, so a bad file can do
 * no damage, and the applied objects can be taken back one by one. */
static int apply_first(struct file_source *s, const struct manifests *files,
                       struct file_source_result *result, struct err *err) {
    int r = begin_followers(s, err);
    if (r != 0)
        return r;
    r = apply_all(s, files, true, result, err);
    if (r != 0 && s->target != NULL) /* it stops where the first pass stopped, or earlier without
                                        memory */
        (void)run_pass(files, &(struct pass){.what = FILE_UNDO, .target = s->target}, NULL);
    return r;
}

static int apply_again(struct file_source *s, const struct manifests *files,
                       struct file_source_result *result, struct err *err) {
    struct pass check = {.what = FILE_CHECK, .target = s->target, .followers = s->followers};
    int r = begin_followers(s, err);
    if (r == 0)
        r = run_pass(files, &check, err);
    if (r == 0)
        r = end_followers(s, err);
    if (r != 0)
        return r;
    r = apply_all(s, files, false, result, err);
    if (r != 0) {
        s->seen = 0; /* the files are good: let the caller try again */
        (void)err_wrap(err, "applied in part");
    }
    return r;
}

static int load(struct file_source *s, struct file_source_result *result, struct err *err) {
    CLEANUP(manifests_done) struct manifests files = {0};
    s->seen = 0;
    int r = list_files(s, &files, err);
    if (r != 0)
        return r;
    /* taken before the files are read, so that the next check sees a change made meanwhile */
    s->seen = manifests_fingerprint(&files);
    result->files = (uint32_t)files.count;
    r = manifests_read(&files, LIMIT_STATE_BYTES, err);
    if (r != 0)
        return r;
    return s->target != NULL && s->target->serves(s->target->ctx)
               ? apply_again(s, &files, result, err)
               : apply_first(s, &files, result, err);
}

int file_source_load(struct file_source *s, struct file_source_result *ret, struct err *err) {
    struct file_source_result result = {0};
    int64_t start_ns = clock_now_ns();
    int r = load(s, &result, err);
    result.duration_ms = (clock_now_ns() - start_ns) / 1000000;
    if (r == 0)
        *ret = result;
    else
        give_up(s);
    (void)malloc_trim(0); /* the files' bytes are no longer needed: give the pages back */
    return r;
}
