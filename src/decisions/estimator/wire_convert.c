/*
 * Converts messages to the output of each version's encoder. Up to v1.17 the encoder is gogo:
 * strings, numbers and messages that are no pointers are written even if empty. From v1.18 on the
 * encoding is proto3's: an empty string and 0 are not written. Kubernetes' own messages always use
 * gogo. upstream: karmada pkg/estimator/pb types.go (v1.17.1), estimator.proto (v1.18.1),
 * k8s.io/api/core/v1.
 */
#include "estimator/wire_kinds.h"

#include "model/quantity.h"

#include <errno.h>

static int no_room(struct err *err) {
    return err_set(err, -ENOMEM, "the message is too large");
}

/* Drops unknown fields, so that they are not packed again. */
static void forget_unknown(void *message) {
    ((ProtobufCMessage *)message)->n_unknown_fields = 0;
}

static protobuf_c_boolean is_written(ProtobufCBinaryData bytes, enum wire_epoch epoch) {
    return epoch == WIRE_MESSAGES || bytes.len > 0;
}

/* Packs a message into bytes in the arena. */
static int pack(const void *message, struct arena *arena, ProtobufCBinaryData *ret,
                struct err *err) {
    uint8_t *bytes = arena_alloc(arena, protobuf_c_message_get_packed_size(message));
    if (bytes == NULL)
        return no_room(err);
    *ret = (ProtobufCBinaryData){protobuf_c_message_pack(message, bytes), bytes};
    return 0;
}

/* Unpacks the message in the bytes, converts it, and packs it again. */
static int convert_inside(const ProtobufCMessageDescriptor *type, const char *name,
                          wire_convert_fn *convert, struct str bytes, struct arena *arena,
                          ProtobufCBinaryData *ret, struct err *err) {
    void *message;
    int r = wire_unpack(type, bytes, arena, name, &message, err);
    if (r == 0)
        r = convert(message, WIRE_MESSAGES, arena, err);
    return r == 0 ? pack(message, arena, ret, err) : r;
}

/* ---- Kubernetes' messages: the same in all versions ---- */

int wire_convert_quantity(void *message, enum wire_epoch epoch, struct arena *arena,
                          struct err *err) {
    Wire__Quantity *q = message;
    CLEANUP(strbuf_done) struct strbuf canonical = {0};
    struct quantity value = {0};
    (void)epoch;
    forget_unknown(q);
    if (q->has_text && quantity_parse(wire_str(q->text), &value, err) != 0)
        return -EINVAL;
    q->has_text = true;
    if (value.as_typed)
        return 0;
    quantity_format(&value, &canonical);
    const struct str text = arena_str(arena, strbuf_str(&canonical));
    q->text = (ProtobufCBinaryData){text.n, (uint8_t *)(uintptr_t)text.p};
    return arena_failed(arena) ? no_room(err) : 0;
}

static void convert_expressions(Wire__Expression **expressions, size_t count) {
    for (size_t i = 0; i < count; i++) {
        expressions[i]->has_key = expressions[i]->has_op = true;
        forget_unknown(expressions[i]);
    }
}

int wire_convert_selector(void *message, enum wire_epoch epoch, struct arena *arena,
                          struct err *err) {
    Wire__Selector *s = message;
    (void)epoch;
    (void)arena;
    (void)err;
    forget_unknown(s);
    for (size_t i = 0; i < s->n_terms; i++) {
        forget_unknown(s->terms[i]);
        convert_expressions(s->terms[i]->expressions, s->terms[i]->n_expressions);
        convert_expressions(s->terms[i]->fields, s->terms[i]->n_fields);
    }
    return 0;
}

int wire_convert_toleration(void *message, enum wire_epoch epoch, struct arena *arena,
                            struct err *err) {
    Wire__Toleration *t = message;
    (void)epoch;
    (void)arena;
    (void)err;
    forget_unknown(t);
    t->has_key = t->has_op = t->has_value = t->has_effect = true;
    return 0;
}

/* ---- maps ---- */

/* Sorts the entries. Each entry gets a key and a value, even if they are empty. */
static int convert_map(struct wire_entries *entries, struct arena *arena, struct err *err) {
    const int r = wire_entries_sort(entries, arena, err);
    for (size_t i = 0; r == 0 && i < entries->count; i++) {
        forget_unknown(entries->items[i]);
        entries->items[i]->has_key = entries->items[i]->has_value = true;
    }
    return r;
}

