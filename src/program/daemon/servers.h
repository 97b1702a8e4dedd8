/*
 * The API servers that a process uses, by role. Each has one client, all on one loop, which is one
 * thread. If the process writes there, the server also has its own writer and recorder of Events,
 * so the limits of one server's writes hold back no other server's.
 *
 * Threads: all calls belong to the main thread.
 */
#pragma once

#include "config/servers.h"
#include "kube/client/client.h"

struct event_recorder;
struct servers;
struct writer;

/* Opens no server yet. `c` is borrowed. Returns 0 or -ENOMEM. */
int servers_new(const struct configuration *c, struct servers **ret, struct err *err) MUST_CHECK;
/* Reads the server's address and credentials, and sends no request yet. Does nothing if the server
 * is open. Returns 0, or -errno with the file and the entry. */
int servers_open(struct servers *s, enum server_role role, struct err *err) MUST_CHECK;
/* For an open server: makes the writer, with the configured limits, if the process writes there,
 * and the recorder, if it writes or elects a leader there. Returns 0 or -errno. */
int servers_prepare_writes(struct servers *s, enum server_role role, struct err *err) MUST_CHECK;
/* Compares clocks. Call about once a second. */
void servers_poll(struct servers *s);
/* Writes the last Events, for some seconds at most, and ends all requests that are under way (see
 * kube_client_free()). All owners must have left the writers. NULL is fine. */
void servers_free(struct servers *s);

/* Returns NULL if the server is not open. Borrowed. */
struct kube_client *servers_client(const struct servers *s, enum server_role role);
/* Return the server's writer and recorder, borrowed; NULL if the process does not write to this
 * server. */
struct writer *servers_writer(const struct servers *s, enum server_role role);
struct event_recorder *servers_events(const struct servers *s, enum server_role role);
/* Returns the process's name in Leases and Events; "" before servers_prepare_writes(). Borrowed. */
const char *servers_identity(const struct servers *s);
/* Returns the server's address and credentials, borrowed. The server must be open. */
const struct kube_access *servers_access(const struct servers *s, enum server_role role);
