/*
 * What plugins that edit a pod know of it beside struct pod: its annotations, which volumes are
 * mounted where, and its node affinity as the user wrote it, with the text of every term, so that
 * what is added to a term leaves the rest of it byte for byte.
 *
 * Decoded values own nothing: strings and arrays live in the text or the arena.
 */
#pragma once

#include "base/err.h"
#include "model/labels.h"
#include "model/selector.h"

/* A nodeSelectorTerm. One that is null is empty. */
struct written_term {
    struct str text;             /* JSON */
    struct str expressions_text; /* of its matchExpressions; empty when there is no such member */
    const struct label_expression *expressions, *fields;
    uint32_t expression_count, field_count;
};

/* spec.affinity.nodeAffinity */
struct written_affinity {
    bool present;                     /* it is there, and not null */
    bool required;                    /* the same of its required part */
    const struct written_term *terms; /* of the required part */
    uint32_t term_count;
    bool prefers;                           /* there is a list of preferences; it may be empty */
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
    bool propagates;           /* it says how, in whatever way */
};

struct pod_details {
    struct str namespace; /* as written; may be empty */
    struct labels annotations;
    struct pod_volume *claims;
    uint32_t claim_count;
    uint32_t volume_count;    /* with those that are no claims */
    struct pod_mount *mounts; /* in the order of the document */
    uint32_t mount_count;
    struct written_affinity affinity;
};

/*
 * Read a pod, a whole JSON text: its metadata (namespace and annotations; what comes behind is not
 * read), or its spec (the rest). What they do not read of `ret` stays. 0, -EINVAL with path and
 * byte, or -ENOMEM.
 */
int pod_details_read_metadata(struct str pod, struct arena *arena, struct pod_details *ret,
                              struct err *err) MUST_CHECK;
int pod_details_read_spec(struct str pod, struct arena *arena, struct pod_details *ret,
                          struct err *err) MUST_CHECK;
