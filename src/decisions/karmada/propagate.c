#include "karmada/propagate.h"

#include "base/json_writer.h"
#include "karmada/applied.h"
#include "karmada/propagate_select.h"
#include "model/karmada.h"
#include "model/names.h"
#include "model/quantity.h"

#include <errno.h>
#include <string.h>

struct making {
    const struct propagation_policy *policy;
    const struct propagated_object *object;
    struct str placement; /* as JSON */
    struct json_writer w;
};

static void put_given(struct making *m, struct str key, struct str value) {
    if (!str_empty(value))
        json_put_member(&m->w, key, value);
}

static void put_given_raw(struct making *m, struct str key, struct str json) {
    if (json.p == NULL)
        return;
    json_key(&m->w, key);
    json_put_raw(&m->w, json);
}

static bool is_cluster_wide(const struct making *m) {
    return str_empty(m->object->meta.namespace);
}

/* ---- metadata ---- */

/* Appends NAME-KIND in lower case; ":" becomes ".". upstream: GenerateBindingName() */
static void put_name(struct making *m) {
    CLEANUP(strbuf_done) struct strbuf name = {0};
    const struct str parts[] = {m->object->meta.name, STR("-"), m->object->kind};
    for (size_t part = 0; part < sizeof parts / sizeof parts[0]; part++)
        for (size_t i = 0; i < parts[part].n; i++) {
            const char c = parts[part].p[i];
            const bool is_upper = c >= 'A' && c <= 'Z';
            strbuf_append_char(&name, is_upper                ? (char)(c + ('a' - 'A'))
                                      : part == 0 && c == ':' ? '.'
                                                              : c);
        }
    json_put_member(&m->w, STR("name"), strbuf_str(&name));
}

static void put_labels(struct making *m) {
    const struct str key = m->policy->cluster_wide ? STR(CLUSTER_PROPAGATION_POLICY_ID_LABEL)
                                                   : STR(PROPAGATION_POLICY_ID_LABEL);
    struct str id = {0};
    if (!labels_lookup(&m->policy->meta.labels, key, &id) || str_empty(id))
        return; /* the policy has no ID label until Karmada sets it */
    json_key(&m->w, STR("labels"));
    json_begin_object(&m->w);
    json_put_member(&m->w, key, id);
    json_end_object(&m->w);
}

static void put_annotations(struct making *m) {
    json_key(&m->w, STR("annotations"));
    json_begin_object(&m->w);
    if (m->policy->cluster_wide) {
        json_put_member(&m->w, STR(CLUSTER_PROPAGATION_POLICY_NAME_ANNOTATION),
                        m->policy->meta.name);
    } else {
        json_put_member(&m->w, STR(PROPAGATION_POLICY_NAME_ANNOTATION), m->policy->meta.name);
        json_put_member(&m->w, STR(PROPAGATION_POLICY_NAMESPACE_ANNOTATION),
                        m->policy->meta.namespace);
    }
    json_end_object(&m->w);
}

/* A reference needs the uid, which an object from a file may not have. */
static void put_owner(struct making *m) {
    const struct propagated_object *o = m->object;
    if (str_empty(o->meta.uid))
        return;
    json_key(&m->w, STR("ownerReferences"));
    json_begin_array(&m->w);
    json_begin_object(&m->w);
    json_put_member(&m->w, STR("apiVersion"), o->api_version);
    json_put_member(&m->w, STR("kind"), o->kind);
    json_put_member(&m->w, STR("name"), o->meta.name);
    json_put_member(&m->w, STR("uid"), o->meta.uid);
    json_key(&m->w, STR("controller"));
    json_put_bool(&m->w, true);
    json_key(&m->w, STR("blockOwnerDeletion"));
    json_put_bool(&m->w, true);
    json_end_object(&m->w);
    json_end_array(&m->w);
}

static void put_metadata(struct making *m) {
    json_key(&m->w, STR("metadata"));
    json_begin_object(&m->w);
    put_name(m);
    put_given(m, STR("namespace"), m->object->meta.namespace);
    put_labels(m);
    put_annotations(m);
    put_owner(m);
    json_key(&m->w, STR("finalizers"));
    json_begin_array(&m->w);
    json_put_string(&m->w, is_cluster_wide(m) ? STR(CLUSTER_RESOURCE_BINDING_FINALIZER)
                                              : STR(RESOURCE_BINDING_FINALIZER));
    json_end_array(&m->w);
    json_end_object(&m->w);
}

/* ---- spec ---- */

static void put_resource(struct making *m) {
    const struct propagated_object *o = m->object;
    json_key(&m->w, STR("resource"));
    json_begin_object(&m->w);
    json_put_member(&m->w, STR("apiVersion"), o->api_version);
    json_put_member(&m->w, STR("kind"), o->kind);
    put_given(m, STR("namespace"), o->meta.namespace);
    json_put_member(&m->w, STR("name"), o->meta.name);
    put_given(m, STR("uid"), o->meta.uid);
    put_given(m, STR("resourceVersion"), o->meta.version);
    json_end_object(&m->w);
}

