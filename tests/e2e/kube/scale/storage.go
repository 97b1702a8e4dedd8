package main

import (
	"context"
	"fmt"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // their defaults

	clientv3 "go.etcd.io/etcd/client/v3"
)

// storage writes objects as kube-apiserver stores them, past it: 150,000 pods take seconds that way,
// and a quarter of an hour through two cores' admission, validation and watches.
type storage struct {
	client  *clientv3.Client
	encoder runtime.Encoder
}

// Requests of etcd may hold 128 operations. Several at once, because each waits for the other end.
const (
	batchSize = 100
	writers   = 4
)

func openStorage(url string) (*storage, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{url}})
	if err != nil {
		return nil, err
	}
	return &storage{client: client, encoder: newEncoder()}, nil
}

// newEncoder writes protobuf in kube-apiserver's envelope.
func newEncoder() runtime.Encoder {
	serializer := protobuf.NewSerializer(legacyscheme.Scheme, legacyscheme.Scheme)
	return legacyscheme.Codecs.EncoderForVersion(serializer, v1.SchemeGroupVersion)
}

func (s *storage) close() { _ = s.client.Close() } // nothing is under way

// item is what is to be stored where; kube-apiserver knows nodes as minions there.
type item struct {
	key    string
	object runtime.Object
}

func podItem(pod *v1.Pod) item {
	return item{"/registry/pods/" + pod.Namespace + "/" + pod.Name, pod}
}

func nodeItem(node *v1.Node) item { return item{"/registry/minions/" + node.Name, node} }

// write stores `count` items that `next` makes one after the other, and returns their bytes. Objects
// get their defaults first, as those that came through the API have them.
func (s *storage) write(ctx context.Context, count int, next func() item) (bytes int64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches := make(chan []item, writers)
	var mu sync.Mutex // guards bytes
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for batch := range batches {
				n, err := s.writeBatch(ctx, batch)
				if err != nil {
					cancel(err)
				}
				mu.Lock()
				bytes += n
				mu.Unlock()
			}
		})
	}
	for count > 0 && ctx.Err() == nil {
		batch := make([]item, min(count, batchSize))
		for i := range batch {
			batch[i] = next()
		}
		count -= len(batch)
		batches <- batch
	}
	close(batches)
	group.Wait()
	return bytes, context.Cause(ctx)
}

func (s *storage) writeBatch(ctx context.Context, batch []item) (bytes int64, err error) {
	puts := make([]clientv3.Op, len(batch))
	for i, item := range batch {
		legacyscheme.Scheme.Default(item.object)
		value, err := runtime.Encode(s.encoder, item.object)
		if err != nil {
			return 0, fmt.Errorf("cannot encode %s: %w", item.key, err)
		}
		bytes += int64(len(value))
		puts[i] = clientv3.OpPut(item.key, string(value))
	}
	_, err = s.client.Txn(ctx).Then(puts...).Commit()
	return bytes, err
}
