#include "base/limits.h"
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
    }
}

static void image_decode(struct json_reader *r, struct node *node, struct node_image **images,
                         uint32_t *cap) {
    const struct str *names = NULL;
    struct str key;
    uint32_t count = 0;
    int64_t size = 0;
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, STR("names")))
            names = strings_decode(r, &count);
        else if (str_eq(key, STR("sizeBytes")))
            size = json_integer(r, INT64_MIN, INT64_MAX);
    for (uint32_t i = 0; i < count && node->image_count < LIMIT_NODE_IMAGES; i++) {
        struct node_image *grown =
            arena_push(r->arena, *images, node->image_count, cap, sizeof *grown);
        if (grown == NULL)
            return; /* the arena has failed */
        *images = grown;
        grown[node->image_count++] = (struct node_image){names[i], size};
    }
}

static void images_decode(struct json_reader *r, struct node *node) {
    struct node_image *images = NULL;
    uint32_t cap = 0;
    if (!json_array(r))
        return;
    while (json_element(r))
        image_decode(r, node, &images, &cap);
    node->images = images;
}

static void status_decode(struct json_reader *r, struct node *node) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("allocatable")))
            node->allocatable = allocatable_decode(r);
        else if (str_eq(key, STR("images")))
            images_decode(r, node);
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
    }
}
