/*
 * What the scenario tables of PodTopologySpread are compared with: the engine's answers as the
 * texts that stand in the tables.
 */
#pragma once

#include "unit/cluster_builder.h"

/* One letter a node, in the order the cluster got them: S pass, U Unschedulable, R
 * UnschedulableAndUnresolvable; or "Skip". The cluster's arena keeps it. */
struct str scenario_verdicts(struct cluster *c, const struct pod *pod);

/* "20,60,100,0 [4,2,0,5]": normalised and raw scores of the candidates (names separated by blanks);
 * or "Skip". */
struct str scenario_scores(struct cluster *c, const struct pod *pod, const char *candidates);

/*
 * The state that the filter works with: for every hard constraint the matching pods of its domains
 * and their minimum, "zone1:3 zone2:2 min 2; a:2 b:1 x:- y:0 min 0"; or "Skip". "-" is a value that
 * is no domain, as far as that shows: where the minimum is 0, such a one cannot be told from a
 * domain without pods and says 0. Nodes without all keys are left out.
 *
 * Nothing in the engine is looked into: the numbers are worked out from the verdicts under every
 * maxSkew, with minDomains out of reach (the minimum is then 0) and as given.
 */
struct str scenario_tables(struct cluster *c, const struct pod *pod);

/* For each scenario of a table one test of this name, with every limit of cluster_run_tests():
 * `run` gets the scenario as its initial state. Returns the number of failures. */
struct scenario_name {
    const char *name; /* the first member of every scenario */
};
int scenario_run_all(const char *group, const void *scenarios, size_t count, size_t size,
                     CMUnitTestFunction run);
