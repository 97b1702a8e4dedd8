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
    struct hash128 key;   /* of its names */
    uint64_t class;       /* hash of its class's name */
    uint64_t claim;       /* of a volume: hash of the names in its claimRef; 0: it has none */
    uint32_t text, facts; /* interned: struct kept_texts */
    uint8_t zones;        /* of a volume: affinities that stand for labels, in its text */
    bool too_long;        /* its texts were too long, and are "" */
};

/* The texts of an object, before they are interned. */
struct kept_texts {
    /* The volume that a claim names. A volume's node affinity as JSON; or a list of affinities that
     * stand for its labels, with its own at the end. The topologies of a class, as node affinity.
     */
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

enum { AFFINITIES = ZONE_LABELS + 1 }; /* in one text, at most */

/* Returns the object with these names, or NULL. */
const struct statement *statement_find(const struct book *b, struct str namespace, struct str name);
/* Appends the affinities of a text of places: of a list, or of a node affinity alone. Affinities
 * that cannot be read, or require nothing, are left out. `found` has AFFINITIES more places.
 * Returns 0 or -ENOMEM. */
int places_read(struct str text, struct arena *arena, struct node_affinity *found,
                uint32_t *count) MUST_CHECK;
