/*
 * Shared by the tests of certificates: an authority at a fixed time, certificates that it issues,
 * and a folder for each test. A function that cannot make its result fails the test.
 */
#pragma once

#include "base/file.h"
#include "certs/authority.h"

#include "unit/unit.h"

#include <ftw.h>
#include <stdio.h>
#include <unistd.h>

#define NOW ((int64_t)1767225600) /* 2026-01-01 00:00:00 UTC */
#define DAY ((int64_t)86400)

struct issued {
    struct strbuf certificate, key;
};

static inline void issued_done(struct issued *i) {
    strbuf_done(&i->certificate);
    key_done(&i->key);
}

static inline void check_ok(int r, const struct err *err) {
    if (r != 0)
        fail_msg("%s", err->text);
}

static inline struct authority *new_authority(const char *name, int days, int64_t now_s) {
    const struct authority_request request = {str_of(name), days, now_s};
    struct authority *a = NULL;
    struct err err;
    check_ok(authority_new(&request, &a, &err), &err);
    return a;
}

/* Issues a server's certificate for up to three hosts (NULL: no host). */
static inline struct issued issue_server(const struct authority *a, int days, int64_t now_s,
                                         const char *host1, const char *host2, const char *host3) {
    const struct str hosts[] = {str_of(host1), str_of(host2), str_of(host3)};
    const struct leaf_request request = {
        .common_name = STR("server"),
        .hosts = hosts,
        .host_count = host3 != NULL   ? 3
                      : host2 != NULL ? 2
                                      : host1 != NULL,
        .server = true,
        .days = days,
        .now_s = now_s,
    };
    struct issued i = {0};
    struct err err;
    check_ok(authority_issue(a, &request, &i.certificate, &i.key, &err), &err);
    return i;
}

static inline struct issued save(const struct authority *a) {
    struct issued i = {0};
    struct err err;
    check_ok(authority_save(a, &i.certificate, &i.key, &err), &err);
    return i;
}

/* ---- folders; cmocka's setup and teardown ---- */

static inline int make_folder(void **state) {
    char template[] = "/tmp/evenkeel-test-XXXXXX";
    *state = mkdtemp(template) != NULL ? strdup(template) : NULL;
    return *state != NULL ? 0 : -1;
}

static inline int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline int remove_folder(void **state) {
    int r = nftw(*state, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    free(*state);
    return r;
}

/* Returns "dir/name" in a static buffer, which is valid for the next three calls. */
static inline const char *in(const char *dir, const char *name) {
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", dir, name); /* short names */
    return path;
}

static inline void put_file(const char *path, struct str bytes, mode_t mode) {
    struct err err;
    check_ok(file_write_atomic(path, bytes, mode, &err), &err);
}

static inline mode_t mode_of(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}
