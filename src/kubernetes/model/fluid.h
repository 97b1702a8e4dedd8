/*
 * Names that Fluid defines: labels of its claims, of its pods and of nodes with cached bytes, and
 * labels and annotations that its webhook reads. upstream: fluid-cloudnative/fluid pkg/common
 * (label.go and the names for injection).
 */
#pragma once

#define FLUID_GROUP "data.fluid.io"
#define FLUID_DOMAIN                                                                               \
    "fluid.io/" /* all labels and annotations of Fluid's own objects begin with this */

/* ---- nodes: beginnings of keys, which go on with a dataset's namespace and name ---- */

#define FLUID_LABEL_COMMON FLUID_DOMAIN "s-" /* a worker of the dataset runs on this node */
#define FLUID_LABEL_FUSE FLUID_DOMAIN "f-"   /* a FUSE client of the dataset has run on this node */
/* A worker on this node is being removed. The label is from Fluid's original design: Fluid itself
 * never sets it. */
#define FLUID_LABEL_SCALE_IN FLUID_GROUP "/storage-scalein-"
/* For printf(), with the runtime's type. The label's value: how many bytes the worker may keep on
 * this node. */
#define FLUID_LABEL_QUOTA_FORMAT FLUID_LABEL_COMMON "h-%.32s-t-"
#define FLUID_LABEL_DATASET_NUM                                                                    \
    FLUID_DOMAIN "dataset-num" /* how many datasets have workers here                              \
                                */

/* Names of tiers that stand for a label of the dataset; every other name is a node label's key. */
#define FLUID_TIER_NODE FLUID_DOMAIN "node" /* FLUID_LABEL_COMMON */
#define FLUID_TIER_FUSE FLUID_DOMAIN "fuse" /* FLUID_LABEL_FUSE */

/* ---- claims ---- */

#define FLUID_LABEL_MANAGED_BY FLUID_DOMAIN "managed-by" /* the dataset's name */
#define FLUID_LABEL_WRAPPED_BY FLUID_DOMAIN "wrapped-by" /* the same, in older versions */
/* On the claim of a dataset that refers to another dataset: the name and namespace of the other
 * dataset. */
#define FLUID_LABEL_REFERRING_NAME FLUID_DOMAIN "dataset.referring-name"
#define FLUID_LABEL_REFERRING_NAMESPACE FLUID_DOMAIN "dataset.referring-namespace"

/* ---- pods ---- */

#define FLUID_LABEL_DATASET FLUID_DOMAIN "dataset" /* the pod keeps bytes of this dataset */
/* For printf(), with a claim's name. Value "required": the pod may use only nodes that have the
 * bytes. */
#define FLUID_LABEL_SCHED_FORMAT FLUID_LABEL_DATASET ".%s.sched"
#define FLUID_LABEL_INJECTION FLUID_DOMAIN "enable-injection" /* "false": no changes */
#define FLUID_LABEL_SERVERLESS "serverless." FLUID_DOMAIN "inject"
#define FLUID_LABEL_SIDECAR "fuse.sidecar." FLUID_DOMAIN "inject" /* the former key */
#define FLUID_LABEL_SERVERFUL "fuse.serverful." FLUID_DOMAIN "inject"
#define FLUID_LABEL_DONE "done.sidecar." FLUID_DOMAIN "inject"
/* On a pod or its namespace, from the original design: "enabled" or "disabled". */
#define FLUID_LABEL_OPT_IN "Fluid-Injection"

/* Annotations: the names of the datasets that the pod mounts, separated by commas; a flag that
 * these datasets may be unbound; flags that the FilePrefetcher is wanted, and that it is done. */
#define FLUID_DATASETS_IN_USE FLUID_DOMAIN "datasets-in-use"
#define FLUID_SKIP_PRECHECK "sidecar." FLUID_DOMAIN "skip-precheck"
#define FLUID_PREFETCH "file-prefetcher." FLUID_DOMAIN "inject"
#define FLUID_PREFETCH_DONE "file-prefetcher." FLUID_DOMAIN "inject-done"
