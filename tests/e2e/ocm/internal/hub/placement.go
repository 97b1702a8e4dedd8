package hub

import (
	"context"
	"slices"
	"time"

	"github.com/openshift/library-go/pkg/controller/controllercmd"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	controllers "open-cluster-management.io/ocm/pkg/placement/controllers"

	informers "open-cluster-management.io/api/client/cluster/informers/externalversions"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// RunPlacementController runs OCM's until ctx ends; what it returns is closed when it has ended.
func (h *Hub) RunPlacementController(ctx context.Context) <-chan error {
	caches := informers.NewSharedInformerFactory(h.Clusters, 10*time.Minute) // OCM's own interval
	h.cached = caches.Cluster().V1beta1().PlacementDecisions().Lister()
	ended := make(chan error, 1)
	go func() {
		defer close(ended)
		ended <- controllers.RunControllerManagerWithInformers(ctx, &controllercmd.ControllerContext{}, h.Kube, h.Clusters, caches)
	}()
	return ended
}

// Decision is what OCM has written of a Placement: its status and its PlacementDecisions by name.
type Decision struct {
	Placement *clusterv1beta1.Placement
	Objects   []*clusterv1beta1.PlacementDecision
}

// Decided waits until OCM has written a Placement's status and its PlacementDecisions, and has seen them
// itself: what it decides next is decided with them.
func (h *Hub) Decided(ctx context.Context, namespace, name string) (*Decision, error) {
	d := &Decision{}
	err := Until(ctx, "OCM has decided "+namespace+"/"+name, func(ctx context.Context) (bool, error) {
		return d.read(ctx, h, namespace, name)
	})
	return d, err
}

// Read returns what there is of a Placement now, whoever has written it, objects by name.
func (h *Hub) Read(ctx context.Context, namespace, name string) (*Decision, error) {
	d := &Decision{}
	api := h.Clusters.ClusterV1beta1()
	var err error
	if d.Placement, err = api.Placements(namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
		return nil, err
	}
	list, err := api.PlacementDecisions(namespace).List(ctx,
		metav1.ListOptions{LabelSelector: clusterv1beta1.PlacementLabel + "=" + name})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		d.Objects = append(d.Objects, &list.Items[i])
	}
	return d, nil
}

func (d *Decision) read(ctx context.Context, h *Hub, namespace, name string) (complete bool, err error) {
	api := h.Clusters.ClusterV1beta1()
	if d.Placement, err = api.Placements(namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
		return false, err
	}
	list, err := api.PlacementDecisions(namespace).List(ctx,
		metav1.ListOptions{LabelSelector: clusterv1beta1.PlacementLabel + "=" + name})
	if err != nil {
		return false, err
	}
	d.Objects = nil
	for i := range list.Items {
		object := &list.Items[i]
		d.Objects = append(d.Objects, object)
		cached, err := h.cached.PlacementDecisions(namespace).Get(object.Name)
		if err != nil || cached.ResourceVersion != object.ResourceVersion {
			return false, err
		}
	}
	return len(d.Placement.Status.Conditions) > 0 && len(d.Clusters()) == int(d.Placement.Status.NumberOfSelectedClusters), nil
}

// Clusters of all PlacementDecisions, by name.
func (d *Decision) Clusters() []string {
	var all []string
	for _, object := range d.Objects {
		for _, one := range object.Status.Decisions {
			all = append(all, one.ClusterName)
		}
	}
	slices.Sort(all)
	return all
}
