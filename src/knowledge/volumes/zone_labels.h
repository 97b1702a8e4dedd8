/*
 * The labels of a PersistentVolume that say in which zones and regions it is. kube-scheduler's
 * plugin VolumeZone refuses nodes of others, as if they were node affinity: volumes made by hand,
 * and those of old in-tree drivers, have nothing else. upstream: volumezone/volume_zone.go.
 */
#pragma once

#include "base/json_writer.h"
#include "model/labels.h"

enum { ZONE_LABELS = 4 }; /* that there are, and so what a volume has of them at most */

/* Appends for each such label of the volume what it asks of nodes, as the spec.nodeAffinity of a
 * volume. Returns how many there were; a label with an empty name of a zone is none. */
uint32_t zone_labels_write(const struct labels *labels, struct json_writer *w);
