/*
 * Small fleets for tests, in a short text form, and decisions of Placements on them. All names are
 * one word; an unknown form fails the test.
 *
 * Clusters: "c1(cloud=Amazon,claim:region=us-east-1,!key1=value1:NoSelect@-8,cpu=10/10) c2"
 *     Labels; claims; taints (behind "@" the seconds since now, below 0: before); allocatable and
 *     capacity of cpu and memory ("/10": without allocatable, "10/": without capacity);
 *     "terminating". They have the label of set1, unless they have another set's: "set=set2";
 *     "set=": of none.
 *
 * Objects that are not small, Placements and expectations are YAML, in its flow style: "{numberOf
 * Clusters: 3}". The set set1 is there, and bound to namespace ns1.
 */
#pragma once

#include "base/arena.h"
#include "fleet/fleet.h"
#include "ocm/decide.h"

#include "unit/unit.h"

#define HUB_NOW "2026-03-04T05:06:07Z"

struct hub {
    struct arena arena; /* memory of questions and answers, until hub_close() */
    struct fleet *fleet;
    int64_t now_ms; /* HUB_NOW */
    struct ocm_policy_terms policy;
    const struct str *names; /* the clusters of the question; NULL: all clusters */
    uint32_t name_count;
    bool with_rounds;
    uint32_t limit; /* limit of the rendering */
};

void hub_open(struct hub *f);
/* Opens a fleet without set1 and its binding. */
void hub_open_empty(struct hub *f);
void hub_close(struct hub *f);

/* For tests whose *state is an open fleet. */
int hub_setup(void **state);
int hub_teardown(void **state);
#define HUB_TEST(test) cmocka_unit_test_setup_teardown(test, hub_setup, hub_teardown)

void hub_clusters(struct hub *f, const char *text);
/* Adds an object of any kind of the fleet, in YAML; its apiVersion may be missing. */
void hub_object(struct hub *f, const char *yaml);
/* The same as hub_object() with JSON, which is copied. */
void hub_take(struct hub *f, struct str json);
/* Reads "ns1/placement: c1 c2": a PlacementDecision of that Placement names these clusters. Without
 * the name of a Placement ("ns1/: c1") the PlacementDecision has no label. */
void hub_decided_by(struct hub *f, const char *text);
/* Reads "c1/resource: name=30 other=-2 until=-30": scores, which end that many seconds from now. */
void hub_scored(struct hub *f, const char *text);

/* Returns the Placement ns1/placement with this spec or, if the text has a member `spec`, the whole
 * object. In the arena. */
const struct placement *hub_placement(struct hub *f, const char *yaml);
/* Decides the Placement, and renders the answer as JSON, in the arena. */
struct str hub_answer_to(struct hub *f, const struct placement *placement);
struct str hub_answer(struct hub *f, const char *placement);
/* The same as hub_answer() for the other verbs. */
struct str hub_filter_answer(struct hub *f, const char *placement);
struct str hub_scores_answer(struct hub *f, const char *placement);

/* The JSON must have all members that the YAML has (unit/json_agrees.h). A difference fails the
 * test. */
#define hub_expect(f, json, yaml) hub_expect_at((f), (json), (yaml), __FILE__, __LINE__)
void hub_expect_at(struct hub *f, struct str json, const char *yaml, const char *file, int line);
/* hub_expect() of hub_answer(). */
#define hub_decides(f, placement, yaml)                                                            \
    hub_expect_at((f), hub_answer((f), (placement)), (yaml), __FILE__, __LINE__)
