#include "model/ocm.h"

#include "model/fields.h"

static void type_decode(struct json_reader *r, bool legacy, enum cluster_set_selector *ret) {
    static const char *const types[] = {
        [CLUSTER_SET_BY_LABEL] = "ExclusiveClusterSetLabel",
        [CLUSTER_SET_BY_SELECTOR] = "LabelSelector",
    };
    static const char *const legacy_types[] = {
        [CLUSTER_SET_BY_LABEL] = "LegacyClusterSetLabel",
        [CLUSTER_SET_BY_SELECTOR] = "LabelSelector",
    };
    enum { TYPES = sizeof types / sizeof types[0] };
    *ret = (enum cluster_set_selector)json_word(r, legacy ? legacy_types : types, TYPES,
                                                CLUSTER_SET_BY_LABEL);
}

static void selector_decode(struct json_reader *r, bool legacy, struct cluster_set *ret) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("selectorType")))
            type_decode(r, legacy, &ret->type);
        else if (str_eq(key, STR("labelSelector")))
            ret->selector = label_selector_decode(r);
    }
}

static void spec_decode(struct json_reader *r, bool legacy, struct cluster_set *ret) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("clusterSelector")))
            selector_decode(r, legacy, ret);
    }
}

void cluster_set_decode(struct json_reader *r, struct cluster_set *ret) {
    const bool legacy = str_has_suffix(json_peek_member(r, STR("apiVersion")), STR("/v1beta1"));
    struct str key;
    *ret = (struct cluster_set){.type = CLUSTER_SET_BY_LABEL};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("metadata")))
            meta_decode(r, &ret->meta);
        else if (str_eq(key, STR("spec")))
            spec_decode(r, legacy, ret);
    }
}

void cluster_set_binding_decode(struct json_reader *r, struct object_meta *ret) {
    struct str key;
    *ret = (struct object_meta){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("metadata")))
            meta_decode(r, ret);
    }
    if (str_empty(ret->namespace))
        ret->namespace = STR("default"); /* as kubectl reads it */
}
