/*
 * The messages of Karmada's estimator on the wire: converts between protobuf and the structs of
 * estimates. One decoder reads the messages of all versions: with fields that are messages (to
 * v1.18), with fields of bytes that contain the same messages (from v1.18), or with both. A field
 * of bytes counts unless it is empty; else the older field counts, even if it is empty. upstream:
 * karmada pkg/estimator/pb, helpers.go (v1.18.1).
 *
 * Unknown fields are skipped, but groups are refused; the last of a map's equal keys, or of a
 * repeated field, counts. Decoded values are in the arena, copied from the bytes, and take the
 * arena's steps. Thread-safe: no state.
 *
 * Errors: -EINVAL for bytes that are not the message, or have a quantity that does not parse;
 * -ENOMEM if the arena is too small; -E2BIG when the steps are spent.
 */
#pragma once

#include "base/json_writer.h"
#include "model/binding.h"

/* The forms that encoders of different versions write. */
enum wire_epoch {
    WIRE_MESSAGES, /* up to v1.17: fields that are messages; empty fields are written */
    WIRE_BOTH,     /* v1.18: both sets of fields; empty fields are left out */
    WIRE_BYTES,    /* from v1.19 on: fields of bytes; empty fields are left out */
};

/* Replicas that were assigned to the cluster and are not on its nodes yet. */
struct assumed_workload {
    struct str namespace;
    const struct component *components;
    uint32_t component_count;
};

/* MaxAvailableReplicasRequest. */
struct wire_replicas {
    struct str cluster;
    struct replica_requirements requirements;
    const struct assumed_workload *assumed;
    uint32_t assumed_count;
};
int wire_replicas_decode(struct str bytes, struct arena *arena, struct wire_replicas *ret,
                         struct err *err) MUST_CHECK;

/* MaxAvailableComponentSetsRequest. All components are in this namespace. */
struct wire_sets {
    struct str cluster, namespace;
    const struct component *components;
    uint32_t component_count;
    const struct assumed_workload *assumed;
    uint32_t assumed_count;
};
int wire_sets_decode(struct str bytes, struct arena *arena, struct wire_sets *ret,
                     struct err *err) MUST_CHECK;

/* UnschedulableReplicasRequest. */
struct wire_unschedulable {
    struct str cluster, api_version, kind, namespace, name;
    int64_t threshold_ns;
};
int wire_unschedulable_decode(struct str bytes, struct arena *arena, struct wire_unschedulable *ret,
                              struct err *err) MUST_CHECK;

/* Appends the response of any of the three methods. */
void wire_response_encode(int32_t count, enum wire_epoch epoch, struct strbuf *out);

/* ---- for a client ---- */

#define WIRE_SERVICE "/github.com.karmada_io.karmada.pkg.estimator.service.Estimator/"

/*
 * Encodes ReplicaRequirements as v1.18: both sets of fields, for servers of any version. They are
 * the same for all clusters, so they are made once, in the arena; .p NULL: no requirements (`given`
 * is false). A term of an affinity that does not parse matches nothing; it is written as a term
 * that matches nothing. Returns 0 or -ENOMEM.
 */
int wire_requirements_encode(const struct replica_requirements *r, struct arena *arena,
                             struct str *ret, struct err *err) MUST_CHECK;
/* Appends a MaxAvailableReplicasRequest for a cluster, with these requirements. */
void wire_replicas_ask(struct str cluster, struct str requirements, struct strbuf *out);
/* Gets the number in a response of any of the three methods. Returns false if the bytes are no
 * response. */
bool wire_response_decode(struct str bytes, int32_t *ret);

/* The version of protobuf-c that is loaded. */
const char *wire_library_version(void);

/* ---- one message, for people and for tests ---- */

struct wire_kind; /* a kind of messages */
/* Finds a kind by upstream's name for it, as in "NodeClaim". Returns NULL if no kind has the name;
 * then *ret_near is the nearest name, or NULL if no name is near. */
const struct wire_kind *wire_kind_find(struct str name, const char **ret_near);

/*
 * Appends the message's content as JSON, and its bytes as the encoder of an epoch writes them: maps
 * sorted by key, quantities in canonical text, without unknown fields. The JSON has no empty
 * members, and strings that are not UTF-8 are mended.
 */
int wire_rewrite(const struct wire_kind *kind, struct str bytes, enum wire_epoch epoch,
                 struct arena *arena, struct strbuf *json, struct strbuf *out,
                 struct err *err) MUST_CHECK;
