#include "config/leases.h"

#include <stdio.h>

static bool reserves(const struct configuration *c) {
    return c->reservations.mode != RESERVATIONS_OFF && configuration_listens(c->extender.listen);
}

static bool controls(const struct configuration *c) {
    return (c->policies.watch || c->data.label_leaving_nodes) &&
           configuration_listens(c->webhook.listen);
}

static const struct {
    const char *name, *suffix; /* of the Lease's name */
    bool (*wanted)(const struct configuration *c);
} purposes[LEASE_PURPOSES] = {
    [LEASE_RESERVATIONS] = {"reservations", "", reserves},
    [LEASE_CONTROLLERS] = {"controllers", "-controllers", controls},
};

bool lease_is_wanted(const struct configuration *c, enum lease_purpose purpose) {
    return c->leader_election.enabled && purposes[purpose].wanted(c);
}

void lease_name(const struct configuration *c, enum lease_purpose purpose,
                char ret[static LEASE_NAME_SIZE]) {
    (void)snprintf(ret, LEASE_NAME_SIZE, "%s%s", c->leader_election.name,
                   purposes[purpose].suffix); /* a name has at most 253 bytes */
}

const char *lease_purpose_name(enum lease_purpose purpose) {
    return purposes[purpose].name;
}
