#include "model/decode_binding.h"

#include "base/json_fields.h"
#include "model/fields.h"
#include "model/names.h"

#include <stddef.h>

/* Its bytes as they stand in the text, for what is read between. */
static const char *value_begin(struct json_reader *r) {
    (void)json_peek(r); /* over the blanks before it */
    return r->p;
}

static struct str value_end(const struct json_reader *r, const char *begin) {
    return (struct str){begin, (size_t)(r->p - begin)};
}

/* ---- spec ---- */

static void resource_decode(struct json_reader *r, struct binding_spec *spec) {
    static const struct json_field fields[] = {
        JSON_TEXT("apiVersion", struct binding_spec, resource_api),
        JSON_TEXT("kind", struct binding_spec, resource_kind),
        JSON_TEXT("namespace", struct binding_spec, resource_namespace),
        JSON_TEXT("name", struct binding_spec, resource_name),
        JSON_TEXT("uid", struct binding_spec, resource_uid),
    };
    json_fields(r, &JSON_ROWS(fields), spec);
}

static void target_decode(struct json_reader *r, void *into) {
    struct target_cluster *target = into;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("name")))
            target->name = json_string(r);
        else if (str_eq(key, STR("replicas")))
            target->replicas = replicas_decode(r);
    }
}

static void eviction_decode(struct json_reader *r, void *into) {
    static const struct json_field fields[] = {
        JSON_TEXT("fromCluster", struct eviction_task, from),
    };
    json_fields(r, &JSON_ROWS(fields), into);
}

static void suspension_decode(struct json_reader *r, struct binding_spec *spec) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("scheduling")))
            spec->suspended = json_bool(r);
    }
}

static void placement_member(struct json_reader *r, struct binding_spec *spec) {
    spec->has_placement = json_peek(r) != JSON_NULL;
    const char *begin = value_begin(r);
    cluster_placement_decode(r, &spec->placement);
    spec->placement_text = spec->has_placement ? value_end(r, begin) : (struct str){0};
}

static void member_decode(struct json_reader *r, struct str key, struct binding_spec *ret) {
    if (str_eq(key, STR("resource")))
        resource_decode(r, ret);
    else if (str_eq(key, STR("replicas")))
        ret->replicas = replicas_decode(r);
    else if (str_eq(key, STR("replicaRequirements")))
        replica_requirements_decode(r, &ret->requirements);
    else if (str_eq(key, STR("components")))
        ret->components = components_decode(r, &ret->component_count);
    else if (str_eq(key, STR("clusters")))
        ret->clusters =
            json_array_of(r, sizeof *ret->clusters, UINT32_MAX, target_decode, &ret->cluster_count);
    else if (str_eq(key, STR("placement")))
        placement_member(r, ret);
    else if (str_eq(key, STR("gracefulEvictionTasks")))
        ret->evictions = json_array_of(r, sizeof *ret->evictions, UINT32_MAX, eviction_decode,
                                       &ret->eviction_count);
    else if (str_eq(key, STR("schedulerName")))
        ret->scheduler = json_string(r);
    else if (str_eq(key, STR("rescheduleTriggeredAt")))
        ret->has_reschedule = json_time(r, &ret->reschedule_ms);
    else if (str_eq(key, STR("suspension")))
        suspension_decode(r, ret);
}

void binding_spec_decode(struct json_reader *r, struct binding_spec *ret) {
    struct str key;
    *ret = (struct binding_spec){0};
    if (json_object(r))
        while (json_member(r, &key))
            member_decode(r, key, ret);
}

bool binding_is_workload(const struct binding_spec *spec) {
    return spec->replicas > 0 || spec->requirements.given || spec->component_count > 0;
}

/* ---- status ---- */

static struct str raw_decode(struct json_reader *r) {
    return json_null(r) ? (struct str){0} : json_skip(r);
}

void binding_status_decode(struct json_reader *r, struct binding_status *ret) {
    struct str key;
    *ret = (struct binding_status){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("lastScheduledTime")))
            ret->has_scheduled = json_time(r, &ret->scheduled_ms);
        else if (str_eq(key, STR("schedulerObservingAffinityName")))
            ret->observed_affinity = json_string(r);
        else if (str_eq(key, STR("schedulerObservedGeneration")))
            ret->observed_generation = json_null(r) ? 0 : json_integer(r, INT64_MIN, INT64_MAX);
        else if (str_eq(key, STR("conditions")))
            ret->conditions = raw_decode(r);
    }
}

/* ---- the object ---- */

/* Of the metadata that comes next; the reader stays where it is. */
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
            (void)json_skip(&ahead); /* what is broken is reported by the real pass */
    return json_failed(&ahead) ? 0 : generation;
}

static void applied_placement(struct binding *binding) {
    struct str text;
    if (!labels_lookup(&binding->annotations, STR(APPLIED_PLACEMENT_ANNOTATION), &text))
        return;
    binding->applied_placement = text.p != NULL ? text : STR("");
}

void binding_decode(struct json_reader *r, struct binding *ret) {
    struct str key;
    *ret = (struct binding){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("kind"))) {
            ret->cluster_wide = str_eq(json_string(r), STR(CLUSTER_RESOURCE_BINDING_KIND));
        } else if (str_eq(key, STR("metadata"))) {
            ret->generation = peek_generation(r);
            meta_decode_annotated(r, &ret->meta, &ret->annotations);
        } else if (str_eq(key, STR("spec")))
            binding_spec_decode(r, &ret->spec);
        else if (str_eq(key, STR("status")))
            binding_status_decode(r, &ret->status);
    }
    if (ret->cluster_wide)
        ret->meta.namespace = (struct str){0};
    else if (str_empty(ret->meta.namespace))
        ret->meta.namespace = STR("default"); /* as kubectl reads it */
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
