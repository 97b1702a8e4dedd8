/*
 * The parts of a kubeconfig, for kube/auth/kubeconfig.c, which finds and merges files,
 * kube/auth/kubeconfig_cluster.c and kube/auth/kubeconfig_user.c, which read one entry each, and
 * kube/auth/kubeconfig_entry.c, which they share. Not for others: see kube/auth/access.h.
 */
#pragma once

#include "base/json_reader.h"
#include "kube/auth/access.h"
#include "yaml/yaml.h"

/* An entry of clusters, users or contexts. Its content was not read yet. */
struct kubeconfig_entry {
    struct str name;
    struct str json; /* JSON of the entry's member `cluster`, `user` or `context`; part of the
                        file's text */
    const struct kubeconfig_file *file;
};

struct kubeconfig_entries {
    const struct kubeconfig_entry *items; /* arena */
    uint32_t count, cap;
};

struct kubeconfig_file {
    const char *path; /* borrowed */
    struct yaml_json doc;
    struct str current_context;
    struct kubeconfig_entries clusters, users, contexts;
};

/* Returns 0, or the reader's first error with the line in the file instead of the byte in the JSON
 * made from it. The reader reads a part of the file's document. */
int kubeconfig_complain(const struct kubeconfig_file *file, const struct json_reader *r,
                        struct err *err) MUST_CHECK;

/* Reads one entry: errors name the file, the line and the field. */
struct entry_reader {
    struct json_reader r;
    const struct kubeconfig_file *file;
    struct arena *arena; /* for the results; the reader has its own */
};

/* `what` names the entry in errors: "user 'bob'"; borrowed. */
void entry_reader_init(struct entry_reader *e, const struct kubeconfig_entry *entry,
                       const char *what, struct arena *scratch, struct arena *arena);
/* Enters the entry's object. False: it is null, missing, or something else (an error). */
bool entry_begin(struct entry_reader *e);
/* Returns 0, or the first error: "kubeconfig '/x', line 12: user 'bob'.token: expected a string
 * ..." */
int entry_check(const struct entry_reader *e, struct err *err) MUST_CHECK;
/* Returns a string in the arena for results; NULL when it is null or empty. */
const char *entry_text(struct entry_reader *e);
/* Returns a path, resolved against the file's folder; NULL when it is null or empty. */
const char *entry_path(struct entry_reader *e);
/* Returns decoded base64; empty when the member is null or empty. */
struct str entry_data(struct entry_reader *e);

/*
 * Gives a server's address the form that `struct kube_access` has: without slashes at the end,
 * query and fragment. Without a scheme it becomes https; upstream takes http if the entry has no
 * TLS settings, but no API server has spoken http since 1.20. Returns 0 or -EINVAL.
 */
int kubeconfig_server(const char *text, struct arena *arena, const char **ret,
                      struct err *err) MUST_CHECK;

/* Each function sets its own members of `access`. */
int kubeconfig_read_cluster(const struct kubeconfig_entry *entry, struct arena *scratch,
                            struct arena *arena, struct kube_access *access,
                            struct err *err) MUST_CHECK;
int kubeconfig_read_user(const struct kubeconfig_entry *entry, struct arena *scratch,
                         struct arena *arena, struct kube_access *access,
                         struct err *err) MUST_CHECK;
