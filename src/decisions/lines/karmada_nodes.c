#include "lines/karmada_nodes.h"

void line_node_decode(struct json_reader *r, void *into) {
    asked_node_decode(r, into);
}

void line_pod_decode(struct json_reader *r, void *into) {
    karmada_pod_decode(r, into);
}
