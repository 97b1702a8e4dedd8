/*
 * Whom an injected constraint counts, for pods as controllers make them: of every operator five
 * siblings and a stranger beside them. Labels are those of the operators' own sources, which each
 * row names; they were typed from there and not from the implementation.
 */
#include "admission/pods/group.h"
#include "admission/pods/spread_plan.h"
#include "unit/cluster_builder.h"

#include <stdio.h>

/* In owner, labels and selector '#' is the number of the sibling, from 1 on. */
struct operator_row {
    const char *name, *source;
    const char *owner; /* "apiVersion kind name"; "": none */
    const char *labels;
    const char *stranger; /* what differs in its labels, and it is of another owner */
    const char *revision; /* a key that tells the revision; its value is "rev-1"; NULL: none */
    enum object_kind kept;
    const char *selector; /* of the owner, where the cache keeps such owners */
    bool learned;         /* only living siblings tell */
    const char *annotations;
};

#define RS "apps/v1 ReplicaSet "
#define STS "apps/v1 StatefulSet "
#define STS_LABELS                                                                                 \
    " controller-revision-hash=rev-1 statefulset.kubernetes.io/pod-name=x-# "                      \
    "apps.kubernetes.io/pod-index=#"
#define STS_REVISION "controller-revision-hash"

static const struct operator_row rows[] = {
    /* ---- Kubernetes ---- */
    {"Deployment", "kubernetes/kubernetes pkg/controller/deployment/sync.go", RS "web-rev-1",
     "app=web tier=front pod-template-hash=rev-1", "app=db", "pod-template-hash",
     .kept = OBJECT_REPLICA_SET,
     .selector = "{\"matchLabels\":{\"app\":\"web\",\"pod-template-hash\":\"rev-1\"}}"},
    {"ReplicaSet alone", "kubernetes/kubernetes pkg/controller/replicaset/replica_set.go", RS "web",
     "app=web tier=front", "tier=back", .revision = NULL, .kept = OBJECT_REPLICA_SET,
     .selector =
         "{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\",\"values\":[\"web\"]},"
         "{\"key\":\"tier\",\"operator\":\"NotIn\",\"values\":[\"back\"]}]}"},
    {"StatefulSet", "kubernetes/kubernetes pkg/controller/statefulset/stateful_set_utils.go",
     STS "db", "app=db" STS_LABELS, "app=web", STS_REVISION, .kept = OBJECT_STATEFUL_SET,
     .selector = "{\"matchLabels\":{\"app\":\"db\"}}"},
    {"ReplicationController", "kubernetes/kubernetes pkg/controller/replication/conversion.go",
     "v1 ReplicationController old", "name=old", "name=new", .revision = NULL,
     .kept = OBJECT_REPLICATION_CONTROLLER, .selector = "{\"name\":\"old\"}"},
    {"Job", "kubernetes/kubernetes pkg/registry/batch/job/strategy.go", "batch/v1 Job sum",
     "job-name=sum controller-uid=7e1 batch.kubernetes.io/job-name=sum "
     "batch.kubernetes.io/controller-uid=7e1",
     "job-name=pi controller-uid=8a2 batch.kubernetes.io/job-name=pi "
     "batch.kubernetes.io/controller-uid=8a2",
     .revision = NULL},
    {"indexed Job", "kubernetes/kubernetes pkg/controller/job/indexed_job_utils.go",
     "batch/v1 Job sum",
     "job-name=sum controller-uid=7e1 batch.kubernetes.io/job-name=sum "
     "batch.kubernetes.io/controller-uid=7e1 batch.kubernetes.io/job-completion-index=#",
     "job-name=pi controller-uid=8a2 batch.kubernetes.io/job-name=pi "
     "batch.kubernetes.io/controller-uid=8a2",
     .revision = NULL},
    {"a run of a CronJob", "kubernetes/kubernetes pkg/controller/cronjob/utils.go",
     "batch/v1 Job nightly-29000001",
     "app=nightly job-name=nightly-29000001 controller-uid=7e1 "
     "batch.kubernetes.io/job-name=nightly-29000001 batch.kubernetes.io/controller-uid=7e1",
     "app=weekly job-name=weekly-1 batch.kubernetes.io/job-name=weekly-1", .revision = NULL},
    {"DeploymentConfig", "openshift/api apps/v1: DeploymentLabel, DeploymentConfigLabel",
     "v1 ReplicationController web-3", "app=web deployment=rev-1 deploymentconfig=web",
     "app=db deploymentconfig=db", "deployment", .kept = OBJECT_REPLICATION_CONTROLLER,
     .selector = "{\"app\":\"web\",\"deployment\":\"rev-1\",\"deploymentconfig\":\"web\"}"},

    /* ---- other workloads ---- */
    {"CloneSet", "openkruise/kruise apis/apps/v1alpha1/cloneset_types.go, pkg/controller/cloneset",
     "apps.kruise.io/v1alpha1 CloneSet web",
     "app=web apps.kruise.io/cloneset-instance-id=a# controller-revision-hash=rev-1", "app=db",
     .revision = "controller-revision-hash"},
    {"Kruise StatefulSet", "openkruise/kruise pkg/controller/statefulset",
     "apps.kruise.io/v1beta1 StatefulSet db",
     "app=db controller-revision-hash=rev-1 statefulset.kubernetes.io/pod-name=db-#", "app=web",
     .revision = "controller-revision-hash"},
    {"Argo Rollout", "argoproj/argo-rollouts pkg/apis/rollouts/v1alpha1/types.go", RS "web-rev-1",
     "app=web rollouts-pod-template-hash=rev-1", "app=db", "rollouts-pod-template-hash",
     .kept = OBJECT_REPLICA_SET,
     .selector = "{\"matchLabels\":{\"app\":\"web\",\"rollouts-pod-template-hash\":\"rev-1\"}}"},
    {"Knative revision", "knative/serving pkg/apis/serving/register.go",
     RS "hello-00001-deployment-rev-1",
     "app=hello-00001 pod-template-hash=rev-1 serving.knative.dev/configuration=hello "
     "serving.knative.dev/revision=hello-00001 serving.knative.dev/revisionUID=f3a "
     "serving.knative.dev/service=hello",
     "app=bye-00001 serving.knative.dev/revisionUID=b0c serving.knative.dev/service=bye",
     "pod-template-hash", .kept = OBJECT_REPLICA_SET,
     .selector =
         "{\"matchLabels\":{\"pod-template-hash\":\"rev-1\",\"serving.knative.dev/revisionUID\":"
         "\"f3a\"}}"},
    {"Temporal worker", "temporalio/temporal-worker-controller internal/k8s/deployments.go",
     RS "worker-rev-1", "app=worker pod-template-hash=x temporal.io/build-id=rev-1", "app=frontend",
     "temporal.io/build-id", .kept = OBJECT_REPLICA_SET,
     .selector = "{\"matchLabels\":{\"app\":\"worker\",\"pod-template-hash\":\"x\",\"temporal.io/"
                 "build-id\":"
                 "\"rev-1\"}}"},

    /* ---- batch and training ---- */
    {"PyTorchJob", "kubeflow/training-operator pkg/apis/kubeflow.org/v1/common_types.go",
     "kubeflow.org/v1 PyTorchJob train",
     "training.kubeflow.org/job-name=train training.kubeflow.org/operator-name=pytorchjob-"
     "controller training.kubeflow.org/replica-index=# training.kubeflow.org/replica-type=worker",
     "training.kubeflow.org/job-name=other", .revision = NULL},
    {"TFJob", "kubeflow/training-operator pkg/apis/kubeflow.org/v1/common_types.go",
     "kubeflow.org/v1 TFJob train",
     "training.kubeflow.org/job-name=train training.kubeflow.org/operator-name=tfjob-controller "
     "training.kubeflow.org/replica-index=# training.kubeflow.org/replica-type=ps",
     "training.kubeflow.org/job-name=other", .revision = NULL},
    {"MPIJob", "kubeflow/mpi-operator pkg/controller/mpi_job_controller.go",
     "kubeflow.org/v2beta1 MPIJob pi",
     "training.kubeflow.org/job-name=pi training.kubeflow.org/job-role=worker "
     "training.kubeflow.org/operator-name=mpi-operator training.kubeflow.org/replica-index=#",
     "training.kubeflow.org/job-name=tau", .revision = NULL},
    {"JobSet, first pods of its Jobs", "kubernetes-sigs/jobset api/jobset/v1alpha2/jobset_types.go",
     "batch/v1 Job train-workers-#",
     "batch.kubernetes.io/job-completion-index=0 batch.kubernetes.io/job-name=train-workers-# "
     "job-name=train-workers-# batch.kubernetes.io/controller-uid=u# controller-uid=u# "
     "jobset.sigs.k8s.io/jobset-name=train jobset.sigs.k8s.io/replicatedjob-name=workers "
     "jobset.sigs.k8s.io/replicatedjob-replicas=5 jobset.sigs.k8s.io/job-index=# "
     "jobset.sigs.k8s.io/job-global-index=# jobset.sigs.k8s.io/job-key=k# "
     "jobset.sigs.k8s.io/restart-attempt=0",
     "jobset.sigs.k8s.io/jobset-name=other", .revision = NULL},
    {"LeaderWorkerSet, leaders", "kubernetes-sigs/lws api/leaderworkerset/v1, pkg/controllers",
     STS "llm",
     "leaderworkerset.sigs.k8s.io/name=llm leaderworkerset.sigs.k8s.io/group-index=# "
     "leaderworkerset.sigs.k8s.io/group-key=g# leaderworkerset.sigs.k8s.io/worker-index=0 "
     "leaderworkerset.sigs.k8s.io/template-revision-hash=rev-1 "
     "statefulset.kubernetes.io/pod-name=llm-# apps.kubernetes.io/pod-index=#",
     "leaderworkerset.sigs.k8s.io/name=other", "leaderworkerset.sigs.k8s.io/template-revision-hash",
     .kept = OBJECT_STATEFUL_SET,
     .selector = "{\"matchLabels\":{\"leaderworkerset.sigs.k8s.io/name\":\"llm\","
                 "\"leaderworkerset.sigs.k8s.io/worker-index\":\"0\"}}"},
    {"LeaderWorkerSet in a queue of Kueue, leaders",
     "kubernetes-sigs/kueue pkg/controller/jobs/leaderworkerset/leaderworkerset_pod_reconciler.go",
     STS "llm",
     "leaderworkerset.sigs.k8s.io/name=llm leaderworkerset.sigs.k8s.io/group-index=# "
     "leaderworkerset.sigs.k8s.io/group-key=g# leaderworkerset.sigs.k8s.io/worker-index=0 "
     "leaderworkerset.sigs.k8s.io/template-revision-hash=rev-1 kueue.x-k8s.io/queue-name=lq "
     "kueue.x-k8s.io/managed=true kueue.x-k8s.io/podset=leader "
     "kueue.x-k8s.io/pod-group-name=leaderworkerset-llm-#-a "
     "kueue.x-k8s.io/prebuilt-workload-name=leaderworkerset-llm-#-a",
     "leaderworkerset.sigs.k8s.io/name=other", "leaderworkerset.sigs.k8s.io/template-revision-hash",
     .kept = OBJECT_STATEFUL_SET,
     .selector = "{\"matchLabels\":{\"leaderworkerset.sigs.k8s.io/name\":\"llm\","
                 "\"leaderworkerset.sigs.k8s.io/worker-index\":\"0\"}}"},
    {"RayCluster, workers of one host", "ray-project/kuberay ray-operator/controllers/ray/utils",
     "ray.io/v1 RayCluster ray",
     "app.kubernetes.io/created-by=kuberay-operator app.kubernetes.io/name=kuberay "
     "ray.io/cluster=ray ray.io/group=small ray.io/identifier=ray-worker "
     "ray.io/is-ray-node=yes ray.io/node-type=worker",
     "ray.io/cluster=other", .revision = NULL},
    {"RayCluster, first hosts of several", "ray-project/kuberay, multi-host labels of 1.5",
     "ray.io/v1 RayCluster ray",
     "ray.io/cluster=ray ray.io/group=tpu ray.io/node-type=worker ray.io/is-ray-node=yes "
     "ray.io/worker-group-replica-name=tpu-a# ray.io/worker-group-replica-index=# "
     "ray.io/replica-host-index=0",
     "ray.io/cluster=other", .revision = NULL},
    {"Spark executors", "apache/spark resource-managers/kubernetes/core .../k8s/Constants.scala",
     "v1 Pod pi-driver",
     "spark-app-name=pi spark-app-selector=spark-77 spark-exec-id=# "
     "spark-exec-resourceprofile-id=0 spark-role=executor spark-version=3.4.0",
     "spark-app-name=tau spark-app-selector=spark-88", .revision = NULL},
    {"Flink task managers", "apache/flink flink-kubernetes .../utils/Constants.java",
     "apps/v1 Deployment flink", "app=flink component=taskmanager type=flink-native-kubernetes",
     "app=other", .revision = NULL},
    {"Dask workers", "dask/dask-kubernetes dask_kubernetes/operator/controller/controller.py",
     RS "simple-default-worker-#-x",
     "dask.org/cluster-name=simple dask.org/component=worker dask.org/workergroup-name=simple-"
     "default sidecar.istio.io/inject=false pod-template-hash=h#",
     "dask.org/cluster-name=other dask.org/workergroup-name=other-default", .revision = NULL},
    {"Airflow tasks", "apache/airflow airflow/kubernetes/pod_generator.py", "",
     "airflow-worker=7 airflow_version=2.9.0 dag_id=d# kubernetes_executor=True run_id=r# "
     "task_id=t# try_number=1",
     "airflow_version=1.10", .revision = NULL},
    {"Tekton tasks", "tektoncd/pipeline pkg/apis/pipeline/register.go",
     "tekton.dev/v1 TaskRun build-run-#",
     "app.kubernetes.io/managed-by=tekton-pipelines tekton.dev/memberOf=tasks "
     "tekton.dev/pipeline=build tekton.dev/pipelineRun=build-# tekton.dev/pipelineRunUID=p# "
     "tekton.dev/pipelineTask=compile tekton.dev/task=compile tekton.dev/taskRun=build-run-# "
     "tekton.dev/taskRunUID=t#",
     "tekton.dev/pipeline=deploy", .revision = NULL},
    {"Argo Workflow", "argoproj/argo-workflows workflow/common/common.go",
     "argoproj.io/v1alpha1 Workflow steps-tt9wq",
     "workflows.argoproj.io/completed=false workflows.argoproj.io/workflow=steps-tt9wq",
     "workflows.argoproj.io/workflow=other", .revision = NULL},
    {"Slurm nodes", "SlinkyProject/slurm-operator api/v1beta1/well_known.go",
     "slinky.slurm.net/v1beta1 NodeSet slinky",
     "app.kubernetes.io/component=worker app.kubernetes.io/instance=slurm-worker-slinky "
     "nodeset.slinky.slurm.net/pod-name=slinky-# nodeset.slinky.slurm.net/pod-index=# "
     "nodeset.slinky.slurm.net/pod-hostname=slinky-#",
     "app.kubernetes.io/instance=slurm-worker-gpu", .learned = true},

    /* ---- databases, queues, storage ---- */
    {"Crunchy Postgres", "CrunchyData/postgres-operator internal/naming/labels.go",
     STS "hippo-instance1-#",
     "postgres-operator.crunchydata.com/cluster=hippo postgres-operator.crunchydata.com/data="
     "postgres postgres-operator.crunchydata.com/instance=hippo-instance1-# "
     "postgres-operator.crunchydata.com/instance-set=instance1 "
     "postgres-operator.crunchydata.com/patroni=hippo-ha "
     "controller-revision-hash=hippo-instance1-#-x "
     "statefulset.kubernetes.io/pod-name=hippo-instance1-#-0",
     "postgres-operator.crunchydata.com/cluster=rhino", .revision = NULL,
     .kept = OBJECT_STATEFUL_SET,
     .selector = "{\"matchLabels\":{\"postgres-operator.crunchydata.com/cluster\":\"hippo\","
                 "\"postgres-operator.crunchydata.com/instance\":\"hippo-instance1-#\"}}"},
    {"CloudNativePG", "cloudnative-pg/cloudnative-pg pkg/utils/labels_annotations.go",
     "postgresql.cnpg.io/v1 Cluster pg",
     "cnpg.io/cluster=pg cnpg.io/instanceName=pg-# cnpg.io/podRole=instance", "cnpg.io/cluster=x",
     .revision = NULL},
    {"ClickHouse", "Altinity/clickhouse-operator pkg/model/chi/labeler.go", STS "chi-a-main-0-#",
     "clickhouse.altinity.com/app=chop clickhouse.altinity.com/chi=a "
     "clickhouse.altinity.com/cluster=main clickhouse.altinity.com/namespace=shop "
     "clickhouse.altinity.com/replica=# clickhouse.altinity.com/shard=0 "
     "controller-revision-hash=chi-a-main-0-#-x "
     "statefulset.kubernetes.io/pod-name=chi-a-main-0-#-0",
     "clickhouse.altinity.com/chi=b", .revision = NULL},
    {"Zalando Postgres", "zalando/postgres-operator pkg/cluster/k8sres.go", STS "acid",
     "application=spilo cluster-name=acid team=acid" STS_LABELS, "cluster-name=other", STS_REVISION,
     .kept = OBJECT_STATEFUL_SET,
     .selector = "{\"matchLabels\":{\"application\":\"spilo\",\"cluster-name\":\"acid\"}}"},
    {"Rook monitors", "rook/rook pkg/operator/ceph/controller/spec.go", RS "rook-ceph-mon-#-x",
     "app=rook-ceph-mon ceph_daemon_id=# ceph_daemon_type=mon mon=# mon_cluster=rook-ceph "
     "rook_cluster=rook-ceph pod-template-hash=h#",
     "app=rook-ceph-mgr ceph_daemon_type=mgr", .revision = NULL, .kept = OBJECT_REPLICA_SET,
     .selector =
         "{\"matchLabels\":{\"app\":\"rook-ceph-mon\",\"ceph_daemon_id\":\"#\",\"mon\":\"#\","
         "\"mon_cluster\":\"rook-ceph\",\"pod-template-hash\":\"h#\"}}"},
    {"Rook OSDs", "rook/rook pkg/operator/ceph/controller/spec.go", RS "rook-ceph-osd-#-x",
     "app=rook-ceph-osd ceph-osd-id=# ceph_daemon_id=# ceph_daemon_type=osd osd=# "
     "rook_cluster=rook-ceph topology-location-host=n# pod-template-hash=h#",
     "app=rook-ceph-mon ceph_daemon_type=mon", .revision = NULL, .kept = OBJECT_REPLICA_SET,
     .selector =
         "{\"matchLabels\":{\"app\":\"rook-ceph-osd\",\"ceph-osd-id\":\"#\",\"rook_cluster\":"
         "\"rook-ceph\",\"pod-template-hash\":\"h#\"}}"},
    {"FoundationDB", "FoundationDB/fdb-kubernetes-operator api/v1beta2/foundationdb_labels.go",
     "apps.foundationdb.org/v1beta2 FoundationDBCluster fdb",
     "foundationdb.org/fdb-cluster-name=fdb foundationdb.org/fdb-process-class=storage "
     "foundationdb.org/fdb-process-group-id=storage-#",
     "foundationdb.org/fdb-cluster-name=other", .revision = NULL},
    {"Vitess tablets", "planetscale/vitess-operator pkg/apis/planetscale/v2/labels.go",
     "planetscale.com/v2 VitessShard example-commerce",
     "planetscale.com/cell=zone1 planetscale.com/cluster=example planetscale.com/component="
     "vttablet planetscale.com/keyspace=commerce planetscale.com/shard=x-x "
     "planetscale.com/tablet-type=replica planetscale.com/tablet-index=# "
     "planetscale.com/tablet-uid=250#",
     "planetscale.com/keyspace=other", .revision = NULL},
    {"Strimzi", "strimzi/strimzi-kafka-operator operator-common/.../model/Labels.java",
     "core.strimzi.io/v1beta2 StrimziPodSet cluster1-kafka",
     "app.kubernetes.io/instance=cluster1 app.kubernetes.io/name=kafka strimzi.io/cluster=cluster1 "
     "strimzi.io/component-type=kafka strimzi.io/kind=Kafka strimzi.io/name=cluster1-kafka "
     "strimzi.io/pod-name=cluster1-kafka-# statefulset.kubernetes.io/pod-name=cluster1-kafka-#",
     "app.kubernetes.io/instance=cluster2 strimzi.io/cluster=cluster2", .revision = NULL},
    {"Elasticsearch of ECK", "elastic/cloud-on-k8s pkg/controller/elasticsearch/label/label.go",
     STS "logs-es-default",
     "common.k8s.elastic.co/type=elasticsearch elasticsearch.k8s.elastic.co/cluster-name=logs "
     "elasticsearch.k8s.elastic.co/statefulset-name=logs-es-default" STS_LABELS,
     "elasticsearch.k8s.elastic.co/statefulset-name=logs-es-master", STS_REVISION,
     .kept = OBJECT_STATEFUL_SET,
     .selector = "{\"matchLabels\":{\"common.k8s.elastic.co/type\":\"elasticsearch\","
                 "\"elasticsearch.k8s.elastic.co/cluster-name\":\"logs\","
                 "\"elasticsearch.k8s.elastic.co/statefulset-name\":\"logs-es-default\"}}"},
    {"Redis", "OT-CONTAINER-KIT/redis-operator k8sutils/labels.go", STS "redis-leader",
     "app=redis-leader redis_setup_type=cluster role=leader" STS_LABELS,
     "app=redis-follower role=follower", STS_REVISION, .kept = OBJECT_STATEFUL_SET,
     .selector =
         "{\"matchLabels\":{\"app\":\"redis-leader\",\"redis_setup_type\":\"cluster\",\"role\":"
         "\"leader\"}}"},
    {"MongoDB", "mongodb/mongodb-kubernetes-operator controllers/construct/mongodbstatefulset.go",
     STS "mongo", "app=mongo-svc" STS_LABELS, "app=other-svc", STS_REVISION,
     .kept = OBJECT_STATEFUL_SET, .selector = "{\"matchLabels\":{\"app\":\"mongo-svc\"}}"},
    {"Cassandra", "k8ssandra/cass-operator apis/cassandra/v1beta1/cassandradatacenter_types.go",
     STS "c-dc1-r1-sts",
     "app.kubernetes.io/managed-by=cass-operator app.kubernetes.io/name=cassandra "
     "cassandra.datastax.com/cluster=c cassandra.datastax.com/datacenter=dc1 "
     "cassandra.datastax.com/rack=r1" STS_LABELS,
     "cassandra.datastax.com/cluster=other", STS_REVISION, .kept = OBJECT_STATEFUL_SET,
     .selector =
         "{\"matchLabels\":{\"cassandra.datastax.com/cluster\":\"c\","
         "\"cassandra.datastax.com/datacenter\":\"dc1\",\"cassandra.datastax.com/rack\":\"r1\"}}"},
    {"RabbitMQ", "rabbitmq/cluster-operator internal/metadata/label.go", STS "q-server",
     "app.kubernetes.io/component=rabbitmq app.kubernetes.io/name=q app.kubernetes.io/part-of="
     "rabbitmq" STS_LABELS,
     "app.kubernetes.io/name=other", STS_REVISION, .kept = OBJECT_STATEFUL_SET,
     .selector = "{\"matchLabels\":{\"app.kubernetes.io/name\":\"q\"}}"},
    {"etcd", "coreos/etcd-operator pkg/util/k8sutil/k8sutil.go",
     "etcd.database.coreos.com/v1beta2 EtcdCluster e", "app=etcd etcd_cluster=e etcd_node=e-#",
     "etcd_cluster=other", .learned = true},
    {"ZooKeeper", "pravega/zookeeper-operator pkg/zk/generators.go", STS "zk",
     "app=zk kind=ZookeeperMember release=zk" STS_LABELS, "app=other release=other", STS_REVISION,
     .kept = OBJECT_STATEFUL_SET, .selector = "{\"matchLabels\":{\"app\":\"zk\"}}"},
    {"MinIO", "minio/operator pkg/apis/minio.min.io/v2/constants.go", STS "minio-pool-0",
     "v1.min.io/console=minio-console v1.min.io/pool=pool-0 v1.min.io/tenant=minio" STS_LABELS,
     "v1.min.io/tenant=other", STS_REVISION, .kept = OBJECT_STATEFUL_SET,
     .selector =
         "{\"matchLabels\":{\"v1.min.io/pool\":\"pool-0\",\"v1.min.io/tenant\":\"minio\"}}"},
    {"Prometheus", "prometheus-operator/prometheus-operator pkg/prometheus/server/statefulset.go",
     STS "prometheus-k8s",
     "app.kubernetes.io/instance=k8s app.kubernetes.io/managed-by=prometheus-operator "
     "app.kubernetes.io/name=prometheus operator.prometheus.io/name=k8s "
     "operator.prometheus.io/shard=0 prometheus=k8s" STS_LABELS,
     "app.kubernetes.io/instance=x operator.prometheus.io/name=x prometheus=x", STS_REVISION,
     .kept = OBJECT_STATEFUL_SET,
     .selector =
         "{\"matchLabels\":{\"app.kubernetes.io/instance\":\"k8s\",\"app.kubernetes.io/name\":"
         "\"prometheus\",\"operator.prometheus.io/shard\":\"0\",\"prometheus\":\"k8s\"}}"},
    {"TiKV", "pingcap/tidb-operator pkg/apis/label/label.go", STS "t-tikv",
     "app.kubernetes.io/component=tikv app.kubernetes.io/instance=t app.kubernetes.io/managed-by="
     "tidb-operator app.kubernetes.io/name=tidb-cluster" STS_LABELS,
     "app.kubernetes.io/component=pd", .revision = STS_REVISION},

    /* ---- machines, users, games ---- */
    {"KubeVirt", "kubevirt/kubevirt pkg/virt-controller/services/template.go",
     "kubevirt.io/v1 VirtualMachineInstance cirros-#",
     "kubevirt.io=virt-launcher kubevirt.io/created-by=u# kubevirt.io/domain=cirros-# "
     "kubevirt.io/size=small vm.kubevirt.io/name=cirros-#",
     "kubevirt.io/size=large", .revision = NULL},
    {"Agones", "googleforgames/agones pkg/apis/agones/v1/gameserver.go",
     "agones.dev/v1 GameServer fleet-#",
     "agones.dev/gameserver=fleet-# agones.dev/role=gameserver app=xonotic", "app=doom",
     .revision = NULL},
    {"JupyterHub", "jupyterhub/kubespawner kubespawner/spawner.py", "",
     "app=jupyterhub component=singleuser-server heritage=jupyterhub "
     "hub.jupyter.org/servername=s# hub.jupyter.org/username=u#",
     "component=hub", .revision = NULL},
    {"GitHub runners", "actions/actions-runner-controller controllers/actions.github.com",
     "actions.github.com/v1alpha1 EphemeralRunner arm-x-runner-#",
     "actions-ephemeral-runner=True actions.github.com/organization=acme "
     "actions.github.com/scale-set-name=arm app.kubernetes.io/component=runner",
     "actions.github.com/scale-set-name=x86", .revision = NULL},
    {"an operator nobody has heard of", "made up: labels on no list", "example.com/v1 Widget w",
     "example.com/widget=w example.com/role=front example.com/part=p# "
     "example.com/serial=s#",
     "example.com/widget=v", .learned = true},
};

