/* Kubeconfigs in real files: what they are made of, what they say, what is refused and how. */
#include "base/base64.h"
#include "base/limits.h"
#include "kube/auth/access.h"
#include "unit/certs/issued.h"

#include <errno.h>

/* The text of a kubeconfig with one context. Members are YAML flow style. */
#define CONFIG(cluster, user)                                                                      \
    "apiVersion: v1\nkind: Config\ncurrent-context: ctx\n"                                         \
    "contexts: [{name: ctx, context: {cluster: c, user: u}}]\n"                                    \
    "clusters: [{name: c, cluster: " cluster "}]\n"                                                \
    "users: [{name: u, user: " user "}]\n"
#define HTTPS "{server: 'https://h:6443'}"
#define USER(user) CONFIG(HTTPS, user)
#define CLUSTER(cluster) CONFIG(cluster, "{}")
#define EXEC_V1 "apiVersion: client.authentication.k8s.io/v1"

struct fixture {
    const char *folder;
    struct arena arena;
    struct kube_access access;
    struct err err;
};

static int setup(void **state) {
    static struct fixture f;
    void *folder;
    if (make_folder(&folder) != 0)
        return -1;
    f = (struct fixture){.folder = folder};
    arena_init(&f.arena, 64u << 20);
    *state = &f;
    return unsetenv("KUBECONFIG");
}

static int teardown(void **state) {
    struct fixture *f = *state;
    void *folder = (void *)(uintptr_t)f->folder;
    arena_done(&f->arena);
    return remove_folder(&folder);
}

static int load_path(struct fixture *f, const char *path, const char *context) {
    f->err = (struct err){0};
    arena_reset(&f->arena);
    f->access = (struct kube_access){.server = "untouched"};
    int r = kube_access_from_kubeconfig(path, context, &f->arena, &f->access, &f->err);
    if (r != 0) {
        assert_string_equal(f->access.server, "untouched");
        assert_int_equal(f->err.code, r);
    }
    return r;
}

static int load(struct fixture *f, const char *text, const char *context) {
    put_file(in(f->folder, "config"), str_of(text), 0600);
    return load_path(f, in(f->folder, "config"), context);
}

static const struct kube_access *load_well(struct fixture *f, const char *text) {
    if (load(f, text, NULL) != 0)
        fail_msg("%s", f->err.text);
    return &f->access;
}

static void load_badly(struct fixture *f, const char *text, int code, const char *words) {
    int r = load(f, text, NULL);
    if (r != code)
        fail_msg("got %d (%s), want %d (%s)", r, f->err.text, code, words);
    assert_contains(f->err.text, words);
    assert_contains(f->err.text, in(f->folder, "config"));
}

/* ---- values ---- */

static void test_everything_is_read(void **state) {
    struct fixture *f = *state;
    const struct kube_access *a = load_well(f, "apiVersion: v1\n"
                                               "kind: Config\n"
                                               "preferences: {colors: true}\n"
                                               "current-context: ctx\n"
                                               "contexts:\n"
                                               "- name: other\n"
                                               "  context: {cluster: nowhere}\n"
                                               "- name: ctx\n"
                                               "  context:\n"
                                               "    cluster: prod\n"
                                               "    user: bob\n"
                                               "    namespace: kube-system\n"
                                               "    extensions: [{name: x, extension: {y: 1}}]\n"
                                               "clusters:\n"
                                               "- name: prod\n"
                                               "  cluster:\n"
                                               "    server: https://10.0.0.1:6443\n"
                                               "    tls-server-name: kubernetes\n"
                                               "    certificate-authority-data: aGVsbG8=\n"
                                               "    proxy-url: socks5://proxy:1080\n"
                                               "    disable-compression: true\n"
                                               "    unknown: [1, {2: 3}]\n"
                                               "users:\n"
                                               "- name: bob\n"
                                               "  user:\n"
                                               "    token: secret\n"
                                               "    client-certificate-data: Y2VydA==\n"
                                               "    client-key-data: a2V5\n");
    char source[600];
    (void)snprintf(source, sizeof source, "kubeconfig '%s' (context 'ctx')",
                   in(f->folder, "config")); /* fits */
    assert_string_equal(a->server, "https://10.0.0.1:6443");
    assert_string_equal(a->tls_server_name, "kubernetes");
    assert_string_equal(a->proxy_url, "socks5://proxy:1080");
    assert_string_equal(a->namespace, "kube-system");
    assert_string_equal(a->source, source);
    assert_false(a->insecure_skip_tls_verify);
    assert_str(a->ca.data, "hello");
    assert_str(a->client_certificate.data, "cert");
    assert_str(a->client_key.data, "key");
    assert_string_equal(a->token, "secret");
    assert_null(a->token_file);
    assert_null(a->username);
    assert_null(a->exec.command);
}

