#include "kube/auth/credentials.h"

#include "base/base64.h"
#include "base/secret.h"
#include "kube/auth/exec_credential.h"
#include "kube/auth/exec_plugin.h"
#include "kube/auth/tls_files.h"
#include "kube/auth/token_file.h"

#include <errno.h>
#include <stdlib.h>

struct credentials {
    const struct kube_access *access; /* borrowed */
    struct clock *clock;              /* borrowed */
    struct tls_files tls;
    struct token_file token;
    struct exec_plugin *plugin;  /* owned; NULL: none */
    struct secret authorization; /* the header's value */
};

/* ---- the header ---- */

/* Makes the header's value from the scheme and the credential. */
static int authorize(struct credentials *c, struct str scheme, struct str credential,
                     struct err *err) {
    CLEANUP(secret_buffer_done) struct strbuf value = {0};
    int r = secret_buffer_init(&value, scheme.n + credential.n, err);
    if (r != 0)
        return r;
    strbuf_append_str(&value, scheme);
    strbuf_append_str(&value, credential);
    r = secret_set(&c->authorization, strbuf_str(&value));
    return r == 0 ? 0 : err_set(err, r, "no memory for credentials");
}

/* Sets the header, unless it already holds this token. */
static int authorize_bearer(struct credentials *c, struct str token, struct err *err) {
    struct str scheme = STR("Bearer "), now = secret_str(&c->authorization);
    if (token.n == 0) {
        secret_done(&c->authorization);
        return 0;
    }
    if (str_has_prefix(now, scheme) &&
        str_eq((struct str){now.p + scheme.n, now.n - scheme.n}, token))
        return 0;
    return authorize(c, scheme, token, err);
}

static int authorize_basic(struct credentials *c, struct err *err) {
    CLEANUP(secret_buffer_done) struct strbuf plain = {0};
    CLEANUP(secret_buffer_done) struct strbuf encoded = {0};
    struct str username = str_of(c->access->username), password = str_of(c->access->password);
    size_t n = username.n + 1 + password.n;
    int r = secret_buffer_init(&plain, n, err);
    if (r == 0)
        r = secret_buffer_init(&encoded, (n + 2) / 3 * 4, err);
    if (r != 0)
        return r;
    strbuf_append_str(&plain, username);
    strbuf_append_char(&plain, ':');
    strbuf_append_str(&plain, password);
    base64_append(&encoded, strbuf_str(&plain));
    return authorize(c, STR("Basic "), strbuf_str(&encoded), err);
}

/* ---- life ---- */

static int start_token(struct credentials *c, int64_t now_ms, struct err *err) {
    const struct kube_access *access = c->access;
    struct str fixed = str_trim(str_of(access->token));
    if (fixed.n > 0 && !token_valid(fixed))
        return err_set(err, -EINVAL,
                       "the token in %s has blanks or other characters in it that no "
                       "header may have",
                       access->source);
    if (access->token_file == NULL)
        return fixed.n > 0 ? authorize_bearer(c, fixed, err) : 0;
    int r = token_file_init(&c->token, access, fixed, now_ms, err);
    return r == 0 ? authorize_bearer(c, secret_str(&c->token.token), err) : r;
}

static int start(struct credentials *c, const struct credentials_options *options,
                 struct err *err) {
    const struct kube_access *access = options->access;
    int64_t now_ms = c->clock->now_ms(c->clock);
    int r = tls_files_init(&c->tls, access, now_ms, err);
    if (r == 0)
        r = start_token(c, now_ms, err);
    if (r == 0 && c->authorization.n == 0 && access->username != NULL)
        r = authorize_basic(c, err);
    if (r == 0 && access->exec.command != NULL)
        r = exec_plugin_new(&(struct exec_plugin_options){.access = access,
                                                          .clock = c->clock,
                                                          .wake = options->wake,
                                                          .ctx = options->ctx,
                                                          .time_limit_ms = access->exec.limit_ms},
                            &c->plugin, err);
    return r;
}

int credentials_new(const struct credentials_options *options, struct credentials **ret,
                    struct err *err) {
    struct credentials *c = calloc(1, sizeof *c);
    if (c == NULL)
        return err_set(err, -ENOMEM, "no memory for credentials");
    c->access = options->access;
    c->clock = options->clock != NULL ? options->clock : clock_real();
    int r = start(c, options, err);
    if (r != 0) {
        credentials_free(c);
        return r;
    }
    *ret = c;
    return 0;
}

void credentials_free(struct credentials *c) {
    if (c == NULL)
        return;
    exec_plugin_free(c->plugin);
    tls_files_done(&c->tls);
    token_file_done(&c->token);
    secret_done(&c->authorization);
    free(c);
}

/* ---- use ---- */

static int add_plugin(struct credentials *c, struct identity *identity, struct err *err) {
    struct exec_answer answer;
    int r = exec_plugin_get(c->plugin, identity->ca, &answer, err);
    if (r == 0)
        r = authorize_bearer(c, answer.token, err);
    if (r != 0)
        return r;
    identity->tls_version += answer.tls_version;
    identity->certificate = answer.certificate;
    identity->key = answer.key;
    return 0;
}

int credentials_get(struct credentials *c, struct identity *ret, struct err *err) {
    int64_t now_ms = c->clock->now_ms(c->clock);
    int r = 0;
    tls_files_poll(&c->tls, now_ms);
    token_file_poll(&c->token, now_ms);
    if (c->access->token_file != NULL)
        r = authorize_bearer(c, secret_str(&c->token.token), err);
    struct identity identity = {.ca = tls_source_str(&c->tls.ca),
                                .certificate = tls_source_str(&c->tls.certificate),
                                .key = tls_source_str(&c->tls.key),
                                .tls_version = c->tls.version};
    if (r == 0 && c->plugin != NULL)
        r = add_plugin(c, &identity, err);
    if (r != 0)
        return r;
    identity.authorization = secret_str(&c->authorization);
    *ret = identity;
    return 0;
}

void credentials_refused(struct credentials *c, int64_t began_ms) {
    token_file_refused(&c->token, began_ms);
    if (c->plugin != NULL)
        exec_plugin_refused(c->plugin, began_ms);
}
