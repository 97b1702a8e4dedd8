package differential

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/request"
	"k8s.io/apiserver/pkg/authentication/user"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	core "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	podregistry "k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	"k8s.io/kubernetes/plugin/pkg/admission/priority"
	"k8s.io/kubernetes/plugin/pkg/admission/serviceaccount"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// apiServer does to pods what an API server does before it asks webhooks. Its parts are the API
// server's own: defaults, managedFields, and of the plugins that are on by default those that change
// most pods. It may be used by several goroutines.
type apiServer struct {
	fields  *managedfields.FieldManager
	plugins []admission.MutationInterface
	objects admission.ObjectInterfaces
}

var podKind, podResource = corev1.SchemeGroupVersion.WithKind("Pod"), corev1.SchemeGroupVersion.WithResource("pods")

// newAPIServer is of a cluster that has these objects: service accounts and priority classes.
func newAPIServer(objects ...metav1.Object) (*apiServer, error) {
	scheme := legacyscheme.Scheme
	fields, err := managedfields.NewDefaultFieldManager(applyconfigurations.NewTypeConverter(scheme), scheme, scheme, scheme,
		podKind, core.SchemeGroupVersion, "", fieldpath.NewExcludeFilterSetMap(podregistry.Strategy.GetResetFields()))
	if err != nil {
		return nil, err
	}
	client := fake.NewClientset()
	informed := informers.NewSharedInformerFactory(client, 0) // never started: what it knows is put into it here
	for _, object := range objects {
		store := informed.Core().V1().ServiceAccounts().Informer().GetStore()
		if _, class := object.(*schedulingv1.PriorityClass); class {
			store = informed.Scheduling().V1().PriorityClasses().Informer().GetStore()
		}
		if err := store.Add(object); err != nil {
			return nil, err
		}
	}
	accounts, classes := serviceaccount.NewServiceAccount(), priority.NewPlugin()
	s := &apiServer{fields: fields, objects: admission.NewObjectInterfacesFromScheme(scheme),
		// in the order in which the API server runs them
		plugins: []admission.MutationInterface{accounts, classes, defaulttolerationseconds.NewDefaultTolerationSeconds()}}
	for _, plugin := range s.plugins {
		initializer.New(client, nil, informed, nil, utilfeature.DefaultFeatureGate, nil, nil, nil).Initialize(plugin)
		if err := admission.ValidateInitialization(plugin); err != nil {
			return nil, err
		}
	}
	ready := func() bool { return true }
	accounts.SetReadyFunc(ready)
	classes.SetReadyFunc(ready)
	return s, nil
}

// handOn returns what webhooks are asked about when somebody creates the pod.
func (s *apiServer) handOn(pod *corev1.Pod) (*admission.VersionedAttributes, error) {
	sent := pod.DeepCopy()
	legacyscheme.Scheme.Default(sent)
	internal, err := legacyscheme.Scheme.ConvertToVersion(sent, core.SchemeGroupVersion)
	if err != nil {
		return nil, err
	}
	creator, manager := creatorOf(pod)
	internal = s.fields.UpdateNoErrors(&core.Pod{}, internal, manager)
	attributes := admission.NewAttributesRecord(internal, nil, podKind, pod.Namespace, pod.Name, podResource, "",
		admission.Create, &metav1.CreateOptions{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "CreateOptions"}},
		false, creator)
	for _, plugin := range s.plugins {
		if err := plugin.Admit(context.Background(), attributes, s.objects); err != nil {
			return nil, err
		}
	}
	versioned, err := admission.NewVersionedAttributes(attributes, podKind, s.objects)
	if err == nil {
		steady(versioned.VersionedObject.(*corev1.Pod))
	}
	return versioned, err
}

// steady has the pod look as it would at any other time: cases are functions of the seed alone.
func steady(pod *corev1.Pod) {
	for i := range pod.ManagedFields {
		pod.ManagedFields[i].Time = &metav1.Time{Time: time.Unix(1760000000, 0).UTC()}
	}
	for i := range pod.Spec.Volumes {
		steadyName(&pod.Spec.Volumes[i].Name)
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			for j := range containers[i].VolumeMounts {
				steadyName(&containers[i].VolumeMounts[j].Name)
			}
		}
	}
}

// steadyName of the volume with the token, which ends in five letters by chance.
func steadyName(name *string) {
	if strings.HasPrefix(*name, serviceaccount.ServiceAccountVolumeName+"-") {
		*name = serviceaccount.ServiceAccountVolumeName + "-x7k2p"
	}
}

// creatorOf is who creates such a pod, and what managedFields call them.
func creatorOf(pod *corev1.Pod) (creator user.Info, manager string) {
	account := "default:operator"
	manager = "operator"
	owner := metav1.GetControllerOfNoCopy(pod)
	switch {
	case owner != nil && owner.Kind == "Node":
		return &user.DefaultInfo{Name: "system:node:" + owner.Name, Groups: []string{"system:nodes", "system:authenticated"}}, "kubelet"
	case owner != nil && (strings.HasPrefix(owner.APIVersion, "apps/") || strings.HasPrefix(owner.APIVersion, "batch/")):
		account, manager = "kube-system:"+strings.ToLower(owner.Kind)+"-controller", "kube-controller-manager"
	}
	namespace, _, _ := strings.Cut(account, ":")
	return &user.DefaultInfo{Name: "system:serviceaccount:" + account, UID: "0e5b9a52-4d0a-4c2f-9f0b-6a0c3c9f7d11",
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
		Extra:  map[string][]string{"authentication.kubernetes.io/credential-id": {"JTI=7ee52be0-9045-4653-aa5e-0da57b8dccdc"}}}, manager
}

// reviewOf is what the API server sends to a webhook.
func reviewOf(attributes *admission.VersionedAttributes) ([]byte, error) {
	review := request.CreateV1AdmissionReview(reviewUID, attributes,
		&generic.WebhookInvocation{Resource: podResource, Kind: podKind})
	review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	return json.Marshal(review)
}

// ---- one of them, for all templates ----

// theAPIServer knows what the templates name, in each namespace that they may come to be in.
var theAPIServer = sync.OnceValue(func() *apiServer {
	var objects []metav1.Object
	account := func(namespace, name string) {
		objects = append(objects, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
	}
	class := func(name string, value int32) {
		objects = append(objects, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value})
	}
	for _, one := range templates() {
		spec := &one.pod.Spec
		for _, namespace := range append([]string{one.pod.Namespace}, namespaces...) {
			account(namespace, serviceaccount.DefaultServiceAccountName)
			account(namespace, spec.ServiceAccountName)
		}
		class(spec.PriorityClassName, 1000)
	}
	class(scheduling.SystemClusterCritical, scheduling.SystemCriticalPriority)
	class(scheduling.SystemNodeCritical, scheduling.SystemCriticalPriority+1000)
	server, err := newAPIServer(objects...)
	if err != nil {
		panic(err) // nothing of it depends on the case
	}
	return server
})