static void test_json_is_read(void **state) {
    struct fixture *f = *state;
    const struct kube_access *a = load_well(
        f, "{\"current-context\":\"ctx\",\"contexts\":[{\"context\":{\"cluster\":\"c\"},\"name\":"
           "\"ctx\"}],\"clusters\":[{\"cluster\":{\"server\":\"https:\\/\\/h\",\"insecure-skip-"
           "tls-verify\":true},\"name\":\"c\"}],\"users\":null}");
    assert_string_equal(a->server, "https://h");
    assert_true(a->insecure_skip_tls_verify);
    assert_string_equal(a->namespace, "default");
    assert_null(a->token); /* a context without a user is anonymous */
    a = load_well(f, "{\"current-context\":\"ctx\",\"contexts\":[{\"name\":\"x\"}],\"contexts\":[{"
                     "\"name\":\"ctx\",\"context\":{\"cluster\":\"c\"}}],\"clusters\":[{\"name\":"
                     "\"c\",\"cluster\":{\"server\":\"a\",\"server\":\"b\"}}]}");
    assert_string_equal(a->server, "https://b"); /* what is said twice: as Go reads it */
}

static void test_servers(void **state) {
    static const char *const cases[][2] = {
        {"'https://h:6443/'", "https://h:6443"},
        {"'https://h/clusters/x//'", "https://h/clusters/x"},
        {"'h:6443'", "https://h:6443"},
        {"10.0.0.1", "https://10.0.0.1"},
        {"'https://[::1]:6443'", "https://[::1]:6443"},
        {"'HTTPS://h?a=b#c'", "https://h"},
        {"'https://h/x/?a=b'", "https://h/x"},
        {"'http://localhost:8001'", "http://localhost:8001"},
    };
    char text[1024];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)snprintf(text, sizeof text, CLUSTER("{server: %s}"), cases[i][0]); /* fits */
        assert_string_equal(load_well(*state, text)->server, cases[i][1]);
    }
}

static void test_paths_are_relative_to_the_file(void **state) {
    struct fixture *f = *state;
    char want[512];
    const struct kube_access *a = load_well(
        f, CONFIG("{server: h, certificate-authority: pki/ca.crt}",
                  "{client-certificate: /abs/tls.crt, client-key: ../tls.key, tokenFile: t}"));
    assert_string_equal(a->ca.file, in(f->folder, "pki/ca.crt"));
    assert_string_equal(a->client_certificate.file, "/abs/tls.crt");
    assert_string_equal(a->client_key.file, in(f->folder, "../tls.key"));
    assert_string_equal(a->token_file, in(f->folder, "t"));
    a = load_well(f, USER("{exec: {command: bin/plugin, " EXEC_V1 "}}"));
    assert_string_equal(a->exec.command, in(f->folder, "bin/plugin"));
    a = load_well(f, USER("{exec: {command: plugin, " EXEC_V1 "}}"));
    assert_string_equal(a->exec.command, "plugin"); /* PATH tells */

    /* a kubeconfig that is named without a folder */
    assert_non_null(getcwd(want, sizeof want));
    put_file(in(f->folder, "config"), STR(CLUSTER("{server: h, certificate-authority: ca}")), 0600);
    assert_int_equal(chdir(f->folder), 0);
    int r = load_path(f, "config", NULL);
    assert_int_equal(chdir(want), 0);
    check_ok(r, &f->err);
    assert_string_equal(f->access.ca.file, "./ca");
}

