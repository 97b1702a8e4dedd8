#include "daemon/leadership.h"

#include "base/log.h"
#include "kube/election/elector.h"
#include "kube/events/events.h"

#include <errno.h>
#include <stdlib.h>

enum { RELEASE_MS = 3000, EVENTS_MS = 2000 };

struct leadership {
    char identity[LEASE_IDENTITY_SIZE];
    struct event_recorder *events;
    struct elector *elector;
};

static void on_change(void *ctx, bool leading) {
    const struct leadership *l = ctx;
    LOG_I(leading ? "leading: ready to be asked" : "not leading any more: not ready",
          LOG_CSTR("identity", l->identity));
}

static int start(struct leadership *l, const struct configuration *c,
                 const struct kube_access *access, struct kube_client *client, struct err *err) {
    const char *namespace = c->leader_election.namespace;
    int r = lease_identity(l->identity, err);
    if (r != 0)
        return r;
    const struct event_options event_options = {
        .client = client, .instance = l->identity, .seed = (uint64_t)clock_now_ns()};
    r = event_recorder_new(&event_options, &l->events, err);
    if (r != 0)
        return r;
    const struct elector_options options = {
        .client = client,
        .lease = {.namespace = namespace != NULL ? namespace : access->namespace,
                  .name = c->leader_election.name,
                  .identity = l->identity,
                  .duration_ms = c->leader_election.duration_ms,
                  .renew_deadline_ms = c->leader_election.renew_deadline_ms,
                  .retry_ms = c->leader_election.retry_ms},
        .on_change = on_change,
        .ctx = l,
        .events = l->events};
    return elector_new(&options, &l->elector, err);
}

int leadership_start(const struct configuration *configuration, const struct kube_access *access,
                     struct kube_client *client, struct leadership **ret, struct err *err) {
    *ret = NULL;
    if (!configuration->leader_election.enabled || client == NULL)
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

const struct elector *leadership_elector(const struct leadership *l) {
    return l != NULL ? l->elector : NULL;
}

void leadership_stop(struct leadership *l) {
    if (l == NULL)
        return;
    elector_stop(l->elector, RELEASE_MS);
    event_recorder_stop(l->events, EVENTS_MS);
    elector_free(l->elector);
    event_recorder_free(l->events);
    free(l);
}
