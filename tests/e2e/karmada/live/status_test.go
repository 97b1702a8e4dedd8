package live

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/karmada-io/karmada/pkg/estimator/pb"
	"github.com/karmada-io/karmada/pkg/estimator/service"
)

const servicePath = "/github.com.karmada_io.karmada.pkg.estimator.service.Estimator/"

func dial(t *testing.T, address string, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	c, err := grpc.NewClient(address, append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	must(t, err)
	t.Cleanup(func() { _ = c.Close() }) // a test that has failed may have closed it
	return c
}

// bytesCodec sends and receives messages as they are.
type bytesCodec struct{}

func (bytesCodec) Name() string                    { return "proto" }
func (bytesCodec) Marshal(v any) ([]byte, error)   { return *v.(*[]byte), nil }
func (bytesCodec) Unmarshal(b []byte, v any) error { *v.(*[]byte) = bytes.Clone(b); return nil }

// call a method with a message as it is, and without metadata.
func call(c *grpc.ClientConn, method string, message []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var response []byte
	err := c.Invoke(ctx, servicePath+method, &message, &response, grpc.ForceCodec(bytesCodec{}))
	return response, err
}

func refused(t *testing.T, what string, err error, code codes.Code, text string) {
	t.Helper()
	if got := status.Convert(err); got.Code() != code || (text != "" && got.Message() != text) {
		t.Errorf("%s: %d %q instead of %d %q", what, got.Code(), got.Message(), code, text)
	}
}

// long is a message with the name of a cluster that fills it up to so many bytes.
func long(size int) []byte {
	const lengthOfLength = 4
	name := size - 1 - lengthOfLength
	message := []byte{0x0a, byte(name)&0x7f | 0x80, byte(name>>7)&0x7f | 0x80, byte(name>>14)&0x7f | 0x80, byte(name >> 21)}
	return append(message, bytes.Repeat([]byte{'c'}, name)...)
}

// TestStatuses has grpc-go ask what is refused.
func TestStatuses(t *testing.T) {
	t.Parallel()
	c := dial(t, startEstimator(t, everyMember()...).Address)
	client := service.NewEstimatorClient(c)
	_, err := client.MaxAvailableReplicas(t.Context(), &pb.MaxAvailableReplicasRequest{Cluster: "member3"})
	refused(t, "an unknown cluster", err, codes.Unknown, "cluster name does not match, got: member3, desire: one of 2 members")
	_, err = client.MaxAvailableComponentSets(t.Context(), &pb.MaxAvailableComponentSetsRequest{})
	refused(t, "no cluster", err, codes.Unknown, "cluster name does not match, got: , desire: one of 2 members")
	_, err = client.GetUnschedulableReplicas(t.Context(), &pb.UnschedulableReplicasRequest{Cluster: memberNames[0],
		Resource: &pb.ObjectReference{ApiVersion: "apps/v1", Kind: "StatefulSet", Namespace: "d", Name: "s"}})
	refused(t, "another kind", err, codes.Unknown, "kind(StatefulSet) of workload(d/s) is not supported")
	_, err = client.GetUnschedulableReplicas(t.Context(), &pb.UnschedulableReplicasRequest{Cluster: memberNames[0]})
	refused(t, "no workload", err, codes.Unknown, "resource is nil")
	_, err = call(c, "MaxAvailable", nil)
	refused(t, "an unknown method", err, codes.Unimplemented, "")
	_, err = call(c, "MaxAvailableReplicas", []byte{0xff, 0xff})
	refused(t, "a malformed message", err, codes.Internal, "")
	_, err = call(c, "MaxAvailableReplicas", long(4<<20))
	refused(t, "4 MiB", err, codes.Unknown, "")
	_, err = call(c, "MaxAvailableReplicas", long(4<<20+1))
	refused(t, "over 4 MiB", err, codes.ResourceExhausted, "")
	if response, err := call(c, "MaxAvailableReplicas", []byte("\x0a\x07member1")); err != nil || len(response) != 3 {
		t.Errorf("no requirements: %x (%v)", response, err) // pods that fit, some more than 127
	}
	ctx, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	_, err = client.MaxAvailableReplicas(ctx, &pb.MaxAvailableReplicasRequest{Cluster: memberNames[0]})
	refused(t, "too late", err, codes.DeadlineExceeded, "")
}

// TestStatusesOfOne has one member, which cannot be listed.
func TestStatusesOfOne(t *testing.T) {
	t.Parallel()
	nowhere, err := members[0].KubeconfigOf(folder(t), "nowhere.kubeconfig", freeAddress(t), nil)
	must(t, err)
	for mode, code := range map[string]codes.Code{"Unknown": codes.OK, "Error": codes.Unavailable} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			client := service.NewEstimatorClient(dial(t, startUnready(t, "--estimator-member", "member1="+nowhere, "--estimator-unready", mode).Address))
			_, err := client.MaxAvailableReplicas(t.Context(), &pb.MaxAvailableReplicasRequest{Cluster: "member2"})
			refused(t, "another cluster", err, codes.Unknown, "cluster name does not match, got: member2, desire: member1")
			response, err := client.MaxAvailableReplicas(t.Context(), &pb.MaxAvailableReplicasRequest{Cluster: "member1"})
			refused(t, "replicas", err, code, "")
			if err == nil && response.MaxReplicas != unknown {
				t.Errorf("%d replicas instead of %d", response.MaxReplicas, unknown)
			}
			sets, err := client.MaxAvailableComponentSets(t.Context(), &pb.MaxAvailableComponentSetsRequest{Cluster: "member1"})
			refused(t, "sets", err, code, "")
			if err == nil && sets.MaxSets != unknown {
				t.Errorf("%d sets instead of %d", sets.MaxSets, unknown)
			}
			waiting, err := client.GetUnschedulableReplicas(t.Context(), &pb.UnschedulableReplicasRequest{Cluster: "member1",
				Resource: &pb.ObjectReference{ApiVersion: "apps/v1", Kind: "Deployment", Namespace: "d", Name: "s"}})
			refused(t, "unschedulable", err, code, "")
			if err == nil && waiting.UnschedulableReplicas != unknown {
				t.Errorf("%d unschedulable replicas instead of %d", waiting.UnschedulableReplicas, unknown)
			}
		})
	}
}

