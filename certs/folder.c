#include "certs/folder.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/limits.h"
#include "certs/authority.h"
#include "certs/inspect.h"

#include <errno.h>
#include <stdio.h>

#define AUTHORITY_NAME "evenkeel-ca"
#define SERVER_NAME "evenkeel"
#define CLIENT_NAME "system:kube-scheduler"

/* A certificate and its key, both as PEM. */
struct pair {
    struct strbuf certificate, key;
};

static void pair_done(struct pair *pair) {
    strbuf_done(&pair->certificate);
    key_done(&pair->key);
}

/* ---- files ---- */

enum { PATH_SIZE = 4096 };

static int path_of(const char *dir, const char *name, const char *ending, char path[PATH_SIZE],
                   struct err *err) {
    int n = snprintf(path, PATH_SIZE, "%s/%s%s", dir, name, ending);
    if (n < 0 || n >= PATH_SIZE)
        return err_set(err, -ENAMETOOLONG, "path of folder '%s' is too long", dir);
    return 0;
}

/* Appends the file's bytes. A missing file counts as empty. */
static int read_if_there(const char *dir, const char *name, const char *ending, struct strbuf *out,
                         struct err *err) {
    char path[PATH_SIZE];
    out->max = LIMIT_CONFIG_BYTES + 1;
    int r = path_of(dir, name, ending, path, err);
    if (r == 0)
        r = file_read(path, LIMIT_CONFIG_BYTES, out, err);
    return r == -ENOENT ? 0 : r;
}

static int read_pair(const char *dir, const char *name, struct pair *out, struct err *err) {
    int r = read_if_there(dir, name, ".crt", &out->certificate, err);
    return r != 0 ? r : read_if_there(dir, name, ".key", &out->key, err);
}

static int write_file(const char *dir, const char *name, const char *ending,
                      const struct strbuf *bytes, mode_t mode, struct err *err) {
    char path[PATH_SIZE];
    int r = path_of(dir, name, ending, path, err);
    return r != 0 ? r : file_write_atomic(path, strbuf_str(bytes), mode, err);
}

/* Writes the key before the certificate: a program that notices the new certificate then finds the
 * new key. */
static int write_pair(const char *dir, const char *name, const struct pair *pair, struct err *err) {
    int r = write_file(dir, name, ".key", &pair->key, 0600, err);
    return r != 0 ? r : write_file(dir, name, ".crt", &pair->certificate, 0644, err);
}

static int make_folder(const char *dir, struct err *err) {
    if (mkdir(dir, 0700) == 0)
        return 0;
    int e = errno;
    struct stat st;
    if (e == EEXIST && stat(dir, &st) == 0 && S_ISDIR(st.st_mode))
        return 0;
    return err_set_errno(err, e == EEXIST ? ENOTDIR : e, "cannot make the folder '%s'", dir);
}

/* ---- the authority ---- */

static int new_authority(const struct folder_request *request, struct pair *out,
                         struct authority **ret, struct err *err) {
    const struct authority_request wish = {
        .common_name = STR(AUTHORITY_NAME),
        .days = request->ca_days != 0 ? request->ca_days : AUTHORITY_DAYS,
        .now_s = request->now_s,
    };
    int r = authority_new(&wish, ret, err);
    return r != 0 ? r : authority_save(*ret, &out->certificate, &out->key, err);
}

/* Loads the authority in the folder, or makes a new authority and sets *ret_new. `pair` receives
 * its PEM texts. */
static int take_authority(const struct folder_request *request, struct pair *pair,
                          struct authority **ret, bool *ret_new, struct err *err) {
    int r = read_pair(request->dir, "ca", pair, err);
    if (r != 0)
        return r;
    *ret_new = pair->certificate.n == 0 && pair->key.n == 0;
    if (*ret_new)
        return new_authority(request, pair, ret, err);
    if (pair->certificate.n == 0 || pair->key.n == 0)
        return err_set(err, -EEXIST,
                       "cannot use the authority in '%s': %s is missing or empty; put it back, or "
                       "move %s away for a new authority",
                       request->dir, pair->certificate.n == 0 ? "ca.crt" : "ca.key",
                       pair->certificate.n == 0 ? "ca.key" : "ca.crt");
    r = authority_load(strbuf_str(&pair->certificate), strbuf_str(&pair->key), ret, err);
    if (r != 0)
        return err_wrap(err, "cannot use the authority in '%s'", request->dir);
    if (authority_not_after(*ret) <= request->now_s)
        return err_set(err, -EINVAL,
                       "the authority in '%s' has expired: move ca.crt and ca.key away, run this "
                       "again with --force, give ca.crt to kube-scheduler and restart it",
                       request->dir);
    return 0;
}

