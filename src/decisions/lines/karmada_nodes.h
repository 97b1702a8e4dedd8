/* Reads the array elements of steps about nodes: a node, which must have a name, or a pod. */
#pragma once

#include "estimator/asked_nodes.h"

void line_node_decode(struct json_reader *r, void *into);
void line_pod_decode(struct json_reader *r, void *into);
