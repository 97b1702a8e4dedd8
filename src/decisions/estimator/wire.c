#include "estimator/wire.h"

#include "estimator/wire_messages.h"

#include <errno.h>

static int no_room(struct err *err) {
    return err_set(err, -ENOMEM, "the message is too large");
}

/* ---- Kubernetes' part ---- */

static int toleration_decode(struct str bytes, struct arena *arena, struct toleration *ret,
                             struct err *err) {
    const Wire__Toleration *t;
    const int r = wire_unpack(&wire__toleration__descriptor, bytes, arena, "Toleration", &t, err);
    if (r == 0)
        *ret = (struct toleration){.key = wire_str(t->key),
                                   .op = wire_str(t->op),
                                   .value = wire_str(t->value),
                                   .effect = wire_str(t->effect)};
    return r;
}

static int expressions_decode(Wire__Expression *const *from, size_t count, bool fields,
                              struct arena *arena, struct node_selector_term *term,
                              struct err *err) {
    struct label_expression *items = arena_array(arena, count, sizeof *items);
    for (size_t i = 0; items != NULL && i < count; i++) {
        const Wire__Expression *e = from[i];
        struct str *values = arena_array(arena, e->n_values, sizeof *values);
        if (values == NULL)
            return no_room(err);
        if (!steps_take_sort(&arena->steps, e->n_values))
            return err_set(err, -E2BIG, "NodeSelector: too many values");
        for (size_t v = 0; v < e->n_values; v++)
            values[v] = wire_str(e->values[v]);
        items[i] = (struct label_expression){.key = wire_str(e->key),
                                             .op = wire_str(e->op),
                                             .values = values,
                                             .value_count = (uint32_t)e->n_values};
    }
    if (items != NULL)
        node_selector_term_compile(items, (uint32_t)count, fields, arena, term);
    return arena_failed(arena) ? no_room(err) : 0;
}

static int selector_decode(struct str bytes, struct arena *arena, struct node_affinity *ret,
                           struct err *err) {
    const Wire__Selector *s;
    int r = wire_unpack(&wire__selector__descriptor, bytes, arena, "NodeSelector", &s, err);
    if (r != 0)
        return r;
    struct node_selector_term *terms = arena_array(arena, s->n_terms, sizeof *terms);
    for (size_t i = 0; r == 0 && terms != NULL && i < s->n_terms; i++) {
        const Wire__Term *t = s->terms[i];
        r = expressions_decode(t->expressions, t->n_expressions, false, arena, &terms[i], err);
        if (r == 0)
            r = expressions_decode(t->fields, t->n_fields, true, arena, &terms[i], err);
    }
    ret->required = true;
    ret->terms = terms;
    ret->term_count = (uint32_t)s->n_terms;
    return r == 0 && terms == NULL ? no_room(err) : r;
}

/* ---- requirements ---- */

static int labels_of(struct wire_entries entries, struct arena *arena, struct labels *ret,
                     struct err *err) {
    const int r = wire_entries_sort(&entries, arena, err);
    if (r != 0)
        return r;
    struct label *items = arena_array(arena, entries.count, sizeof *items);
    if (items == NULL)
        return no_room(err);
    for (size_t i = 0; i < entries.count; i++)
        items[i] =
            (struct label){wire_str(entries.items[i]->key), wire_str(entries.items[i]->value)};
    *ret = (struct labels){items, (uint32_t)entries.count};
    return 0;
}

static int claim_decode(const Wire__Claim *claim, struct arena *arena,
                        struct replica_requirements *ret, struct err *err) {
    struct str selector;
    if (claim == NULL)
        return 0;
    int r = labels_of((struct wire_entries){claim->node_selector, claim->n_node_selector}, arena,
                      &ret->claim.node_selector, err);
    if (r == 0 && wire_affinity(claim, &selector))
        r = selector_decode(selector, arena, &ret->claim, err);
    const struct wire_list tolerations = wire_tolerations(claim);
    struct toleration *items = arena_array(arena, tolerations.count, sizeof *items);
    if (r == 0 && items == NULL)
        return no_room(err);
    for (size_t i = 0; r == 0 && i < tolerations.count; i++)
        r = toleration_decode(wire_str(tolerations.items[i]), arena, &items[i], err);
    ret->tolerations = (struct tolerations){items, (uint32_t)tolerations.count};
    return r;
}

/* A Quantity without a text is 0; an empty text is not valid. */
static int request_decode(const Wire__Entry *entry, struct arena *arena, struct request *ret,
                          struct err *err) {
    const Wire__Quantity *q;
    int r = wire_unpack(&wire__quantity__descriptor, wire_str(entry->value), arena, "Quantity", &q,
                        err);
    ret->name = wire_str(entry->key);
    if (r == 0 && q->has_text) {
        ret->text = wire_str(q->text);
        r = quantity_parse(ret->text, &ret->amount, err);
    }
    return r == 0 ? 0 : err_wrap(err, "resourceRequest['%.*s']", STR_ARG(ret->name));
}

static int requests_decode(struct wire_entries entries, struct arena *arena,
                           struct replica_requirements *ret, struct err *err) {
    int r = wire_entries_sort(&entries, arena, err);
    if (r != 0)
        return r;
    struct request *requests = arena_array(arena, entries.count, sizeof *requests);
    if (requests == NULL)
        return no_room(err);
    for (size_t i = 0; r == 0 && i < entries.count; i++)
        r = request_decode(entries.items[i], arena, &requests[i], err);
    ret->requests = requests;
    ret->request_count = (uint32_t)entries.count;
    return r;
}

