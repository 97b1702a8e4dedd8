#include "model/karmada_workload.h"

#include "model/fields.h"
#include "model/pod_template.h"

/* Reads the creation time in the next object, metadata, and does not move the reader. */
static bool peek_created(const struct json_reader *r, int64_t *ret_ms) {
    struct json_reader ahead = *r;
    struct str key;
    bool found = false;
    if (json_peek(&ahead) != JSON_OBJECT || !json_object(&ahead))
        return false;
    while (json_member(&ahead, &key))
        if (str_eq(key, STR("creationTimestamp")))
            found = json_time(&ahead, ret_ms); /* the decoding pass reports broken text */
    return found;
}

static void spec_decode(struct json_reader *r, struct karmada_workload *workload) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("selector")))
            workload->selector = label_selector_decode(r);
        else if (str_eq(key, STR("template")))
            workload->template = pod_template_decode(r);
    }
}

void karmada_workload_decode(struct json_reader *r, struct karmada_workload *ret) {
    struct str key;
    *ret = (struct karmada_workload){.has_created = false};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("metadata"))) {
            ret->has_created = peek_created(r, &ret->created_ms);
            meta_decode(r, &ret->meta);
        } else if (str_eq(key, STR("spec")))
            spec_decode(r, ret);
    }
}
