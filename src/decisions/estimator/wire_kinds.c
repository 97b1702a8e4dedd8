#include "estimator/wire_kinds.h"

#include "base/suggest.h"

#include <errno.h>

static const struct wire_kind kinds[] = {
    {"MaxAvailableReplicasRequest", &wire__replicas_request__descriptor, wire_put_replicas_request,
     wire_convert_replicas_request},
    {"MaxAvailableReplicasResponse", &wire__response__descriptor, wire_put_max_replicas,
     wire_convert_response},
    {"MaxAvailableComponentSetsRequest", &wire__sets_request__descriptor, wire_put_sets_request,
     wire_convert_sets_request},
    {"MaxAvailableComponentSetsResponse", &wire__response__descriptor, wire_put_max_sets,
     wire_convert_response},
    {"UnschedulableReplicasRequest", &wire__unschedulable_request__descriptor,
     wire_put_unschedulable_request, wire_convert_unschedulable_request},
    {"UnschedulableReplicasResponse", &wire__response__descriptor, wire_put_unschedulable_replicas,
     wire_convert_response},
    {"ReplicaRequirements", &wire__requirements__descriptor, wire_put_requirements,
     wire_convert_requirements},
    {"ComponentReplicaRequirements", &wire__component_requirements__descriptor,
     wire_put_component_requirements, wire_convert_component_requirements},
    {"Component", &wire__component__descriptor, wire_put_component, wire_convert_component},
    {"AssumedWorkload", &wire__assumed_workload__descriptor, wire_put_assumed,
     wire_convert_assumed},
    {"ObjectReference", &wire__reference__descriptor, wire_put_reference, wire_convert_reference},
    {"NodeClaim", &wire__claim__descriptor, wire_put_claim, wire_convert_claim},
    {"NodeSelector", &wire__selector__descriptor, wire_put_selector, wire_convert_selector},
    {"Toleration", &wire__toleration__descriptor, wire_put_toleration, wire_convert_toleration},
    {"Quantity", &wire__quantity__descriptor, wire_put_quantity, wire_convert_quantity},
};

const struct wire_kind *wire_kind_find(struct str name, const char **ret_near) {
    struct suggestion near = suggestion_for(name);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (str_eq(name, str_of(kinds[i].name)))
            return &kinds[i];
        suggestion_offer(&near, kinds[i].name);
    }
    *ret_near = near.best;
    return NULL;
}

static int put_as_json(const struct wire_kind *kind, struct str bytes, struct arena *arena,
                       struct strbuf *json, struct err *err) {
    struct json_writer w = {.out = json};
    const void *message;
    const int r = wire_unpack(kind->type, bytes, arena, kind->name, &message, err);
    return r == 0 ? kind->put(message, arena, &w, err) : r;
}

static int pack_as_epoch(const struct wire_kind *kind, struct str bytes, enum wire_epoch epoch,
                         struct arena *arena, struct strbuf *out, struct err *err) {
    void *message;
    int r = wire_unpack(kind->type, bytes, arena, kind->name, &message, err);
    if (r == 0)
        r = kind->convert(message, epoch, arena, err);
    if (r != 0)
        return r;
    const size_t n = protobuf_c_message_get_packed_size(message);
    char *to = n == 0 ? NULL : strbuf_reserve(out, n);
    if (n == 0)
        return 0;
    if (to == NULL)
        return err_set(err, -ENOMEM, "%s: too large", kind->name);
    out->n += protobuf_c_message_pack(message, (uint8_t *)to);
    return 0;
}

int wire_rewrite(const struct wire_kind *kind, struct str bytes, enum wire_epoch epoch,
                 struct arena *arena, struct strbuf *json, struct strbuf *out, struct err *err) {
    const int r = put_as_json(kind, bytes, arena, json, err);
    if (strbuf_failed(json))
        return err_set(err, -ENOMEM, "%s: too large", kind->name);
    return r == 0 ? pack_as_epoch(kind, bytes, epoch, arena, out, err) : r;
}