static int convert_requests(struct wire_entries *entries, struct arena *arena, struct err *err) {
    int r = convert_map(entries, arena, err);
    for (size_t i = 0; r == 0 && i < entries->count; i++)
        r = convert_inside(&wire__quantity__descriptor, "Quantity", wire_convert_quantity,
                           wire_str(entries->items[i]->value), arena, &entries->items[i]->value,
                           err);
    return r;
}

/* Puts the requests into the older field, the field of bytes, or both. */
static void place_requests(struct wire_entries all, enum wire_epoch epoch,
                           struct wire_entries *ret_older, struct wire_entries *ret_bytes) {
    const struct wire_entries none = {0};
    *ret_older = epoch == WIRE_BYTES ? none : all;
    *ret_bytes = epoch == WIRE_MESSAGES ? none : all;
}

/* ---- claims ---- */

static int convert_affinity(Wire__Claim *claim, enum wire_epoch epoch, struct arena *arena,
                            struct err *err) {
    ProtobufCBinaryData selector = {0};
    struct str bytes;
    const bool has = wire_affinity(claim, &bytes);
    const int r = !has ? 0
                       : convert_inside(&wire__selector__descriptor, "NodeSelector",
                                        wire_convert_selector, bytes, arena, &selector, err);
    claim->has_affinity = has && epoch != WIRE_BYTES;
    claim->has_affinity_bytes = has && epoch != WIRE_MESSAGES && selector.len > 0;
    claim->affinity = claim->affinity_bytes = selector;
    return r;
}

static int convert_tolerations(Wire__Claim *claim, enum wire_epoch epoch, struct arena *arena,
                               struct err *err) {
    const struct wire_list all = wire_tolerations(claim);
    int r = 0;
    for (size_t i = 0; r == 0 && i < all.count; i++)
        r = convert_inside(&wire__toleration__descriptor, "Toleration", wire_convert_toleration,
                           wire_str(all.items[i]), arena, &all.items[i], err);
    claim->n_tolerations = epoch == WIRE_BYTES ? 0 : all.count;
    claim->n_tolerations_bytes = epoch == WIRE_MESSAGES ? 0 : all.count;
    claim->tolerations = claim->tolerations_bytes = all.items;
    return r;
}

int wire_convert_claim(void *message, enum wire_epoch epoch, struct arena *arena, struct err *err) {
    Wire__Claim *claim = message;
    if (claim == NULL)
        return 0;
    struct wire_entries labels = {claim->node_selector, claim->n_node_selector};
    forget_unknown(claim);
    int r = convert_map(&labels, arena, err);
    claim->node_selector = labels.items;
    claim->n_node_selector = labels.count;
    if (r == 0)
        r = convert_affinity(claim, epoch, arena, err);
    return r == 0 ? convert_tolerations(claim, epoch, arena, err) : r;
}

/* ---- requirements ---- */

int wire_convert_requirements(void *message, enum wire_epoch epoch, struct arena *arena,
                              struct err *err) {
    Wire__Requirements *m = message;
    struct wire_entries all = wire_requests(m), older, bytes;
    forget_unknown(m);
    int r = wire_convert_claim(m->claim, epoch, arena, err);
    if (r == 0)
        r = convert_requests(&all, arena, err);
    place_requests(all, epoch, &older, &bytes);
    m->requests = older.items;
    m->n_requests = older.count;
    m->requests_bytes = bytes.items;
    m->n_requests_bytes = bytes.count;
    m->has_namespace_ = is_written(m->namespace_, epoch);
    m->has_priority_class = is_written(m->priority_class, epoch);
    return r;
}

int wire_convert_component_requirements(void *message, enum wire_epoch epoch, struct arena *arena,
                                        struct err *err) {
    Wire__ComponentRequirements *m = message;
    struct wire_entries all = wire_component_requests(m), older, bytes;
    forget_unknown(m);
    int r = wire_convert_claim(m->claim, epoch, arena, err);
    if (r == 0)
        r = convert_requests(&all, arena, err);
    place_requests(all, epoch, &older, &bytes);
    m->requests = older.items;
    m->n_requests = older.count;
    m->requests_bytes = bytes.items;
    m->n_requests_bytes = bytes.count;
    m->has_priority_class = is_written(m->priority_class, epoch);
    return r;
}

