/*
 * Whole files, with a limit. Nothing here relies on a file's stated size: only bytes read count.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Appends the file's bytes to out, all or none. 0, -EFBIG when it holds more than max bytes,
 * -ENOMEM when out cannot take them, or the errno of open/read. A pipe is read to its end; -ENODATA
 * when nobody writes to it, -ETIMEDOUT when somebody has it open and writes nothing for
 * LIMIT_PIPE_MS. */
int file_read(const char *path, size_t max, struct strbuf *out, struct err *err) MUST_CHECK;
/* Sets the time to wait for a silent pipe, for tests. Before there are threads. */
void file_set_pipe_patience(int ms);

/*
 * Files that are not on this machine: for exactly their paths file_read() returns these bytes, and
 * file_sign() a signature. `files` is borrowed until the process ends. Call this once, before there
 * are threads.
 */
struct given_file {
    const char *path;
    struct str bytes;
};
void file_give(const struct given_file *files, size_t count);
/* Has file_give() named it? One comparison for each given file. */
bool file_is_given(const char *path);

/* Writes a temporary file beside `path` with this mode, syncs it and renames it over `path`:
 * readers see the old bytes or the new. */
int file_write_atomic(const char *path, struct str bytes, mode_t mode, struct err *err) MUST_CHECK;

/*
 * What a file looked like: when two signatures differ, its content may. Follows symbolic links, so
 * the symlink swap by which the kubelet updates mounted Secrets and ConfigMaps is seen. All zero
 * when the file does not exist.
 */
struct file_signature {
    uint64_t device, inode, size;
    int64_t mtime_ns, ctime_ns;
};
struct file_signature file_sign(const char *path);
bool file_signature_eq(const struct file_signature *a, const struct file_signature *b);
