/*
 * Any text as a kubeconfig, and as what a credential plugin printed. What is accepted must be fit
 * for use: an address with scheme and host, no contradiction left; what is refused must say why and
 * leave the result alone.
 */
#include "base/base64.h"
#include "base/json_reader.h"
#include "fuzz/fuzz.h"
#include "kube/auth/access.h"
#include "kube/auth/exec_credential.h"

#include <stdlib.h>

static bool has_pem(const struct kube_pem *pem) {
    return pem->data.n > 0 || pem->file != NULL;
}

static void check_exec(const struct kube_access *a, struct arena *arena) {
    const struct kube_exec *exec = &a->exec;
    struct strbuf info = {.max = 64u << 20};
    struct json_reader reader;
    if (exec->command == NULL)
        return;
    require(exec->command[0] != '\0' && exec->api_version != NULL);
    require(a->token == NULL && a->username == NULL && !has_pem(&a->client_certificate));
    for (size_t i = 0; i < exec->arg_count; i++)
        require(exec->args[i] != NULL);
    for (size_t i = 0; i < exec->env_count; i++)
        require(exec->env[i].name[0] != '\0' && exec->env[i].value != NULL);
    exec_credential_info(a, STR("ca"), &info);
    json_reader_init(&reader, strbuf_str(&info), arena, "info");
    (void)json_skip(&reader); /* json_finish() tells */
    require(strbuf_failed(&info) || json_finish(&reader, NULL) == 0);
    strbuf_done(&info);
}

static void check_access(const struct kube_access *a, struct arena *arena) {
    struct str server = str_of(a->server);
    size_t scheme = str_has_prefix(server, STR("https://")) ? 8 : 7;
    require(scheme == 8 || str_has_prefix(server, STR("http://")));
    require(server.n > scheme && server.p[scheme] != '/' && server.p[server.n - 1] != '/');
    require(a->namespace[0] != '\0' && strchr(a->namespace, '/') == NULL && a->source != NULL);
    require(!a->insecure_skip_tls_verify || !has_pem(&a->ca));
    require(has_pem(&a->client_certificate) == has_pem(&a->client_key));
    require((a->username == NULL) == (a->password == NULL));
    require(a->username == NULL || (a->token == NULL && a->token_file == NULL));
    require(a->ca.file == NULL || a->ca.data.n == 0);
    check_exec(a, arena);
}

static void read_kubeconfig(const uint8_t *bytes, size_t n, struct arena *arena) {
    static const char *const contexts[] = {NULL, "a"};
    const char *path = as_file(bytes, n);
    for (size_t i = 0; i < 2; i++) {
        struct kube_access access = {.server = NULL};
        struct err err = {0};
        int r = kube_access_from_kubeconfig(path, contexts[i], arena, &access, &err);
        require(r == 0 ? access.server != NULL
                       : access.server == NULL && err.code == r && err.text[0] != '\0');
        if (r == 0)
            check_access(&access, arena);
    }
}

static void read_answer(struct str text, struct arena *arena) {
    struct exec_credential c;
    struct err err = {0};
    char *copy = malloc(text.n + 1); /* it may be wiped */
    require(copy != NULL);
    memcpy(copy, text.p, text.n);
    int r = exec_credential_read((struct str){copy, text.n}, "client.authentication.k8s.io/v1",
                                 arena, &c, &err);
    if (r == 0) {
        require(c.token.n > 0 || c.certificate.n > 0);
        require((c.certificate.n > 0) == (c.key.n > 0));
        require(c.token.n == 0 || token_valid(c.token));
        exec_credential_wipe(&c);
    } else {
        require(err.code == r && err.text[0] != '\0');
    }
    free(copy);
}

/* What is encoded reads back. */
static void check_base64(struct str text, struct arena *arena) {
    struct strbuf encoded = {0};
    struct str back = {0};
    base64_append(&encoded, text);
    require(base64_decode(strbuf_str(&encoded), arena, &back) && str_eq(back, text));
    (void)base64_decode(text, arena, &back); /* must only not crash */
    strbuf_done(&encoded);
}

static int try_input(const uint8_t *bytes, size_t n) {
    struct arena arena;
    struct str text = {(const char *)bytes, n};
    arena_init(&arena, 64u << 20);
    read_kubeconfig(bytes, n, &arena);
    if (n > 0) {
        read_answer(text, &arena);
        check_base64(text, &arena);
    }
    arena_done(&arena);
    return 0;
}