// TestMetadata sends as much as a server may be sent, and more.
func TestMetadata(t *testing.T) {
	t.Parallel()
	client := service.NewEstimatorClient(dial(t, startEstimator(t, everyMember()...).Address))
	ask := func(pairs ...string) error {
		ctx := metadata.AppendToOutgoingContext(t.Context(), pairs...)
		_, err := client.MaxAvailableReplicas(ctx, &pb.MaxAvailableReplicasRequest{Cluster: memberNames[0]})
		return err
	}
	for i := range 3 { // the second time, they are in HPACK's table
		must(t, ask("object", "kind=Deployment, name=d/n", "trace-bin", "\x00\xff"))
		must(t, ask("object", strings.Repeat("o", 10<<10)))
		if err := ask("object", fmt.Sprint(i)+strings.Repeat("o", 17<<10)); err == nil {
			t.Error("17 KiB are taken")
		}
		must(t, ask())
	}
}

// TestKeepalive leaves a connection alone for longer than two of its client's PINGs, the shortest that grpc-go has.
func TestKeepalive(t *testing.T) {
	t.Parallel()
	c := dial(t, startEstimator(t, everyMember()...).Address, grpc.WithKeepaliveParams(keepalive.ClientParameters{
		Time: 10 * time.Second, Timeout: 2 * time.Second, PermitWithoutStream: true}))
	client := service.NewEstimatorClient(c)
	ask := func() {
		t.Helper()
		_, err := client.MaxAvailableReplicas(t.Context(), &pb.MaxAvailableReplicasRequest{Cluster: memberNames[0]})
		must(t, err)
	}
	ask()
	connected := c.GetState()
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
	defer cancel()
	if c.WaitForStateChange(ctx, connected) {
		t.Errorf("the connection, which was %v, is %v", connected, c.GetState())
	}
	ask()
}
