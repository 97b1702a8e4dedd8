package main

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// inform starts shared informers, as controllers and kube-scheduler use them, waits until they have
// everything, and returns how many pods there are. The cache lives on.
func inform(kubeconfig, contentType string) (pods int, err error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return 0, err
	}
	config.QPS, config.Burst = -1, -1 // no limit of its own
	config.ContentType = runtime.ContentTypeJSON
	if contentType == "protobuf" {
		config.ContentType = runtime.ContentTypeProtobuf
	}
	config.AcceptContentTypes = config.ContentType
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return 0, err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	core := factory.Core().V1()
	podInformer := factory.InformerFor(&v1.Pod{}, newPodInformer)
	for _, informer := range []cache.SharedIndexInformer{
		core.Nodes().Informer(), core.Namespaces().Informer(), core.Services().Informer(),
		core.ReplicationControllers().Informer(), factory.Apps().V1().ReplicaSets().Informer(),
		factory.Apps().V1().StatefulSets().Informer(),
	} {
		_ = informer // asking for it is what makes the factory start it
	}
	ctx := context.Background()
	factory.StartWithContext(ctx)
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return 0, fmt.Errorf("%v are not in sync", kind)
		}
	}
	return len(podInformer.GetStore().ListKeys()), nil
}

// As kube-scheduler's own: finished pods are left out.
func newPodInformer(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
	change := func(options *metav1.ListOptions) { options.FieldSelector = unfinished }
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	return coreinformers.NewFilteredPodInformer(client, metav1.NamespaceAll, resync, indexers, change)
}
