/*
 * Finds the files of a kubeconfig, and the entries that a context names. To merge files, a name is
 * looked up in one file after the other: the whole entry of the first file with the name is used.
 * Only wanted entries are decoded.
 *
 * upstream: client-go tools/clientcmd loader.go (which files, order), client_config.go (defaults),
 * validation.go (what is refused).
 */
#include "kube/auth/kubeconfig.h"

#include "base/dns_name.h"
#include "base/file.h"
#include "base/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAMES_SHOWN = 10, WHAT_BYTES = 128 };

/* Memory for JSON and strings of all files: a list should have only a few files. */
#define ARENA_BYTES (16ull * LIMIT_CONFIG_BYTES)

struct kubeconfig {
    const char *named;             /* the path as the user wrote it: "/x", or "/x:/y" */
    struct kubeconfig_file *files; /* arena */
    uint32_t count, cap;
    struct arena scratch; /* texts and JSON */
};

static void kubeconfig_done(struct kubeconfig *k) {
    arena_done(&k->scratch);
}

static int no_memory(const char *named, struct err *err) {
    return err_set(err, -ENOMEM, "kubeconfig '%s': too large for the memory it may take", named);
}

/* ---- one file ---- */

/* Reads clusters, users or contexts: a list of {name, <member>}. */
static void read_entries(struct json_reader *r, struct str member, struct kubeconfig_file *file,
                         struct kubeconfig_entries *entries) {
    struct kubeconfig_entry *items = NULL;
    struct str key;
    *entries = (struct kubeconfig_entries){.count = 0}; /* a second list replaces the first */
    if (!json_array(r))
        return;
    while (json_element(r)) {
        struct kubeconfig_entry entry = {.file = file};
        if (json_object(r))
            while (json_member(r, &key)) {
                if (str_eq(key, STR("name")))
                    entry.name = json_string(r);
                else if (str_eq(key, member))
                    entry.json = json_skip(r);
            }
        for (uint32_t i = 0; i < entries->count; i++)
            if (str_eq(entries->items[i].name, entry.name)) {
                json_fail(r, "two entries have the name '%.*s'", STR_ARG(entry.name));
                return;
            }
        if (entries->count == LIMIT_KUBECONFIG_ENTRIES) {
            json_fail(r, "more than %d entries", LIMIT_KUBECONFIG_ENTRIES);
            return;
        }
        items = arena_push(r->arena, items, entries->count, &entries->cap, sizeof *items);
        if (items == NULL)
            return; /* the arena has failed */
        items[entries->count++] = entry;
        entries->items = items;
    }
}

static void read_config(struct json_reader *r, struct kubeconfig_file *file) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("current-context"))) {
            file->current_context = json_string(r);
        } else if (str_eq(key, STR("clusters"))) {
            read_entries(r, STR("cluster"), file, &file->clusters);
        } else if (str_eq(key, STR("users"))) {
            read_entries(r, STR("user"), file, &file->users);
        } else if (str_eq(key, STR("contexts"))) {
            read_entries(r, STR("context"), file, &file->contexts);
        } else if (str_eq(key, STR("kind"))) {
            struct str kind = json_string(r);
            if (kind.n > 0 && !str_eq(kind, STR("Config")))
                json_fail(r, "it is a %.*s, not a kubeconfig", STR_ARG(kind));
        }
    }
}

/* Reads a file. Returns -ENOENT if it does not exist. */
static int read_file(struct kubeconfig *k, struct kubeconfig_file *file, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = LIMIT_CONFIG_BYTES + 1};
    struct json_reader reader;
    int r = file_read(file->path, LIMIT_CONFIG_BYTES, &text, err);
    if (r != 0) {
        (void)err_wrap(err, "kubeconfig"); /* r has the same code, also if err is NULL */
        return r;
    }
    r = yaml_to_json(strbuf_str(&text), true, &k->scratch, &file->doc, err);
    if (r != 0) {
        (void)err_wrap(err, "kubeconfig '%s'", file->path); /* as above */
        return r;
    }
    if (file->doc.document_count > 1)
        return err_set(err, -EINVAL, "kubeconfig '%s': there is more than one document in it",
                       file->path);
    if (file->doc.document_count == 0)
        return 0; /* an empty file has no entries, as upstream */
    json_reader_init(&reader, file->doc.documents[0], &k->scratch, "kubeconfig");
    read_config(&reader, file);
    return kubeconfig_complain(file, &reader, err);
}

