package cluster

import (
	"context"
	"fmt"

	rbac "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What Evenkeel's role lets it do: see what placement depends on, bind pods, and say what it makes of
// policies.
func evenkeelRules() []rbac.PolicyRule {
	watch := []string{"get", "list", "watch"}
	return []rbac.PolicyRule{
		{APIGroups: []string{""}, Verbs: watch,
			Resources: []string{"nodes", "pods", "namespaces", "services", "replicationcontrollers"}},
		{APIGroups: []string{"apps"}, Resources: []string{"replicasets", "statefulsets"}, Verbs: watch},
		{APIGroups: []string{""}, Resources: []string{"pods/binding"}, Verbs: []string{"create"}},
		{APIGroups: []string{"evenkeel.io"}, Resources: []string{"topologypolicies"}, Verbs: watch},
		{APIGroups: []string{"evenkeel.io"}, Resources: []string{"topologypolicies/status"}, Verbs: []string{"patch"}},
		{APIGroups: []string{"data.fluid.io"}, Resources: []string{rbac.ResourceAll}, Verbs: watch},
		{APIGroups: []string{rbac.APIGroupAll}, Resources: []string{"*/scale"}, Verbs: []string{"get"}},
		{APIGroups: []string{""}, Resources: []string{"persistentvolumeclaims", "persistentvolumes"}, Verbs: watch},
		{APIGroups: []string{"storage.k8s.io"}, Resources: []string{"storageclasses"}, Verbs: watch},
	}
}

func (c *Cluster) createRoles(ctx context.Context) error {
	meta := metav1.ObjectMeta{Name: EvenkeelUser}
	_, err := c.Client.RbacV1().ClusterRoles().Create(ctx,
		&rbac.ClusterRole{ObjectMeta: meta, Rules: evenkeelRules()}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot create Evenkeel's role: %w", err)
	}
	_, err = c.Client.RbacV1().ClusterRoleBindings().Create(ctx, &rbac.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "ClusterRole", Name: EvenkeelUser},
		Subjects:   []rbac.Subject{{APIGroup: rbac.GroupName, Kind: rbac.UserKind, Name: EvenkeelUser}},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot give Evenkeel its role: %w", err)
	}
	return nil
}
