#include "model/owner_kinds.h"

#include "model/names.h"

#define TEXT(literal)                                                                              \
    { literal, sizeof(literal) - 1 }
#define LWS "leaderworkerset.x-k8s.io"
#define KUBEFLOW "kubeflow.org"
#define KRUISE "apps.kruise.io"

/* upstream: kruise apis/apps, kubeflow/training-operator pkg/apis/kubeflow.org/v1, kuberay
 * ray-operator/apis/ray/v1, lws api/leaderworkerset/v1, jobset api/jobset/v1alpha2, slurm-operator
 * api/v1beta1, volcano-sh/apis pkg/apis/batch/v1alpha1: +kubebuilder:resource and
 * +kubebuilder:subresource:scale. */
const struct owner_kind owner_kinds[OWNER_KINDS] = {
    {TEXT(APPS_GROUP), TEXT(STATEFUL_SET_KIND), TEXT("statefulsets"), OWNER_BETWEEN, false},
    {TEXT(BATCH_GROUP), TEXT(JOB_KIND), TEXT("jobs"), OWNER_BETWEEN, false},
    {TEXT(""), TEXT(POD_KIND), TEXT("pods"), OWNER_BETWEEN, false},
    {TEXT(LWS), TEXT("LeaderWorkerSet"), TEXT("leaderworkersets"), OWNER_OF_UNITS, false},
    {TEXT("jobset.x-k8s.io"), TEXT("JobSet"), TEXT("jobsets"), OWNER_OF_UNITS, false},
    {TEXT("ray.io"), TEXT("RayCluster"), TEXT("rayclusters"), OWNER_OF_UNITS, false},
    {TEXT("batch.volcano.sh"), TEXT(JOB_KIND), TEXT("jobs"), OWNER_OF_UNITS, false},
    {TEXT(KUBEFLOW), TEXT("JAXJob"), TEXT("jaxjobs"), OWNER_OF_UNITS, true},
    {TEXT(KUBEFLOW), TEXT("MPIJob"), TEXT("mpijobs"), OWNER_OF_UNITS, false},
    {TEXT(KUBEFLOW), TEXT("PaddleJob"), TEXT("paddlejobs"), OWNER_OF_UNITS, true},
    {TEXT(KUBEFLOW), TEXT("PyTorchJob"), TEXT("pytorchjobs"), OWNER_OF_UNITS, true},
    {TEXT(KUBEFLOW), TEXT("TFJob"), TEXT("tfjobs"), OWNER_OF_UNITS, false},
    {TEXT(KUBEFLOW), TEXT("XGBoostJob"), TEXT("xgboostjobs"), OWNER_OF_UNITS, false},
    {TEXT(KRUISE), TEXT("CloneSet"), TEXT("clonesets"), OWNER_OF_PODS, true},
    {TEXT(KRUISE), TEXT(STATEFUL_SET_KIND), TEXT("statefulsets"), OWNER_OF_PODS, true},
    {TEXT("slinky.slurm.net"), TEXT("NodeSet"), TEXT("nodesets"), OWNER_OF_PODS, true},
};

const struct owner_kind *owner_kind_of(struct object_type type) {
    for (size_t i = 0; i < OWNER_KINDS; i++)
        if (str_eq(type.kind, owner_kinds[i].kind) && str_eq(type.group, owner_kinds[i].group))
            return &owner_kinds[i];
    return NULL;
}