enum { OPERATORS_AT_LEAST = 40, SIBLINGS_OF_A_ROW = 5 };

/* ---- making pods ---- */

static struct str numbered(struct arena *arena, const char *text, int number) {
    struct strbuf out = {0};
    for (; *text != '\0'; text++)
        if (*text == '#')
            strbuf_appendf(&out, "%d", number);
        else
            strbuf_append_char(&out, *text);
    struct str copy = arena_str(arena, strbuf_str(&out));
    strbuf_done(&out);
    return copy;
}

/* The value that `more` gives to a key, or the one that it has. */
static struct str changed(struct str key, struct str value, const char *more) {
    struct str rest = str_of(more), pair;
    while (next_word(&rest, " ", &pair)) {
        size_t at = str_find(pair, '=');
        if (str_eq((struct str){pair.p, at}, key))
            return (struct str){pair.p + at + 1, pair.n - at - 1};
    }
    return value;
}

static void write_annotations(struct json_writer *w, const char *annotations) {
    struct str rest = str_of(annotations), pair;
    json_key(w, STR("annotations"));
    json_begin_object(w);
    while (next_word(&rest, " ", &pair)) {
        size_t at = str_find(pair, '=');
        json_put_member(w, (struct str){pair.p, at},
                        (struct str){pair.p + at + 1, pair.n - at - 1});
    }
    json_end_object(w);
}