static int requirements_decode(const Wire__Requirements *from, struct arena *arena,
                               struct replica_requirements *ret, struct err *err) {
    if (from == NULL)
        return 0;
    *ret = (struct replica_requirements){.given = true,
                                         .namespace = wire_str(from->namespace_),
                                         .priority_class = wire_str(from->priority_class)};
    const int r = claim_decode(from->claim, arena, ret, err);
    return r == 0 ? requests_decode(wire_requests(from), arena, ret, err) : r;
}

/* ---- components ---- */

static int component_decode(const Wire__Component *from, struct arena *arena, struct component *ret,
                            struct err *err) {
    const Wire__ComponentRequirements *needs = from->requirements;
    ret->name = wire_str(from->name);
    ret->replicas = from->replicas;
    if (needs == NULL)
        return 0;
    ret->requirements = (struct replica_requirements){
        .given = true, .priority_class = wire_str(needs->priority_class)};
    const int r = claim_decode(needs->claim, arena, &ret->requirements, err);
    return r == 0 ? requests_decode(wire_component_requests(needs), arena, &ret->requirements, err)
                  : r;
}

static int components_of(Wire__Component *const *from, size_t count, struct arena *arena,
                         const struct component **ret, uint32_t *ret_count, struct err *err) {
    struct component *components = arena_array(arena, count, sizeof *components);
    int r = components == NULL ? no_room(err) : 0;
    for (size_t i = 0; r == 0 && i < count; i++) {
        r = component_decode(from[i], arena, &components[i], err);
        if (r != 0)
            (void)err_wrap(err, "components[%zu]", i);
    }
    *ret = components;
    *ret_count = (uint32_t)count;
    return r;
}

static int assumed_of(Wire__AssumedWorkload *const *from, size_t count, struct arena *arena,
                      const struct assumed_workload **ret, uint32_t *ret_count, struct err *err) {
    struct assumed_workload *assumed = arena_array(arena, count, sizeof *assumed);
    int r = assumed == NULL ? no_room(err) : 0;
    for (size_t i = 0; r == 0 && i < count; i++) {
        assumed[i].namespace = wire_str(from[i]->namespace_);
        r = components_of(from[i]->components, from[i]->n_components, arena, &assumed[i].components,
                          &assumed[i].component_count, err);
        if (r != 0)
            (void)err_wrap(err, "assumedWorkloads[%zu]", i);
    }
    *ret = assumed;
    *ret_count = (uint32_t)count;
    return r;
}

/* ---- requests ---- */

int wire_replicas_decode(struct str bytes, struct arena *arena, struct wire_replicas *ret,
                         struct err *err) {
    const Wire__ReplicasRequest *from;
    int r = wire_unpack(&wire__replicas_request__descriptor, bytes, arena,
                        "MaxAvailableReplicasRequest", &from, err);
    if (r != 0)
        return r;
    struct wire_replicas q = {.cluster = wire_str(from->cluster)};
    r = requirements_decode(from->requirements, arena, &q.requirements, err);
    if (r == 0)
        r = assumed_of(from->assumed, from->n_assumed, arena, &q.assumed, &q.assumed_count, err);
    if (r == 0)
        *ret = q;
    return r;
}

int wire_sets_decode(struct str bytes, struct arena *arena, struct wire_sets *ret,
                     struct err *err) {
    const Wire__SetsRequest *from;
    int r = wire_unpack(&wire__sets_request__descriptor, bytes, arena,
                        "MaxAvailableComponentSetsRequest", &from, err);
    if (r != 0)
        return r;
    struct wire_sets q = {.cluster = wire_str(from->cluster),
                          .namespace = wire_str(from->namespace_)};
    r = components_of(from->components, from->n_components, arena, &q.components,
                      &q.component_count, err);
    if (r == 0)
        r = assumed_of(from->assumed, from->n_assumed, arena, &q.assumed, &q.assumed_count, err);
    if (r == 0)
        *ret = q;
    return r;
}

int wire_unschedulable_decode(struct str bytes, struct arena *arena, struct wire_unschedulable *ret,
                              struct err *err) {
    const Wire__UnschedulableRequest *from;
    const int r = wire_unpack(&wire__unschedulable_request__descriptor, bytes, arena,
                              "UnschedulableReplicasRequest", &from, err);
    if (r != 0)
        return r;
    *ret = (struct wire_unschedulable){.cluster = wire_str(from->cluster),
                                       .threshold_ns = from->threshold};
    if (from->resource != NULL) {
        ret->api_version = wire_str(from->resource->api_version);
        ret->kind = wire_str(from->resource->kind);
        ret->namespace = wire_str(from->resource->namespace_);
        ret->name = wire_str(from->resource->name);
    }
    return 0;
}

/* ---- responses ---- */

void wire_response_encode(int32_t count, enum wire_epoch epoch, struct strbuf *out) {
    Wire__Response response = WIRE__RESPONSE__INIT;
    uint8_t bytes[16]; /* a tag, and the varint of a negative number: 11 */
    response.has_count = count != 0 || epoch == WIRE_MESSAGES;
    response.count = count;
    strbuf_append(out, bytes, wire__response__pack(&response, bytes));
}