/* ---- which files ---- */

static int add_file(struct kubeconfig *k, const char *path, struct err *err) {
    struct kubeconfig_file file = {.path = path}; /* entries point to its final place */
    k->files = arena_push(&k->scratch, k->files, k->count, &k->cap, sizeof *k->files);
    if (k->files == NULL || path == NULL)
        return no_memory(k->named, err);
    k->files[k->count++] = file;
    return 0;
}

static int list_files(struct kubeconfig *k, const char *path, struct err *err) {
    /* the environment of this program does not change while it runs */
    struct str list = str_of(getenv("KUBECONFIG")); /* NOLINT(concurrency-mt-unsafe) */
    const char *home = getenv("HOME");              /* NOLINT(concurrency-mt-unsafe) */
    k->named = path;
    if (path != NULL)
        return add_file(k, path, err);
    if (list.n == 0) {
        CLEANUP(strbuf_done) struct strbuf usual = {.max = 4096};
        if (home == NULL || home[0] == '\0')
            return err_set(err, -ENOENT,
                           "no kubeconfig: neither KUBECONFIG nor HOME is set; give its path");
        strbuf_appendf(&usual, "%s/.kube/config", home);
        k->named = arena_cstr(&k->scratch, strbuf_str(&usual));
        return add_file(k, k->named, err);
    }
    k->named = arena_cstr(&k->scratch, list);
    for (int r; list.n > 0;) {
        size_t colon = str_find(list, ':');
        size_t n = colon == SIZE_MAX ? list.n : colon;
        struct str one = {list.p, n};
        if ((r = add_file(k, arena_cstr(&k->scratch, one), err)) != 0)
            return r;
        n += colon != SIZE_MAX;
        list = (struct str){list.p + n, list.n - n};
    }
    return 0;
}

static int load(struct kubeconfig *k, const char *path, struct err *err) {
    uint32_t found = 0;
    int r = list_files(k, path, err);
    for (uint32_t i = 0; i < k->count && r == 0; i++) {
        r = read_file(k, &k->files[i], err);
        if (r == -ENOENT)
            r = 0;
        else
            found++;
    }
    if (r == 0 && found == 0)
        return err_set(err, -ENOENT, "no kubeconfig: '%s' does not exist%s", k->named,
                       path == NULL ? "; give a path or set KUBECONFIG" : "");
    return r;
}

/* ---- picking ---- */

typedef const struct kubeconfig_entries *entries_of_fn(const struct kubeconfig_file *file);

static const struct kubeconfig_entries *clusters_of(const struct kubeconfig_file *file) {
    return &file->clusters;
}
static const struct kubeconfig_entries *users_of(const struct kubeconfig_file *file) {
    return &file->users;
}
static const struct kubeconfig_entries *contexts_of(const struct kubeconfig_file *file) {
    return &file->contexts;
}

static const struct kubeconfig_entry *find(const struct kubeconfig *k, entries_of_fn *entries_of,
                                           struct str name) {
    for (uint32_t f = 0; f < k->count; f++) {
        const struct kubeconfig_entries *entries = entries_of(&k->files[f]);
        for (uint32_t i = 0; i < entries->count; i++)
            if (str_eq(entries->items[i].name, name))
                return &entries->items[i];
    }
    return NULL;
}