static void write_owner(struct json_writer *w, struct str owner) {
    static const struct str members[] = {{"apiVersion", 10}, {"kind", 4}, {"name", 4}};
    struct str word;
    if (owner.n == 0)
        return;
    json_key(w, STR("ownerReferences"));
    json_begin_array(w);
    json_begin_object(w);
    for (size_t i = 0; i < 3 && next_word(&owner, " ", &word); i++)
        json_put_member(w, members[i], word);
    json_put_member(w, STR("uid"), STR("u"));
    json_key(w, STR("controller"));
    json_put_bool(w, true);
    json_end_object(w);
    json_end_array(w);
}

struct made {
    const struct operator_row *row;
    int number;
    const char *more;  /* labels that differ */
    const char *owner; /* instead of the row's; NULL: that */
    bool bound;
};

static struct str make(struct cluster *c, const struct made *m) {
    struct strbuf text = {0};
    struct json_writer w = {.out = &text};
    struct str rest = numbered(&c->arena, m->row->labels, m->number), pair;
    char name[40];
    (void)snprintf(name, sizeof name, "%s-%d", m->owner != NULL ? "stranger" : "pod", m->number);
    json_begin_object(&w);
    json_key(&w, STR("metadata"));
    json_begin_object(&w);
    json_put_member(&w, STR("name"), str_of(name));
    json_put_member(&w, STR("namespace"), STR("shop"));
    json_key(&w, STR("labels"));
    json_begin_object(&w);
    while (next_word(&rest, " ", &pair)) {
        size_t at = str_find(pair, '=');
        struct str key = {pair.p, at}, value = {pair.p + at + 1, pair.n - at - 1};
        json_put_member(&w, key, changed(key, value, m->more));
    }
    json_end_object(&w);
    write_annotations(&w, m->row->annotations != NULL ? m->row->annotations : "");
    write_owner(&w, numbered(&c->arena, m->owner != NULL ? m->owner : m->row->owner, m->number));
    json_end_object(&w);
    json_key(&w, STR("spec"));
    json_begin_object(&w);
    if (m->bound)
        json_put_member(&w, STR("nodeName"), STR("a"));
    json_end_object(&w);
    json_end_object(&w);
    struct str copy = arena_str(&c->arena, strbuf_str(&text));
    strbuf_done(&text);
    return copy;
}

