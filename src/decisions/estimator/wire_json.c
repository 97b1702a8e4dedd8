/* Writes messages as JSON, with upstream's names, like protobuf and Kubernetes: without empty
 * members. If two fields have the same meaning, the one that counts is written, under the older
 * name. */
#include "estimator/wire_kinds.h"

/* ---- members ---- */

static void put_text(struct json_writer *w, struct str name, ProtobufCBinaryData text) {
    if (text.len == 0)
        return;
    json_key(w, name);
    json_put_text(w, wire_str(text));
}

static void put_number(struct json_writer *w, struct str name, int64_t number) {
    if (number == 0)
        return;
    json_key(w, name);
    json_put_integer(w, number);
}

/* Puts the key of an entry. The key is mended if it is not UTF-8, like texts. It is also mended if
 * it has NULs, which readers of JSON refuse in names. */
static void put_key(struct json_writer *w, ProtobufCBinaryData key) {
    CLEANUP(strbuf_done) struct strbuf name = {0};
    struct str left = wire_str(key);
    for (size_t n = str_find(left, '\0'); n != SIZE_MAX; n = str_find(left, '\0')) {
        strbuf_append(&name, left.p, n);
        strbuf_append_str(&name, STR("\xef\xbf\xbd"));
        left = (struct str){left.p + n + 1, left.n - n - 1};
    }
    strbuf_append_str(&name, left);
    json_put_text(w, strbuf_str(&name));
    w->out->failed |= strbuf_failed(&name);
    strbuf_append_char(w->out, ':');
    w->comma = false;
}

/* ---- Kubernetes ---- */

int wire_put_quantity(const void *message, struct arena *arena, struct json_writer *w,
                      struct err *err) {
    const Wire__Quantity *q = message;
    (void)arena;
    (void)err;
    json_put_text(w, q->has_text ? wire_str(q->text) : STR("0"));
    return 0;
}

static void put_expression(const Wire__Expression *e, struct json_writer *w) {
    json_begin_object(w);
    put_text(w, STR("key"), e->key);
    put_text(w, STR("operator"), e->op);
    if (e->n_values > 0) {
        json_key(w, STR("values"));
        json_begin_array(w);
        for (size_t i = 0; i < e->n_values; i++)
            json_put_text(w, wire_str(e->values[i]));
        json_end_array(w);
    }
    json_end_object(w);
}

static void put_expressions(Wire__Expression *const *expressions, size_t count, struct str name,
                            struct json_writer *w) {
    if (count == 0)
        return;
    json_key(w, name);
    json_begin_array(w);
    for (size_t i = 0; i < count; i++)
        put_expression(expressions[i], w);
    json_end_array(w);
}

int wire_put_selector(const void *message, struct arena *arena, struct json_writer *w,
                      struct err *err) {
    const Wire__Selector *s = message;
    (void)arena;
    (void)err;
    json_begin_object(w);
    json_key(w, STR("nodeSelectorTerms"));
    json_begin_array(w);
    for (size_t i = 0; i < s->n_terms; i++) {
        const Wire__Term *t = s->terms[i];
        json_begin_object(w);
        put_expressions(t->expressions, t->n_expressions, STR("matchExpressions"), w);
        put_expressions(t->fields, t->n_fields, STR("matchFields"), w);
        json_end_object(w);
    }
    json_end_array(w);
    json_end_object(w);
    return 0;
}

int wire_put_toleration(const void *message, struct arena *arena, struct json_writer *w,
                        struct err *err) {
    const Wire__Toleration *t = message;
    (void)arena;
    (void)err;
    json_begin_object(w);
    put_text(w, STR("key"), t->key);
    put_text(w, STR("operator"), t->op);
    put_text(w, STR("value"), t->value);
    put_text(w, STR("effect"), t->effect);
    if (t->has_seconds) {
        json_key(w, STR("tolerationSeconds"));
        json_put_integer(w, t->seconds);
    }
    json_end_object(w);
    return 0;
}

/* Writes the message inside the bytes. */
static int put_inside(const ProtobufCMessageDescriptor *type, const char *name, wire_put_fn *put,
                      struct str bytes, struct arena *arena, struct json_writer *w,
                      struct err *err) {
    const void *message;
    const int r = wire_unpack(type, bytes, arena, name, &message, err);
    return r == 0 ? put(message, arena, w, err) : r;
}