/* Appends "there are: a, b". */
static void list_names(const struct kubeconfig *k, entries_of_fn *entries_of, struct strbuf *out) {
    uint32_t count = 0;
    for (uint32_t f = 0; f < k->count; f++) {
        const struct kubeconfig_entries *entries = entries_of(&k->files[f]);
        for (uint32_t i = 0; i < entries->count; i++)
            if (count++ < NAMES_SHOWN)
                strbuf_appendf(out, "%s%.*s", count == 1 ? "there are: " : ", ",
                               STR_ARG(entries->items[i].name));
    }
    if (count == 0)
        strbuf_appendf(out, "there are none");
    if (count > NAMES_SHOWN)
        strbuf_appendf(out, " and %u more", count - NAMES_SHOWN);
    strbuf_append_char(out, '\0');
}

static int not_there(const struct kubeconfig *k, entries_of_fn *entries_of, const char *sentence,
                     struct err *err) {
    CLEANUP(strbuf_done) struct strbuf names = {.max = 4096};
    list_names(k, entries_of, &names);
    return err_set(err, -ENOENT, "kubeconfig '%s': %s; %s", k->named, sentence,
                   strbuf_failed(&names) || names.p == NULL ? "there are many" : names.p);
}

struct context {
    struct str name;
    struct str cluster, user;
    const char *namespace;
};

static int read_context(struct kubeconfig *k, const struct kubeconfig_entry *entry,
                        struct arena *arena, struct context *ret, struct err *err) {
    char what[WHAT_BYTES];
    struct entry_reader e;
    struct str key;
    (void)snprintf(what, sizeof what, "context '%.*s'", STR_ARG(entry->name)); /* cut: for people */
    entry_reader_init(&e, entry, what, &k->scratch, arena);
    if (entry_begin(&e))
        while (json_member(&e.r, &key)) {
            if (str_eq(key, STR("cluster"))) {
                ret->cluster = json_string(&e.r);
            } else if (str_eq(key, STR("user"))) {
                ret->user = json_string(&e.r);
            } else if (str_eq(key, STR("namespace"))) {
                ret->namespace = entry_text(&e);
                if (ret->namespace != NULL && !dns_label_valid(str_of(ret->namespace)))
                    json_fail(&e.r, "'%s' cannot be the name of a namespace", ret->namespace);
            }
        }
    return entry_check(&e, err);
}

static int pick_context(struct kubeconfig *k, const char *wanted, struct arena *arena,
                        struct context *ret, struct err *err) {
    char sentence[ERR_TEXT_SIZE];
    ret->name = str_of(wanted);
    for (uint32_t f = 0; f < k->count && ret->name.n == 0; f++)
        ret->name = k->files[f].current_context;
    if (ret->name.n == 0)
        return not_there(k, contexts_of, "there is no current-context; choose a context", err);
    const struct kubeconfig_entry *entry = find(k, contexts_of, ret->name);
    (void)snprintf(sentence, sizeof sentence, "there is no context '%.*s'",
                   STR_ARG(ret->name)); /* cut: for people */
    return entry != NULL ? read_context(k, entry, arena, ret, err)
                         : not_there(k, contexts_of, sentence, err);
}

/* A reference of a context to another entry. */
struct reference {
    const char *kind; /* "cluster", "user" */
    struct str name;
    entries_of_fn *entries_of;
};

static int follow(const struct kubeconfig *k, const struct context *context,
                  const struct reference *to, const struct kubeconfig_entry **ret,
                  struct err *err) {
    char sentence[ERR_TEXT_SIZE];
    const struct kubeconfig_entry *entry = find(k, to->entries_of, to->name);
    (void)snprintf(sentence, sizeof sentence,
                   to->name.n > 0
                       ? "context '%.*s' names the %s '%.*s', which is not in the kubeconfig"
                       : "context '%.*s' names no %s%.*s",
                   STR_ARG(context->name), to->kind, STR_ARG(to->name)); /* cut: for people */
    if (entry == NULL || to->name.n == 0)
        return not_there(k, to->entries_of, sentence, err);
    *ret = entry;
    return 0;
}

