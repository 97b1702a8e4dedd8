/*
 * The texts that Evenkeel adds to a Placement in mode Scores: the key of its published score, the
 * gate, and the annotation PLACEMENT_INJECTED_ANNOTATION, which lists the additions.
 *
 *     key         s3-0a1b2c3d, an item of the AddOnPlacementScore evenkeel-3 of each cluster
 *     gate        managedCluster.scores("evenkeel-3").exists(s, s.name == "s3-..." && s.value > 0)
 *     annotation  {"key":"s3-0a1b2c3d","resource":"evenkeel-3","weight":2,"added":["gate", ...]}
 *
 * Evenkeel also recognises all three by their form, because resources evenkeel-N are its own. So it
 * finds leftovers even if a user has changed or broken the annotation.
 *
 * Pure functions. Strings are in the arena, or borrowed from the text that is read.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Formats of names: a resource's name has its shard, a score's name has its shard and number. */
#define INJECTED_RESOURCE "evenkeel-%u"
#define INJECTED_SCORE "s%u-%08x"

struct injected_key {
    uint32_t shard; /* below INJECTED_SHARDS */
    uint32_t number;
};
enum {
    INJECTED_SHARDS = 1000,
    INJECTED_WEIGHT = 10 /* weight of Evenkeel's prioritizer, the maximum */
};

/*
 * Returns the key of the Placement with this uid, for this number of shards. The key comes only
 * from the uid, so a copied or invented annotation cannot give it to another Placement, and no
 * other Placement publishes scores under it. A Placement that is being created has no uid yet: it
 * gets a random key, under which nothing is published.
 */
struct injected_key injected_key_of(struct str uid, uint32_t shards);

static inline bool injected_key_eq(struct injected_key a, struct injected_key b) {
    return a.shard == b.shard && a.number == b.number;
}

/* Is `resource` the name of an AddOnPlacementScore of ours? If it is, sets its shard, too. */
bool injected_resource_read(struct str resource, uint32_t *ret_shard);
/* Are these two texts the names of a resource and a score of ours? If they are, sets the key, too.
 */
bool injected_key_read(struct str resource, struct str score, struct injected_key *ret);
/* Is the CEL expression a gate, exactly as we write it? If it is, sets its key, too. */
bool gate_read(struct str expression, struct injected_key *ret);

/* Return JSON strings, quoted and escaped; "" when the arena failed. */
struct str injected_resource_json(struct injected_key key, struct arena *arena);
struct str injected_score_json(struct injected_key key, struct arena *arena);
struct str gate_json(struct injected_key key, struct arena *arena);

/* The annotation, decoded. */
struct injected {
    bool valid; /* the annotation exists and is well-formed; otherwise all other members are zero */
    struct injected_key key;
    int32_t weight;       /* weight of the replaced prioritizer `builtIn: Spread`; 0: nothing was
                             replaced */
    bool made_policy;     /* we added the whole prioritizerPolicy */
    bool made_predicates; /* we added the only predicate */
    bool gated;           /* the Placement has gates; only injected_read() sets it */
};
/* `text` is the annotation's value. A malformed value gives ret->valid == false. */
void injected_read(struct str text, struct arena *arena, struct injected *ret);
/* Returns the annotation's value; `gated`: the Placement has gates. "" if the arena failed. */
struct str injected_write(const struct injected *injected, bool gated, struct arena *arena);
