#include "model/object.h"

#include "base/json_fields.h"

#include <errno.h>
#include <stddef.h>

/* Names the object in the error if it is too large. `result` is from the reader. */
static int name_too_large(int result, const struct json_reader *r, const struct object_meta *meta,
                          struct err *err) {
    if (result == -ENOMEM && r->arena->full)
        return err_set(err, -EFBIG, "'%.*s/%.*s' takes more than %zu KiB of memory to read",
                       STR_ARG(meta->namespace), STR_ARG(meta->name), r->arena->max >> 10);
    return result;
}

int object_finish(struct json_reader *r, const struct object_meta *meta, struct err *err) {
    return name_too_large(json_finish(r, err), r, meta, err);
}

int object_check(const struct json_reader *r, const struct object_meta *meta, struct err *err) {
    return name_too_large(json_check(r, err), r, meta, err);
}

void object_read(struct json_reader *r, enum object_kind kind, enum pod_detail detail,
                 struct object *ret) {
    *ret = (struct object){.kind = kind};
    switch (kind) {
    case OBJECT_OTHER:
        (void)json_skip(r); /* the object is not needed; errors stay in r */
        return;
    case OBJECT_POD:
        pod_decode(r, detail, &ret->pod);
        break;
    case OBJECT_NODE:
    case OBJECT_NAMESPACE: /* read like a node without taints: metadata, and members to skip */
        node_decode(r, &ret->node);
        break;
    case OBJECT_SERVICE:
    case OBJECT_REPLICATION_CONTROLLER:
    case OBJECT_REPLICA_SET:
    case OBJECT_STATEFUL_SET:
        workload_decode(r, kind, &ret->workload);
    }
    if (!json_failed(r) && ret->meta.name.n == 0)
        json_fail(r, "the object that ends here has no metadata.name");
}

int object_decode(struct str json, enum object_kind kind, enum pod_detail detail,
                  struct arena *arena, struct object *ret, struct err *err) {
    struct object object;
    struct json_reader r;
    json_reader_init(&r, json, arena, "object");
    object_read(&r, kind, detail, &object);
    int result = object_finish(&r, &object.meta, err);
    if (result == 0)
        *ret = object;
    return result;
}

static void key_decode(struct json_reader *r, struct object_meta *ret) {
    static const struct json_field fields[] = {
        JSON_TEXT("name", struct object_meta, name),
        JSON_TEXT("namespace", struct object_meta, namespace),
        JSON_TEXT("uid", struct object_meta, uid),
    };
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("metadata")))
            json_fields(r, &JSON_ROWS(fields), ret);
    }
}

int object_key_decode(struct str json, struct arena *arena, struct object_meta *ret,
                      struct err *err) {
    struct json_reader r;
    *ret = (struct object_meta){0};
    json_reader_init(&r, json, arena, "object");
    key_decode(&r, ret);
    if (!json_failed(&r) && str_empty(ret->name))
        json_fail(&r, "the object that ends here has no metadata.name");
    return object_finish(&r, ret, err);
}
