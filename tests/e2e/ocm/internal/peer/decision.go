package peer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/ocm/pkg/placement/controllers/framework"
	"open-cluster-management.io/ocm/pkg/placement/controllers/scheduling"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Decision is what came of a reconcile.
type Decision struct {
	Error  string // of the reconcile, or that its schedule was not quite a success
	Failed bool   // the controller gave up and wrote no status: nothing but Error counts

	Available    []string // what was scheduled, in no order
	Code         framework.Code
	Filters      []scheduling.FilterResult
	Prioritizers []scheduling.PrioritizerResult
	Sum          scheduling.PrioritizerScore
	Selected     []string // best first
	Unscheduled  int
	RequeueAt    *time.Time
	Expired      []string // cluster/resource of scores, as prioritizers name them

	Objects []*clusterv1beta1.PlacementDecision // with the Placement's label, by number
	Status  clusterv1beta1.PlacementStatus
}

// Scheduled says whether clusters were filtered, scored and selected: if not, the Placement is
// misconfigured, or a plugin failed.
func (d *Decision) Scheduled() bool { return d.Sum != nil }

func (w *World) describe(ctx context.Context, placement *clusterv1beta1.Placement, d *Decision) {
	r := w.recorder
	d.Code = r.status.Code()
	d.Filters = r.result.FilterResults()
	d.Prioritizers = r.result.PrioritizerResults()
	d.Sum = r.result.PrioritizerScores()
	d.Available = names(r.clusters)
	d.Selected = names(r.result.Decisions())
	d.Unscheduled = r.result.NumOfUnscheduled()
	if r.result.RequeueAfter() != nil {
		d.RequeueAt = w.requeueAt(ctx, placement)
	}
	passed := passing(r.clusters, d.Filters)
	for _, p := range d.Prioritizers {
		if parts := strings.SplitN(p.Name, "/", 3); parts[0] == "AddOn" {
			d.Expired = append(d.Expired, w.expired(ctx, placement, parts[1], parts[2], passed)...)
		}
	}
}

func names(clusters []*clusterv1.ManagedCluster) []string {
	list := make([]string, len(clusters))
	for i, cluster := range clusters {
		list[i] = cluster.Name
	}
	return list
}

// passing are those that the last filter let through.
func passing(clusters []*clusterv1.ManagedCluster, filters []scheduling.FilterResult) []*clusterv1.ManagedCluster {
	if len(filters) == 0 {
		return nil
	}
	passed := map[string]bool{}
	for _, name := range filters[len(filters)-1].FilteredClusters {
		passed[name] = true
	}
	var list []*clusterv1.ManagedCluster
	for _, cluster := range clusters {
		if passed[cluster.Name] {
			list = append(list, cluster)
		}
	}
	return list
}

// readWritten reads what the API server would have now, and returns all PlacementDecisions of it.
func (w *World) readWritten(ctx context.Context, placement *clusterv1beta1.Placement, d *Decision) (
	[]*clusterv1beta1.PlacementDecision, error) {
	api := w.client.ClusterV1beta1()
	written, err := api.Placements(placement.Namespace).Get(ctx, placement.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	list, err := api.PlacementDecisions(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	d.Status = written.Status
	d.Objects = nil
	var all []*clusterv1beta1.PlacementDecision
	for i := range list.Items {
		object := &list.Items[i]
		all = append(all, object)
		if object.Namespace == placement.Namespace && object.Labels[clusterv1beta1.PlacementLabel] == placement.Name {
			d.Objects = append(d.Objects, object)
		}
	}
	prefix := placement.Name + "-decision-"
	slices.SortFunc(d.Objects, func(a, b *clusterv1beta1.PlacementDecision) int {
		return number(prefix, a.Name) - number(prefix, b.Name)
	})
	return all, nil
}

func number(prefix, name string) (n int) {
	_, _ = fmt.Sscanf(strings.TrimPrefix(name, prefix), "%d", &n) // other names do not stay
	return n
}
