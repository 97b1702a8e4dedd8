/*
 * A hub for tests: an API server's part, played on a fleet without a lock (fleet_builder.h), and a
 * Placement on it, "n/p", that Evenkeel is asked about. Objects have versions; a write with another
 * version than the object's is a conflict; who creates an object creates it without a status.
 */
#pragma once

#include "hub/owned.h"
#include "unit/fleet/fleet_builder.h"

#include <cJSON.h>

enum { PLAYED_OBJECTS = 16, PLAYED_SCORES = 80 };

struct played_hub {
    struct fleet_builder fleet;
    cJSON *placement;                 /* NULL: there is none */
    cJSON *decisions[PLAYED_OBJECTS]; /* NULL: free */
    cJSON *scores[PLAYED_SCORES];     /* AddOnPlacementScores; NULL: free */
    const char *refused;              /* a cluster that OCM selects never; NULL: none */
    const char *without_namespace;    /* a cluster where no object can be made; NULL: none */
    const char *denied; /* an AddOnPlacementScore that is not to be written for denied_ms; NULL */
    int64_t denied_ms;
    unsigned version, writes;
    struct owned_settings settings;
    struct owned owned;
    struct owned_answer answer; /* of the last look; its write is over */
    struct policy_list policies;
    struct arena arena;
    int64_t now_ms, slowest_ms, answered_ms;
    int64_t answered; /* the longest that a look has said */
    /* Called after each write. */
    void (*check)(struct played_hub *h);
};

/* With the set "all" of all clusters, bound to "n". 10 s and 10 a minute for voluntary moves; four
 * shards, 30 s and 600 s for clusters that OCM refuses. */
void played_open(struct played_hub *h);
void played_close(struct played_hub *h);

/* ManagedCluster with these labels, such as "'zone':'a'"; `rest` are further members of the object,
 * such as "'spec':{...}"; "". */
void played_cluster(struct played_hub *h, const char *name, const char *labels, const char *rest);
/* The Placement, anew, with this spec and these annotations: members of JSON, with ' for ". */
void played_placement(struct played_hub *h, const char *annotations, const char *spec);
/* A PlacementDecision that somebody else writes, with these clusters. */
void played_decision(struct played_hub *h, const char *name, const char *clusters);

/* Its controller is another object than the Placement. */
void played_own(struct played_hub *h, const char *name);
/* Its labels are taken away. */
void played_unlabel(struct played_hub *h, const char *name);

/* Looks once. Returns whether there is something to be written, which is then in `write`. */
bool played_look(struct played_hub *h, struct owned_write *write);
/* The API server takes a write: 0 or the HTTP status of its refusal. The fleet sees it. */
int played_apply(struct played_hub *h, const struct owned_write *write);
/* Looks and writes until nothing is to be written. Returns how many writes that took. */
unsigned played_settle(struct played_hub *h);

/* OCM writes into the status how many clusters it has selected. */
void played_number(struct played_hub *h, unsigned selected);
/* OCM's controller looks once, unless the Placement is disabled: with its own rules, gates of ours
 * and all. */
void played_ocm(struct played_hub *h);
/* The clusters that have an item above 0 of the Placement's own key: "a b", by name. */
void played_published(const struct played_hub *h, const char *wanted);
unsigned played_published_count(const struct played_hub *h);

/* "p-decision-1: a b; p-decision-2: c" */
void played_is(struct played_hub *h, const char *wanted);
/* A string in the Placement by its path, such as "status/conditions/0/reason"; "". */
const char *played_text(const struct played_hub *h, const char *path);
/* "True Even" of a condition; "". */
const char *played_condition(const struct played_hub *h, const char *type);
/* In how many PlacementDecisions a cluster is. */
unsigned played_holds(const struct played_hub *h, const char *cluster);
