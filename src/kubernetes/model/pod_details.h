/*
 * Details of a pod that struct pod does not have, for plugins that edit the pod: its annotations,
 * its volume mounts, and its node affinity as the user wrote it, with the text of every term. So an
 * addition to a term keeps the other bytes of the term.
 *
 * Decoded values own nothing: strings and arrays live in the text or the arena.
 */
#pragma once

#include "base/err.h"
#include "model/labels.h"
#include "model/selector.h"

/* A nodeSelectorTerm. A null term is empty. */
struct written_term {
    struct str text;             /* JSON */
    struct str expressions_text; /* the JSON of its matchExpressions; empty without this member */
    const struct label_expression *expressions, *fields;
    uint32_t expression_count, field_count;
};

/* spec.affinity.nodeAffinity */
struct written_affinity {
    bool present;                     /* nodeAffinity exists and is not null */
    bool required;                    /* the same for its required part */
    const struct written_term *terms; /* of the required part */
    uint32_t term_count;
    bool prefers;                           /* the list of preferences exists; it may be empty */
    const struct written_term *preferences; /* without their weights */
    uint32_t preference_count;
};

/* A volume that is a PersistentVolumeClaim. */
struct pod_volume {
    struct str name, claim;
};

struct pod_mount {
    struct str volume;
    bool in_init_container;
    uint32_t container, mount; /* indexes of the container, and of the mount in it */
    bool propagates;           /* it has a mountPropagation */
};

struct pod_details {
    struct str namespace; /* as written; may be empty */
    struct labels annotations;
    struct pod_volume *claims;
    uint32_t claim_count;
    uint32_t volume_count;    /* number of all volumes, also of those that are no claims */
    struct pod_mount *mounts; /* in the order of the document */
    uint32_t mount_count;
    struct written_affinity affinity;
};

/*
 * Read parts of a pod's JSON text: the first function only its metadata (namespace and
 * annotations), the second its spec. They keep the other members of `ret`. 0, -EINVAL with path and
 * byte, or -ENOMEM.
 */
int pod_details_read_metadata(struct str pod, struct arena *arena, struct pod_details *ret,
                              struct err *err) MUST_CHECK;
int pod_details_read_spec(struct str pod, struct arena *arena, struct pod_details *ret,
                          struct err *err) MUST_CHECK;
