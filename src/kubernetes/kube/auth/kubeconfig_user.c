/* The entry of a user. upstream: client-go tools/clientcmd validation.go validateAuthInfo,
 * client_config.go getUserIdentificationPartialConfig; transport HTTPWrappersForConfig. */
#include "base/limits.h"
#include "kube/auth/kubeconfig.h"

#include <errno.h>
#include <stdio.h>

#define EXEC_GROUP "client.authentication.k8s.io/"

struct user {
    const char *what; /* "user 'bob'" */
    const struct kubeconfig_entry *entry;
    struct kube_access *access;
    struct str auth_provider; /* name of the auth provider; auth providers are refused */
    bool has_auth_provider, impersonates;
    const char *interactive_mode;
};

/* ---- exec ---- */

static const char *const *read_args(struct entry_reader *e, size_t *ret_count) {
    uint32_t count = 0;
    struct str *texts = json_string_array(&e->r, LIMIT_KUBECONFIG_ENTRIES, &count);
    const char **args = arena_array(e->arena, count, sizeof *args);
    if (args == NULL)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (str_find(texts[i], '\0') != SIZE_MAX)
            json_fail(&e->r, "there is a NUL in it");
        args[i] = arena_cstr(e->arena, texts[i]);
    }
    *ret_count = count;
    return args;
}

static struct kube_exec_env read_variable(struct entry_reader *e) {
    struct kube_exec_env variable = {0};
    struct str key;
    if (json_object(&e->r))
        while (json_member(&e->r, &key)) {
            if (str_eq(key, STR("name")))
                variable.name = entry_text(e);
            else if (str_eq(key, STR("value")))
                variable.value = entry_text(e);
        }
    if (variable.name == NULL || strchr(variable.name, '=') != NULL)
        json_fail(&e->r, "a variable needs a name, without '='");
    if (variable.value == NULL)
        variable.value = "";
    return variable;
}

static const struct kube_exec_env *read_env(struct entry_reader *e, size_t *ret_count) {
    struct kube_exec_env *items = NULL;
    uint32_t count = 0, cap = 0;
    if (!json_array(&e->r))
        return NULL;
    while (json_element(&e->r)) {
        if (count == LIMIT_KUBECONFIG_ENTRIES) {
            json_fail(&e->r, "more than %d variables", LIMIT_KUBECONFIG_ENTRIES);
            return NULL;
        }
        items = arena_push(e->arena, items, count, &cap, sizeof *items);
        if (items == NULL)
            return NULL;
        items[count++] = read_variable(e);
    }
    *ret_count = count;
    return items;
}

/* A command without '/' is looked up in PATH later; a path is relative to the kubeconfig's folder.
 */
static const char *read_command(struct entry_reader *e) {
    struct json_reader before = e->r;
    const char *command = entry_text(e);
    if (command == NULL || strchr(command, '/') == NULL)
        return command;
    e->r = before;
    return entry_path(e);
}

static void read_exec(struct entry_reader *e, struct user *user) {
    struct kube_exec *exec = &user->access->exec;
    struct str key;
    if (!json_object(&e->r))
        return;
    while (json_member(&e->r, &key)) {
        if (str_eq(key, STR("command")))
            exec->command = read_command(e);
        else if (str_eq(key, STR("args")))
            exec->args = read_args(e, &exec->arg_count);
        else if (str_eq(key, STR("env")))
            exec->env = read_env(e, &exec->env_count);
        else if (str_eq(key, STR("apiVersion")))
            exec->api_version = entry_text(e);
        else if (str_eq(key, STR("installHint")))
            exec->install_hint = entry_text(e);
        else if (str_eq(key, STR("provideClusterInfo")))
            exec->provide_cluster_info = json_bool(&e->r);
        else if (str_eq(key, STR("interactiveMode")))
            user->interactive_mode = entry_text(e);
    }
    if (exec->command == NULL)
        json_fail(&e->r, "it names no command");
}

/* ---- the members ---- */

/* Is the next value not empty? null, "", [] and {} are empty. */
static bool says_something(struct entry_reader *e) {
    struct str value = json_skip(&e->r);
    if (value.n <= 2 || str_eq(value, STR("null")))
        return false;
    return value.p[0] == '"' || str_trim((struct str){value.p + 1, value.n - 2}).n > 0;
}

static void read_auth_provider(struct entry_reader *e, struct user *user) {
    struct str key;
    user->has_auth_provider = json_peek(&e->r) == JSON_OBJECT;
    if (json_object(&e->r))
        while (json_member(&e->r, &key)) {
            if (str_eq(key, STR("name")))
                user->auth_provider = json_string(&e->r);
        }
}

static void read_other_member(struct entry_reader *e, struct str key, struct user *user) {
    if (str_eq(key, STR("exec")))
        read_exec(e, user);
    else if (str_eq(key, STR("auth-provider")))
        read_auth_provider(e, user);
    else if (str_eq(key, STR("as")) || str_eq(key, STR("as-uid")) ||
             str_eq(key, STR("as-groups")) || str_eq(key, STR("as-user-extra")))
        user->impersonates |= says_something(e);
}