static const char *cstr(struct cluster *c, struct str s) {
    return arena_cstr(&c->arena, s);
}

static void keep_owner(struct cluster *c, const struct operator_row *row, int number) {
    struct strbuf text = {0};
    struct str owner = numbered(&c->arena, row->owner, number), word = {0};
    while (next_word(&owner, " ", &word)) /* its name is the last */
        continue;
    struct str selector = numbered(&c->arena, row->selector, number);
    strbuf_appendf(&text,
                   "{\"metadata\":{\"name\":\"%.*s\",\"namespace\":\"shop\"},\"spec\":{"
                   "\"selector\":%.*s}}",
                   STR_ARG(word), STR_ARG(selector));
    cluster_workload(c, row->kept, cstr(c, strbuf_str(&text)));
    strbuf_done(&text);
}

/* ---- whom it counts ---- */

static struct pod decoded(struct cluster *c, struct str text) {
    return cluster_object(c, OBJECT_POD, cstr(c, text)).pod;
}

/* As kube-scheduler reads a constraint: matchLabelKeys with the values of the pod. */
static struct selector counted_by(struct cluster *c, const struct pod *pod) {
    const struct spread_constraint *s = &pod->constraints[0];
    struct label *extra = arena_array(&c->arena, s->match_label_key_count, sizeof *extra);
    struct labels more = {extra, 0};
    struct selector selector;
    for (uint32_t i = 0; i < s->match_label_key_count; i++) {
        extra[more.count].key = s->match_label_keys[i];
        more.count +=
            labels_lookup(&pod->meta.labels, s->match_label_keys[i], &extra[more.count].value);
    }
    assert_int_equal(selector_compile(&s->selector, more, &c->arena, &selector, NULL), 0);
    return selector;
}