/* ---- claims and requests ---- */

static int put_labels(const Wire__Claim *claim, struct arena *arena, struct json_writer *w,
                      struct err *err) {
    struct wire_entries labels = {claim->node_selector, claim->n_node_selector};
    const int r = wire_entries_sort(&labels, arena, err);
    if (r != 0 || labels.count == 0)
        return r;
    json_key(w, STR("nodeSelector"));
    json_begin_object(w);
    for (size_t i = 0; i < labels.count; i++) {
        put_key(w, labels.items[i]->key);
        json_put_text(w, wire_str(labels.items[i]->value));
    }
    json_end_object(w);
    return 0;
}

static int put_tolerations(struct wire_list all, struct arena *arena, struct json_writer *w,
                           struct err *err) {
    int r = 0;
    if (all.count == 0)
        return 0;
    json_key(w, STR("tolerations"));
    json_begin_array(w);
    for (size_t i = 0; r == 0 && i < all.count; i++)
        r = put_inside(&wire__toleration__descriptor, "Toleration", wire_put_toleration,
                       wire_str(all.items[i]), arena, w, err);
    json_end_array(w);
    return r;
}

int wire_put_claim(const void *message, struct arena *arena, struct json_writer *w,
                   struct err *err) {
    const Wire__Claim *claim = message;
    struct str selector;
    int r = 0;
    json_begin_object(w);
    if (wire_affinity(claim, &selector)) {
        json_key(w, STR("nodeAffinity"));
        r = put_inside(&wire__selector__descriptor, "NodeSelector", wire_put_selector, selector,
                       arena, w, err);
    }
    if (r == 0)
        r = put_labels(claim, arena, w, err);
    if (r == 0)
        r = put_tolerations(wire_tolerations(claim), arena, w, err);
    json_end_object(w);
    return r;
}

static int put_requests(struct wire_entries all, struct arena *arena, struct json_writer *w,
                        struct err *err) {
    int r = wire_entries_sort(&all, arena, err);
    if (r != 0 || all.count == 0)
        return r;
    json_key(w, STR("resourceRequest"));
    json_begin_object(w);
    for (size_t i = 0; r == 0 && i < all.count; i++) {
        put_key(w, all.items[i]->key);
        r = put_inside(&wire__quantity__descriptor, "Quantity", wire_put_quantity,
                       wire_str(all.items[i]->value), arena, w, err);
    }
    json_end_object(w);
    return r;
}

static int put_claim_and_requests(const Wire__Claim *claim, struct wire_entries requests,
                                  struct arena *arena, struct json_writer *w, struct err *err) {
    int r = 0;
    if (claim != NULL) {
        json_key(w, STR("nodeClaim"));
        r = wire_put_claim(claim, arena, w, err);
    }
    return r == 0 ? put_requests(requests, arena, w, err) : r;
}

int wire_put_requirements(const void *message, struct arena *arena, struct json_writer *w,
                          struct err *err) {
    const Wire__Requirements *m = message;
    json_begin_object(w);
    const int r = put_claim_and_requests(m->claim, wire_requests(m), arena, w, err);
    put_text(w, STR("namespace"), m->namespace_);
    put_text(w, STR("priorityClassName"), m->priority_class);
    json_end_object(w);
    return r;
}

int wire_put_component_requirements(const void *message, struct arena *arena, struct json_writer *w,
                                    struct err *err) {
    const Wire__ComponentRequirements *m = message;
    json_begin_object(w);
    const int r = put_claim_and_requests(m->claim, wire_component_requests(m), arena, w, err);
    put_text(w, STR("priorityClassName"), m->priority_class);
    json_end_object(w);
    return r;
}

/* ---- components ---- */

int wire_put_component(const void *message, struct arena *arena, struct json_writer *w,
                       struct err *err) {
    const Wire__Component *m = message;
    int r = 0;
    json_begin_object(w);
    put_text(w, STR("name"), m->name);
    if (m->requirements != NULL) {
        json_key(w, STR("replicaRequirements"));
        r = wire_put_component_requirements(m->requirements, arena, w, err);
    }
    put_number(w, STR("replicas"), m->replicas);
    json_end_object(w);
    return r;
}

