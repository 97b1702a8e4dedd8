/*
 * PersistentVolumeClaims, PersistentVolumes and StorageClasses, as far as kube-scheduler's plugins
 * VolumeBinding and VolumeZone read them. upstream: component-helpers storage/volume.
 *
 * A store keeps a short text of an object, and reads it only for a question: storage_shorten()
 * makes the text, storage_decode() reads it.
 *
 * Threads: any.
 */
#pragma once

#include "base/json_writer.h"
#include "model/labels.h"
#include "model/selector.h"

/* The members of all three kinds; a kind has only some of them. Strings and arrays live in the text
 * or the reader's arena. */
struct storage_facts {
    struct str uid;   /* of a claim */
    bool deleted;     /* deletionTimestamp is set */
    struct str phase; /* status.phase; "": not given */
    struct str class; /* the name of the StorageClass; "": none */
    __int128 size;    /* the request or the capacity, in units of 10^-9 bytes */
    struct str mode;  /* volumeMode; "": Filesystem */
    struct str attributes_class;
    const struct str *access_modes;
    uint32_t access_mode_count;
    /* of a claim */
    struct str volume;              /* volumeName; "": none */
    bool bind_completed;            /* its binding is complete */
    bool has_node;                  /* kube-scheduler has selected a node for the claim's volume:
                                       ... */
    struct str node;                /* ... this one */
    struct label_selector selector; /* selects volumes; not present: any volume */
    /* of a volume */
    struct labels labels;
    bool has_claim;
    struct str claim_namespace, claim_name, claim_uid; /* claimRef */
    /* of a class */
    struct str provisioner;
    bool waits; /* volumeBindingMode is WaitForFirstConsumer */
};

/* Appends the text of an object, given as JSON. Its members are copied unread: a member of a wrong
 * type is an error of storage_decode(). Only a claim keeps its uid, because volumes name it. A
 * volume does not keep its uid, so that volumes that are alike have the same text. */
void storage_shorten(struct str object, bool is_claim, struct arena *arena, struct json_writer *w);
/* Reads such a text. Returns 0, -EINVAL or -ENOMEM. */
int storage_decode(struct str text, struct arena *arena, struct storage_facts *ret) MUST_CHECK;

/* Is the claim bound to its volume? A claim of a hand-written file, without any status, counts as
 * bound to the volume that it names. */
bool storage_claim_is_bound(const struct storage_facts *claim);
/* May the claim, which is not bound, be bound to this volume on some node? Sets *ret_is_its: does
 * the volume name this claim? upstream: FindMatchingVolume. */
struct storage_claim {
    struct str namespace, name;
    const struct storage_facts *facts;
    const struct selector *selector; /* compiled; NULL: any volume */
};
bool storage_volume_fits(const struct storage_claim *claim, const struct storage_facts *volume,
                         bool *ret_is_its);

/* Appends a StorageClass's allowedTopologies in the form of a volume's spec.nodeAffinity; appends
 * nothing if the class has no allowedTopologies. */
void storage_topologies(struct str class, struct arena *arena, struct json_writer *w);
