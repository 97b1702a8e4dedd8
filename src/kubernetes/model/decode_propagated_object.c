/*
 * Reads an object that a policy may select, as Karmada's built-in interpreters of replicas read the
 * object from the API server. So the API server's defaults apply: one replica if the number is not
 * given.
 */
#include "model/propagation.h"

#include "base/json_fields.h"
#include "model/affinity.h"
#include "model/fields.h"
#include "model/karmada_pod.h"
#include "model/kind_scope.h"
#include "model/names.h"

/* ---- pods ---- */

/* Returns the value's JSON, if a decoder has read the value without an error. */
static struct str checked_text(struct json_reader *r, const struct json_reader *ahead) {
    if (!json_failed(ahead))
        return json_skip(r);
    *r = *ahead;
    return (struct str){0};
}

static void node_selector_read(struct json_reader *r, void *into) {
    struct json_reader ahead = *r;
    const struct labels labels = labels_decode(&ahead);
    const struct str text = checked_text(r, &ahead);
    *(struct str *)into = labels.count > 0 ? text : (struct str){0};
}

static void pod_tolerations_read(struct json_reader *r, void *into) {
    struct json_reader ahead = *r;
    const struct tolerations tolerations = tolerations_decode(&ahead);
    const struct str text = checked_text(r, &ahead);
    *(struct str *)into = tolerations.count > 0 ? text : (struct str){0};
}

static void hard_affinity_read(struct json_reader *r, void *into) {
    struct json_reader ahead = *r;
    struct node_affinity affinity = {0};
    const bool given = json_peek(r) != JSON_NULL;
    node_selector_decode(&ahead, &affinity);
    const struct str text = checked_text(r, &ahead);
    *(struct str *)into = given ? text : (struct str){0};
}

static const struct json_field node_affinity_fields[] = {
    JSON_CALL("requiredDuringSchedulingIgnoredDuringExecution", struct propagated_object,
              hard_affinity, hard_affinity_read),
};
static const struct json_field affinity_fields[] = {
    JSON_WITHIN("nodeAffinity", node_affinity_fields),
};
static const struct json_field pod_fields[] = {
    JSON_CALL("nodeSelector", struct propagated_object, node_selector, node_selector_read),
    JSON_CALL("tolerations", struct propagated_object, tolerations, pod_tolerations_read),
    JSON_WITHIN("affinity", affinity_fields),
};

static void pod_spec_read(struct json_reader *r, void *into) {
    struct propagated_object *ret = into;
    struct json_reader ahead = *r;
    int64_t beyond = 0;
    ret->requests = karmada_template_requests_decode(&ahead, &beyond);
    if (json_failed(&ahead))
        *r = ahead;
    else if (beyond > 0)
        json_fail(r, "requests more than %d resources", LIMIT_RESOURCES);
    json_fields(r, &JSON_ROWS(pod_fields), ret);
}

/* ---- kinds ---- */

static const struct json_field template_fields[] = {
    JSON_CALL_WHOLE("spec", pod_spec_read),
};
static const struct json_field replicated_fields[] = {
    JSON_INTEGER("replicas", struct propagated_object, replicas, 0, INT32_MAX, .absent = 1),
    JSON_WITHIN("template", template_fields),
};

static void replicated_read(struct json_reader *r, void *into) {
    struct propagated_object *ret = into;
    ret->replicas = 1;
    json_fields(r, &JSON_ROWS(replicated_fields), ret);
}

struct job {
    struct propagated_object *object;
    int32_t parallelism, completions;
};

static void job_template_read(struct json_reader *r, void *into) {
    struct job *job = into;
    json_fields(r, &JSON_ROWS(template_fields), job->object);
}

static void job_read(struct json_reader *r, void *into) {
    static const struct json_field fields[] = {
        JSON_INTEGER("parallelism", struct job, parallelism, 0, INT32_MAX, .absent = 1),
        JSON_INTEGER("completions", struct job, completions, 0, INT32_MAX, .absent = INT32_MAX),
        JSON_CALL_WHOLE("template", job_template_read),
    };
    struct job job = {.object = into, .parallelism = 1, .completions = INT32_MAX};
    json_fields(r, &JSON_ROWS(fields), &job);
    job.object->replicas = job.parallelism < job.completions ? job.parallelism : job.completions;
}

static void pod_read(struct json_reader *r, void *into) {
    struct propagated_object *ret = into;
    ret->replicas = 1;
    pod_spec_read(r, ret);
}

/* upstream: getAllDefaultReplicaInterpreter() */
static const struct interpreter {
    const char *api_version, *kind;
    json_read_fn *read_spec;
} interpreters[] = {
    {APPS_API, DEPLOYMENT_KIND, replicated_read},
    {APPS_API, REPLICA_SET_KIND, replicated_read},
    {APPS_API, STATEFUL_SET_KIND, replicated_read},
    {BATCH_API, JOB_KIND, job_read},
    {"v1", POD_KIND, pod_read},
};

static json_read_fn *interpreter_of(const struct propagated_object *object) {
    for (size_t i = 0; i < sizeof interpreters / sizeof interpreters[0]; i++)
        if (str_eq(object->api_version, str_of(interpreters[i].api_version)) &&
            str_eq(object->kind, str_of(interpreters[i].kind)))
            return interpreters[i].read_spec;
    return NULL;
}

/* Sets the namespace that an API server would store: the server ignores the namespace of a
 * cluster-scoped object. */
static void set_namespace(struct propagated_object *ret) {
    const enum kind_scope scope = kind_scope_of(api_group(ret->api_version), ret->kind);
    if (scope == SCOPE_CLUSTER)
        ret->meta.namespace = STR("");
    else if (scope == SCOPE_NAMESPACED && str_empty(ret->meta.namespace))
        ret->meta.namespace = STR("default"); /* kubectl's default namespace */
    ret->scope_unknown = scope == SCOPE_UNKNOWN && str_empty(ret->meta.namespace);
}

/* ---- the object ---- */

static void spec_read(struct json_reader *r, void *into) {
    struct propagated_object *ret = into;
    json_read_fn *read_spec = interpreter_of(ret);
    if (read_spec != NULL)
        read_spec(r, ret);
    else
        (void)json_skip(r);
}

static const struct json_field object_fields[] = {
    JSON_CALL("metadata", struct propagated_object, meta, meta_read),
    JSON_CALL_WHOLE("spec", spec_read),
};

void propagated_object_read(struct json_reader *r, struct propagated_object *ret) {
    *ret = (struct propagated_object){.api_version = json_peek_member(r, STR("apiVersion")),
                                      .kind = json_peek_member(r, STR("kind"))};
    ret->interpreted = interpreter_of(ret) != NULL;
    json_fields(r, &JSON_ROWS(object_fields), ret);
    if (json_failed(r))
        return;
    if (str_empty(ret->api_version) || str_empty(ret->kind))
        json_fail(r, "apiVersion and kind are required");
    else if (str_empty(ret->meta.name))
        json_fail(r, "metadata.name is required");
    set_namespace(ret);
}
