#include "base/file.h"

#include "base/limits.h"
#include "base/mutex.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* file_give() writes these once, before there are threads. */
static const struct given_file *given_files;
static size_t given_count;

void file_give(const struct given_file *files, size_t count) {
    given_files = files;
    given_count = count;
}

static const struct given_file *find_given(const char *path) {
    for (size_t i = 0; i < given_count; i++)
        if (strcmp(given_files[i].path, path) == 0)
            return &given_files[i];
    return NULL;
}

bool file_is_given(const char *path) {
    return find_given(path) != NULL;
}

static int copy_given(const struct given_file *file, size_t max, struct strbuf *out,
                      struct err *err) {
    if (file->bytes.n > max)
        return err_set(err, -EFBIG, "cannot read '%s': larger than %zu bytes", file->path, max);
    strbuf_append_str(out, file->bytes);
    return strbuf_failed(out) ? err_set(err, -ENOMEM, "cannot read '%s': no memory for %zu bytes",
                                        file->path, file->bytes.n)
                              : 0;
}

static void close_fd(int *fd) {
    if (*fd >= 0)
        (void)close(*fd); /* a failure loses nothing: the file was read, or is already synced */
}

/*
 * The state of a large cluster is hundreds of MB, and a page fault takes as long as copying the
 * page. So we ask for many pages at a time, but only for so many that they are still in the core's
 * cache when we fill them. Huge pages would save more if the kernel has free ones. But a virtual
 * machine that returns free pages to its host waits for each huge page, and takes three to eight
 * times as long.
 */
enum { WINDOW = 256 << 10 };

static void fault_in(char *from, size_t n) {
    enum { PAGE = 4096 }; /* if pages are larger, madvise() fails, and pages come one by one */
    char *aligned = from + (-(uintptr_t)from & (PAGE - 1));
    if (n >= WINDOW)
        (void)madvise(aligned, (n - PAGE) & ~(size_t)(PAGE - 1), MADV_POPULATE_WRITE);
}

static int pipe_patience_ms = LIMIT_PIPE_MS;

void file_set_pipe_patience(int ms) {
    pipe_patience_ms = ms;
}

/* Opening a pipe without a writer would block until one comes, and signals would wait. So the open
 * does not block, and a pipe without a writer counts as empty. Reading stops with an error if the
 * writer sends nothing for some time. */
static int read_into(const char *path, size_t max, struct strbuf *out, struct err *err) {
    CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot open '%s'", path);
    struct stat st;
    if (fstat(fd, &st) != 0)
        return err_set_errno(err, errno, "cannot look at '%s'", path);
    if (S_ISDIR(st.st_mode))
        return err_set(err, -EISDIR, "cannot read '%s': it is a folder", path);
    size_t had = out->n;
    size_t expected = st.st_size > 0 && (uint64_t)st.st_size < max ? (size_t)st.st_size + 1 : 0;
    for (;;) {
        size_t done = out->n - had, left = max - done;
        size_t step = done < expected ? expected - done : 1 << 16;
        size_t room = (step < left ? step : left) + 1, window = room < WINDOW ? room : WINDOW;
        char *to = strbuf_reserve(out, room);
        if (to == NULL)
            return err_set(err, -ENOMEM, "cannot read '%s': no memory for %zu bytes", path, step);
        fault_in(to, window);
        ssize_t n = read(fd, to, window);
        if (n < 0 && errno == EAGAIN) { /* a pipe whose writer has written nothing yet */
            if (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, pipe_patience_ms) == 0)
                return err_set(err, -ETIMEDOUT,
                               "cannot read '%s': it is a pipe, and its writer has written nothing "
                               "for %d s",
                               path, pipe_patience_ms / 1000);
            continue;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set_errno(err, errno, "cannot read '%s'", path);
        if (n == 0 && done == 0 && S_ISFIFO(st.st_mode))
            return err_set(err, -ENODATA, "cannot read '%s': it is a pipe, and nobody writes to it",
                           path);
        if (n == 0)
            return 0;
        if ((size_t)n > left)
            return err_set(err, -EFBIG, "cannot read '%s': larger than %zu bytes", path, max);
        out->n += (size_t)n;
    }
}

