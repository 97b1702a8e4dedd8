#include "daemon/leadership.h"

#include "base/log.h"
#include "kube/election/elector.h"

#include <errno.h>
#include <stdlib.h>

enum { RELEASE_MS = 3000 };

/* One Lease and its purpose. */
struct term {
    enum purpose purpose;
    const char *identity;
    struct elector *elector; /* NULL: no election */
};

struct leadership {
    struct term terms[PURPOSES];
};

static void on_change(void *ctx, bool leading) {
    const struct term *t = ctx;
    if (t->purpose == PURPOSE_RESERVATIONS)
        LOG_I(leading ? "leading: ready to be asked" : "not leading any more: not ready",
              LOG_CSTR("identity", t->identity));
    else
        LOG_I(leading ? "leading" : "not leading any more",
              LOG_CSTR("purpose", purpose_name(t->purpose)), LOG_CSTR("identity", t->identity));
}

static int start_term(const struct configuration *c, const struct servers *servers, struct term *t,
                      struct err *err) {
    const enum server_role role = purpose_server(c, t->purpose);
    const char *namespace = c->leader_election.namespace;
    char name[LEASE_NAME_SIZE];
    lease_name(c, t->purpose, name);
    const struct elector_options options = {
        .client = servers_client(servers, role),
        .lease = {.namespace =
                      namespace != NULL ? namespace : servers_access(servers, role)->namespace,
                  .name = name,
                  .identity = t->identity,
                  .duration_ms = c->leader_election.duration_ms},
        .on_change = on_change,
        .ctx = t,
        .events = servers_events(servers, role)};
    return elector_new(&options, &t->elector, err);
}

int leadership_start(const struct configuration *configuration, const struct servers *servers,
                     struct leadership **ret, struct err *err) {
    int r = 0;
    *ret = NULL;
    struct leadership *l = calloc(1, sizeof *l);
    if (l == NULL)
        return err_set(err, -ENOMEM, "no memory for leader election");
    for (enum purpose p = 0; r == 0 && p < PURPOSES; p++) {
        l->terms[p] = (struct term){.purpose = p, .identity = servers_identity(servers)};
        if (lease_is_wanted(configuration, p) &&
            servers_client(servers, purpose_server(configuration, p)) != NULL)
            r = start_term(configuration, servers, &l->terms[p], err);
    }
    if (r != 0) {
        leadership_stop(l);
        return err_wrap(err, "leader election");
    }
    *ret = l;
    return 0;
}

const struct elector *leadership_elector(const struct leadership *l, enum purpose purpose) {
    return l != NULL ? l->terms[purpose].elector : NULL;
}

bool leadership_is_alive(const struct leadership *l) {
    for (size_t p = 0; l != NULL && p < PURPOSES; p++)
        if (l->terms[p].elector != NULL && !elector_is_alive(l->terms[p].elector))
            return false;
    return true;
}

void leadership_stop(struct leadership *l) {
    if (l == NULL)
        return;
    for (size_t p = 0; p < PURPOSES; p++)
        if (l->terms[p].elector != NULL)
            elector_stop(l->terms[p].elector, RELEASE_MS);
    for (size_t p = 0; p < PURPOSES; p++)
        elector_free(l->terms[p].elector);
    free(l);
}
