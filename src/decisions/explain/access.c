#include "explain/access.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/secret.h"

#include <errno.h>
#include <stdlib.h>

struct explain_access {
    const char *token_file;
    struct file_signature signature; /* signature of the token's file when it was last read */
    struct mutex mutex;              /* guards the token */
    struct secret token;             /* empty: no caller is accepted by token */
};

/* ---- the token ---- */

static int load_token(struct explain_access *a, struct err *err) {
    CLEANUP(secret_buffer_done) struct strbuf bytes = {0};
    struct file_signature signature = file_sign(a->token_file);
    int r = secret_read(a->token_file, &bytes, err);
    struct str token = str_trim(strbuf_str(&bytes));
    if (r == 0 && str_empty(token))
        r = err_set(err, -EINVAL, "'%s' is empty", a->token_file);
    if (r == 0) {
        mutex_lock(&a->mutex);
        r = secret_set(&a->token, token);
        mutex_unlock(&a->mutex);
        if (r != 0)
            (void)err_set(err, r, "no memory");
    }
    a->signature = signature; /* a bad token is not read again until its file changes */
    return r == 0 ? 0 : err_wrap(err, "token of explain.tokenFile");
}

void explain_access_poll(struct explain_access *a) {
    struct err err;
    if (a->token_file == NULL)
        return;
    struct file_signature now = file_sign(a->token_file);
    if (!file_signature_eq(&now, &a->signature) && load_token(a, &err) != 0)
        LOG_E("token refused; the token read before stays in force", LOG_ERRTEXT(&err));
}

/* Compares in a time that does not depend on where the bytes differ. */
static bool same_bytes(struct str a, struct str b) {
    unsigned char differs = a.n != b.n;
    for (size_t i = 0; a.n == b.n && i < a.n; i++)
        differs |= (unsigned char)(a.p[i] ^ b.p[i]);
    return differs == 0;
}

static bool knows_token(struct explain_access *a, const struct http_request *request) {
    const struct str scheme = STR("Bearer ");
    struct str given = http_request_header(request, "Authorization");
    if (!str_has_prefix(given, scheme))
        return false;
    given = str_trim((struct str){given.p + scheme.n, given.n - scheme.n});
    mutex_lock(&a->mutex);
    bool knows = a->token.n > 0 && same_bytes(given, secret_str(&a->token));
    mutex_unlock(&a->mutex);
    return knows;
}

bool explain_access_check(struct explain_access *a, const struct http_request *request,
                          struct http_response *response) {
    if (request->is_local || knows_token(a, request))
        return true;
    if (a->token_file != NULL)
        http_answer_text(response, 401,
                         "a request from another machine needs Authorization: Bearer, with the "
                         "token of explain.tokenFile");
    else
        http_answer_text(
            response, 403,
            "only a program on the machine itself may ask this, by localhost, 127.0.0.1 or [::1] "
            "(kubectl port-forward counts as well); others need a token: see explain.tokenFile");
    return false;
}

/* ---- life ---- */

int explain_access_new(const char *token_file, struct explain_access **ret, struct err *err) {
    struct explain_access *a = calloc(1, sizeof *a);
    if (a == NULL)
        return err_set(err, -ENOMEM, "no memory to start");
    mutex_init(&a->mutex);
    a->token_file = token_file;
    int r = token_file == NULL ? 0 : load_token(a, err);
    if (r == 0)
        *ret = a;
    else
        explain_access_free(a);
    return r;
}

void explain_access_free(struct explain_access *a) {
    if (a == NULL)
        return;
    secret_done(&a->token);
    mutex_done(&a->mutex);
    free(a);
}
