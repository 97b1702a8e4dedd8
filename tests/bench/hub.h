/*
 * A hub for benchmarks: the fleet that a watch would fill, and the part of an API server to which
 * mode Owner writes. Written objects are in the fleet at once, with a new resourceVersion.
 *
 * Placements have the names "n<i % HUB_NAMESPACES>/p<i>", a ClusterSet of all clusters is bound to
 * each namespace, and the Placements have OCM's annotation from the start. Each Placement has at
 * most 100 clusters, so one PlacementDecision. Any failure ends the program with a sentence.
 */
#pragma once

#include "fleet/fleet.h"
#include "kube/write/writer.h"

enum { HUB_NAMESPACES = 100 };

struct hub {
    struct fleet *fleet;
    struct hub_placement *placements; /* owned, by number */
    uint32_t count;
    unsigned version;
    uint64_t writes; /* number of applied writes */
    uint64_t moves;  /* number of clusters that left PlacementDecisions */
};

void hub_open(struct hub *h, uint32_t placements);
void hub_close(struct hub *h);

/* Adds an object, as if the watch showed it: JSON, with ' instead of ". */
void hub_give(struct hub *h, enum fleet_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds Placement i; `spec` has members of JSON, with ' instead of ". */
void hub_place(struct hub *h, uint32_t i, const char *spec);
struct str hub_namespace(uint32_t i, struct arena *arena);
struct str hub_name(uint32_t i, struct arena *arena);
/* Returns the number of the Placement with this name. */
uint32_t hub_number(const struct hub *h, struct str name);
/* Applies a write for Placement i to the fleet. */
void hub_apply(struct hub *h, uint32_t i, const struct write *write);
/* Sets the status (JSON) of the Placement's PlacementDecision, as if another client wrote it. */
void hub_decide(struct hub *h, uint32_t i, struct str status);
/* Returns the number of clusters that left the Placement's PlacementDecision. */
uint64_t hub_moves(const struct hub *h, uint32_t i);
/* Is this cluster in the PlacementDecision of Placement i? */
bool hub_has(const struct hub *h, uint32_t i, const char *cluster);

/* Prints the sentence and ends the program. */
_Noreturn void hub_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
