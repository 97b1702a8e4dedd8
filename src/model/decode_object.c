#include "model/object.h"

void object_read(struct json_reader *r, enum object_kind kind, enum pod_detail detail,
                 struct object *ret) {
    *ret = (struct object){.kind = kind};
    switch (kind) {
    case OBJECT_OTHER:
        (void)json_skip(r); /* nothing is known of it; errors stay in r */
        return;
    case OBJECT_POD:
        pod_decode(r, detail, &ret->pod);
        break;
    case OBJECT_NODE:
    case OBJECT_NAMESPACE: /* the shape of a node without taints: metadata, and things to skip */
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
    int result = json_finish(&r, err);
    if (result == 0)
        *ret = object;
    return result;
}
