/*
 * A hub for benchmarks: the fleet that a watch would fill, and as much of an API server as Owner
 * mode writes to: what is written is there at once, with a new resourceVersion.
 *
 * Placements have the names "n<i % HUB_NAMESPACES>/p<i>", one set of all clusters is bound to each
 * namespace, and OCM's annotation is on them from the start. Each has at most 100 clusters, so one
 * PlacementDecision. Whatever fails ends the program with a sentence.
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
    uint64_t writes; /* that were applied */
    uint64_t moves;  /* clusters that PlacementDecisions had, and have no more */
};

void hub_open(struct hub *h, uint32_t placements);
void hub_close(struct hub *h);

/* An object as the watch shows it: JSON, with ' for ". */
void hub_give(struct hub *h, enum fleet_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Placement i: `spec` is members of JSON, with ' for ". */
void hub_place(struct hub *h, uint32_t i, const char *spec);
struct str hub_namespace(uint32_t i, struct arena *arena);
struct str hub_name(uint32_t i, struct arena *arena);
/* Number of the Placement of this name. */
uint32_t hub_number(const struct hub *h, struct str name);
/* A write about it; the fleet has it afterwards. */
void hub_apply(struct hub *h, uint32_t i, const struct write *write);
/* The status of its PlacementDecision, from somebody else; JSON. */
void hub_decide(struct hub *h, uint32_t i, struct str status);
/* How many clusters its PlacementDecision had, and has no more. */
uint64_t hub_moves(const struct hub *h, uint32_t i);
/* Is this cluster in its PlacementDecision? */
bool hub_has(const struct hub *h, uint32_t i, const char *cluster);

/* Ends the program. */
_Noreturn void hub_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