/* ---- leaves ---- */

/* Checks that a leaf in the folder is ours; other leaves are overwritten only by force. Sets
 * *ret_ours to true if the leaf exists and is ours. */
static int look_at_leaf(const struct folder_request *request, const struct authority *a,
                        const char *name, struct pair *old, bool *ret_ours, struct err *err) {
    int r = read_pair(request->dir, name, old, err);
    if (r != 0)
        return r;
    *ret_ours = old->certificate.n > 0 && authority_signed(a, strbuf_str(&old->certificate));
    bool nothing = old->certificate.n == 0 && old->key.n == 0;
    if (*ret_ours || nothing || request->force)
        return 0;
    return err_set(err, -EEXIST,
                   "will not overwrite %s.crt and %s.key in '%s': the authority there did not sign "
                   "them; --force overwrites them",
                   name, name, request->dir);
}

/* Takes the names that the request does not give from the old certificate. */
static int inherit(const struct pair *old, struct arena *arena, struct leaf_request *leaf,
                   struct err *err) {
    struct certificate *chain;
    size_t count;
    int r = certificates_read(strbuf_str(&old->certificate), arena, &chain, &count, err);
    if (r != 0)
        return r;
    if (leaf->host_count == 0 && leaf->server) {
        leaf->hosts = chain[0].names;
        leaf->host_count = chain[0].name_count;
    }
    if (str_empty(leaf->common_name))
        leaf->common_name = chain[0].common_name;
    return 0;
}

static int issue(const struct folder_request *request, const struct authority *a, bool server,
                 struct pair *out, struct err *err) {
    static const struct str local[] = {{"localhost", 9}, {"127.0.0.1", 9}, {"::1", 3}};
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, LIMIT_CONFIG_BYTES);
    CLEANUP(pair_done) struct pair old = {0};
    struct leaf_request leaf = {
        .common_name = server ? STR(SERVER_NAME) : request->client_name,
        .hosts = server ? request->hosts : NULL,
        .host_count = server ? request->host_count : 0,
        .server = server,
        .client = !server,
        .days = request->days != 0 ? request->days : LEAF_DAYS,
        .now_s = request->now_s,
    };
    bool ours;
    int r = look_at_leaf(request, a, server ? "tls" : "client", &old, &ours, err);
    if (r == 0 && ours)
        r = inherit(&old, &arena, &leaf, err);
    if (r != 0)
        return r;
    if (server && leaf.host_count == 0) {
        leaf.hosts = local;
        leaf.host_count = sizeof local / sizeof local[0];
    }
    if (str_empty(leaf.common_name))
        leaf.common_name = STR(CLIENT_NAME);
    return authority_issue(a, &leaf, &out->certificate, &out->key, err);
}

/* Reads the end of the certificate in `pair`, which we made. */
static int read_end(const struct pair *pair, int64_t *ret_s, struct err *err) {
    CLEANUP(arena_done) struct arena arena;
    arena_init(&arena, LIMIT_CONFIG_BYTES);
    struct certificate *chain;
    size_t count;
    int r = certificates_read(strbuf_str(&pair->certificate), &arena, &chain, &count, err);
    if (r == 0)
        *ret_s = chain[0].not_after_s;
    return r;
}

int folder_init(const struct folder_request *request, struct folder_report *ret, struct err *err) {
    CLEANUP(authority_freep) struct authority *a = NULL;
    CLEANUP(pair_done) struct pair ca = {0};
    CLEANUP(pair_done) struct pair server = {0};
    CLEANUP(pair_done) struct pair client = {0};
    struct folder_report report = {0};
    int r = make_folder(request->dir, err);
    if (r == 0)
        r = take_authority(request, &ca, &a, &report.ca_is_new, err);
    if (r == 0)
        r = issue(request, a, true, &server, err);
    if (r == 0)
        r = issue(request, a, false, &client, err);
    if (r == 0)
        r = read_end(&server, &report.leaf_not_after_s, err);
    if (r == 0 && report.ca_is_new)
        r = write_pair(request->dir, "ca", &ca, err);
    if (r == 0)
        r = write_pair(request->dir, "tls", &server, err);
    if (r == 0)
        r = write_pair(request->dir, "client", &client, err);
    if (r != 0)
        return r;
    report.ca_not_after_s = authority_not_after(a);
    *ret = report;
    return 0;
}