static bool is_bytes(struct str resource) {
    return str_eq(resource, STR("memory")) || str_eq(resource, STR("ephemeral-storage")) ||
           str_has_prefix(resource, STR("hugepages-"));
}

/* upstream: Resource.ResourceList() */
static void put_requests(struct making *m) {
    const struct resources *requests = &m->object->requests;
    if (requests->count == 0)
        return;
    json_key(&m->w, STR("resourceRequest"));
    json_begin_object(&m->w);
    for (uint32_t i = 0; i < requests->count; i++) {
        CLEANUP(strbuf_done) struct strbuf text = {0};
        const struct resource *resource = &requests->items[i];
        const bool is_cpu = str_eq(resource->name, STR("cpu"));
        const struct quantity q = {
            .nano = (__int128)resource->amount * (is_cpu ? 1000000 : 1000000000),
            .format = is_bytes(resource->name) ? QUANTITY_BINARY_SI : QUANTITY_DECIMAL_SI};
        quantity_format(&q, &text);
        json_put_member(&m->w, resource->name, strbuf_str(&text));
    }
    json_end_object(&m->w);
}

/* upstream: GenerateReplicaRequirements(), GenerateNodeClaimByPodSpec() */
static void put_requirements(struct making *m) {
    const struct propagated_object *o = m->object;
    const bool has_claim =
        o->node_selector.p != NULL || o->hard_affinity.p != NULL || o->tolerations.p != NULL;
    if (!has_claim && o->requests.count == 0)
        return;
    json_key(&m->w, STR("replicaRequirements"));
    json_begin_object(&m->w);
    if (has_claim) {
        json_key(&m->w, STR("nodeClaim"));
        json_begin_object(&m->w);
        put_given_raw(m, STR("hardNodeAffinity"), o->hard_affinity);
        put_given_raw(m, STR("nodeSelector"), o->node_selector);
        put_given_raw(m, STR("tolerations"), o->tolerations);
        json_end_object(&m->w);
    }
    put_requests(m);
    json_end_object(&m->w);
}

/* upstream: ContainsServiceImport(), with which the webhook sets propagateDeps. */
static bool propagates_dependencies(const struct propagation_policy *p) {
    bool propagates = p->propagates_dependencies;
    for (uint32_t i = 0; i < p->selector_count && !propagates; i++)
        propagates = str_eq(p->selectors[i].kind, STR(SERVICE_IMPORT_KIND)) &&
                     str_eq(p->selectors[i].api_version, STR(SERVICE_IMPORT_API));
    return propagates;
}

static void put_spec(struct making *m) {
    json_key(&m->w, STR("spec"));
    json_begin_object(&m->w);
    put_resource(m);
    if (propagates_dependencies(m->policy)) {
        json_key(&m->w, STR("propagateDeps"));
        json_put_bool(&m->w, true);
    }
    put_requirements(m);
    if (m->object->replicas > 0) {
        json_key(&m->w, STR("replicas"));
        json_put_integer(&m->w, m->object->replicas);
    }
    put_given(m, STR("schedulerName"), m->policy->scheduler);
    put_given_raw(m, STR("placement"), m->placement);
    put_given_raw(m, STR("failover"), m->policy->failover);
    put_given(m, STR("conflictResolution"), m->policy->conflict_resolution);
    put_given_raw(m, STR("suspension"), m->policy->suspension);
    put_given_raw(m, STR("preserveResourcesOnDeletion"), m->policy->preserves);
    json_end_object(&m->w);
}

static int make(struct making *m, struct arena *arena, struct str *ret, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf out = {0};
    const struct str placement = m->policy->placement.p != NULL ? m->policy->placement : STR("{}");
    const int r = karmada_placement_store(placement, arena, &m->placement, err);
    if (r != 0)
        return r;
    m->w = (struct json_writer){.out = &out};
    json_begin_object(&m->w);
    json_put_member(&m->w, STR("apiVersion"), STR(KARMADA_WORK_GROUP "/v1alpha2"));
    json_put_member(&m->w, STR("kind"),
                    is_cluster_wide(m) ? STR(CLUSTER_RESOURCE_BINDING_KIND)
                                       : STR(RESOURCE_BINDING_KIND));
    put_metadata(m);
    put_spec(m);
    json_end_object(&m->w);
    *ret = arena_str(arena, strbuf_str(&out));
    if (strbuf_failed(&out) || arena_failed(arena))
        return err_set(err, -ENOMEM, "no memory for a binding");
    return 0;
}

int karmada_propagate(const struct propagation_policy *policy,
                      const struct propagated_object *object, struct arena *arena,
                      struct karmada_propagation *ret, struct err *err) {
    struct making m = {.policy = policy, .object = object};
    *ret = (struct karmada_propagation){.binding = {0}};
    bool selects;
    int r = propagation_selects(policy, object, arena, &selects, ret, err);
    if (r == 0 && selects)
        r = make(&m, arena, &ret->binding, err);
    return r;
}
