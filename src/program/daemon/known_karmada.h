/*
 * Karmada's member clusters, as far as a process knows them: watched at Karmada's API server if
 * members are taken from there, and read from the state files of a fleet that comes from files.
 *
 * Threads: all calls belong to the main thread.
 */
#pragma once

#include "config/configuration.h"
#include "daemon/servers.h"
#include "daemon/source.h"
#include "informer/informer.h"

struct known_karmada;

/* Starts to watch, or to follow the state files. `servers` and `source` are borrowed until
 * known_karmada_stop(). *ret is NULL if nothing needs the clusters; otherwise *ret is set, also
 * after a failure. The other functions accept NULL. */
int known_karmada_start(const struct configuration *c, const struct servers *servers,
                        struct source *source, struct known_karmada **ret,
                        struct err *err) MUST_CHECK;
/* Return the watched clusters, and the clusters of the state files (fleet/karmada.h), borrowed
 * until known_karmada_free(); NULL if this source is not used. */
struct informer *known_karmada_watched(const struct known_karmada *k);
struct informer *known_karmada_of_files(const struct known_karmada *k);
void known_karmada_stop(struct known_karmada *k);
void known_karmada_free(struct known_karmada *k);
