/*
 * The API servers that a process talks to, by what they are to it: one client each, all on one
 * loop, which is one thread; and, where something is written, one writer and one recorder of Events
 * each, so that the limits of one server's writes hold back no other's.
 *
 * Threads: all calls belong to the main thread.
 */
#pragma once

#include "config/servers.h"
#include "kube/client/client.h"

struct event_recorder;
struct servers;
struct writer;

/* None is open yet. `c` is borrowed. 0 or -ENOMEM. */
int servers_new(const struct configuration *c, struct servers **ret, struct err *err) MUST_CHECK;
/* Reads its address and credentials, asks nothing yet. Fine for one that is open. 0, or -errno with
 * the file and the entry named. */
int servers_open(struct servers *s, enum server_role role, struct err *err) MUST_CHECK;
/* For an open one: makes its writer, with the limits of the configuration, if anything is written
 * there, and its recorder, if anything is or a leader is elected. 0 or -errno. */
int servers_prepare_writes(struct servers *s, enum server_role role, struct err *err) MUST_CHECK;
/* About once a second: compares clocks. */
void servers_poll(struct servers *s);
/* Writes the last Events, for some seconds at most, and ends all requests that are under way,
 * before it returns: see kube_client_free(). All owners have left the writers. NULL is fine. */
void servers_free(struct servers *s);

/* NULL: it is not open. Borrowed. */
struct kube_client *servers_client(const struct servers *s, enum server_role role);
/* NULL: nothing is written there. Borrowed. */
struct writer *servers_writer(const struct servers *s, enum server_role role);
struct event_recorder *servers_events(const struct servers *s, enum server_role role);
/* Who this process is, in Leases and Events; "" before servers_prepare_writes(). Borrowed. */
const char *servers_identity(const struct servers *s);
/* Without meaning for one that is not open. Borrowed. */
const struct kube_access *servers_access(const struct servers *s, enum server_role role);
