#include "model/object.h"

struct owner {
    struct str kind, name, api, uid;
    bool controller;
};

static void owner_decode(struct json_reader *r, struct owner *owner) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("kind")))
            owner->kind = json_string(r);
        else if (str_eq(key, STR("name")))
            owner->name = json_string(r);
        else if (str_eq(key, STR("apiVersion")))
            owner->api = json_string(r);
        else if (str_eq(key, STR("uid")))
            owner->uid = json_string(r);
        else if (str_eq(key, STR("controller")))
            owner->controller = json_bool(r);
    }
}

static void owners_decode(struct json_reader *r, struct object_meta *meta) {
    bool found = false;
    if (!json_array(r))
        return;
    while (json_element(r)) {
        struct owner owner = {0};
        owner_decode(r, &owner);
        if (!owner.controller || found)
            continue;
        found = true;
        meta->controller_kind = owner.kind;
        meta->controller_name = owner.name;
        meta->controller_api = owner.api;
        meta->controller_uid = owner.uid;
    }
}

void meta_decode_annotated(struct json_reader *r, struct object_meta *ret,
                           struct labels *ret_annotations) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, STR("name")))
            ret->name = json_string(r);
        else if (str_eq(key, STR("namespace")))
            ret->namespace = json_string(r);
        else if (str_eq(key, STR("uid")))
            ret->uid = json_string(r);
        else if (str_eq(key, STR("labels")))
            ret->labels = labels_decode(r);
        else if (str_eq(key, STR("deletionTimestamp")))
            ret->terminating = json_string(r).n > 0;
        else if (str_eq(key, STR("resourceVersion")))
            ret->version = json_string(r);
        else if (str_eq(key, STR("creationTimestamp")) && json_peek(r) == JSON_STRING)
            ret->created = json_string(r);
        else if (str_eq(key, STR("ownerReferences")))
            owners_decode(r, ret);
        else if (ret_annotations != NULL && str_eq(key, STR("annotations")))
            *ret_annotations = labels_decode(r);
}

void meta_decode(struct json_reader *r, struct object_meta *ret) {
    meta_decode_annotated(r, ret, NULL);
}