static bool counts(struct cluster *c, const struct selector *selector, const struct made *m) {
    struct pod pod = decoded(c, make(c, m));
    return selector_matches(selector, labels_lookup, &pod.meta.labels);
}

static const struct policy_group_by by_owner;

static struct spread_tally tally; /* of the last review */

static struct pod admitted_by(struct cluster *c, struct str object, struct policy_group_by by) {
    static const struct policy_spread spread = {
        .topology_key = {"zone", 4}, .max_skew = 1, .hard = true};
    const struct policy policy = {
        .name = {"all", 3}, .spread = &spread, .spread_count = 1, .group_by = by};
    struct patch patch;
    struct review_answer answer;
    const struct pod_options options = {
        .head.policies = &policy, .head.policy_count = 1, .cache = c->cache, .spread = &tally};
    const struct review review = {.uid = STR("u"),
                                  .resource = STR("pods"),
                                  .operation = STR("CREATE"),
                                  .namespace = STR("shop"),
                                  .object = object};
    tally = (struct spread_tally){.policy = {0}};
    (void)admit_object(&admitted_pods, &options.head, &review, &c->arena, &patch, &answer);
    struct json_reader r;
    struct pod pod;
    json_reader_init(&r, patch.document, &c->arena, "Pod");
    pod_decode(&r, POD_WHOLE, &pod);
    assert_int_equal(json_finish(&r, NULL), 0);
    return pod;
}

static struct pod admitted(struct cluster *c, struct str object) {
    return admitted_by(c, object, by_owner);
}

/* What is known while the last sibling is created. */
enum knowledge { NOTHING, SIBLINGS, SIBLINGS_AND_OWNERS };

static void know(struct cluster *c, const struct operator_row *row, enum knowledge knowledge) {
    cluster_nodes(c, "a b");
    for (int i = 1; i < SIBLINGS_OF_A_ROW && knowledge != NOTHING; i++) {
        const struct made sibling = {row, i, "", NULL, true};
        cluster_apply_json(c, OBJECT_POD, cstr(c, make(c, &sibling)));
    }
    for (int i = 1; i <= SIBLINGS_OF_A_ROW; i++)
        if (knowledge == SIBLINGS_AND_OWNERS && row->selector != NULL)
            keep_owner(c, row, i);
    const struct made stranger = {row, 9, row->stranger, "example.com/v1 Other other", true};
    cluster_apply_json(c, OBJECT_POD, cstr(c, make(c, &stranger)));
}

static void check(struct cluster *c, const struct operator_row *row, enum knowledge knowledge) {
    const struct made last = {row, SIBLINGS_OF_A_ROW, "", NULL, false};
    know(c, row, knowledge);
    struct pod pod = admitted(c, make(c, &last));
    if (pod.constraint_count != 1)
        fail_msg("%s, %d: nothing was added", row->name, (int)knowledge);
    struct selector selector = counted_by(c, &pod);
    for (int i = 1; i <= SIBLINGS_OF_A_ROW; i++) {
        const struct made sibling = {row, i, "", NULL, true};
        if (!counts(c, &selector, &sibling))
            fail_msg("%s, %d: sibling %d is not counted", row->name, (int)knowledge, i);
    }
    const struct made stranger = {row, 9, row->stranger, "", true};
    if (counts(c, &selector, &stranger))
        fail_msg("%s, %d: the stranger is counted", row->name, (int)knowledge);
    if (row->revision == NULL)
        return;
    char other[100];
    (void)snprintf(other, sizeof other, "%s=rev-2", row->revision);
    const struct made old = {row, 2, other, NULL, true};
    if (counts(c, &selector, &old))
        fail_msg("%s, %d: another revision is counted", row->name, (int)knowledge);
}

static void siblings_are_counted_and_strangers_are_not(void **state) {
    (void)state;
    assert_true(sizeof rows / sizeof rows[0] >= OPERATORS_AT_LEAST);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int knowledge = rows[i].learned ? SIBLINGS : NOTHING; knowledge <= SIBLINGS_AND_OWNERS;
             knowledge++) {
            struct cluster c;
            cluster_open(&c);
            check(&c, &rows[i], (enum knowledge)knowledge);
            cluster_close(&c);
        }
}

/* ---- units ---- */

/* Pods that are not the first of their unit. */
static const struct operator_row members[] = {
    {"a worker of a LeaderWorkerSet", "kubernetes-sigs/lws pkg/controllers/pod_controller.go",
     STS "llm-1",
     "leaderworkerset.sigs.k8s.io/name=llm leaderworkerset.sigs.k8s.io/group-index=1 "
     "leaderworkerset.sigs.k8s.io/group-key=g leaderworkerset.sigs.k8s.io/worker-index=#",
     "", .revision = NULL},
    {"another host of a slice", "ray-project/kuberay ray-operator/controllers/ray/common/pod.go",
     "ray.io/v1 RayCluster ray",
     "ray.io/cluster=ray ray.io/group=tpu ray.io/worker-group-replica-index=3 "
     "ray.io/worker-group-replica-name=tpu-xh3hf ray.io/replica-host-index=#",
     "", .revision = NULL},
    {"another pod of a Job in a JobSet", "kubernetes-sigs/jobset api/jobset/v1alpha2",
     "batch/v1 Job train-0",
     "jobset.sigs.k8s.io/jobset-name=train batch.kubernetes.io/job-completion-index=#", "",
     .revision = NULL},
};

