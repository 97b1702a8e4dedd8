#include "daemon/known_fleet.h"

#include "base/clock.h"
#include "config/purposes.h"

#include <errno.h>
#include <stdlib.h>

struct known_fleet {
    struct fleet *fleet; /* owned; NULL: creation failed */
    int64_t stale_after_ms;
};

int known_fleet_start(const struct configuration *c, const struct servers *servers,
                      struct source *source, struct known_fleet **ret, struct err *err) {
    const enum server_role role = purpose_server(c, PURPOSE_FLEET);
    *ret = NULL;
    if (!purpose_is_wanted(c, PURPOSE_FLEET))
        return 0;
    struct known_fleet *k = calloc(1, sizeof *k);
    if (k == NULL)
        return err_set(err, -ENOMEM, "no memory for a fleet");
    *ret = k;
    k->stale_after_ms = server_settings(c, role)->stale_after_ms;
    int r = fleet_new(&k->fleet, err);
    if (r != 0)
        return r;
    const struct informer_watch watch = {
        .client = servers_client(servers, role),
        .seed = clock_seed(),
        .without = purpose_is_wanted(c, PURPOSE_OCM) ? 0 : FLEET_NOT_WATCHED};
    if (watch.client != NULL)
        return informer_watch(fleet_informer(k->fleet), &watch, err);
    source_follow(source, informer_follower(fleet_informer(k->fleet)));
    return 0;
}

struct fleet *known_fleet_store(const struct known_fleet *k) {
    return k != NULL ? k->fleet : NULL;
}

bool known_fleet_listed(const struct known_fleet *k) {
    return known_fleet_store(k) == NULL || informer_listed(fleet_informer(k->fleet));
}

bool known_fleet_synced(const struct known_fleet *k) {
    return known_fleet_store(k) == NULL || informer_synced(fleet_informer(k->fleet));
}

bool known_fleet_complete(const struct known_fleet *k) {
    return known_fleet_store(k) == NULL || informer_complete(fleet_informer(k->fleet));
}

bool known_fleet_fresh(const struct known_fleet *k) {
    return known_fleet_store(k) == NULL ||
           informer_age_ms(fleet_informer(k->fleet)) <= k->stale_after_ms;
}

void known_fleet_stop(struct known_fleet *k) {
    if (known_fleet_store(k) != NULL)
        informer_stop(fleet_informer(k->fleet));
}

void known_fleet_free(struct known_fleet *k) {
    if (k == NULL)
        return;
    fleet_free(k->fleet);
    free(k);
}