int wire_convert_component(void *message, enum wire_epoch epoch, struct arena *arena,
                           struct err *err) {
    Wire__Component *m = message;
    forget_unknown(m);
    m->has_name = is_written(m->name, epoch);
    m->has_replicas = epoch == WIRE_MESSAGES || m->replicas != 0;
    if (m->requirements == NULL && epoch == WIRE_MESSAGES) {
        m->requirements = arena_alloc(arena, sizeof *m->requirements);
        if (m->requirements == NULL)
            return no_room(err);
        wire__component_requirements__init(m->requirements);
    }
    return m->requirements == NULL
               ? 0
               : wire_convert_component_requirements(m->requirements, epoch, arena, err);
}

static int convert_components(Wire__Component **components, size_t count, enum wire_epoch epoch,
                              struct arena *arena, struct err *err) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < count; i++)
        r = wire_convert_component(components[i], epoch, arena, err);
    return r;
}

int wire_convert_assumed(void *message, enum wire_epoch epoch, struct arena *arena,
                         struct err *err) {
    Wire__AssumedWorkload *m = message;
    forget_unknown(m);
    m->has_namespace_ = is_written(m->namespace_, epoch);
    return convert_components(m->components, m->n_components, epoch, arena, err);
}

/* Drops assumed workloads before v1.18, which has none. */
static int convert_all_assumed(Wire__AssumedWorkload **assumed, size_t *count,
                               enum wire_epoch epoch, struct arena *arena, struct err *err) {
    int r = 0;
    if (epoch == WIRE_MESSAGES)
        *count = 0;
    for (size_t i = 0; r == 0 && i < *count; i++)
        r = wire_convert_assumed(assumed[i], epoch, arena, err);
    return r;
}

/* ---- requests and responses ---- */

int wire_convert_replicas_request(void *message, enum wire_epoch epoch, struct arena *arena,
                                  struct err *err) {
    Wire__ReplicasRequest *m = message;
    int r = 0;
    forget_unknown(m);
    m->has_cluster = is_written(m->cluster, epoch);
    if (m->requirements == NULL && epoch == WIRE_MESSAGES) {
        m->requirements = arena_alloc(arena, sizeof *m->requirements);
        if (m->requirements == NULL)
            return no_room(err);
        wire__requirements__init(m->requirements);
    }
    if (m->requirements != NULL)
        r = wire_convert_requirements(m->requirements, epoch, arena, err);
    return r == 0 ? convert_all_assumed(m->assumed, &m->n_assumed, epoch, arena, err) : r;
}

int wire_convert_sets_request(void *message, enum wire_epoch epoch, struct arena *arena,
                              struct err *err) {
    Wire__SetsRequest *m = message;
    forget_unknown(m);
    m->has_cluster = is_written(m->cluster, epoch);
    m->has_namespace_ = is_written(m->namespace_, epoch);
    const int r = convert_components(m->components, m->n_components, epoch, arena, err);
    return r == 0 ? convert_all_assumed(m->assumed, &m->n_assumed, epoch, arena, err) : r;
}

int wire_convert_reference(void *message, enum wire_epoch epoch, struct arena *arena,
                           struct err *err) {
    Wire__Reference *m = message;
    (void)arena;
    (void)err;
    forget_unknown(m);
    m->has_api_version = is_written(m->api_version, epoch);
    m->has_kind = is_written(m->kind, epoch);
    m->has_namespace_ = is_written(m->namespace_, epoch);
    m->has_name = is_written(m->name, epoch);
    return 0;
}

int wire_convert_unschedulable_request(void *message, enum wire_epoch epoch, struct arena *arena,
                                       struct err *err) {
    Wire__UnschedulableRequest *m = message;
    forget_unknown(m);
    m->has_cluster = is_written(m->cluster, epoch);
    m->has_threshold = epoch == WIRE_MESSAGES || m->threshold != 0;
    if (m->resource == NULL && epoch == WIRE_MESSAGES) {
        m->resource = arena_alloc(arena, sizeof *m->resource);
        if (m->resource == NULL)
            return no_room(err);
        wire__reference__init(m->resource);
    }
    return m->resource == NULL ? 0 : wire_convert_reference(m->resource, epoch, arena, err);
}

int wire_convert_response(void *message, enum wire_epoch epoch, struct arena *arena,
                          struct err *err) {
    Wire__Response *m = message;
    (void)arena;
    (void)err;
    forget_unknown(m);
    m->has_count = epoch == WIRE_MESSAGES || m->count != 0;
    return 0;
}
