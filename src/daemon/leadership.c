#include "daemon/leadership.h"

#include "base/log.h"
#include "kube/election/elector.h"
#include "kube/events/events.h"

#include <errno.h>
#include <stdlib.h>

enum { RELEASE_MS = 3000, EVENTS_MS = 2000 };

/* One Lease, and what it is for. */
struct term {
    enum lease_purpose purpose;
    const char *identity;    /* the leadership's */
    struct elector *elector; /* NULL: not elected for */
};

struct leadership {
    char identity[LEASE_IDENTITY_SIZE];
    struct event_recorder *events;
    struct term terms[LEASE_PURPOSES];
};

static void on_change(void *ctx, bool leading) {
    const struct term *t = ctx;
    if (t->purpose == LEASE_RESERVATIONS)
        LOG_I(leading ? "leading: ready to be asked" : "not leading any more: not ready",
              LOG_CSTR("identity", t->identity));
    else
        LOG_I(leading ? "leading" : "not leading any more",
              LOG_CSTR("purpose", lease_purpose_name(t->purpose)),
              LOG_CSTR("identity", t->identity));
}

static int start_term(struct leadership *l, const struct configuration *c,
                      const struct kube_access *access, struct kube_client *client, struct term *t,
                      struct err *err) {
    const char *namespace = c->leader_election.namespace;
    char name[LEASE_NAME_SIZE];
    lease_name(c, t->purpose, name);
    const struct elector_options options = {
        .client = client,
        .lease = {.namespace = namespace != NULL ? namespace : access->namespace,
                  .name = name,
                  .identity = l->identity,
                  .duration_ms = c->leader_election.duration_ms,
                  .renew_deadline_ms = c->leader_election.renew_deadline_ms,
                  .retry_ms = c->leader_election.retry_ms},
        .on_change = on_change,
        .ctx = t,
        .events = l->events};
    return elector_new(&options, &t->elector, err);
}

static int start(struct leadership *l, const struct configuration *c,
                 const struct kube_access *access, struct kube_client *client, struct err *err) {
    int r = lease_identity(l->identity, err);
    if (r != 0)
        return r;
    const struct event_options event_options = {
        .client = client, .instance = l->identity, .seed = (uint64_t)clock_now_ns()};
    r = event_recorder_new(&event_options, &l->events, err);
    for (enum lease_purpose p = 0; r == 0 && p < LEASE_PURPOSES; p++) {
        l->terms[p] = (struct term){.purpose = p, .identity = l->identity};
        if (lease_is_wanted(c, p))
            r = start_term(l, c, access, client, &l->terms[p], err);
    }
    return r;
}

static bool elects(const struct configuration *c) {
    bool any = false;
    for (enum lease_purpose p = 0; p < LEASE_PURPOSES; p++)
        any = any || lease_is_wanted(c, p);
    if (c->leader_election.enabled && !any)
        LOG_W("there is nothing to elect a leader for: reservations are Off, and no policy's "
              "status is written");
    return any;
}

int leadership_start(const struct configuration *configuration, const struct kube_access *access,
                     struct kube_client *client, struct leadership **ret, struct err *err) {
    *ret = NULL;
    if (client == NULL || !elects(configuration))
        return 0;
    struct leadership *l = calloc(1, sizeof *l);
    if (l == NULL)
        return err_set(err, -ENOMEM, "no memory for leader election");
    int r = start(l, configuration, access, client, err);
    if (r != 0) {
        leadership_stop(l);
        return err_wrap(err, "leader election");
    }
    *ret = l;
    return 0;
}

const struct elector *leadership_elector(const struct leadership *l, enum lease_purpose purpose) {
    return l != NULL ? l->terms[purpose].elector : NULL;
}

bool leadership_is_alive(const struct leadership *l) {
    for (size_t p = 0; l != NULL && p < LEASE_PURPOSES; p++)
        if (l->terms[p].elector != NULL && !elector_is_alive(l->terms[p].elector))
            return false;
    return true;
}

void leadership_stop(struct leadership *l) {
    if (l == NULL)
        return;
    for (size_t p = 0; p < LEASE_PURPOSES; p++)
        if (l->terms[p].elector != NULL)
            elector_stop(l->terms[p].elector, RELEASE_MS);
    if (l->events != NULL)
        event_recorder_stop(l->events, EVENTS_MS);
    for (size_t p = 0; p < LEASE_PURPOSES; p++)
        elector_free(l->terms[p].elector);
    event_recorder_free(l->events);
    free(l);
}