static void read_member(struct entry_reader *e, struct str key, struct user *user) {
    struct kube_access *access = user->access;
    if (str_eq(key, STR("client-certificate")))
        access->client_certificate.file = entry_path(e);
    else if (str_eq(key, STR("client-certificate-data")))
        access->client_certificate.data = entry_data(e);
    else if (str_eq(key, STR("client-key")))
        access->client_key.file = entry_path(e);
    else if (str_eq(key, STR("client-key-data")))
        access->client_key.data = entry_data(e);
    else if (str_eq(key, STR("token")))
        access->token = entry_text(e);
    else if (str_eq(key, STR("tokenFile")))
        access->token_file = entry_path(e);
    else if (str_eq(key, STR("username")))
        access->username = entry_text(e);
    else if (str_eq(key, STR("password")))
        access->password = entry_text(e);
    else
        read_other_member(e, key, user);
}

/* ---- what goes together ---- */

static int refuse(const struct user *user, const char *why, struct err *err) {
    return err_set(err, -EINVAL, "kubeconfig '%s': %s: %s", user->entry->file->path, user->what,
                   why);
}

static int refuse_auth_provider(const struct user *user, struct err *err) {
    char why[ERR_TEXT_SIZE];
    bool removed =
        str_eq(user->auth_provider, STR("gcp")) || str_eq(user->auth_provider, STR("azure"));
    (void)snprintf(why, sizeof why, "auth-provider '%.*s' %s; use a credential plugin (exec)",
                   STR_ARG(user->auth_provider),
                   removed ? "was removed from Kubernetes in 1.26"
                           : "is not supported"); /* cut: for people */
    return refuse(user, why, err);
}

static int check_exec(const struct user *user, struct err *err) {
    const struct kube_exec *exec = &user->access->exec;
    const char *mode = user->interactive_mode;
    struct str version = str_of(exec->api_version);
    if (str_eq(version, STR(EXEC_GROUP "v1alpha1")))
        return refuse(user,
                      "exec: apiVersion " EXEC_GROUP "v1alpha1 was removed from Kubernetes in "
                      "1.24; use " EXEC_GROUP "v1",
                      err);
    if (!str_eq(version, STR(EXEC_GROUP "v1")) && !str_eq(version, STR(EXEC_GROUP "v1beta1")))
        return refuse(user, "exec: its apiVersion must be " EXEC_GROUP "v1 or v1beta1", err);
    if (mode != NULL && strcmp(mode, "Always") == 0)
        return refuse(user, "exec: interactiveMode Always needs a terminal, which a daemon has not",
                      err);
    if (mode != NULL && strcmp(mode, "Never") != 0 && strcmp(mode, "IfAvailable") != 0)
        return refuse(user, "exec: interactiveMode must be Never or IfAvailable", err);
    return 0;
}

static bool has_pem(const struct kube_pem *pem) {
    return pem->data.n > 0 || pem->file != NULL;
}

static int check_certificate(struct user *user, struct err *err) {
    struct kube_access *access = user->access;
    if (access->client_certificate.data.n > 0)
        access->client_certificate.file = NULL;
    if (access->client_key.data.n > 0)
        access->client_key.file = NULL;
    if (has_pem(&access->client_certificate) && !has_pem(&access->client_key))
        return refuse(user, "there is a client-certificate, but no client-key", err);
    if (!has_pem(&access->client_certificate))
        access->client_key = (struct kube_pem){.file = NULL}; /* upstream ignores it, too */
    return 0;
}

static int check_user(struct user *user, struct err *err) {
    struct kube_access *access = user->access;
    bool basic = access->username != NULL || access->password != NULL;
    bool token = access->token != NULL || access->token_file != NULL;
    if (user->has_auth_provider)
        return refuse_auth_provider(user, err);
    if (user->impersonates)
        return refuse(user,
                      "impersonation (as, as-groups, ...) is not supported; give Evenkeel an "
                      "account of its own",
                      err);
    if (basic && token)
        return refuse(user, "there are a token and a username with password; remove one", err);
    int r = check_certificate(user, err);
    if (r != 0)
        return r;
    if (basic && access->username == NULL)
        access->username = "";
    if (basic && access->password == NULL)
        access->password = "";
    if (basic || token || has_pem(&access->client_certificate))
        access->exec = (struct kube_exec){.command = NULL}; /* upstream does not run it, either */
    return access->exec.command != NULL ? check_exec(user, err) : 0;
}

int kubeconfig_read_user(const struct kubeconfig_entry *entry, struct arena *scratch,
                         struct arena *arena, struct kube_access *access, struct err *err) {
    char what[128];
    struct user user = {.what = what, .entry = entry, .access = access};
    struct entry_reader e;
    struct str key;
    (void)snprintf(what, sizeof what, "user '%.*s'", STR_ARG(entry->name)); /* cut: for people */
    entry_reader_init(&e, entry, what, scratch, arena);
    if (entry_begin(&e))
        while (json_member(&e.r, &key))
            read_member(&e, key, &user);
    int r = entry_check(&e, err);
    return r == 0 ? check_user(&user, err) : r;
}