static void test_data_wins_over_files(void **state) {
    const struct kube_access *a = load_well(
        *state, CONFIG("{server: h, certificate-authority-data: Y2E=, certificate-authority: f}",
                       "{client-certificate: f, client-certificate-data: Y2VydA==, "
                       "client-key-data: a2V5, client-key: f}"));
    assert_str(a->ca.data, "ca");
    assert_null(a->ca.file);
    assert_str(a->client_certificate.data, "cert");
    assert_null(a->client_certificate.file);
    assert_str(a->client_key.data, "key");
    assert_null(a->client_key.file);
}

static void test_users(void **state) {
    const struct kube_access *a = load_well(*state, USER("{token: a, tokenFile: /b}"));
    assert_string_equal(a->token, "a");
    assert_string_equal(a->token_file, "/b");
    a = load_well(*state, USER("{username: u, password: p}"));
    assert_string_equal(a->username, "u");
    assert_string_equal(a->password, "p");
    a = load_well(*state, USER("{username: u}"));
    assert_string_equal(a->password, "");
    a = load_well(*state, USER("{client-key: /k}")); /* as upstream: a key alone is nothing */
    assert_null(a->client_key.file);
    a = load_well(*state, USER("{as: '', as-groups: [ ], as-user-extra: { }, as-uid: null}"));
    assert_null(a->token);
    a = load_well(*state,
                  "{\"current-context\":\"ctx\",\"contexts\":[{\"name\":\"ctx\",\"context\":{"
                  "\"cluster\":\"c\",\"user\":\"u\"}}],\"clusters\":[{\"name\":\"c\",\"cluster\":{"
                  "\"server\":\"h\"}}],\"users\":[{\"name\":\"u\",\"user\":{\"as-groups\":[ ]}}]}");
    assert_null(a->token);
    a = load_well(*state, USER("null"));
    assert_null(a->token);
    a = load_well(*state, "current-context: ctx\ncontexts: [{name: ctx, context: {cluster: c, "
                          "user: u}}]\nclusters: [{name: c, cluster: " HTTPS "}]\n"
                          "users: [{name: u}]\n");
    assert_null(a->token);
}

/* Upstream reads the user only where the server speaks TLS: kubectl proxy needs no credentials. */
static void test_nothing_secret_over_http(void **state) {
    const struct kube_access *a =
        load_well(*state, CONFIG("{server: 'http://h'}", "{token: a, auth-provider: {name: x}}"));
    assert_null(a->token);
    assert_contains(a->source, "no credentials over plain http");
}

static void test_exec(void **state) {
    struct fixture *f = *state;
    const struct kube_access *a = load_well(
        f, CONFIG("{server: h, extensions: [{name: x, extension: 1}, {extension: {audience: [1, a]}"
                  ", name: client.authentication.k8s.io/exec}, {name: z, extension: 2}]}",
                  "{exec: {command: aws, args: [eks, 'get token', ''], env: [{name: A, value: b}, "
                  "{name: C}], apiVersion: client.authentication.k8s.io/v1beta1, installHint: "
                  "'get it', provideClusterInfo: true, interactiveMode: IfAvailable, x: y}}"));
    const struct kube_exec *e = &a->exec;
    assert_string_equal(e->command, "aws");
    assert_int_equal(e->arg_count, 3);
    assert_string_equal(e->args[0], "eks");
    assert_string_equal(e->args[1], "get token");
    assert_string_equal(e->args[2], "");
    assert_int_equal(e->env_count, 2);
    assert_string_equal(e->env[0].name, "A");
    assert_string_equal(e->env[0].value, "b");
    assert_string_equal(e->env[1].name, "C");
    assert_string_equal(e->env[1].value, "");
    assert_string_equal(e->api_version, "client.authentication.k8s.io/v1beta1");
    assert_string_equal(e->install_hint, "get it");
    assert_true(e->provide_cluster_info);
    assert_string_equal(e->cluster_config, "{\"audience\":[1,\"a\"]}");
    /* upstream runs no plugin for whom there is another credential */
    a = load_well(f, USER("{token: t, exec: {command: aws}}"));
    assert_null(a->exec.command);
    a = load_well(f, USER("{username: me, exec: {command: aws}}"));
    assert_null(a->exec.command);
    a = load_well(f, USER("{client-certificate: c, client-key: k, exec: {command: aws}}"));
    assert_null(a->exec.command);
    a = load_well(f, USER("{exec: {command: a, interactiveMode: Never, args: null, " EXEC_V1 "}}"));
    assert_int_equal(a->exec.arg_count, 0);
}

