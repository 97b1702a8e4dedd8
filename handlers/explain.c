#include "handlers/explain.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/secret.h"
#include "base/version.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct explain {
    const struct extender *extender;
    const struct webhook *webhook; /* NULL: nothing admits pods */
    char replica[256];
    const char *token_file;
    struct file_signature signature; /* of the token that was read; explain_poll()'s */
    struct mutex mutex;              /* guards what follows */
    struct secret token;             /* empty: nobody knows it */
};

/* ---- the token ---- */

static int load_token(struct explain *e, struct err *err) {
    CLEANUP(secret_buffer_done) struct strbuf bytes = {0};
    struct file_signature signature = file_sign(e->token_file);
    int r = secret_read(e->token_file, &bytes, err);
    struct str token = str_trim(strbuf_str(&bytes));
    if (r == 0 && str_empty(token))
        r = err_set(err, -EINVAL, "'%s' is empty", e->token_file);
    if (r == 0) {
        mutex_lock(&e->mutex);
        r = secret_set(&e->token, token);
        mutex_unlock(&e->mutex);
        if (r != 0)
            (void)err_set(err, r, "no memory");
    }
    e->signature = signature; /* a bad one is not read again and again */
    return r == 0 ? 0 : err_wrap(err, "token of explain.tokenFile");
}

void explain_poll(struct explain *e) {
    struct err err;
    if (e->token_file == NULL)
        return;
    struct file_signature now = file_sign(e->token_file);
    if (!file_signature_eq(&now, &e->signature) && load_token(e, &err) != 0)
        LOG_E("token refused; the one read before stays in force", LOG_ERRTEXT(&err));
}

/* Takes the same time wherever they differ. */
static bool same_bytes(struct str a, struct str b) {
    unsigned char differs = a.n != b.n;
    for (size_t i = 0; a.n == b.n && i < a.n; i++)
        differs |= (unsigned char)(a.p[i] ^ b.p[i]);
    return differs == 0;
}

static bool knows_token(struct explain *e, const struct http_request *request) {
    const struct str scheme = STR("Bearer ");
    struct str given = http_request_header(request, "Authorization");
    if (!str_has_prefix(given, scheme))
        return false;
    given = str_trim((struct str){given.p + scheme.n, given.n - scheme.n});
    mutex_lock(&e->mutex);
    bool knows = e->token.n > 0 && same_bytes(given, secret_str(&e->token));
    mutex_unlock(&e->mutex);
    return knows;
}

bool explain_may_read(struct explain *e, const struct http_request *request,
                      struct http_response *response) {
    if (request->peer_is_loopback || knows_token(e, request))
        return true;
    if (e->token_file != NULL)
        http_answer_text(response, 401,
                         "from another machine this needs Authorization: Bearer, with the token of "
                         "explain.tokenFile");
    else
        http_answer_text(response, 403,
                         "this is answered on the machine itself only (kubectl port-forward is as "
                         "good), or with a token: see explain.tokenFile");
    return false;
}

/* ---- what the endpoints share ---- */

const struct extender *explain_extender(const struct explain *e) {
    return e->extender;
}

const struct webhook *explain_webhook(const struct explain *e) {
    return e->webhook;
}

void explain_put_replica(const struct explain *e, struct json_writer *w) {
    json_key(w, STR("replica"));
    json_begin_object(w);
    json_put_member(w, STR("name"), str_of(e->replica));
    json_put_member(w, STR("version"), STR(EVENKEEL_VERSION));
    json_put_member(w, STR("commit"), str_of(version_commit()));
    json_end_object(w);
}

/* ---- life ---- */

int explain_new(const struct extender *extender, const struct webhook *webhook,
                const char *token_file, struct explain **ret, struct err *err) {
    struct explain *e = calloc(1, sizeof *e);
    if (e == NULL)
        return err_set(err, -ENOMEM, "no memory to start");
    mutex_init(&e->mutex);
    e->extender = extender;
    e->webhook = webhook;
    e->token_file = token_file;
    if (gethostname(e->replica, sizeof e->replica - 1) != 0)
        e->replica[0] = '\0'; /* a name too long: it is only shown */
    int r = token_file == NULL ? 0 : load_token(e, err);
    if (r == 0)
        *ret = e;
    else
        explain_free(e);
    return r;
}

void explain_free(struct explain *e) {
    if (e == NULL)
        return;
    secret_done(&e->token);
    mutex_done(&e->mutex);
    free(e);
}
