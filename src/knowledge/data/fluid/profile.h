/*
 * Fluid's plugin profile: the plugins to run, their order and arguments. The format is that of
 * Fluid's ConfigMap webhook-plugins, key pluginsProfile, so that users of Fluid can use their
 * profiles:
 *
 *     plugins:
 *       serverful:
 *         withDataset: [RequireNodeWithFuse, NodeAffinityWithCache]
 *         withoutDataset: [PreferNodesWithoutCache]
 *       serverless: {withDataset: [], withoutDataset: []}
 *     pluginConfig:
 *     - name: NodeAffinityWithCache
 *       args: |                          # YAML within YAML
 *         preferred: [{name: fluid.io/node, weight: 100}]
 *         required: [fluid.io/node]
 *
 * The rules are upstream's: unknown keys are ignored, a plugin that is listed twice runs twice, of
 * repeated configurations or preferred names the last counts, and an unknown plugin is an error.
 * The names may be Fluid's, or those of the original design (plugin.h).
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

struct fluid_plugin;

/* Tiered locality: names are FLUID_TIER_NODE, FLUID_TIER_FUSE or keys of labels. Without tiers the
 * plugin does nothing. All strings are in the arena. */
struct fluid_tier {
    const char *name;
    int32_t weight; /* not checked here; the API server accepts 1 to 100 */
};
struct fluid_tiers {
    struct fluid_tier *preferred; /* no name is repeated */
    uint32_t preferred_count;
    const char **required;
    uint32_t required_count;
};

enum { FLUID_CHAIN_MAX = 32 }; /* the most plugins in one chain */
struct fluid_chain {
    const struct fluid_plugin *plugins[FLUID_CHAIN_MAX];
    uint32_t count;
};

enum fluid_mount { FLUID_SERVERFUL, FLUID_SERVERLESS };

struct fluid_profile {
    struct fluid_chain chains[2][2]; /* [enum fluid_mount][has a dataset] */
    struct fluid_tiers tiers;        /* NodeAffinityWithCache */
    struct fluid_tiers design_tiers; /* PreferNodesWithCache; by default the node tier, 100 */
};

/* Reads a profile. Returns 0, -EINVAL (the sentence names the mistake), -E2BIG or -ENOMEM. The
 * profile is valid as long as the arena. */
int fluid_profile_parse(struct str yaml, struct arena *arena, struct fluid_profile *ret,
                        struct err *err) MUST_CHECK;

/* Returns the profile of Fluid's chart (1.1) in *ret. Returns 0 or -ENOMEM. */
int fluid_profile_default(struct arena *arena, struct fluid_profile *ret,
                          struct err *err) MUST_CHECK;