static int add_cluster(struct kubeconfig *k, const struct context *context, struct arena *arena,
                       struct kube_access *access, struct err *err) {
    const struct reference to = {"cluster", context->cluster, clusters_of};
    const struct kubeconfig_entry *cluster = NULL;
    int r = follow(k, context, &to, &cluster, err);
    return r == 0 ? kubeconfig_read_cluster(cluster, &k->scratch, arena, access, err) : r;
}

/* Adds the user's credentials. A context without a user is anonymous. Over plain http no
 * credentials are sent: like upstream, we read the user only for https. */
static int add_user(struct kubeconfig *k, const struct context *context, struct arena *arena,
                    struct kube_access *access, struct err *err) {
    const struct reference to = {"user", context->user, users_of};
    const struct kubeconfig_entry *user = NULL;
    if (context->user.n == 0)
        return 0;
    int r = follow(k, context, &to, &user, err);
    if (r != 0 || !str_has_prefix(str_of(access->server), STR("https://")))
        return r;
    return kubeconfig_read_user(user, &k->scratch, arena, access, err);
}

static const char *describe(const struct kubeconfig *k, const struct context *context,
                            const struct kube_access *access, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf text = {.max = 8192};
    bool bare = context->user.n > 0 && str_has_prefix(str_of(access->server), STR("http://"));
    strbuf_appendf(&text, "kubeconfig '%s' (context '%.*s'%s)", k->named, STR_ARG(context->name),
                   bare ? ", no credentials over plain http" : "");
    return arena_cstr(arena, strbuf_str(&text));
}

/* Replaces the server's URL. The new server has another name, so the kubeconfig's tls-server-name
 * is dropped. upstream: client-go tools/clientcmd client_config.go getCluster. */
static int override_server(const char *server, struct arena *arena, struct kube_access *access,
                           struct err *err) {
    if (server == NULL)
        return 0;
    access->tls_server_name = NULL;
    return kubeconfig_server(server, arena, &access->server, err);
}

int kube_access_overriding(const char *server, const char *path, const char *context_name,
                           struct arena *arena, struct kube_access *ret, struct err *err) {
    CLEANUP(kubeconfig_done) struct kubeconfig k = {.named = ""};
    struct kube_access access = {0};
    struct context context = {0};
    arena_init(&k.scratch, ARENA_BYTES);
    int r = load(&k, path, err);
    if (r == 0)
        r = pick_context(&k, context_name, arena, &context, err);
    if (r == 0)
        r = add_cluster(&k, &context, arena, &access, err);
    if (r == 0)
        r = override_server(server, arena, &access, err);
    if (r == 0)
        r = add_user(&k, &context, arena, &access, err);
    if (r != 0)
        return r;
    access.namespace = context.namespace != NULL ? context.namespace : "default";
    access.source = describe(&k, &context, &access, arena);
    if (arena_failed(arena) || arena_failed(&k.scratch))
        return no_memory(k.named, err);
    *ret = access;
    return 0;
}

int kube_access_from_kubeconfig(const char *path, const char *context, struct arena *arena,
                                struct kube_access *ret, struct err *err) {
    return kube_access_overriding(NULL, path, context, arena, ret, err);
}

int kube_access_of_command(const char *path, const char *context, struct arena *arena,
                           struct kube_access *ret, struct err *err) {
    return path == NULL && context == NULL && kube_access_is_in_cluster()
               ? kube_access_in_cluster(arena, ret, err)
               : kube_access_from_kubeconfig(path, context, arena, ret, err);
}

int kube_access_without_credentials(const char *server, struct arena *arena,
                                    struct kube_access *ret, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf source = {.max = 1 << 17};
    struct kube_access access = {.namespace = "default"};
    int r = kubeconfig_server(server, arena, &access.server, err);
    if (r != 0)
        return r;
    strbuf_appendf(&source, "server '%s' (no credentials)", access.server);
    access.source = arena_cstr(arena, strbuf_str(&source));
    if (arena_failed(arena))
        return err_set(err, -ENOMEM, "no memory for the address of a server");
    *ret = access;
    return 0;
}
