/*
 * Encodes a client's messages. upstream: karmada pkg/estimator/client accurate.go, pkg/estimator/pb
 * helpers.go (v1.18.1), which sets the older fields and the fields of bytes.
 */
#include "estimator/wire.h"

#include "estimator/wire_messages.h"
#include "model/affinity.h"

#include <errno.h>
#include <stdio.h>

static ProtobufCBinaryData bytes_of(struct str s) {
    return (ProtobufCBinaryData){s.n, (uint8_t *)(uintptr_t)(s.n > 0 ? s.p : "")};
}

/* Packs a message into the arena. The caller checks at the end whether the arena has failed. */
static ProtobufCBinaryData pack(const void *message, struct arena *arena) {
    uint8_t *bytes = arena_alloc(arena, protobuf_c_message_get_packed_size(message));
    if (bytes == NULL)
        return bytes_of(STR(""));
    return (ProtobufCBinaryData){protobuf_c_message_pack(message, bytes), bytes};
}

/* ---- Kubernetes' part: fields are written even if they are empty ---- */

static Wire__Expression *make_expression(const struct requirement *from, struct arena *arena) {
    static const struct str names[] = {
        [SELECTOR_IN] = STR("In"),         [SELECTOR_NOT_IN] = STR("NotIn"),
        [SELECTOR_EXISTS] = STR("Exists"), [SELECTOR_DOES_NOT_EXIST] = STR("DoesNotExist"),
        [SELECTOR_GT] = STR("Gt"),         [SELECTOR_LT] = STR("Lt"),
    };
    const bool compares = from->op == SELECTOR_GT || from->op == SELECTOR_LT;
    const size_t count = compares ? 1 : from->value_count;
    Wire__Expression *e = arena_alloc(arena, sizeof *e);
    ProtobufCBinaryData *values = arena_array(arena, count, sizeof *values);
    char bound[24];
    if (e == NULL || values == NULL)
        return NULL;
    wire__expression__init(e);
    (void)snprintf(bound, sizeof bound, "%lld", (long long)from->bound); /* the text fits */
    for (size_t i = 0; i < count; i++)
        values[i] = bytes_of(compares ? arena_str(arena, str_of(bound)) : from->values[i]);
    e->has_key = e->has_op = true;
    e->key = bytes_of(from->key);
    e->op = bytes_of(names[from->op]);
    e->n_values = count;
    e->values = values;
    return e;
}

static Wire__Expression **make_expressions(const struct requirement *from, uint32_t count,
                                           struct arena *arena) {
    Wire__Expression **items = arena_array(arena, count, sizeof *items);
    for (uint32_t i = 0; items != NULL && i < count; i++)
        if ((items[i] = make_expression(&from[i], arena)) == NULL)
            return NULL;
    return items;
}

static Wire__Term *make_term(const struct node_selector_term *from, struct arena *arena) {
    Wire__Term *t = arena_alloc(arena, sizeof *t);
    if (t == NULL)
        return NULL;
    wire__term__init(t);
    if (from->invalid)
        return t; /* a term without requirements matches nothing */
    t->expressions = make_expressions(from->expressions, from->expression_count, arena);
    t->fields = make_expressions(from->fields, from->field_count, arena);
    if (t->expressions == NULL || t->fields == NULL)
        return NULL;
    t->n_expressions = from->expression_count;
    t->n_fields = from->field_count;
    return t;
}

static ProtobufCBinaryData make_affinity(const struct node_affinity *from, struct arena *arena) {
    Wire__Selector s = WIRE__SELECTOR__INIT;
    s.terms = arena_array(arena, from->term_count, sizeof *s.terms);
    for (uint32_t i = 0; s.terms != NULL && i < from->term_count; i++)
        if ((s.terms[s.n_terms++] = make_term(&from->terms[i], arena)) == NULL)
            return bytes_of(STR(""));
    return pack(&s, arena);
}

static ProtobufCBinaryData make_toleration(const struct toleration *from, struct arena *arena) {
    Wire__Toleration t = WIRE__TOLERATION__INIT;
    t.has_key = t.has_op = t.has_value = t.has_effect = true;
    t.key = bytes_of(from->key);
    t.op = bytes_of(from->op);
    t.value = bytes_of(from->value);
    t.effect = bytes_of(from->effect);
    return pack(&t, arena);
}