/* They have no number, or not yet. */
static const struct operator_row unnumbered[] = {
    {"a worker that the webhook of LeaderWorkerSet has not seen",
     "kubernetes-sigs/lws pkg/controllers/pod_controller.go, pkg/webhooks/pod_webhook.go",
     STS "llm-1",
     "leaderworkerset.sigs.k8s.io/name=llm leaderworkerset.sigs.k8s.io/group-index=1 "
     "leaderworkerset.sigs.k8s.io/group-key=g "
     "leaderworkerset.sigs.k8s.io/template-revision-hash=r1 controller-revision-hash=x "
     "apps.kubernetes.io/pod-index=# statefulset.kubernetes.io/pod-name=llm-1-#",
     "", .kept = OBJECT_STATEFUL_SET,
     .selector = "{\"matchLabels\":{\"leaderworkerset.sigs.k8s.io/group-index\":\"1\","
                 "\"leaderworkerset.sigs.k8s.io/group-key\":\"g\","
                 "\"leaderworkerset.sigs.k8s.io/name\":\"llm\"}}"},
    {"a pod of a Job in a JobSet that is not indexed, or of a server before 1.28",
     "kubernetes-sigs/jobset api/jobset/v1alpha2; kubernetes: feature gate PodIndexLabel",
     "batch/v1 Job train-0",
     "jobset.sigs.k8s.io/jobset-name=train jobset.sigs.k8s.io/replicatedjob-name=w "
     "jobset.sigs.k8s.io/job-key=k batch.kubernetes.io/job-name=train-0",
     "", .revision = NULL},
};

static void who_has_no_number_is_not_the_first(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof unnumbered / sizeof unnumbered[0]; i++) {
        struct cluster c;
        cluster_open(&c);
        if (unnumbered[i].selector != NULL)
            keep_owner(&c, &unnumbered[i], 1);
        const struct made second = {&unnumbered[i], 1, "", NULL, false};
        if (admitted(&c, make(&c, &second)).constraint_count != 0)
            fail_msg("%s is spread", unnumbered[i].name);
        assert_int_equal(tally.fates[SPREAD_UNIT_MEMBER], 1);
        cluster_close(&c);
    }
}

/* All or none of them run, or somebody else chooses their nodes. */
static const struct operator_row gangs[] = {
    {"coscheduling", "kubernetes-sigs/scheduler-plugins apis/scheduling/v1alpha1/types.go",
     "batch/v1 Job train", "app=train scheduling.x-k8s.io/pod-group=train", "", .revision = NULL},
    {"coscheduling as it was", "kubernetes-sigs/scheduler-plugins pkg/coscheduling/README.md",
     "batch/v1 Job train", "app=train pod-group.scheduling.sigs.k8s.io=train", "",
     .revision = NULL},
    {"Volcano Job", "volcano-sh/apis pkg/apis/batch/v1alpha1/labels.go",
     "batch.volcano.sh/v1alpha1 Job train",
     "volcano.sh/job-name=train volcano.sh/job-namespace=shop volcano.sh/queue-name=default "
     "volcano.sh/task-spec=worker volcano.sh/task-index=0",
     "", .revision = NULL},
    {"Spark with Volcano", "apache/spark .../k8s/features/VolcanoFeatureStep.scala",
     "v1 Pod pi-driver", "spark-app-selector=spark-77 spark-exec-id=1 spark-role=executor", "",
     .annotations = "scheduling.k8s.io/group-name=spark-77-podgroup"},
    {"Kueue's topology-aware scheduling",
     "kubernetes-sigs/kueue apis/kueue/v1beta1/topology_types.go", "batch/v1 Job train",
     "batch.kubernetes.io/job-name=train batch.kubernetes.io/job-completion-index=0 "
     "kueue.x-k8s.io/podset=main kueue.x-k8s.io/tas=true",
     "", .revision = NULL},
    {"... of a JobSet", "kubernetes-sigs/kueue apis/kueue/v1beta1/topology_types.go",
     "batch/v1 Job train-0",
     "jobset.sigs.k8s.io/jobset-name=train batch.kubernetes.io/job-completion-index=0", "",
     .annotations = "kueue.x-k8s.io/podset-required-topology=rack"},
};

static void gangs_are_left_alone(void **state) {
    static const struct policy_group_by pod = {.given = true, .unit = POLICY_UNIT_POD};
    (void)state;
    for (size_t i = 0; i < sizeof gangs / sizeof gangs[0]; i++) {
        struct cluster c;
        cluster_open(&c);
        const struct made one = {&gangs[i], 1, "", NULL, false};
        if (admitted(&c, make(&c, &one)).constraint_count != 0)
            fail_msg("%s is spread", gangs[i].name);
        assert_int_equal(tally.fates[SPREAD_GANG], 1);
        if (admitted_by(&c, make(&c, &one), pod).constraint_count != 1)
            fail_msg("%s is not spread by a policy that takes each pod for itself", gangs[i].name);
        cluster_close(&c);
    }
}

/* Their place is beside the first one, wherever that is. */
static void the_rest_of_a_unit_is_left_alone(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        struct cluster c;
        cluster_open(&c);
        const struct made second = {&members[i], 1, "", NULL, false};
        if (admitted(&c, make(&c, &second)).constraint_count != 0)
            fail_msg("%s is spread", members[i].name);
        cluster_close(&c);
    }
}

/* Those do not count for the first ones of other units. */
static void only_first_pods_are_counted(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        struct cluster c;
        cluster_open(&c);
        const struct made first = {&members[i], 0, "", NULL, false};
        struct pod pod = admitted(&c, make(&c, &first));
        assert_int_equal(pod.constraint_count, 1);
        struct selector selector = counted_by(&c, &pod);
        const struct made second = {&members[i], 1, "", NULL, false};
        assert_true(counts(&c, &selector, &first));
        if (counts(&c, &selector, &second))
            fail_msg("%s is counted", members[i].name);
        cluster_close(&c);
    }
}

/* ---- owners of owners ---- */

#define JOB_OF_CRON(run)                                                                           \
    "app=nightly job-name=nightly-" run " controller-uid=u" run                                    \
    " batch.kubernetes.io/job-name=nightly-" run " batch.kubernetes.io/controller-uid=u" run
#define JOB_OF_SET(job, role, number)                                                              \
    "jobset.sigs.k8s.io/jobset-name=train jobset.sigs.k8s.io/replicatedjob-name=" role             \
    " jobset.sigs.k8s.io/job-key=" job " jobset.sigs.k8s.io/job-index=" job                        \
    " batch.kubernetes.io/job-name=train-" job " batch.kubernetes.io/job-completion-index=" number
#define LEADER_OF(group)                                                                           \
    "leaderworkerset.sigs.k8s.io/name=llm leaderworkerset.sigs.k8s.io/worker-index=0 "             \
    "leaderworkerset.sigs.k8s.io/group-index=" group                                               \
    " leaderworkerset.sigs.k8s.io/group-key=k" group

