/*
 * The API servers that a process talks to, by what they are to it: one client each, all on one
 * loop, which is one thread.
 *
 * Threads: all calls belong to the main thread.
 */
#pragma once

#include "config/servers.h"
#include "kube/client/client.h"

struct servers;

/* None is open yet. `c` is borrowed. 0 or -ENOMEM. */
int servers_new(const struct configuration *c, struct servers **ret, struct err *err) MUST_CHECK;
/* Reads its address and credentials, asks nothing yet. Fine for one that is open. 0, or -errno with
 * the file and the entry named. */
int servers_open(struct servers *s, enum server_role role, struct err *err) MUST_CHECK;
/* About once a second: compares clocks. */
void servers_poll(struct servers *s);
/* Ends all requests that are under way, before it returns: see kube_client_free(). NULL is fine. */
void servers_free(struct servers *s);

/* NULL: it is not open. Borrowed. */
struct kube_client *servers_client(const struct servers *s, enum server_role role);
/* Without meaning for one that is not open. Borrowed. */
const struct kube_access *servers_access(const struct servers *s, enum server_role role);