static ProtobufCBinaryData make_quantity(const struct request *from, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    Wire__Quantity q = WIRE__QUANTITY__INIT;
    quantity_format(&from->amount, &text);
    q.has_text = true;
    q.text = bytes_of(strbuf_str(&text));
    return pack(&q, arena);
}

/* ---- Karmada's part: empty fields are not written ---- */

static void set(struct str value, protobuf_c_boolean *has, ProtobufCBinaryData *to) {
    *has = value.n > 0;
    *to = bytes_of(value);
}

/* Makes the entries of a map; the caller sets their keys and values. */
static Wire__Entry **make_entries(size_t count, struct arena *arena) {
    Wire__Entry **items = arena_array(arena, count, sizeof *items);
    Wire__Entry *entries = arena_array(arena, count, sizeof *entries);
    if (items == NULL || entries == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        wire__entry__init(&entries[i]);
        entries[i].has_key = entries[i].has_value = true;
        items[i] = &entries[i];
    }
    return items;
}

static Wire__Claim *make_claim(const struct replica_requirements *r, struct arena *arena) {
    const struct labels *labels = &r->claim.node_selector;
    Wire__Claim *c = arena_alloc(arena, sizeof *c);
    if (c == NULL || (labels->count == 0 && !r->claim.required && r->tolerations.count == 0))
        return NULL;
    wire__claim__init(c);
    c->node_selector = make_entries(labels->count, arena);
    c->tolerations = arena_array(arena, r->tolerations.count, sizeof *c->tolerations);
    if (c->node_selector == NULL || c->tolerations == NULL)
        return NULL;
    c->n_node_selector = labels->count;
    for (uint32_t i = 0; i < labels->count; i++) {
        c->node_selector[i]->key = bytes_of(labels->items[i].key);
        c->node_selector[i]->value = bytes_of(labels->items[i].value);
    }
    if (r->claim.required) {
        c->has_affinity = true;
        c->affinity = c->affinity_bytes = make_affinity(&r->claim, arena);
        c->has_affinity_bytes = c->affinity.len > 0;
    }
    c->n_tolerations = c->n_tolerations_bytes = r->tolerations.count;
    for (uint32_t i = 0; i < r->tolerations.count; i++)
        c->tolerations[i] = make_toleration(&r->tolerations.items[i], arena);
    c->tolerations_bytes = c->tolerations;
    return c;
}

int wire_requirements_encode(const struct replica_requirements *r, struct arena *arena,
                             struct str *ret, struct err *err) {
    Wire__Requirements to = WIRE__REQUIREMENTS__INIT;
    *ret = (struct str){0};
    if (!r->given)
        return 0;
    to.claim = make_claim(r, arena);
    to.requests = to.requests_bytes = make_entries(r->request_count, arena);
    if (to.requests != NULL) {
        to.n_requests = to.n_requests_bytes = r->request_count;
        for (uint32_t i = 0; i < r->request_count; i++) {
            to.requests[i]->key = bytes_of(r->requests[i].name);
            to.requests[i]->value = make_quantity(&r->requests[i], arena);
        }
        set(r->namespace, &to.has_namespace_, &to.namespace_);
        set(r->priority_class, &to.has_priority_class, &to.priority_class);
        *ret = wire_str(pack(&to, arena));
    }
    return arena_failed(arena) ? err_set(err, -ENOMEM, "the requirements are too large") : 0;
}

/* Appends a field of length and bytes by hand: the requirements are bytes already. */
static void append_field(char tag, struct str bytes, struct strbuf *out) {
    strbuf_append_char(out, tag);
    size_t n = bytes.n;
    for (; n >= 0x80; n >>= 7)
        strbuf_append_char(out, (char)(n | 0x80));
    strbuf_append_char(out, (char)n);
    strbuf_append_str(out, bytes);
}

void wire_replicas_ask(struct str cluster, struct str requirements, struct strbuf *out) {
    if (cluster.n > 0)
        append_field(0x0a, cluster, out);
    if (requirements.p != NULL)
        append_field(0x12, requirements, out);
}

bool wire_response_decode(struct str bytes, int32_t *ret) {
    Wire__Response *response =
        wire__response__unpack(NULL, bytes.n, (const uint8_t *)(bytes.n > 0 ? bytes.p : ""));
    if (response == NULL)
        return false;
    *ret = response->has_count ? response->count : 0;
    wire__response__free_unpacked(response, NULL);
    return true;
}
