#include "model/object.h"

int object_decode(struct str json, enum object_kind kind, enum pod_detail detail,
                  struct arena *arena, struct object *ret, struct err *err) {
    struct object object = {.kind = kind};
    struct json_reader r;
    json_reader_init(&r, json, arena, "object");
    switch (kind) {
    case OBJECT_OTHER:
        (void)json_skip(&r); /* errors stay in r */
        break;
    case OBJECT_POD:
        pod_decode(&r, detail, &object.pod);
        break;
    case OBJECT_NODE:
    case OBJECT_NAMESPACE: /* the shape of a node without taints: metadata, and things to skip */
        node_decode(&r, &object.node);
        break;
    default:
        workload_decode(&r, kind, &object.workload);
    }
    if (!json_failed(&r) && object.meta.name.n == 0)
        json_fail(&r, "the object has no metadata.name");
    int result = json_finish(&r, err);
    if (result == 0)
        *ret = object;
    return result;
}
