#include "unit/findings/drawn_files.h"

#include <stdio.h>

#define ZONE "topology.kubernetes.io/zone"
#define HOST "kubernetes.io/hostname"

/* ---- pods, and nodes ---- */

#define POD_META "'labels':{'app':'web','tier':'front'}"
#define POD_SPEC                                                                                   \
    "{'containers':[{'name':'c','image':'i'}],"                                                    \
    "'nodeSelector':{'kubernetes.io/os':'linux'},'schedulerName':'default-scheduler',"             \
    "'tolerations':[{'key':'team','operator':'Equal','value':'a','effect':'NoSchedule'},"          \
    "{'key':'gpu','operator':'Exists','effect':'NoExecute','tolerationSeconds':30},"               \
    "{'key':'old','value':'yes'}],"                                                                \
    "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"                \
    "{'nodeSelectorTerms':[{'matchExpressions':[{'key':'kubernetes.io/os','operator':'In',"        \
    "'values':['linux']}]}]},'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':5,"      \
    "'preference':{'matchExpressions':[{'key':'disk','operator':'Exists'}]}}]},"                   \
    "'podAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':1,"               \
    "'podAffinityTerm':{'labelSelector':{'matchLabels':{'app':'db'}},'topologyKey':'" ZONE         \
    "','namespaces':['shop']}}]},"                                                                 \
    "'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'labelSelector':"       \
    "{'matchExpressions':[{'key':'app','operator':'In','values':['other']}]},"                     \
    "'namespaceSelector':{},'topologyKey':'" HOST "'}]}},"                                         \
    "'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'" ZONE                               \
    "','whenUnsatisfiable':'DoNotSchedule','labelSelector':{'matchLabels':{'app':'web'}},"         \
    "'minDomains':2,'nodeAffinityPolicy':'Honor'},{'maxSkew':2,'topologyKey':'" HOST               \
    "','whenUnsatisfiable':'ScheduleAnyway','nodeTaintsPolicy':'Ignore','labelSelector':"          \
    "{'matchExpressions':[{'key':'app','operator':'In','values':['web','api']},"                   \
    "{'key':'gone','operator':'DoesNotExist'}]}},{'maxSkew':1,'topologyKey':'rack',"               \
    "'whenUnsatisfiable':'DoNotSchedule','labelSelector':{'matchLabels':{'tier':'front'}},"        \
    "'matchLabelKeys':['pod-template-hash']}]}"

static const struct {
    const char *version, *kind, *spec; /* the members in front of the template or the pod's spec */
    const char *path;
} workloads[] = {
    {"v1", "Pod", NULL, "spec"},
    {"apps/v1", "Deployment", "'replicas':3,'strategy':{'type':'Recreate'},", "spec.template.spec"},
    {"apps/v1", "StatefulSet", "'replicas':3,'serviceName':'web',", "spec.template.spec"},
    {"apps/v1", "ReplicaSet", "'replicas':3,", "spec.template.spec"},
    {"batch/v1", "Job", "'completions':3,'parallelism':3,", "spec.template.spec"},
    {"batch/v1", "CronJob", "'schedule':'@daily',", "spec.jobTemplate.spec.template.spec"},
};

static void make_workload(struct drawn *d) {
    const uint32_t i = drawn_below(d, sizeof workloads / sizeof workloads[0]);
    static const char pod[] = "{'metadata':{" POD_META "},'spec':" POD_SPEC "}";
    char text[8192];
    int n = snprintf(text, sizeof text,
                     "{'apiVersion':'%s','kind':'%s','metadata':{%s"
                     "'namespace':'default'},'spec':",
                     workloads[i].version, workloads[i].kind,
                     workloads[i].spec == NULL ? POD_META "," : "");
    if (workloads[i].spec == NULL)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s}", POD_SPEC);
    else if (strstr(workloads[i].path, "jobTemplate") != NULL)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "{%s'jobTemplate':{'spec':{'parallelism':2,'template':%s}}}}",
                      workloads[i].spec, pod);
    else
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "{%s'selector':{'matchLabels':{'app':"
                      "'web'}},'template':%s}}",
                      workloads[i].spec, pod);
    assert_in_range(n, 0, (int)sizeof text - 1);
    d->file = drawn_json(text);
    d->spec = workloads[i].path;
}

#define NODE(name, zone, rack)                                                                     \
    "{'apiVersion':'v1','kind':'Node','metadata':{'name':'" name "','labels':{'" ZONE "':'" zone   \
    "','rack':'" rack "','" HOST "':'" name                                                        \
    "','kubernetes.io/os':'linux','disk':'ssd'}},'spec':{},"                                       \
    "'status':{'allocatable':{'cpu':'8','memory':'8Gi','pods':'20'}}}"
