/*
 * The store's contents, for the files of this room that read them under informer_read().
 */
#pragma once

#include "base/hash.h"
#include "base/hashmap.h"
#include "base/intern.h"
#include "base/pool.h"
#include "model/storage.h"
#include "volumes/store.h"
#include "volumes/zone_labels.h"

/* An object. */
struct statement {
    struct hash128 key;   /* hash of its namespace and name */
    uint64_t class;       /* hash of the name of its class */
    uint64_t claim;       /* for a volume: hash of the names in its claimRef; 0: no claimRef */
    uint32_t text, facts; /* interned: struct kept_texts */
    uint8_t zones;        /* for a volume: number of affinities in its text that stand for labels */
    bool too_long;        /* its texts were too long, and are "" */
};

/* The texts of an object, before they are interned. */
struct kept_texts {
    /* For a claim, the volume that it names. For a volume, its node affinity as JSON, or a list:
     * the affinities that stand for its labels, then its own. For a class, its topologies as node
     * affinity. */
    struct str places;
    struct str facts; /* storage_shorten(); "" for a claim that is bound */
    uint64_t class, claim;
    uint8_t zones;
};

/* All objects of one kind. */
struct book {
    struct pool statements;
    struct hashmap index;
};

enum { CLAIMS, VOLUMES, CLASSES, BOOKS };

struct known {
    struct intern strings;
    struct book books[BOOKS];
};

enum { AFFINITIES = ZONE_LABELS + 1 }; /* the most affinities in one text */

/* Returns the object with these names, or NULL. */
const struct statement *statement_find(const struct book *b, struct str namespace, struct str name);
/* Appends the affinities of struct kept_texts.places, which is a list or a single node affinity.
 * Affinities that cannot be read, or require nothing, are left out. `found` has AFFINITIES more
 * places. Returns 0 or -ENOMEM. */
int places_read(struct str text, struct arena *arena, struct node_affinity *found,
                uint32_t *count) MUST_CHECK;
