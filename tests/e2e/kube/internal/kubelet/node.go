package kubelet

import (
	"context"
	"runtime"
	"time"

	coordination "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const (
	leaseNamespace = "kube-node-lease"
	leaseDuration  = 40 * time.Second
	heartbeats     = 10 * time.Second
	// Port of the kubelet's server.
	port = 10250
)

// register makes the Node, or takes it over, and says that it is ready.
func (k *kubelet) register(ctx context.Context) error {
	labels := labelMap(k.labels)
	labels[v1.LabelHostname] = k.node
	labels[v1.LabelOSStable], labels[v1.LabelArchStable] = runtime.GOOS, runtime.GOARCH
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: k.node, Labels: labels}}
	_, err := k.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return k.reportNode(ctx)
}

func (k *kubelet) reportNode(ctx context.Context) error {
	node, err := k.client.CoreV1().Nodes().Get(ctx, k.node, metav1.GetOptions{})
	if err != nil {
		return err
	}
	room := v1.ResourceList{
		v1.ResourceCPU: resource.MustParse("16"), v1.ResourceMemory: resource.MustParse("64Gi"),
		v1.ResourcePods: resource.MustParse("110"),
	}
	now := metav1.Now()
	node.Status.Capacity, node.Status.Allocatable = room, room
	node.Status.Addresses = []v1.NodeAddress{
		{Type: v1.NodeInternalIP, Address: k.address}, {Type: v1.NodeHostName, Address: k.node},
	}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = port
	node.Status.NodeInfo.OperatingSystem, node.Status.NodeInfo.Architecture = runtime.GOOS, runtime.GOARCH
	node.Status.NodeInfo.KubeletVersion = "v1.36.3" // of the libraries that it is made of
	node.Status.Conditions = nil
	for kind, status := range map[v1.NodeConditionType]v1.ConditionStatus{
		v1.NodeReady: v1.ConditionTrue, v1.NodeMemoryPressure: v1.ConditionFalse,
		v1.NodeDiskPressure: v1.ConditionFalse, v1.NodePIDPressure: v1.ConditionFalse,
	} {
		node.Status.Conditions = append(node.Status.Conditions, v1.NodeCondition{
			Type: kind, Status: status, LastHeartbeatTime: now, LastTransitionTime: now, Reason: "SmallKubelet",
		})
	}
	_, err = k.client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	return err
}

// heartbeat renews the node's Lease, by which the node controller knows that it lives.
func (k *kubelet) heartbeat(ctx context.Context) {
	tick := time.NewTicker(heartbeats)
	defer tick.Stop()
	for {
		if err := k.renew(ctx); err != nil && ctx.Err() == nil {
			k.log.say("the Lease: %v", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (k *kubelet) renew(ctx context.Context) error {
	leases := k.client.CoordinationV1().Leases(leaseNamespace)
	now := metav1.NowMicro()
	lease, err := leases.Get(ctx, k.node, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(ctx, &coordination.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: k.node},
			Spec: coordination.LeaseSpec{HolderIdentity: &k.node, RenewTime: &now,
				LeaseDurationSeconds: ptr.To(int32(leaseDuration / time.Second))},
		}, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	lease.Spec.RenewTime = &now
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}