static void test_contexts(void **state) {
    struct fixture *f = *state;
    static const char text[] = "current-context: a\n"
                               "contexts:\n"
                               "- {name: a, context: {cluster: a}}\n"
                               "- {name: b, context: {cluster: b, namespace: n-1}}\n"
                               "clusters:\n"
                               "- {name: a, cluster: {server: a}}\n"
                               "- {name: b, cluster: {server: b}}\n";
    assert_int_equal(load(f, text, NULL), 0);
    assert_string_equal(f->access.server, "https://a");
    assert_int_equal(load(f, text, ""), 0);
    assert_string_equal(f->access.server, "https://a");
    assert_int_equal(load(f, text, "b"), 0);
    assert_string_equal(f->access.server, "https://b");
    assert_string_equal(f->access.namespace, "n-1");
    assert_contains(f->access.source, "(context 'b')");
    assert_int_equal(load(f, text, "c"), -ENOENT);
    assert_contains(f->err.text, "there is no context 'c'; there are: a, b");
}

/* ---- several files ---- */

static void test_list_is_merged(void **state) {
    struct fixture *f = *state;
    char list[2048];
    put_file(in(f->folder, "one"),
             STR("contexts: [{name: x, context: {cluster: c, user: u}}]\n"
                 "clusters: [{name: c, cluster: {server: first, certificate-authority: ca}}]\n"),
             0600);
    put_file(in(f->folder, "two"),
             STR("current-context: x\n"
                 "contexts: [{name: x, context: {cluster: d, user: u, namespace: second}}]\n"
                 "clusters: [{name: c, cluster: {server: second, tls-server-name: t}}]\n"
                 "users: [{name: u, user: {tokenFile: t}}]\n"),
             0600);
    put_file(in(f->folder, "three"), STR("current-context: why\n"), 0600);
    (void)snprintf(list, sizeof list, ":%s/missing:%s/one::%s/two:%s/three", f->folder, f->folder,
                   f->folder, f->folder); /* fits */
    assert_int_equal(setenv("KUBECONFIG", list, 1), 0);
    check_ok(load_path(f, NULL, NULL), &f->err);
    assert_string_equal(f->access.server, "https://first");
    assert_null(f->access.tls_server_name); /* entries are taken whole */
    assert_string_equal(f->access.namespace, "default");
    assert_string_equal(f->access.ca.file, in(f->folder, "ca"));
    assert_string_equal(f->access.token_file, in(f->folder, "t"));
    assert_contains(f->access.source, list);

    put_file(in(f->folder, "two"), STR("users: {}"), 0600); /* one that is broken spoils the list */
    assert_int_equal(load_path(f, NULL, NULL), -EINVAL);
    assert_contains(f->err.text, in(f->folder, "two"));
    assert_contains(f->err.text, "expected an array");
    /* a path that is given counts alone */
    assert_int_equal(load_path(f, in(f->folder, "missing"), NULL), -ENOENT);
    assert_contains(f->err.text, in(f->folder, "missing"));
}

static void test_usual_place(void **state) {
    struct fixture *f = *state;
    assert_int_equal(setenv("HOME", f->folder, 1), 0);
    assert_int_equal(load_path(f, NULL, NULL), -ENOENT);
    assert_contains(f->err.text, in(f->folder, ".kube/config"));
    assert_contains(f->err.text, "set KUBECONFIG");
    assert_int_equal(mkdir(in(f->folder, ".kube"), 0700), 0);
    put_file(in(f->folder, ".kube/config"), STR(CLUSTER(HTTPS)), 0600);
    assert_int_equal(load_path(f, NULL, NULL), 0);
    assert_int_equal(setenv("KUBECONFIG", in(f->folder, "missing"), 1), 0);
    assert_int_equal(load_path(f, NULL, NULL), -ENOENT);
    assert_contains(f->err.text, in(f->folder, "missing"));
    assert_int_equal(unsetenv("KUBECONFIG"), 0);
    assert_int_equal(unsetenv("HOME"), 0);
    assert_int_equal(load_path(f, NULL, NULL), -ENOENT);
    assert_contains(f->err.text, "neither KUBECONFIG nor HOME");
}

