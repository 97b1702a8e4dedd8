/*
 * Reads and writes whole files, with a limit. Limits count the bytes that were read, not the size
 * that the file system reports.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Appends the file's bytes to out, all or none. Returns 0, -EFBIG if it has more than max bytes,
 * -ENOMEM if out cannot take them, or the errno of open/read. Reads a pipe to its end; returns
 * -ENODATA if the pipe has no writer, -ETIMEDOUT if its writer writes nothing for LIMIT_PIPE_MS.
 * The bytes of a shell's `<(...)` pipe are kept, at most LIMIT_KEPT_PIPE_BYTES for each pipe, so
 * that it can be read again. Any thread. */
int file_read(const char *path, size_t max, struct strbuf *out, struct err *err) MUST_CHECK;
/* For tests: sets the wait for a silent pipe. Call it before there are threads. */
void file_set_pipe_patience(int ms);

/*
 * Replaces files that are not on this machine: for exactly these paths, file_read() returns the
 * given bytes, and file_sign() returns a signature. `files` is borrowed until the process ends.
 * Call it once, before there are threads.
 */
struct given_file {
    const char *path;
    struct str bytes;
};
void file_give(const struct given_file *files, size_t count);
/* Did file_give() name this path? Costs one comparison for each given file. */
bool file_is_given(const char *path);

/* Writes a temporary file with this mode beside `path`, syncs it and renames it over `path`:
 * readers see either the old bytes or the new bytes. */
int file_write_atomic(const char *path, struct str bytes, mode_t mode, struct err *err) MUST_CHECK;

/*
 * The state of a file. If two signatures differ, the content may differ. Follows symbolic links, so
 * it sees the symlink swap by which the kubelet updates mounted Secrets and ConfigMaps. All zero if
 * the file does not exist.
 */
struct file_signature {
    uint64_t device, inode, size;
    int64_t mtime_ns, ctime_ns;
};
struct file_signature file_sign(const char *path);
bool file_signature_eq(const struct file_signature *a, const struct file_signature *b);
