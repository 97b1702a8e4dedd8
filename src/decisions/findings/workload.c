#include "findings/workload.h"

#include "base/json_reader.h"
#include "findings/kinds.h"
#include "findings/schemas.h"
#include "findings/terms.h"

int findings_of_workload(struct str json, const struct pod *pod, struct str spec,
                         struct findings *f) {
    struct json_reader r;
    json_reader_init(&r, json, f->arena, "object");
    const struct str version = json_peek_member(&r, STR("apiVersion"));
    const struct object_type type = object_type_of(version, json_peek_member(&r, STR("kind")));
    const struct schema_document *document = schema_of_workload(type);
    findings_of_kind(json, f);
    findings_of_pod(pod, spec, f);
    return schema_check(json, document != NULL ? document : &schema_of_template, f);
}
