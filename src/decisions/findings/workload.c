#include "findings/workload.h"

#include "base/json_reader.h"
#include "findings/schemas.h"
#include "findings/terms.h"
#include "model/names.h"

/* Finds versions in which workloads were once served. upstream: kubernetes CHANGELOG-1.16 (apps,
 * extensions), CHANGELOG-1.25 (batch/v1beta1). */
static void check_version(struct str json, struct str version, struct findings *f) {
    static const char *const old[][2] = {
        {"extensions/v1beta1", APPS_API},     {APPS_GROUP "/v1beta1", APPS_API},
        {APPS_GROUP "/v1beta2", APPS_API},    {BATCH_GROUP "/v1beta1", BATCH_API},
        {BATCH_GROUP "/v2alpha1", BATCH_API},
    };
    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++)
        if (str_eq(version, str_of(old[i][0])))
            findings_of_version(json, old[i][0], old[i][1], "an API server refuses the object", f);
}

int findings_of_workload(struct str json, const struct pod *pod, struct str spec,
                         struct findings *f) {
    struct json_reader r;
    json_reader_init(&r, json, f->arena, "object");
    const struct str version = json_peek_member(&r, STR("apiVersion"));
    const struct object_type type = object_type_of(version, json_peek_member(&r, STR("kind")));
    const struct schema_document *document = schema_of_workload(type);
    check_version(json, version, f);
    findings_of_pod(pod, spec, f);
    return schema_check(json, document != NULL ? document : &schema_of_template, f);
}