#define NODES                                                                                      \
    NODE("n1", "a", "r1")                                                                          \
    "," NODE("n2", "a", "r2") "," NODE("n3", "b", "r1") "," NODE("n4", "b", "r2") "," NODE(        \
        "n5", "c", "r1") "," NODE("n6", "c", "r2")

/* ---- Placements, and a hub ---- */

#define OCM "cluster.open-cluster-management.io"
#define PLACEMENT                                                                                  \
    "{'apiVersion':'" OCM "/v1beta1','kind':'Placement','metadata':{'namespace':'default'},"       \
    "'spec':{'clusterSets':['prod','spare'],'numberOfClusters':2,"                                 \
    "'predicates':[{'requiredClusterSelector':{'labelSelector':{'matchLabels':{'cloud':'aws'}},"   \
    "'claimSelector':{'matchExpressions':[{'key':'product','operator':'Exists'}]}}},"              \
    "{'requiredClusterSelector':{'labelSelector':{'matchExpressions':[{'key':'region',"            \
    "'operator':'In','values':['east','west']}]}}}],"                                              \
    "'prioritizerPolicy':{'mode':'Additive','configurations':[{'scoreCoordinate':{'type':"         \
    "'BuiltIn','builtIn':'Steady'},'weight':1},{'scoreCoordinate':{'type':'AddOn','addOn':"        \
    "{'resourceName':'usage','scoreName':'cpu'}},'weight':2}]},"                                   \
    "'spreadPolicy':{'spreadConstraints':[{'topologyKey':'region','topologyKeyType':'Label',"      \
    "'maxSkew':1,'whenUnsatisfiable':'ScheduleAnyway'},{'topologyKey':'product',"                  \
    "'topologyKeyType':'Claim','maxSkew':2,'whenUnsatisfiable':'DoNotSchedule'}]},"                \
    "'tolerations':[{'key':'gone','operator':'Exists'},{'key':'old','operator':'Equal','value':"   \
    "'yes','effect':'NoSelect'}],"                                                                 \
    "'decisionStrategy':{'groupStrategy':{'clustersPerDecisionGroup':'50%','decisionGroups':"      \
    "[{'groupName':'canary','groupClusterSelector':{'labelSelector':{'matchLabels':{'cloud':"      \
    "'gcp'}}}}]}}}}"

#define HUB_CLUSTER(name, set, region, cloud, product)                                             \
    "{'apiVersion':'" OCM "/v1','kind':'ManagedCluster','metadata':{'name':'" name                 \
    "','labels':{'" OCM "/clusterset':'" set "','region':'" region "','cloud':'" cloud             \
    "','vendor':'x'}},'spec':{'hubAcceptsClient':true},'status':{'clusterClaims':[{'name':'id',"   \
    "'value':'" name "'},{'name':'product','value':'" product                                      \
    "'},{'name':'platform','value':'y'}]}},"                                                       \
    "{'apiVersion':'" OCM "/v1alpha1','kind':'AddOnPlacementScore','metadata':{'name':'usage',"    \
    "'namespace':'" name "'},'status':{'validUntil':'2027-01-01T00:00:00Z','scores':[{'name':"     \
    "'cpu','value':3}]}}"
#define HUB_SET(name)                                                                              \
    "{'apiVersion':'" OCM "/v1beta2','kind':'ManagedClusterSet','metadata':{'name':'" name         \
    "'}},{'apiVersion':'" OCM                                                                      \
    "/v1beta2','kind':'ManagedClusterSetBinding','metadata':{'name':'" name                        \
    "','namespace':'default'},'spec':{'clusterSet':'" name "'}}"
#define HUB                                                                                        \
    HUB_CLUSTER("c1", "prod", "east", "aws", "rke")                                                \
    "," HUB_CLUSTER("c2", "prod", "west", "aws", "eks") "," HUB_CLUSTER(                           \
        "c3", "spare", "east", "gcp",                                                              \
        "rke") "," HUB_CLUSTER("c4", "spare", "west", "gcp",                                       \
                               "eks") "," HUB_SET("prod") "," HUB_SET("spare")

/* ---- bindings and PropagationPolicies, and Karmada's clusters ---- */

#define AFFINITY                                                                                   \
    "'clusterNames':['m1','m2','m3'],'labelSelector':{'matchExpressions':[{'key':'team',"          \
    "'operator':'Exists'}]},'fieldSelector':{'matchExpressions':[{'key':'region','operator':"      \
    "'In','values':['east','west']}]}"