/* ---- refusals ---- */

static void test_missing_references(void **state) {
    struct fixture *f = *state;
    load_badly(
        f,
        "current-context: why\ncontexts: [{name: why, context: {cluster: z}}]\n"
        "clusters: [{name: a, cluster: {}}, {name: b, cluster: {}}]\n",
        -ENOENT,
        "context 'why' names the cluster 'z', which is not in the kubeconfig; there are: a, b");
    load_badly(f,
               "current-context: why\ncontexts: [{name: why, context: {cluster: a, user: z}}]\n"
               "clusters: [{name: a, cluster: " HTTPS "}]\n",
               -ENOENT,
               "context 'why' names the user 'z', which is not in the kubeconfig; there are none");
    load_badly(f, "current-context: why\ncontexts: [{name: why}]\nclusters: [{name: a}]\n", -ENOENT,
               "context 'why' names no cluster; there are: a");
    load_badly(f,
               "current-context: why\ncontexts: [{name: why, context: {user: x}}]\n"
               "clusters: [{cluster: " HTTPS "}]\n",
               -ENOENT, "context 'why' names no cluster");
    load_badly(f, "current-context: why\n", -ENOENT, "there is no context 'why'; there are none");
    load_badly(f,
               "contexts: [{name: a},{name: b},{name: c},{name: d},{name: e},{name: f},{name: g},"
               "{name: h},{name: i},{name: j},{name: k},{name: l}]\n",
               -ENOENT,
               "there is no current-context; choose a context; there are: a, b, c, d, e, f, g, h, "
               "i, j and 2 more");
    load_badly(f, "", -ENOENT, "there is no current-context");
    load_badly(f, CLUSTER("{}"), -EINVAL, "cluster 'c': there is no server");
    load_badly(f,
               "current-context: why\ncontexts: [{name: why, context: {cluster: c}}]\n"
               "clusters: [{name: c}]\n",
               -EINVAL, "cluster 'c': there is no server");
}

