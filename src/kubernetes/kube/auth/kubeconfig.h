/*
 * The parts of a kubeconfig. kube/auth/kubeconfig.c finds and merges files;
 * kube/auth/kubeconfig_cluster.c and kube/auth/kubeconfig_user.c read one entry each; these three
 * share kube/auth/kubeconfig_entry.c. All other code uses kube/auth/access.h.
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
/* Enters the entry's object. Returns false if the entry is null, missing, or no object (an error).
 */
bool entry_begin(struct entry_reader *e);
/* Returns 0, or the first error: "kubeconfig '/x', line 12: user 'bob'.token: expected a string
 * ..." */
int entry_check(const struct entry_reader *e, struct err *err) MUST_CHECK;
/* Reads a string into the arena for results. Returns NULL if the string is null or empty. */
const char *entry_text(struct entry_reader *e);
/* Reads a path and resolves it against the file's folder. Returns NULL if the path is null or
 * empty. */
const char *entry_path(struct entry_reader *e);
/* Reads base64 and returns the decoded bytes; empty if the member is null or empty. */
struct str entry_data(struct entry_reader *e);

/*
 * Gives a server's address the form that `struct kube_access` has: without slashes at the end,
 * query and fragment. Without a scheme it becomes https; upstream takes http if the entry has no
 * TLS settings, but no API server has spoken http since 1.20. Returns 0 or -EINVAL.
 */
int kubeconfig_server(const char *text, struct arena *arena, const char **ret,
                      struct err *err) MUST_CHECK;

/* Read the entry of a cluster or of a user. Each function sets other members of `access`. */
int kubeconfig_read_cluster(const struct kubeconfig_entry *entry, struct arena *scratch,
                            struct arena *arena, struct kube_access *access,
                            struct err *err) MUST_CHECK;
int kubeconfig_read_user(const struct kubeconfig_entry *entry, struct arena *scratch,
                         struct arena *arena, struct kube_access *access,
                         struct err *err) MUST_CHECK;
