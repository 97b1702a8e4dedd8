#include "model/ocm.h"

#include "model/fields.h"

static const char *const types[] = {
    [CLUSTER_SET_BY_LABEL] = "ExclusiveClusterSetLabel",
    [CLUSTER_SET_BY_SELECTOR] = "LabelSelector",
};
static const char *const legacy_types[] = {
    [CLUSTER_SET_BY_LABEL] = "LegacyClusterSetLabel",
    [CLUSTER_SET_BY_SELECTOR] = "LabelSelector",
};

#define SELECTOR_FIELDS(words)                                                                     \
    JSON_WORD("selectorType", struct cluster_set, type, words, .absent = CLUSTER_SET_BY_LABEL),    \
        JSON_CALL("labelSelector", struct cluster_set, selector, label_selector_read)
#define SET_FIELDS(spec)                                                                           \
    JSON_CALL("metadata", struct cluster_set, meta, meta_read), JSON_WITHIN("spec", spec)

static const struct json_field selector_fields[] = {SELECTOR_FIELDS(types)};
static const struct json_field spec_fields[] = {JSON_WITHIN("clusterSelector", selector_fields)};
static const struct json_field set_fields[] = {SET_FIELDS(spec_fields)};

/* v1beta1 */
static const struct json_field legacy_selector_fields[] = {SELECTOR_FIELDS(legacy_types)};
static const struct json_field legacy_spec_fields[] = {
    JSON_WITHIN("clusterSelector", legacy_selector_fields)};
static const struct json_field legacy_set_fields[] = {SET_FIELDS(legacy_spec_fields)};

void cluster_set_decode(struct json_reader *r, struct cluster_set *ret) {
    const bool legacy = str_has_suffix(json_peek_member(r, STR("apiVersion")), STR("/v1beta1"));
    *ret = (struct cluster_set){.type = CLUSTER_SET_BY_LABEL};
    json_fields(r, legacy ? &JSON_ROWS(legacy_set_fields) : &JSON_ROWS(set_fields), ret);
}

void cluster_set_binding_decode(struct json_reader *r, struct object_meta *ret) {
    static const struct json_field fields[] = {JSON_CALL_WHOLE("metadata", meta_read)};
    *ret = (struct object_meta){0};
    json_fields(r, &JSON_ROWS(fields), ret);
    if (str_empty(ret->namespace))
        ret->namespace = STR("default"); /* kubectl's default namespace */
}