static void test_malformed(void **state) {
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"a: [", "line 2, column 1"},
        {"[]", "expected an object, found an array"},
        {"kind: Pod\n", "it is a Pod, not a kubeconfig"},
        {CLUSTER(HTTPS) "---\n{}\n", "more than one document"},
        {"clusters:\n- {name: a}\n- {name: b}\n- {name: a}\n", "two entries have the name 'a'"},
        {CLUSTER("[]"), "line 5: cluster 'c': expected an object, found an array"},
        {CLUSTER("{server: 1}"), "line 5: cluster 'c'.server: expected a string, found a number"},
        {USER("{token: 12}"), "line 6: user 'u'.token: expected a string, found a number"},
        {CLUSTER("{server: 'ftp://h'}"), "'ftp://h' is neither http nor https"},
        {CLUSTER("{server: 'https://'}"), "is not the address of a server"},
        {CLUSTER("{server: 'https:///x'}"), "is not the address of a server"},
        {CLUSTER("{server: ':6443'}"), "is not the address of a server"},
        {CLUSTER("{server: 'a b'}"), "is not the address of a server"},
        {CLUSTER("{server: \"https://h\\n\"}"), "is not the address of a server"},
        {CLUSTER("{server: \"h\\0x\"}"), "there is a NUL in it"},
        {CLUSTER("{server: h, proxy-url: 'h:80'}"), "must begin with http://, https:// or socks5"},
        {CLUSTER("{server: h, proxy-url: 'http://'}"), "is not the address of a proxy"},
        {CLUSTER("{server: h, certificate-authority-data: 'YQ'}"),
         "line 5: cluster 'c'.certificate-authority-data: it is not base64"},
        {CLUSTER("{server: h, insecure-skip-tls-verify: true, certificate-authority: a}"),
         "insecure-skip-tls-verify and a certificate authority exclude each other"},
        {CLUSTER("{server: h, insecure-skip-tls-verify: true, certificate-authority-data: YWE=}"),
         "exclude each other"},
        {USER("{client-certificate: a}"), "there is a client-certificate, but no client-key"},
        {USER("{token: a, username: b}"), "a token and a username"},
        {USER("{tokenFile: a, password: b}"), "a token and a username"},
        {USER("{as: a}"), "impersonation"},
        {USER("{as-uid: a}"), "impersonation"},
        {USER("{as-groups: [a]}"), "impersonation"},
        {USER("{as-user-extra: {a: [b]}}"), "impersonation"},
        {USER("{auth-provider: {name: gcp}}"), "auth-provider 'gcp' was removed"},
        {USER("{auth-provider: {name: azure}, token: a}"), "auth-provider 'azure' was removed"},
        {USER("{auth-provider: {name: oidc, config: {}}}"),
         "auth-provider 'oidc' is not supported"},
        {USER("{exec: {" EXEC_V1 "}}"), "user 'u'.exec: it names no command"},
        {USER("{exec: {command: a}}"), "its apiVersion must be"},
        {USER("{exec: {command: a, apiVersion: v1}}"), "its apiVersion must be"},
        {USER("{exec: {command: a, apiVersion: client.authentication.k8s.io/v1alpha1}}"),
         "removed from Kubernetes in 1.24"},
        {USER("{exec: {command: a, interactiveMode: Always, " EXEC_V1 "}}"), "needs a terminal"},
        {USER("{exec: {command: a, interactiveMode: x, " EXEC_V1 "}}"), "must be Never or"},
        {USER("{exec: {command: a, env: [{value: b}], " EXEC_V1 "}}"), "needs a name"},
        {USER("{exec: {command: a, env: [{name: 'b=c'}], " EXEC_V1 "}}"), "needs a name"},
        {USER("{exec: {command: a, args: [\"b\\0\"], " EXEC_V1 "}}"), "there is a NUL in it"},
        {USER("{exec: {command: a, args: [1], " EXEC_V1 "}}"), "expected a string"},
        {"current-context: x\ncontexts: [{name: x, context: {cluster: c, namespace: A}}]\n",
         "'A' cannot be the name of a namespace"},
        {"current-context: x\ncontexts: [{name: x, context: {cluster: c, namespace: a/b}}]\n",
         "line 2: context 'x'.namespace"},
        {"current-context: x\ncontexts: [{name: x, context: {cluster: c, namespace: a-}}]\n",
         "cannot be the name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        load_badly(*state, cases[i].text, -EINVAL, cases[i].words);
}

/* A proxy's address may have a password in it. */
static void test_errors_keep_secrets(void **state) {
    struct fixture *f = *state;
    load_badly(f, CLUSTER("{server: h, proxy-url: 'ftp://me:hunter2@h'}"), -EINVAL, "proxy-url");
    assert_null(strstr(f->err.text, "hunter2"));
    load_badly(f, USER("{client-key-data: hunter2}"), -EINVAL, "client-key-data");
    assert_null(strstr(f->err.text, "hunter2"));
}

static void test_limits(void **state) {
    struct fixture *f = *state;
    struct strbuf text = {0};
    strbuf_appendf(&text, "clusters:\n");
    for (int i = 0; i <= LIMIT_KUBECONFIG_ENTRIES; i++)
        strbuf_appendf(&text, "- {name: c%d}\n", i);
    strbuf_append_char(&text, '\0');
    load_badly(f, text.p, -EINVAL, "more than 4096 entries");
    strbuf_clear(&text);
    for (size_t i = 0; i < LIMIT_CONFIG_BYTES; i++)
        strbuf_append_char(&text, '#');
    strbuf_append_str(&text, (struct str){"#", 2});
    load_badly(f, text.p, -EFBIG, "larger than");
    strbuf_done(&text);
    arena_done(&f->arena); /* an arena that is too small is an error like any other */
    arena_init(&f->arena, 64);
    assert_int_equal(load(f, USER("{token: a}"), NULL), -ENOMEM);
}

/* ---- base64 ---- */

