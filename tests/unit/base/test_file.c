#include "base/file.h"
#include "base/limits.h"

#include "unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every test works in a fresh folder, which teardown removes with everything in it. */
static char folder[64];

static const char *in_folder(const char *name) {
    static char paths[4][sizeof folder + 256];
    static int next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name); /* fits */
    return path;
}

static int make_folder(void **state) {
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/evenkeel-test-XXXXXX"); /* fits */
    return mkdtemp(folder) == NULL;
}

static int entries(bool remove_them) {
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        count++;
        if (remove_them)
            assert_int_equal(remove(in_folder(entry->d_name)), 0);
    }
    assert_int_equal(closedir(dir), 0);
    return count;
}

static int remove_folder(void **state) {
    (void)state;
    (void)entries(true); /* the count does not matter here */
    return rmdir(folder);
}

static void put(const char *name, struct str bytes) {
    struct err err = {0};
    if (file_write_atomic(in_folder(name), bytes, 0600, &err) != 0)
        fail_msg("%s", err.text);
}

static void test_write_then_read(void **state) {
    (void)state;
    struct err err = {0};
    struct strbuf out = {.max = 1000};
    put("a", STR("one\0two"));
    assert_int_equal(file_read(in_folder("a"), 100, &out, &err), 0);
    assert_true(str_eq(strbuf_str(&out), STR("one\0two")));
    /* appends */
    assert_int_equal(file_read(in_folder("a"), 7, &out, &err), 0);
    assert_true(str_eq(strbuf_str(&out), STR("one\0twoone\0two")));
    put("a", STR(""));
    strbuf_clear(&out);
    assert_int_equal(file_read(in_folder("a"), 0, &out, &err), 0);
    assert_int_equal(out.n, 0);
    strbuf_done(&out);
}

static void test_sizes_around_the_maximum(void **state) {
    (void)state;
    static char bytes[70000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)('a' + i % 26);
    static const size_t maxima[] = {1, 2, 4095, 4096, 65535, 65536, 65537};
    for (size_t i = 0; i < sizeof maxima / sizeof maxima[0]; i++)
        for (size_t n = maxima[i] - 1; n <= maxima[i] + 1; n++) {
            struct err err = {0};
            struct strbuf out = {0};
            put("a", (struct str){bytes, n});
            int r = file_read(in_folder("a"), maxima[i], &out, &err);
            if (n <= maxima[i]) {
                assert_int_equal(r, 0);
                assert_int_equal(out.n, n);
                assert_memory_equal(out.p, bytes, n);
            } else {
                assert_int_equal(r, -EFBIG);
                assert_int_equal(err.code, -EFBIG);
                assert_contains(err.text, "larger than");
                assert_int_equal(out.n, 0);
            }
            strbuf_done(&out);
        }
}

/* Files are read piece by piece. */
static void test_sizes_around_those_of_pieces(void **state) {
    static const size_t sizes[] = {262143, 262144, 262145, 524287, 524288, 3000001};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CLEANUP(strbuf_done) struct strbuf out = {0};
        struct err err = {0};
        char *bytes = malloc(sizes[i]);
        assert_non_null(bytes);
        for (size_t at = 0; at < sizes[i]; at++)
            bytes[at] = (char)(at * 31 >> 3);
        put("large", (struct str){bytes, sizes[i]});
        strbuf_append_str(&out, STR("before"));
        assert_int_equal(file_read(in_folder("large"), sizes[i] + 1, &out, &err), 0);
        assert_int_equal(out.n, sizes[i] + 6);
        assert_memory_equal(out.p, "before", 6);
        assert_memory_equal(out.p + 6, bytes, sizes[i]);
        out.n = 6;
        assert_int_equal(file_read(in_folder("large"), sizes[i] - 1, &out, &err), -EFBIG);
        assert_int_equal(out.n, 6);
        free(bytes);
    }
}

static void test_a_size_that_lies(void **state) {
    (void)state;
    struct err err = {0};
    struct strbuf out = {0};
    /* files of /proc say 0 bytes */
    assert_int_equal(file_read("/proc/self/status", 1 << 20, &out, &err), 0);
    assert_true(out.n > 100);
    strbuf_clear(&out);
    assert_int_equal(file_read("/dev/zero", 100000, &out, &err), -EFBIG);
    assert_int_equal(out.n, 0);
    strbuf_done(&out);
}