#define KARMADA_PLACEMENT(affinity)                                                                \
    "'placement':{" affinity ",'clusterTolerations':[{'key':'gone','operator':'Exists'}],"         \
    "'spreadConstraints':[{'spreadByField':'region','minGroups':1,'maxGroups':2},"                 \
    "{'spreadByField':'cluster','minGroups':1,'maxGroups':3},"                                     \
    "{'spreadByLabel':'tier','minGroups':1,'maxGroups':2}],"                                       \
    "'replicaScheduling':{'replicaSchedulingType':'Divided','replicaDivisionPreference':"          \
    "'Weighted','weightPreference':{'dynamicWeight':'AvailableReplicas'}}}"
#define ONE_AFFINITY KARMADA_PLACEMENT("'clusterAffinity':{" AFFINITY "}")
#define TERMS                                                                                      \
    KARMADA_PLACEMENT("'clusterAffinities':[{'affinityName':'first'," AFFINITY                     \
                      "},{'affinityName':'then','labelSelector':{'matchLabels':{'tier':'lab'}}}]")
#define BINDING(placement)                                                                         \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{'namespace':"   \
    "'default'},'spec':{'resource':{'apiVersion':'apps/v1','kind':'Deployment','name':'d',"        \
    "'namespace':'default'},'replicas':4,'replicaRequirements':{},'clusters':[{'name':'m1',"       \
    "'replicas':1}],'schedulerName':'default-scheduler'," placement "}}"
#define PROPAGATION(placement)                                                                     \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':"            \
    "{'namespace':'default'},'spec':{'resourceSelectors':[{'apiVersion':'apps/v1','kind':"         \
    "'Deployment','name':'web'}],'priority':3," placement "}}"

#define MEMBER(name, region, tier)                                                                 \
    "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'" name       \
    "','labels':{'team':'a','tier':'" tier "'}},'spec':{'region':'" region                         \
    "','syncMode':'Push'},'status':{'apiEnablements':[{'groupVersion':'apps/v1','resources':"      \
    "[{'kind':'Deployment'}]}],'conditions':[{'type':'Ready','status':'True'}],"                   \
    "'resourceSummary':{'allocatable':{'cpu':'100','pods':'100'}}}}"
#define MEMBERS                                                                                    \
    MEMBER("m1", "east", "lab") "," MEMBER("m2", "west", "shop") "," MEMBER("m3", "east", "shop")

/* ---- TopologyPolicies ---- */

#define POLICY                                                                                     \
    "{'apiVersion':'evenkeel.io/v1alpha1','kind':'TopologyPolicy','metadata':{},'spec':"           \
    "{'priority':1,'match':{'objectSelector':{'matchLabels':{'app':'web'}}},"                      \
    "'pods':{'spread':[{'topologyKey':'" ZONE                                                      \
    "','maxSkew':1,'whenUnsatisfiable':'DoNotSchedule'},{'topologyKey':'rack',"                    \
    "'whenUnsatisfiable':'ScheduleAnyway'}]},"                                                     \
    "'placements':{'spread':[{'topologyKey':'region','topologyKeyType':'Label','maxSkew':1,"       \
    "'whenUnsatisfiable':'DoNotSchedule'},{'topologyKey':'product','topologyKeyType':'Claim',"     \
    "'maxSkew':1,'whenUnsatisfiable':'ScheduleAnyway'}]}}}"

/* ---- the whole ---- */

#define A_LIST(items) "{'apiVersion':'v1','kind':'List','items':[" items "]}"

void drawn_files_make(struct drawn *d) {
    static const char *const bindings[] = {BINDING(ONE_AFFINITY), BINDING(TERMS)};
    static const char *const propagations[] = {PROPAGATION(ONE_AFFINITY), PROPAGATION(TERMS)};
    switch (d->subject) {
    case SUBJECT_WORKLOAD:
        make_workload(d);
        return;
    case SUBJECT_PLACEMENT:
        d->file = drawn_json(PLACEMENT);
        return;
    case SUBJECT_BINDING:
        d->file = drawn_json(bindings[drawn_below(d, 2)]);
        return;
    case SUBJECT_PROPAGATION:
        d->file = drawn_json(propagations[drawn_below(d, 2)]);
        return;
    default:
        d->file = drawn_json(POLICY);
    }
}

cJSON *drawn_files_state(enum drawn_subject subject) {
    static const char *const lists[SUBJECTS] = {
        [SUBJECT_WORKLOAD] = A_LIST(NODES),       [SUBJECT_PLACEMENT] = A_LIST(HUB),
        [SUBJECT_BINDING] = A_LIST(MEMBERS),      [SUBJECT_PROPAGATION] = A_LIST(MEMBERS),
        [SUBJECT_POLICY] = A_LIST(NODES "," HUB),
    };
    return drawn_json(lists[subject]);
}