/* ---- pipes of a command line ---- */

/* A shell's `<(...)` is a pipe with a name such as /dev/fd/63: it can be read once, so its bytes
 * are kept. A pipe in a folder may have another writer next time, and is not kept. */
struct kept_pipe {
    struct given_file file;
    struct kept_pipe *next;
};
static struct kept_pipe *kept_pipes; /* never freed */
static struct mutex kept_lock = MUTEX_INITIALIZER;

static bool is_one_shot(const char *path) {
    static const char *const names[] = {"/dev/fd/", "/proc/self/fd/", "/dev/stdin"};
    struct stat st;
    bool is_of_shell = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        is_of_shell = is_of_shell || strncmp(path, names[i], strlen(names[i])) == 0;
    return is_of_shell && stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

static void keep_pipe(const char *path, struct str bytes) {
    struct kept_pipe *kept = calloc(1, sizeof *kept);
    char *name = kept != NULL ? str_dup(str_of(path)) : NULL;
    char *copy = name != NULL ? str_dup(bytes) : NULL;
    if (copy == NULL) { /* the next call reports an empty pipe */
        free(name);
        free(kept);
        return;
    }
    *kept = (struct kept_pipe){{name, {copy, bytes.n}}, kept_pipes};
    kept_pipes = kept;
}

/* Reads a pipe, or returns the bytes that an earlier call has read from it. */
static int read_once(const char *path, size_t max, struct strbuf *out, struct err *err) {
    const size_t had = out->n;
    const struct kept_pipe *kept;
    int r;
    mutex_lock(&kept_lock);
    for (kept = kept_pipes; kept != NULL && strcmp(kept->file.path, path) != 0;)
        kept = kept->next;
    if (kept != NULL) {
        r = copy_given(&kept->file, max, out, err);
    } else {
        r = read_into(path, max, out, err);
        if (r == 0 && out->n - had <= LIMIT_KEPT_PIPE_BYTES)
            keep_pipe(path, (struct str){out->p + had, out->n - had});
    }
    mutex_unlock(&kept_lock);
    return r;
}

int file_read(const char *path, size_t max, struct strbuf *out, struct err *err) {
    size_t had = out->n;
    const struct given_file *given = find_given(path);
    int r = given != NULL       ? copy_given(given, max, out, err)
            : is_one_shot(path) ? read_once(path, max, out, err)
                                : read_into(path, max, out, err);
    if (r != 0)
        out->n = had;
    return r;
}

static int write_all(int fd, struct str bytes) {
    while (bytes.n > 0) {
        ssize_t n = write(fd, bytes.p, bytes.n);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0)
            bytes = (struct str){bytes.p + n, bytes.n - (size_t)n};
    }
    return 0;
}

int file_write_atomic(const char *path, struct str bytes, mode_t mode, struct err *err) {
    char temporary[4096];
    int n = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    if (n < 0 || (size_t)n >= sizeof temporary)
        return err_set(err, -ENAMETOOLONG, "cannot write '%s': path too long", path);
    CLEANUP(close_fd) int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot create a file beside '%s'", path);
    int r = write_all(fd, bytes);
    if (r == 0 && (fchmod(fd, mode) != 0 || fsync(fd) != 0 || rename(temporary, path) != 0))
        r = -errno;
    if (r != 0) {
        (void)unlink(temporary); /* best effort: the error to report is r */
        return err_set_errno(err, -r, "cannot write '%s'", path);
    }
    return 0;
}

struct file_signature file_sign(const char *path) {
    struct stat st;
    const struct given_file *given = find_given(path);
    if (given != NULL)
        return (struct file_signature){.inode = 1, .size = given->bytes.n};
    if (stat(path, &st) != 0)
        return (struct file_signature){0};
    return (struct file_signature){
        .device = st.st_dev,
        .inode = st.st_ino,
        .size = (uint64_t)st.st_size,
        .mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
        .ctime_ns = (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec,
    };
}

bool file_signature_eq(const struct file_signature *a, const struct file_signature *b) {
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
}