static void test_base64(void **state) {
    struct fixture *f = *state;
    static const char *const good[][2] = {{"", ""},
                                          {"YQ==", "a"},
                                          {"YWI=", "ab"},
                                          {"YWJj", "abc"},
                                          {"Y\r\nWJ\nj", "abc"},
                                          {"+/+/", "\xfb\xff\xbf"},
                                          {"YWJjZA==", "abcd"},
                                          {"YWJjZGU=", "abcde"}};
    static const char *const bad[] = {"Y", "YQ",   "YQ=",      "YQ===", "Y===", "====",
                                      "=", "Y=Q=", "YQ==YQ==", "YWJ j", "YWJ-", "YWJ_"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct str bytes = {0};
        struct strbuf encoded = {0};
        assert_true(base64_decode(str_of(good[i][0]), &f->arena, &bytes));
        assert_str(bytes, good[i][1]);
        base64_append(&encoded, bytes);
        if (strchr(good[i][0], '\n') == NULL)
            assert_str(strbuf_str(&encoded), good[i][0]);
        strbuf_done(&encoded);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct str bytes;
        if (base64_decode(str_of(bad[i]), &f->arena, &bytes))
            fail_msg("'%s' was taken for base64", bad[i]);
    }
}

/* ---- another server ---- */

/* upstream: client-go tools/clientcmd client_config.go getCluster (overrides.ClusterInfo.Server) */
static void test_another_server(void **state) {
    struct fixture *f = *state;
    static const char secure[] =
        CONFIG("{server: 'https://h:6443', tls-server-name: t, certificate-authority-data: aGk=}",
               "{token: secret}");
    static const char plain[] = CONFIG("{server: 'http://h:8080'}", "{token: secret}");
    const char *path = in(f->folder, "config");
    const struct kube_access *a = &f->access;
    put_file(path, str_of(secure), 0600);
    assert_int_equal(
        kube_access_overriding("https://10.0.0.7:6443/", path, NULL, &f->arena, &f->access, NULL),
        0);
    assert_string_equal(a->server, "https://10.0.0.7:6443");
    assert_null(a->tls_server_name);
    assert_str(a->ca.data, "hi");
    assert_string_equal(a->token, "secret");
    /* credentials go by the server that is asked, not by the one in the file */
    assert_int_equal(
        kube_access_overriding("http://10.0.0.7", path, NULL, &f->arena, &f->access, NULL), 0);
    assert_string_equal(a->server, "http://10.0.0.7");
    assert_null(a->token);
    put_file(path, str_of(plain), 0600);
    assert_int_equal(kube_access_overriding("h2", path, NULL, &f->arena, &f->access, NULL), 0);
    assert_string_equal(a->server, "https://h2");
    assert_string_equal(a->token, "secret");
    assert_int_equal(kube_access_overriding("ftp://h", path, NULL, &f->arena, &f->access, &f->err),
                     -EINVAL);
    assert_string_equal(f->err.text, "'ftp://h' is neither http nor https");
}

static void test_server_alone(void **state) {
    struct fixture *f = *state;
    const struct kube_access *a = &f->access;
    assert_int_equal(
        kube_access_without_credentials("http://10.0.0.7:8080/", &f->arena, &f->access, NULL), 0);
    assert_string_equal(a->server, "http://10.0.0.7:8080");
    assert_string_equal(a->namespace, "default");
    assert_string_equal(a->source, "server 'http://10.0.0.7:8080' (no credentials)");
    assert_null(a->token);
    assert_int_equal(kube_access_without_credentials("https://", &f->arena, &f->access, &f->err),
                     -EINVAL);
    assert_string_equal(f->err.text, "'https://' is not the address of a server");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_everything_is_read),
        TEST(test_json_is_read),
        TEST(test_servers),
        TEST(test_paths_are_relative_to_the_file),
        TEST(test_data_wins_over_files),
        TEST(test_users),
        TEST(test_nothing_secret_over_http),
        TEST(test_exec),
        TEST(test_contexts),
        TEST(test_list_is_merged),
        TEST(test_usual_place),
        TEST(test_missing_references),
        TEST(test_malformed),
        TEST(test_errors_keep_secrets),
        TEST(test_limits),
        TEST(test_base64),
        TEST(test_another_server),
        TEST(test_server_alone),
    };
    return cmocka_run_group_tests_name("kubeconfig", tests, NULL, NULL);
}
