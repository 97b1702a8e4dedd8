/*
 * Hashes pod templates, to compare them. The order of members does not count; absent, null and
 * empty are equal if Go treats them so; amounts of resources are compared by value. The label
 * pod-template-hash, which a Deployment gives the templates of its ReplicaSets, is left out.
 * upstream: apimachinery equality.Semantic, deployment util EqualIgnoreHash().
 */
#pragma once

#include "base/hash.h"
#include "base/json_reader.h"

/* Reads the value that comes next. Linear, in the reader's arena; errors stay in r. */
struct hash128 pod_template_decode(struct json_reader *r);
