#include "owners/chain.h"

#include "base/json_reader.h"
#include "kube/client/path.h"
#include "model/object.h"
#include "model/owner_kinds.h"

static const struct owner_kind *link_of(const struct owner_ref *ref) {
    const struct object_type type = {api_group(ref->api), ref->kind};
    const struct owner_kind *kind = owner_kind_of(type);
    return kind != NULL && kind->role != OWNER_OF_PODS ? kind : NULL;
}

bool owner_chain_has(const struct owner_ref *ref) {
    return link_of(ref) != NULL;
}

bool owner_chain_ends(const struct owner_ref *ref) {
    const struct owner_kind *link = link_of(ref);
    return link != NULL && link->role == OWNER_OF_UNITS;
}

bool owner_chain_path(const struct owner_ref *ref, struct strbuf *out) {
    const struct owner_kind *link = link_of(ref);
    const size_t slash = str_find(ref->api, '/');
    const size_t from = slash == SIZE_MAX ? 0 : slash + 1;
    const struct str version = {ref->api.p + from, ref->api.n - from};
    if (link == NULL || !kube_path_segment(version) || !kube_path_segment(ref->namespace) ||
        !kube_path_segment(ref->name))
        return false;
    strbuf_appendf(out, "%s%.*s/namespaces/%.*s/%.*s/%.*s", slash == SIZE_MAX ? "/api/" : "/apis/",
                   STR_ARG(ref->api), STR_ARG(ref->namespace), STR_ARG(link->plural),
                   STR_ARG(ref->name));
    return !strbuf_failed(out);
}

bool owner_chain_next(struct str object, const struct owner_ref *ref, struct arena *arena,
                      struct owner_ref *ret) {
    struct object_meta meta = {.name = {0}};
    struct json_reader r;
    struct str key;
    json_reader_init(&r, object, arena, "owner");
    bool is_object = json_object(&r);
    while (is_object && json_member(&r, &key))
        if (str_eq(key, STR("metadata")))
            meta_decode(&r, &meta);
    if (json_finish(&r, NULL) != 0 || str_empty(meta.controller_kind))
        return false;
    *ret = (struct owner_ref){ref->namespace, meta.controller_api, meta.controller_kind,
                              meta.controller_name};
    return true;
}