static void test_read_errors_name_the_path(void **state) {
    (void)state;
    struct err err = {0};
    struct strbuf out = {0};
    strbuf_append_str(&out, STR("kept"));
    assert_int_equal(file_read(in_folder("none"), 100, &out, &err), -ENOENT);
    assert_contains(err.text, in_folder("none"));
    assert_contains(err.text, "cannot open");
    assert_int_equal(file_read(folder, 100, &out, &err), -EISDIR);
    assert_contains(err.text, folder);
    assert_contains(err.text, "it is a folder");
    assert_int_equal(file_read(in_folder("none"), 100, &out, NULL), -ENOENT);
    put("big", STR("0123456789"));
    assert_int_equal(file_read(in_folder("big"), 5, &out, NULL), -EFBIG);
    assert_str(strbuf_str(&out), "kept");
    strbuf_done(&out);
}

static void *write_late(void *pipe) {
    const int fd = *(const int *)pipe;
    for (int i = 0; i < 1000; i++)
        (void)sched_yield(); /* so that there is nothing to read at first, as a rule */
    for (int i = 0; i < 4 && write(fd, "text", 4) == 4; i++)
        (void)sched_yield();
    (void)close(fd);
    return NULL;
}

/* One that nobody writes to is refused at once, one whose writer is silent after a while; otherwise
 * it is read to its end. */
