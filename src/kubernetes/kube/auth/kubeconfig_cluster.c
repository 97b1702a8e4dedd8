/* The entry of a cluster. upstream: client-go tools/clientcmd validation.go validateClusterInfo,
 * helpers.go parseProxyURL, rest/url_utils.go DefaultServerURL. */
#include "kube/auth/kubeconfig.h"

#include <errno.h>
#include <stdio.h>

#define EXEC_EXTENSION "client.authentication.k8s.io/exec"

/* ---- addresses ---- */

/* Returns the scheme, such as "https", and sets *ret_rest to the text after "://". Without a
 * scheme, returns "", and *ret_rest is the whole text. */
static struct str split_scheme(struct str url, struct str *ret_rest) {
    for (size_t i = 0; i + 3 <= url.n; i++)
        if (memcmp(url.p + i, "://", 3) == 0) {
            *ret_rest = (struct str){url.p + i + 3, url.n - i - 3};
            return (struct str){url.p, i};
        }
    *ret_rest = url;
    return (struct str){0};
}

static bool is_printable(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || (unsigned char)s.p[i] >= 0x7f)
            return false;
    return true;
}

/* Does the text begin with a character that can begin a host? */
static bool has_host(struct str rest) {
    return rest.n > 0 && rest.p[0] != '/' && rest.p[0] != ':' && rest.p[0] != '?' &&
           rest.p[0] != '#';
}

int kubeconfig_server(const char *text, struct arena *arena, const char **ret, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf url = {.max = 1 << 16};
    struct str rest, scheme = split_scheme(str_of(text), &rest);
    bool http = str_eq_nocase(scheme, STR("http")), https = str_eq_nocase(scheme, STR("https"));
    if (scheme.p != NULL && !http && !https)
        return err_set(err, -EINVAL, "'%s' is neither http nor https", text);
    rest.n = strcspn(rest.p, "?#");
    while (rest.n > 0 && rest.p[rest.n - 1] == '/')
        rest.n--;
    if (!has_host(rest) || !is_printable(rest))
        return err_set(err, -EINVAL, "'%s' is not the address of a server", text);
    strbuf_append_str(&url, http ? STR("http://") : STR("https://"));
    strbuf_append_str(&url, rest);
    if (strbuf_failed(&url))
        return err_set(err, -EINVAL, "it is too long for an address");
    *ret = arena_cstr(arena, strbuf_str(&url));
    return 0;
}

static const char *read_server(struct entry_reader *e) {
    const char *text = entry_text(e), *server = NULL;
    struct err err;
    if (text != NULL && kubeconfig_server(text, e->arena, &server, &err) != 0)
        json_fail(&e->r, "%s", err.text);
    return server;
}

static const char *read_proxy(struct entry_reader *e) {
    const char *text = entry_text(e);
    struct str rest, scheme = split_scheme(str_of(text), &rest);
    if (text == NULL)
        return NULL;
    /* errors do not repeat the text, because it may contain a password */
    if (!str_eq_nocase(scheme, STR("http")) && !str_eq_nocase(scheme, STR("https")) &&
        !str_eq_nocase(scheme, STR("socks5")))
        json_fail(&e->r, "it must begin with http://, https:// or socks5://");
    else if (!has_host(rest) || !is_printable(rest))
        json_fail(&e->r, "it is not the address of a proxy");
    return text;
}

/* ---- the entry ---- */

/* Returns the extension with information about the cluster for credential plugins. Skips other
 * extensions. */
static const char *read_extensions(struct entry_reader *e) {
    const char *found = NULL;
    struct str key;
    if (!json_array(&e->r))
        return NULL;
    while (json_element(&e->r)) {
        struct str name = {0}, value = {0};
        if (json_object(&e->r))
            while (json_member(&e->r, &key)) {
                if (str_eq(key, STR("name")))
                    name = json_string(&e->r);
                else if (str_eq(key, STR("extension")))
                    value = json_skip(&e->r);
            }
        if (str_eq(name, STR(EXEC_EXTENSION)) && value.n > 0)
            found = arena_cstr(e->arena, value);
    }
    return found;
}

static void read_member(struct entry_reader *e, struct str key, struct kube_access *access) {
    if (str_eq(key, STR("server")))
        access->server = read_server(e);
    else if (str_eq(key, STR("tls-server-name")))
        access->tls_server_name = entry_text(e);
    else if (str_eq(key, STR("insecure-skip-tls-verify")))
        access->insecure_skip_tls_verify = json_bool(&e->r);
    else if (str_eq(key, STR("certificate-authority")))
        access->ca.file = entry_path(e);
    else if (str_eq(key, STR("certificate-authority-data")))
        access->ca.data = entry_data(e);
    else if (str_eq(key, STR("proxy-url")))
        access->proxy_url = read_proxy(e);
    else if (str_eq(key, STR("extensions")))
        access->exec.cluster_config = read_extensions(e);
}

int kubeconfig_read_cluster(const struct kubeconfig_entry *entry, struct arena *scratch,
                            struct arena *arena, struct kube_access *access, struct err *err) {
    char what[128];
    struct entry_reader e;
    struct str key;
    (void)snprintf(what, sizeof what, "cluster '%.*s'", STR_ARG(entry->name)); /* cut: for people */
    entry_reader_init(&e, entry, what, scratch, arena);
    if (entry_begin(&e))
        while (json_member(&e.r, &key))
            read_member(&e, key, access);
    int r = entry_check(&e, err);
    if (r != 0)
        return r;
    if (access->server == NULL && !arena_failed(arena))
        return err_set(err, -EINVAL, "kubeconfig '%s': %s: there is no server in it",
                       entry->file->path, what);
    if (access->ca.data.n > 0)
        access->ca.file = NULL;
    if (access->insecure_skip_tls_verify && (access->ca.data.n > 0 || access->ca.file != NULL))
        return err_set(err, -EINVAL,
                       "kubeconfig '%s': %s: insecure-skip-tls-verify and a certificate authority "
                       "exclude each other; remove one",
                       entry->file->path, what);
    return 0;
}