/* A pod whose controller is itself controlled, and one of another controller of the same. */
static const struct chain_row {
    const char *name, *source;
    const char *owner, *labels, *others_owner, *others_labels;
    bool counted;
} chains[] = {
    /* A run is a workload by itself: a pod of last night's that hangs must not tell tonight's
     * where they may go. */
    {"runs of a CronJob",
     "kubernetes/kubernetes pkg/controller/cronjob/utils.go: getJobFromTemplate2",
     "batch/v1 Job nightly-1", JOB_OF_CRON("1"), "batch/v1 Job nightly-2", JOB_OF_CRON("2"), false},
    {"Jobs of a JobSet", "kubernetes-sigs/jobset pkg/controllers/jobset_controller.go",
     "batch/v1 Job train-1", JOB_OF_SET("1", "w", "0"), "batch/v1 Job train-2",
     JOB_OF_SET("2", "w", "0"), true},
    {"... of another of its replicatedJobs",
     "kubernetes-sigs/jobset pkg/controllers/jobset_controller.go", "batch/v1 Job train-1",
     JOB_OF_SET("1", "w", "0"), "batch/v1 Job train-3", JOB_OF_SET("3", "driver", "0"), false},
    {"groups of a LeaderWorkerSet",
     "kubernetes-sigs/lws pkg/controllers/leaderworkerset_controller.go", STS "llm", LEADER_OF("1"),
     STS "llm", LEADER_OF("2"), true},
    {"ReplicaSets of a Deployment", "kubernetes/kubernetes pkg/controller/deployment/sync.go",
     RS "web-1", "app=web pod-template-hash=1", RS "web-2", "app=web pod-template-hash=2", false},
    {"ReplicaSets of a Rollout", "argoproj/argo-rollouts rollout/sync.go", RS "web-1",
     "app=web rollouts-pod-template-hash=1", RS "web-2", "app=web rollouts-pod-template-hash=2",
     false},
    {"GameServers of a Fleet",
     "googleforgames/agones pkg/apis/agones/v1/gameserver.go, gameserverset.go",
     "agones.dev/v1 GameServer f-1",
     "agones.dev/gameserver=f-1 agones.dev/role=gameserver agones.dev/fleet=f",
     "agones.dev/v1 GameServer f-2",
     "agones.dev/gameserver=f-2 agones.dev/role=gameserver agones.dev/fleet=f", true},
    {"StatefulSets of a PostgresCluster", "CrunchyData/postgres-operator internal/naming/labels.go",
     STS "h-1",
     "postgres-operator.crunchydata.com/cluster=h postgres-operator.crunchydata.com/instance=h-1 "
     "controller-revision-hash=h-1-x",
     STS "h-2",
     "postgres-operator.crunchydata.com/cluster=h postgres-operator.crunchydata.com/instance=h-2 "
     "controller-revision-hash=h-2-x",
     true},
};

static void check_chain(const struct chain_row *row, bool lives) {
    const struct operator_row own = {row->name,   row->source, row->owner,
                                     row->labels, "",          .revision = NULL};
    const struct operator_row others = {row->name,          row->source, row->others_owner,
                                        row->others_labels, "",          .revision = NULL};
    const struct made one = {&own, 1, "", NULL, false}, old = {&own, 2, "", NULL, true};
    const struct made other = {&others, 3, "", NULL, true};
    struct cluster c;
    cluster_open(&c);
    cluster_nodes(&c, "a");
    if (lives) {
        cluster_apply_json(&c, OBJECT_POD, cstr(&c, make(&c, &old)));
        cluster_apply_json(&c, OBJECT_POD, cstr(&c, make(&c, &other)));
    }
    struct pod pod = admitted(&c, make(&c, &one));
    assert_int_equal(pod.constraint_count, 1);
    struct selector selector = counted_by(&c, &pod);
    assert_true(counts(&c, &selector, &one));
    if (counts(&c, &selector, &other) != row->counted)
        fail_msg("%s: the other's pod is%s counted", row->name, row->counted ? " not" : "");
    cluster_close(&c);
}

static void owners_of_owners(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof chains[0]; i++) {
        check_chain(&chains[i], false);
        check_chain(&chains[i], true);
    }
}

/* ---- what is learned ---- */

static const char *group_by(struct cluster *c, struct policy_group_by by, const char *owner,
                            const char *labels) {
    static char text[300];
    const struct operator_row row = {"", "", owner, labels, "", .revision = NULL};
    const struct made made = {&row, 5, "", NULL, false};
    struct pod pod = admitted_by(c, make(c, &made), by);
    int n = 0;
    text[0] = '\0';
    for (uint32_t i = 0;
         pod.constraint_count > 0 && i < pod.constraints[0].selector.match_labels.count; i++) {
        const struct label *l = &pod.constraints[0].selector.match_labels.items[i];
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%.*s=%.*s", n > 0 ? " " : "",
                      STR_ARG(l->key), STR_ARG(l->value));
    }
    return text;
}

static const char *group_of(struct cluster *c, const char *owner, const char *labels) {
    return group_by(c, by_owner, owner, labels);
}

static void living(struct cluster *c, int number, const char *owner, const char *labels) {
    const struct operator_row row = {"", "", owner, labels, "", .revision = NULL};
    const struct made made = {&row, number, "", NULL, true};
    cluster_apply_json(c, OBJECT_POD, cstr(c, make(c, &made)));
}

#define WIDGET "example.com/v1 Widget w"

static void roles_are_kept_and_serial_numbers_are_not(void **state) {
    struct cluster c;
    (void)state;
    cluster_open(&c);
    cluster_nodes(&c, "a");
    assert_string_equal(group_of(&c, WIDGET, "w=1 role=log n=5"), "n=5 role=log w=1");
    living(&c, 1, WIDGET, "w=1 role=log n=1");
    assert_string_equal(group_of(&c, WIDGET, "w=1 role=log n=5"), "role=log w=1");
    living(&c, 2, WIDGET, "w=1 role=log n=2");
    living(&c, 3, WIDGET, "w=1 role=storage n=1");
    living(&c, 4, WIDGET, "w=1 role=storage n=2");
    living(&c, 5, WIDGET, "w=1 role=storage n=3");
    assert_string_equal(group_of(&c, WIDGET, "w=1 role=storage n=5"), "role=storage w=1");
    assert_string_equal(group_of(&c, WIDGET, "w=1 role=log n=3"), "role=log w=1");
    assert_string_equal(group_of(&c, WIDGET, "w=1 role=proxy n=7"), "w=1");
    cluster_close(&c);
}

static void nothing_in_common_is_no_group(void **state) {
    struct cluster c;
    (void)state;
    cluster_open(&c);
    cluster_nodes(&c, "a");
    living(&c, 1, WIDGET, "n=1");
    living(&c, 2, WIDGET, "n=2");
    assert_string_equal(group_of(&c, WIDGET, "n=5"), "");
    assert_string_equal(group_of(&c, "example.com/v1 Widget other", "n=5"), "n=5");
    assert_string_equal(group_of(&c, "example.org/v1 Widget w", "n=5"), "n=5");
    assert_string_equal(group_of(&c, "example.com/v2 Widget w", "n=5"), ""); /* one object */
    assert_string_equal(group_of(&c, "", "n=5"), "n=5");
    cluster_close(&c);
}

/* Where each pod has a controller of its own, another pod of it is the one that is replaced, and
 * says nothing of those that are to be counted. */
static void a_pod_that_is_replaced_teaches_nothing(void **state) {
    static const char labels[] = "postgres-operator.crunchydata.com/cluster=h "
                                 "postgres-operator.crunchydata.com/instance=h-1 version=2";
    static const char group[] = "postgres-operator.crunchydata.com/cluster=h version=2";
    struct cluster c;
    (void)state;
    cluster_open(&c);
    cluster_nodes(&c, "a");
    assert_string_equal(group_of(&c, STS "h-1", labels), group);
    living(&c, 1, STS "h-1",
           "postgres-operator.crunchydata.com/cluster=h "
           "postgres-operator.crunchydata.com/instance=h-1 version=1");
    assert_string_equal(group_of(&c, STS "h-1", labels), group);
    cluster_close(&c);
}

/* A daemon's number means a controller of its own for the pods of Rook only. */
static void a_label_of_rook_alone_is_no_sign_of_rook(void **state) {
    struct cluster c;
    (void)state;
    cluster_open(&c);
    cluster_nodes(&c, "a");
    living(&c, 1, WIDGET, "ceph_daemon_id=1 n=1 w=1");
    assert_string_equal(group_of(&c, WIDGET, "ceph_daemon_id=1 n=5 w=1"), "ceph_daemon_id=1 w=1");
    cluster_close(&c);
}

