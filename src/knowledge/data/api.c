#include "data/api.h"

#include "kube/client/path.h"

#include <errno.h>

int fluid_api_object_path(const struct fluid_key *key, struct strbuf *out) {
    if (!kube_path_segment(str_of(key->namespace)) || !kube_path_segment(str_of(key->name)))
        return -EINVAL;
    kind_object_path(fluid_kind_row(key->kind), key->namespace, key->name, out);
    return strbuf_failed(out) ? -ENOMEM : 0;
}
