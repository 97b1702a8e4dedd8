#include "model/binding.h"

#include "base/json_fields.h"
#include "model/fields.h"
#include "model/names.h"

#include <stddef.h>

/* Marks where the next value begins; value_end() then returns its bytes in the text. */
static const char *value_begin(struct json_reader *r) {
    (void)json_peek(r); /* skips the blanks before it */
    return r->p;
}

static struct str value_end(const struct json_reader *r, const char *begin) {
    return (struct str){begin, (size_t)(r->p - begin)};
}

/* ---- spec ---- */

static void requirements_read(struct json_reader *r, void *into) {
    replica_requirements_decode(r, into);
}

static void components_read(struct json_reader *r, void *into) {
    struct binding_spec *spec = into;
    spec->components = components_decode(r, &spec->component_count);
}

static void placement_read(struct json_reader *r, void *into) {
    struct binding_spec *spec = into;
    spec->has_placement = json_peek(r) != JSON_NULL;
    const char *begin = value_begin(r);
    cluster_placement_decode(r, &spec->placement);
    spec->placement_text = spec->has_placement ? value_end(r, begin) : (struct str){0};
}

static const struct json_field resource_fields[] = {
    JSON_TEXT("apiVersion", struct binding_spec, resource_api),
    JSON_TEXT("kind", struct binding_spec, resource_kind),
    JSON_TEXT("namespace", struct binding_spec, resource_namespace),
    JSON_TEXT("name", struct binding_spec, resource_name),
    JSON_TEXT("uid", struct binding_spec, resource_uid),
};
static const struct json_field target_fields[] = {
    JSON_TEXT("name", struct target_cluster, name),
    JSON_INTEGER("replicas", struct target_cluster, replicas, 0, INT32_MAX, .absent = 0),
};
static const struct json_field eviction_fields[] = {
    JSON_TEXT("fromCluster", struct eviction_task, from),
};
static const struct json_field suspension_fields[] = {
    JSON_FLAG("scheduling", struct binding_spec, suspended),
};
static const struct json_field spec_fields[] = {
    JSON_WITHIN("resource", resource_fields),
    JSON_INTEGER("replicas", struct binding_spec, replicas, 0, INT32_MAX, .absent = 0),
    JSON_CALL("replicaRequirements", struct binding_spec, requirements, requirements_read),
    JSON_CALL_WHOLE("components", components_read),
    JSON_LIST("clusters", struct binding_spec, clusters, cluster_count, UINT32_MAX, target_fields),
    JSON_CALL_WHOLE("placement", placement_read),
    JSON_LIST("gracefulEvictionTasks", struct binding_spec, evictions, eviction_count, UINT32_MAX,
              eviction_fields),
    JSON_TEXT("schedulerName", struct binding_spec, scheduler),
    JSON_TIME("rescheduleTriggeredAt", struct binding_spec, reschedule_ms,
              JSON_GIVEN(struct binding_spec, has_reschedule)),
    JSON_WITHIN("suspension", suspension_fields),
};

void binding_spec_decode(struct json_reader *r, struct binding_spec *ret) {
    *ret = (struct binding_spec){0};
    json_fields(r, &JSON_ROWS(spec_fields), ret);
}

bool binding_is_workload(const struct binding_spec *spec) {
    return spec->replicas > 0 || spec->requirements.given || spec->component_count > 0;
}

/* ---- status ---- */

static void conditions_read(struct json_reader *r, void *into) {
    *(struct str *)into = json_null(r) ? (struct str){0} : json_skip(r);
}

static const struct json_field status_fields[] = {
    JSON_TIME("lastScheduledTime", struct binding_status, scheduled_ms,
              JSON_GIVEN(struct binding_status, has_scheduled)),
    JSON_TEXT("schedulerObservingAffinityName", struct binding_status, observed_affinity),
    JSON_INTEGER("schedulerObservedGeneration", struct binding_status, observed_generation,
                 INT64_MIN, INT64_MAX, .absent = 0),
    JSON_CALL("conditions", struct binding_status, conditions, conditions_read),
};

void binding_status_decode(struct json_reader *r, struct binding_status *ret) {
    *ret = (struct binding_status){0};
    json_fields(r, &JSON_ROWS(status_fields), ret);
}

/* ---- the object ---- */

/* Returns the generation in the next object, metadata, and does not move the reader. */
static int64_t peek_generation(const struct json_reader *r) {
    struct json_reader ahead = *r;
    struct str key;
    int64_t generation = 0;
    if (json_peek(&ahead) != JSON_OBJECT || !json_object(&ahead))
        return 0;
    while (json_member(&ahead, &key))
        if (str_eq(key, STR("generation")) && json_peek(&ahead) == JSON_NUMBER)
            generation = json_integer(&ahead, INT64_MIN, INT64_MAX);
        else
            (void)json_skip(&ahead); /* the decoding pass reports broken text */
    return json_failed(&ahead) ? 0 : generation;
}

static void applied_placement(struct binding *binding) {
    struct str text;
    if (!labels_lookup(&binding->annotations, STR(APPLIED_PLACEMENT_ANNOTATION), &text))
        return;
    binding->applied_placement = text.p != NULL ? text : STR("");
}

static void kind_read(struct json_reader *r, void *into) {
    *(bool *)into = str_eq(json_string(r), STR(CLUSTER_RESOURCE_BINDING_KIND));
}

static void metadata_read(struct json_reader *r, void *into) {
    struct binding *binding = into;
    binding->generation = peek_generation(r);
    meta_decode_annotated(r, &binding->meta, &binding->annotations);
}

static void spec_read(struct json_reader *r, void *into) {
    binding_spec_decode(r, into);
}

static void status_read(struct json_reader *r, void *into) {
    binding_status_decode(r, into);
}

static const struct json_field binding_fields[] = {
    JSON_CALL("kind", struct binding, cluster_wide, kind_read),
    JSON_CALL_WHOLE("metadata", metadata_read),
    JSON_CALL("spec", struct binding, spec, spec_read),
    JSON_CALL("status", struct binding, status, status_read),
};

void binding_decode(struct json_reader *r, struct binding *ret) {
    *ret = (struct binding){0};
    json_fields(r, &JSON_ROWS(binding_fields), ret);
    if (ret->cluster_wide)
        ret->meta.namespace = (struct str){0};
    else if (str_empty(ret->meta.namespace))
        ret->meta.namespace = STR("default"); /* kubectl's default namespace */
    applied_placement(ret);
}

void binding_read(struct json_reader *r, struct binding *ret) {
    const struct str kind = json_peek_member(r, STR("kind"));
    const struct str api = json_peek_member(r, STR("apiVersion"));
    if ((!str_eq(kind, STR(RESOURCE_BINDING_KIND)) &&
         !str_eq(kind, STR(CLUSTER_RESOURCE_BINDING_KIND))) ||
        (!str_empty(api) && !str_has_prefix(api, STR(KARMADA_WORK_GROUP "/")))) {
        *ret = (struct binding){0};
        json_fail_kind(r, kind,
                       STR(RESOURCE_BINDING_KIND " or " CLUSTER_RESOURCE_BINDING_KIND
                                                 " of " KARMADA_WORK_GROUP));
        return;
    }
    binding_decode(r, ret);
    if (!json_failed(r) && str_empty(ret->meta.name))
        json_fail(r, "metadata.name is required");
}
