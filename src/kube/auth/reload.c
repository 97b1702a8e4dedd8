#include "kube/auth/reload.h"

#include "base/log.h"

#define NAME "evenkeel_kube_credential_reloads_total"
#define HELP "Credentials read again after the start, by what became of them."
#define LABELS(kind, result) "kind=\"" kind "\",result=\"" result "\""

static const struct {
    const char *name, *ok, *refused;
} kinds[] = {
    [RELOAD_TOKEN] = {"token", LABELS("token", "ok"), LABELS("token", "refused")},
    [RELOAD_CA] = {"ca", LABELS("ca", "ok"), LABELS("ca", "refused")},
    [RELOAD_CLIENT_CERTIFICATE] = {"client_certificate", LABELS("client_certificate", "ok"),
                                   LABELS("client_certificate", "refused")},
    [RELOAD_EXEC] = {"exec", LABELS("exec", "ok"), LABELS("exec", "refused")},
};

static void init_metric(struct metric *m, const char *labels) {
    m->name = NAME;
    m->help = HELP;
    m->labels = labels;
    m->kind = METRIC_COUNTER;
    metric_register(m);
}

void reload_init(struct reload *r, enum reload_kind kind) {
    r->kind = kind;
    r->failing = false;
    init_metric(&r->ok, kinds[kind].ok);
    init_metric(&r->refused, kinds[kind].refused);
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
        LOG_I("credential is good again", LOG_CSTR("kind", kinds[r->kind].name));
    r->failing = false;
}

void reload_ok(struct reload *r) {
    metric_add(&r->ok, 1);
    LOG_D("credential read again", LOG_CSTR("kind", kinds[r->kind].name));
    reload_same(r);
}

void reload_refused_quietly(struct reload *r) {
    metric_add(&r->refused, 1);
    r->failing = true;
}

void reload_refused(struct reload *r, const struct err *err) {
    if (!r->failing)
        LOG_W("new credential refused, the old one stays in use",
              LOG_CSTR("kind", kinds[r->kind].name), LOG_ERRTEXT(err));
    reload_refused_quietly(r);
}