static void test_pipes(void **state) {
    (void)state;
    struct err err = {0};
    struct strbuf out = {0};
    pthread_t thread;
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_int_equal(file_read(in_folder("pipe"), 100, &out, &err), -ENODATA);
    assert_contains(err.text, "/pipe': it is a pipe, and nobody writes to it");
    int fd = open(in_folder("pipe"), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pthread_create(&thread, NULL, write_late, &fd), 0);
    assert_int_equal(file_read(in_folder("pipe"), 100, &out, &err), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_str(strbuf_str(&out), "texttexttexttext");
    strbuf_clear(&out);
    fd = open(in_folder("pipe"), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    file_set_pipe_patience(1);
    assert_int_equal(write(fd, "text", 4), 4);
    assert_int_equal(file_read(in_folder("pipe"), 100, &out, &err), -ETIMEDOUT);
    assert_contains(err.text, "/pipe': it is a pipe, and its writer has written nothing for 0 s");
    assert_int_equal(out.n, 0);
    file_set_pipe_patience(LIMIT_PIPE_MS);
    (void)close(fd);
    strbuf_done(&out);
    assert_int_equal(unlink(in_folder("pipe")), 0);
}

/* Reads a file descriptor by its name, twice, with the same result. */
static void read_twice(int fd, const char *expected) {
    struct strbuf out = {0};
    char name[32];
    assert_true(snprintf(name, sizeof name, "/dev/fd/%d", fd) > 0);
    for (int i = 0; i < 2; i++) {
        strbuf_clear(&out);
        assert_int_equal(file_read(name, 100, &out, NULL), 0);
        assert_str(strbuf_str(&out), expected);
    }
    strbuf_done(&out);
}

/* A pipe of a shell is kept; a file with such a name is read anew. */
static void test_file_descriptors(void **state) {
    (void)state;
    struct err err = {0};
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(write(ends[1], "text", 4), 4);
    (void)close(ends[1]);
    read_twice(ends[0], "text");
    (void)close(ends[0]);
    assert_int_equal(file_write_atomic(in_folder("reread"), STR("old"), 0600, &err), 0);
    const int fd = open(in_folder("reread"), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    read_twice(fd, "old");
    assert_int_equal(pwrite(fd, "new", 3, 0), 3);
    read_twice(fd, "new");
    (void)close(fd);
    assert_int_equal(unlink(in_folder("reread")), 0);
}

static void test_a_buffer_that_is_too_small(void **state) {
    (void)state;
    struct err err = {0};
    struct strbuf out = {.max = 5};
    put("a", STR("0123456789"));
    assert_int_equal(file_read(in_folder("a"), 100, &out, &err), -ENOMEM);
    assert_int_equal(out.n, 0);
    strbuf_done(&out);
}

static void test_write_sets_mode_and_leaves_nothing_else(void **state) {
    (void)state;
    struct err err = {0};
    struct stat st;
    mode_t before = umask(077);
    assert_int_equal(file_write_atomic(in_folder("a"), STR("x"), 0644, &err), 0);
    (void)umask(before); /* cannot fail */
    assert_int_equal(stat(in_folder("a"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0644);
    assert_int_equal(file_write_atomic(in_folder("a"), STR("secret"), 0600, &err), 0);
    assert_int_equal(stat(in_folder("a"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_size, 6);
    assert_int_equal(entries(false), 1);
}

static void test_readers_keep_the_old_bytes(void **state) {
    (void)state;
    put("a", STR("old"));
    int fd = open(in_folder("a"), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    put("a", STR("newer"));
    char got[8];
    assert_int_equal(read(fd, got, sizeof got), 3);
    assert_memory_equal(got, "old", 3);
    assert_int_equal(close(fd), 0);
}

static void test_failed_writes_leave_everything_as_it_was(void **state) {
    (void)state;
    struct err err = {0};
    assert_int_equal(file_write_atomic(in_folder("no/such"), STR("x"), 0600, &err), -ENOENT);
    assert_contains(err.text, "no/such");
    assert_int_equal(mkdir(in_folder("sub"), 0700), 0);
    assert_true(file_write_atomic(in_folder("sub"), STR("x"), 0600, &err) < 0);
    assert_contains(err.text, "cannot write");
    assert_int_equal(entries(false), 1);
    static char path[5000];
    memset(path, 'a', sizeof path - 1);
    assert_int_equal(file_write_atomic(path, STR("x"), 0600, &err), -ENAMETOOLONG);
}

static void test_signature(void **state) {
    (void)state;
    struct file_signature none = file_sign(in_folder("a")), zero = {0};
    assert_true(file_signature_eq(&none, &zero));
    put("a", STR("1"));
    struct file_signature first = file_sign(in_folder("a")), again = file_sign(in_folder("a"));
    assert_true(file_signature_eq(&first, &again));
    assert_false(file_signature_eq(&first, &zero));
    assert_int_equal(first.size, 1);
    /* the same size: a new file, though */
    put("a", STR("2"));
    struct file_signature second = file_sign(in_folder("a"));
    assert_false(file_signature_eq(&first, &second));
}

/* How the kubelet updates a mounted Secret: a link to a folder is renamed over the old one. */
static void test_signature_follows_links(void **state) {
    (void)state;
    put("v1", STR("same"));
    put("v2", STR("same"));
    assert_int_equal(symlink("v1", in_folder("data")), 0);
    assert_int_equal(symlink("data", in_folder("file")), 0);
    struct file_signature before = file_sign(in_folder("file"));
    struct file_signature target = file_sign(in_folder("v1"));
    assert_true(file_signature_eq(&before, &target));
    assert_int_equal(symlink("v2", in_folder("next")), 0);
    assert_int_equal(rename(in_folder("next"), in_folder("data")), 0);
    struct file_signature after = file_sign(in_folder("file"));
    assert_false(file_signature_eq(&before, &after));
}

static void test_every_field_of_a_signature_counts(void **state) {
    (void)state;
    const struct file_signature base = {1, 2, 3, 4, 5};
    struct file_signature other[5] = {base, base, base, base, base};
    other[0].device++;
    other[1].inode++;
    other[2].size++;
    other[3].mtime_ns++;
    other[4].ctime_ns++;
    for (int i = 0; i < 5; i++)
        assert_false(file_signature_eq(&base, &other[i]));
}

static void test_given_files(void **state) {
    (void)state;
    static const struct given_file files[] = {{"/none/a", {"one", 3}}, {"/none/b", {"", 0}}};
    CLEANUP(strbuf_done) struct strbuf out = {0};
    struct err err;
    file_give(files, 2);
    assert_true(file_is_given("/none/b"));
    assert_false(file_is_given("/none/c"));
    assert_int_equal(file_read("/none/a", 3, &out, &err), 0);
    assert_int_equal(file_read("/none/b", 3, &out, &err), 0);
    assert_str(strbuf_str(&out), "one");
    assert_int_equal(file_read("/none/a", 2, &out, &err), -EFBIG);
    assert_str(strbuf_str(&out), "one");
    assert_int_equal(file_read("/none/c", 3, &out, &err), -ENOENT);
    assert_int_equal(file_sign("/none/a").size, 3);
    file_give(NULL, 0);
    assert_int_equal(file_read("/none/a", 3, &out, &err), -ENOENT);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_write_then_read),
        IN_FOLDER(test_sizes_around_the_maximum),
        IN_FOLDER(test_sizes_around_those_of_pieces),
        IN_FOLDER(test_a_size_that_lies),
        IN_FOLDER(test_read_errors_name_the_path),
        IN_FOLDER(test_pipes),
        IN_FOLDER(test_file_descriptors),
        IN_FOLDER(test_a_buffer_that_is_too_small),
        IN_FOLDER(test_write_sets_mode_and_leaves_nothing_else),
        IN_FOLDER(test_readers_keep_the_old_bytes),
        IN_FOLDER(test_failed_writes_leave_everything_as_it_was),
        IN_FOLDER(test_signature),
        IN_FOLDER(test_signature_follows_links),
        cmocka_unit_test(test_given_files),
        cmocka_unit_test(test_every_field_of_a_signature_counts),
    };
    return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
