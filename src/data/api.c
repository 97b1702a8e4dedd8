#include "data/api.h"

#include "kube/client/path.h"

#include <errno.h>

#define FLUID "/apis/data.fluid.io/v1alpha1/"

static const char *const paths[FLUID_KINDS] = {
    [FLUID_ALLUXIO] = FLUID "alluxioruntimes",
    [FLUID_JINDO] = FLUID "jindoruntimes",
    [FLUID_JUICEFS] = FLUID "juicefsruntimes",
    [FLUID_THIN] = FLUID "thinruntimes",
    [FLUID_EFC] = FLUID "efcruntimes",
    [FLUID_VINEYARD] = FLUID "vineyardruntimes",
    [FLUID_CACHE] = FLUID "cacheruntimes",
    [FLUID_DATASET] = FLUID "datasets",
    [FLUID_CLAIM] = "/api/v1/persistentvolumeclaims",
    [FLUID_STATEFUL_SET] = "/apis/apps/v1/statefulsets",
};

const char *fluid_api_path(enum fluid_kind kind) {
    return paths[kind];
}

const char *fluid_api_resource(enum fluid_kind kind) {
    return strrchr(paths[kind], '/') + 1;
}

int fluid_api_object_path(const struct fluid_key *key, struct strbuf *out) {
    const char *resource = fluid_api_resource(key->kind);
    if (!kube_path_segment(str_of(key->namespace)) || !kube_path_segment(str_of(key->name)))
        return -EINVAL;
    strbuf_appendf(out, "%.*snamespaces/%s/%s/%s", (int)(resource - paths[key->kind]),
                   paths[key->kind], key->namespace, resource, key->name);
    return strbuf_failed(out) ? -ENOMEM : 0;
}
