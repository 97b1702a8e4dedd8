#include "model/object.h"

static const struct {
    struct str group, name;
    enum object_kind kind;
} kinds[] = {
    {{"", 0}, {"Node", 4}, OBJECT_NODE},
    {{"", 0}, {"Pod", 3}, OBJECT_POD},
    {{"", 0}, {"Namespace", 9}, OBJECT_NAMESPACE},
    {{"", 0}, {"Service", 7}, OBJECT_SERVICE},
    {{"", 0}, {"ReplicationController", 21}, OBJECT_REPLICATION_CONTROLLER},
    {{"apps", 4}, {"ReplicaSet", 10}, OBJECT_REPLICA_SET},
    {{"apps", 4}, {"StatefulSet", 11}, OBJECT_STATEFUL_SET},
};

struct str api_group(struct str api_version) {
    size_t slash = str_find(api_version, '/');
    return (struct str){api_version.p, slash == SIZE_MAX ? 0 : slash};
}

enum object_kind object_kind_of(struct str api_version, struct str kind) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (str_eq(kind, kinds[i].name) &&
            (str_empty(api_version) || str_eq(api_group(api_version), kinds[i].group)))
            return kinds[i].kind;
    return OBJECT_OTHER;
}