/* Whoever creates a pod may say that anything owns it. */
static void a_selector_that_does_not_mean_the_pod_is_not_used(void **state) {
    struct cluster c;
    (void)state;
    cluster_open(&c);
    cluster_workload(&c, OBJECT_REPLICA_SET,
                     "{\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\"},\"spec\":{"
                     "\"selector\":{\"matchLabels\":{\"app\":\"web\"}}}}");
    assert_string_equal(group_of(&c, RS "web", "app=web v=1"), "app=web");
    assert_string_equal(group_of(&c, RS "web", "app=db v=1"), "app=db v=1");
    assert_string_equal(group_of(&c, RS "db", "app=web v=1"), "app=web v=1");
    cluster_close(&c);
}

/* ---- what the policy says ---- */

static void the_policy_may_say_by_which_labels(void **state) {
    static const struct str labels[] = {{"app", 3}, {"pod-template-hash", 17}};
    const struct policy_group_by app = {.given = true, .labels = labels, .label_count = 1};
    const struct policy_group_by both = {.given = true, .labels = labels, .label_count = 2};
    struct cluster c;
    (void)state;
    cluster_open(&c);
    cluster_nodes(&c, "a");
    living(&c, 1, WIDGET, "app=web n=1 tier=a");
    assert_string_equal(group_by(&c, app, WIDGET, "app=web n=5 tier=a"), "app=web");
    assert_string_equal(group_by(&c, app, "", "app=web statefulset.kubernetes.io/pod-name=w-5"),
                        "app=web");
    assert_string_equal(group_by(&c, app, "", "tier=a"), ""); /* of no group */
    assert_string_equal(group_by(&c, both, "", "app=web pod-template-hash=x"),
                        "app=web pod-template-hash=x");
    assert_string_equal(group_by(&c, both, "", "app=web"), "");
    cluster_close(&c);
}

#define LWS "leaderworkerset.sigs.k8s.io/"

static void the_policy_may_take_each_pod_for_itself(void **state) {
    static const struct str labels[] = {{"app", 3}};
    const struct policy_group_by pod = {.given = true, .unit = POLICY_UNIT_POD};
    const struct policy_group_by app = {.given = true, .labels = labels, .label_count = 1};
    struct cluster c;
    (void)state;
    cluster_open(&c);
    static const char worker[] = "app=x " LWS "name=llm " LWS "worker-index=2 " LWS "group-key=g";
    static const char leader[] = "app=x " LWS "name=llm " LWS "worker-index=0 " LWS "group-key=g";
    assert_string_equal(group_by(&c, pod, "", worker), "app=x " LWS "name=llm");
    assert_string_equal(group_by(&c, by_owner, "", worker), "");
    assert_string_equal(group_by(&c, app, "", worker), "");
    assert_string_equal(group_by(&c, app, "", leader), "app=x " LWS "worker-index=0");
    cluster_close(&c);
}

/* groupBy.unit: the key of a label. */
static void the_policy_may_name_the_unit(void **state) {
    static const struct str app[] = {{"app", 3}};
    static const struct str index[] = {{"app", 3}, {"apps.kubernetes.io/pod-index", 28}};
    struct policy_group_by shard = {
        .given = true, .unit = POLICY_UNIT_LABEL, .unit_key = {"shard", 5}};
    struct cluster c;
    (void)state;
    cluster_open(&c);
    cluster_nodes(&c, "a");
    living(&c, 0, STS "db-7", "app=db shard=7 apps.kubernetes.io/pod-index=0");
    static const char first[] = "app=db shard=7 apps.kubernetes.io/pod-index=0";
    static const char second[] = "app=db shard=7 apps.kubernetes.io/pod-index=1";
    assert_string_equal(group_by(&c, shard, STS "db-7", first),
                        "app=db apps.kubernetes.io/pod-index=0");
    assert_string_equal(group_by(&c, shard, STS "db-7", second), "");
    assert_int_equal(tally.fates[SPREAD_UNIT_MEMBER], 1);
    assert_string_equal(group_by(&c, shard, "", "app=db shard=7"), "");
    assert_int_equal(tally.fates[SPREAD_GANG], 1);
    assert_string_equal(group_by(&c, shard, "", "app=db"), "app=db"); /* of no unit */
    shard.labels = app;
    shard.label_count = 1;
    assert_string_equal(group_by(&c, shard, STS "db-7", first),
                        "app=db apps.kubernetes.io/pod-index=0");
    shard.labels = index; /* it knows better */
    shard.label_count = 2;
    assert_string_equal(group_by(&c, shard, STS "db-7", second),
                        "app=db apps.kubernetes.io/pod-index=1");
    cluster_close(&c);
}

#define JOBSET "jobset.sigs.k8s.io/"

/* All Jobs of it together: its first pod is the first of its first Job. */
static void a_whole_jobset_may_be_the_unit(void **state) {
    const struct policy_group_by set = {
        .given = true, .unit = POLICY_UNIT_LABEL, .unit_key = STR(JOBSET "jobset-name")};
    struct cluster c;
    (void)state;
    cluster_open(&c);
#define OF(job, pod)                                                                               \
    "app=x " JOBSET "jobset-name=t " JOBSET "job-global-index=" job " " JOBSET "job-key=k" job     \
    " batch.kubernetes.io/job-completion-index=" pod
    assert_string_equal(group_by(&c, set, "", OF("0", "0")),
                        "app=x batch.kubernetes.io/job-completion-index=0 " JOBSET
                        "job-global-index=0");
    assert_string_equal(group_by(&c, set, "", OF("0", "1")), "");
    assert_string_equal(group_by(&c, set, "", OF("1", "0")), "");
    assert_string_equal(group_by(&c, by_owner, "", OF("1", "0")),
                        "app=x batch.kubernetes.io/job-completion-index=0 " JOBSET "jobset-name=t");
    cluster_close(&c);
}

/* A policy that groups by what names the unit spreads its pods. */
static void a_policy_may_spread_within_a_gang(void **state) {
    static const struct str key[] = {{"scheduling.x-k8s.io/pod-group", 29}};
    const struct policy_group_by by = {.given = true, .labels = key, .label_count = 1};
    struct cluster c;
    (void)state;
    cluster_open(&c);
    assert_string_equal(group_by(&c, by, "", "app=x scheduling.x-k8s.io/pod-group=g"),
                        "scheduling.x-k8s.io/pod-group=g");
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siblings_are_counted_and_strangers_are_not),
        cmocka_unit_test(the_rest_of_a_unit_is_left_alone),
        cmocka_unit_test(who_has_no_number_is_not_the_first),
        cmocka_unit_test(gangs_are_left_alone),
        cmocka_unit_test(only_first_pods_are_counted),
        cmocka_unit_test(owners_of_owners),
        cmocka_unit_test(roles_are_kept_and_serial_numbers_are_not),
        cmocka_unit_test(nothing_in_common_is_no_group),
        cmocka_unit_test(a_pod_that_is_replaced_teaches_nothing),
        cmocka_unit_test(a_label_of_rook_alone_is_no_sign_of_rook),
        cmocka_unit_test(a_selector_that_does_not_mean_the_pod_is_not_used),
        cmocka_unit_test(the_policy_may_say_by_which_labels),
        cmocka_unit_test(the_policy_may_take_each_pod_for_itself),
        cmocka_unit_test(the_policy_may_name_the_unit),
        cmocka_unit_test(a_whole_jobset_may_be_the_unit),
        cmocka_unit_test(a_policy_may_spread_within_a_gang),
    };
    return CLUSTER_RUN_TESTS("group", tests);
}
