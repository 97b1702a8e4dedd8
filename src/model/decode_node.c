#include "model/object.h"

static void spec_decode(struct json_reader *r, struct node *node) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("taints")))
            node->taints = taints_decode(r, &node->taint_count);
        else if (str_eq(key, STR("unschedulable")))
            node->unschedulable = json_bool(r);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
}

static void status_decode(struct json_reader *r, struct node *node) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("allocatable")))
            node->allocatable = allocatable_decode(r);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
}

void node_decode(struct json_reader *r, struct node *ret) {
    struct str key;
    *ret = (struct node){0};
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("metadata")))
            meta_decode(r, &ret->meta);
        else if (str_eq(key, STR("spec")))
            spec_decode(r, ret);
        else if (str_eq(key, STR("status")))
            status_decode(r, ret);
        else
            (void)json_skip(r); /* not ours; errors stay in r */
    }
}
