#include "model/propagation.h"

#include "base/json_fields.h"
#include "model/binding.h"
#include "model/fields.h"
#include "model/fixed_pod.h"
#include "model/names.h"

#include <errno.h>

static void labels_selector_read(struct json_reader *r, void *into) {
    struct propagation_selector *ret = into;
    struct err err;
    ret->label_selector = label_selector_decode(r);
    if (json_failed(r) || arena_failed(r->arena) || !ret->label_selector.present)
        return;
    /* upstream treats a selector that does not compile like a selector that matches nothing */
    ret->invalid = selector_compile(&ret->label_selector, (struct labels){0}, r->arena,
                                    &ret->labels, &err) == -EINVAL;
}

static const struct json_field selector_fields[] = {
    JSON_TEXT("apiVersion", struct propagation_selector, api_version),
    JSON_TEXT("kind", struct propagation_selector, kind),
    JSON_TEXT("namespace", struct propagation_selector, namespace),
    JSON_TEXT("name", struct propagation_selector, name),
    JSON_CALL_WHOLE("labelSelector", labels_selector_read),
};

/* Keeps the value's JSON; null counts as absent. */
static void text_read(struct json_reader *r, void *into) {
    *(struct str *)into = json_null(r) ? (struct str){0} : json_skip(r);
}

/* Decodes a copy of the placement first, so that an error names its path in the policy. */
static void placement_read(struct json_reader *r, void *into) {
    struct json_reader ahead = *r;
    struct cluster_placement placement;
    cluster_placement_decode(&ahead, &placement);
    if (json_failed(&ahead))
        *r = ahead;
    else
        text_read(r, into);
}

static const struct json_field spec_fields[] = {
    JSON_LIST("resourceSelectors", struct propagation_policy, selectors, selector_count, UINT32_MAX,
              selector_fields),
    JSON_CALL("placement", struct propagation_policy, placement, placement_read),
    JSON_FLAG("propagateDeps", struct propagation_policy, propagates_dependencies),
    JSON_TEXT("schedulerName", struct propagation_policy, scheduler),
    JSON_TEXT("conflictResolution", struct propagation_policy, conflict_resolution),
    JSON_CALL("failover", struct propagation_policy, failover, text_read),
    JSON_CALL("suspension", struct propagation_policy, suspension, text_read),
    JSON_CALL("preserveResourcesOnDeletion", struct propagation_policy, preserves, text_read),
};

static const struct json_field policy_fields[] = {
    JSON_CALL("metadata", struct propagation_policy, meta, meta_read),
    JSON_WITHIN("spec", spec_fields),
};

void propagation_policy_read(struct json_reader *r, struct propagation_policy *ret) {
    const struct str kind = json_peek_member(r, STR("kind"));
    const struct str api = json_peek_member(r, STR("apiVersion"));
    const bool cluster_wide = str_eq(kind, STR(CLUSTER_PROPAGATION_POLICY_KIND));
    *ret = (struct propagation_policy){.cluster_wide = cluster_wide};
    if ((!cluster_wide && !str_eq(kind, STR(PROPAGATION_POLICY_KIND))) ||
        (!str_empty(api) && !str_has_prefix(api, STR(KARMADA_POLICY_GROUP "/")))) {
        json_fail_kind(r, kind,
                       STR(PROPAGATION_POLICY_KIND " or " CLUSTER_PROPAGATION_POLICY_KIND
                                                   " of " KARMADA_POLICY_GROUP));
        return;
    }
    json_fields(r, &JSON_ROWS(policy_fields), ret);
    ret->scheduler = scheduler_of(ret->scheduler);
    if (str_empty(ret->conflict_resolution))
        ret->conflict_resolution = STR("Abort");
    if (cluster_wide)
        ret->meta.namespace = (struct str){0};
    else if (str_empty(ret->meta.namespace))
        ret->meta.namespace = STR("default"); /* kubectl's default namespace */
    if (!json_failed(r) && str_empty(ret->meta.name))
        json_fail(r, "metadata.name is required");
}
