/*
 * The labels of a PersistentVolume that name its zones and regions. kube-scheduler's plugin
 * VolumeZone refuses nodes with other labels, as if the volume's labels were node affinity: volumes
 * made by hand and volumes of old in-tree drivers have only such labels. upstream:
 * volumezone/volume_zone.go.
 */
#pragma once

#include "base/json_writer.h"
#include "model/labels.h"

enum { ZONE_LABELS = 4 }; /* the number of such labels */

/* Appends each such label as the node affinity that it stands for, in the form of a volume's
 * spec.nodeAffinity. Returns their number; a label with an empty zone name does not count. */
uint32_t zone_labels_write(const struct labels *labels, struct json_writer *w);