static int put_components(Wire__Component *const *components, size_t count, struct arena *arena,
                          struct json_writer *w, struct err *err) {
    int r = 0;
    if (count == 0)
        return 0;
    json_key(w, STR("components"));
    json_begin_array(w);
    for (size_t i = 0; r == 0 && i < count; i++)
        r = wire_put_component(components[i], arena, w, err);
    json_end_array(w);
    return r;
}

int wire_put_assumed(const void *message, struct arena *arena, struct json_writer *w,
                     struct err *err) {
    const Wire__AssumedWorkload *m = message;
    json_begin_object(w);
    put_text(w, STR("namespace"), m->namespace_);
    const int r = put_components(m->components, m->n_components, arena, w, err);
    json_end_object(w);
    return r;
}

static int put_all_assumed(Wire__AssumedWorkload *const *assumed, size_t count, struct arena *arena,
                           struct json_writer *w, struct err *err) {
    int r = 0;
    if (count == 0)
        return 0;
    json_key(w, STR("assumedWorkloads"));
    json_begin_array(w);
    for (size_t i = 0; r == 0 && i < count; i++)
        r = wire_put_assumed(assumed[i], arena, w, err);
    json_end_array(w);
    return r;
}

/* ---- requests and responses ---- */

int wire_put_replicas_request(const void *message, struct arena *arena, struct json_writer *w,
                              struct err *err) {
    const Wire__ReplicasRequest *m = message;
    int r = 0;
    json_begin_object(w);
    put_text(w, STR("cluster"), m->cluster);
    if (m->requirements != NULL) {
        json_key(w, STR("replicaRequirements"));
        r = wire_put_requirements(m->requirements, arena, w, err);
    }
    if (r == 0)
        r = put_all_assumed(m->assumed, m->n_assumed, arena, w, err);
    json_end_object(w);
    return r;
}

int wire_put_sets_request(const void *message, struct arena *arena, struct json_writer *w,
                          struct err *err) {
    const Wire__SetsRequest *m = message;
    json_begin_object(w);
    put_text(w, STR("cluster"), m->cluster);
    int r = put_components(m->components, m->n_components, arena, w, err);
    put_text(w, STR("namespace"), m->namespace_);
    if (r == 0)
        r = put_all_assumed(m->assumed, m->n_assumed, arena, w, err);
    json_end_object(w);
    return r;
}

int wire_put_reference(const void *message, struct arena *arena, struct json_writer *w,
                       struct err *err) {
    const Wire__Reference *m = message;
    (void)arena;
    (void)err;
    json_begin_object(w);
    put_text(w, STR("apiVersion"), m->api_version);
    put_text(w, STR("kind"), m->kind);
    put_text(w, STR("namespace"), m->namespace_);
    put_text(w, STR("name"), m->name);
    json_end_object(w);
    return 0;
}

int wire_put_unschedulable_request(const void *message, struct arena *arena, struct json_writer *w,
                                   struct err *err) {
    const Wire__UnschedulableRequest *m = message;
    int r = 0;
    json_begin_object(w);
    put_text(w, STR("cluster"), m->cluster);
    if (m->resource != NULL) {
        json_key(w, STR("resource"));
        r = wire_put_reference(m->resource, arena, w, err);
    }
    put_number(w, STR("unschedulableThreshold"), m->threshold);
    json_end_object(w);
    return r;
}

/* Puts a response, with its number even if that is 0. */
static int put_response(const Wire__Response *m, struct str name, struct json_writer *w) {
    json_begin_object(w);
    json_key(w, name);
    json_put_integer(w, m->count);
    json_end_object(w);
    return 0;
}

int wire_put_max_replicas(const void *message, struct arena *arena, struct json_writer *w,
                          struct err *err) {
    (void)arena;
    (void)err;
    return put_response(message, STR("maxReplicas"), w);
}

int wire_put_max_sets(const void *message, struct arena *arena, struct json_writer *w,
                      struct err *err) {
    (void)arena;
    (void)err;
    return put_response(message, STR("maxSets"), w);
}

int wire_put_unschedulable_replicas(const void *message, struct arena *arena, struct json_writer *w,
                                    struct err *err) {
    (void)arena;
    (void)err;
    return put_response(message, STR("unschedulableReplicas"), w);
}
