#include "kube/auth/reload.h"

#include "base/log.h"

#include <stdio.h>

#define NAME "evenkeel_kube_credential_reloads_total"
#define HELP "Credentials read again after the start, by result."

static const char *const kinds[] = {
    [RELOAD_TOKEN] = "token",
    [RELOAD_CA] = "ca",
    [RELOAD_CLIENT_CERTIFICATE] = "client_certificate",
    [RELOAD_EXEC] = "exec",
};

static void init_metric(const struct reload *r, const char *result, struct metric *m,
                        char labels[static sizeof r->labels[0]]) {
    const char *role = r->role;
    (void)snprintf(labels, sizeof r->labels[0], "kind=\"%s\",result=\"%s\"%s%s%s", kinds[r->kind],
                   result, role != NULL ? ",server=\"" : "", role != NULL ? role : "",
                   role != NULL ? "\"" : ""); /* all our own names: it fits */
    m->name = NAME;
    m->help = HELP;
    m->labels = labels;
    m->kind = METRIC_COUNTER;
    metric_register(m);
}

void reload_init(struct reload *r, enum reload_kind kind, const struct kube_access *access) {
    r->kind = kind;
    r->role = access->role;
    r->failing = false;
    if (access->unmeasured)
        return;
    init_metric(r, "ok", &r->ok, r->labels[0]);
    init_metric(r, "refused", &r->refused, r->labels[1]);
    r->registered = true;
}

void reload_done(struct reload *r) {
    if (!r->registered)
        return;
    metric_unregister(&r->ok);
    metric_unregister(&r->refused);
    r->registered = false;
}

void reload_same(struct reload *r) {
    if (r->failing)
        LOG_I("credential is good again", LOG_CSTR("kind", kinds[r->kind]),
              LOG_CSTR_IF("role", r->role));
    r->failing = false;
}

void reload_ok(struct reload *r) {
    metric_add(&r->ok, 1);
    LOG_D("credential read again", LOG_CSTR("kind", kinds[r->kind]), LOG_CSTR_IF("role", r->role));
    reload_same(r);
}

void reload_refused_quietly(struct reload *r) {
    metric_add(&r->refused, 1);
    r->failing = true;
}

void reload_refused(struct reload *r, const struct err *err) {
    if (!r->failing)
        LOG_W("new credential refused, the old credential stays in use",
              LOG_CSTR("kind", kinds[r->kind]), LOG_CSTR_IF("role", r->role), LOG_ERRTEXT(err));
    reload_refused_quietly(r);
}
