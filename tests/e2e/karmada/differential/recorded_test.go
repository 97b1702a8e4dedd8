package differential

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/karmada-io/karmada/pkg/estimator/pb"

	"evenkeel.io/tests/e2e/karmada/internal/evenkeel"
)

// recorded is what Karmada's estimator has answered.
type recorded struct {
	Nodes          []map[string]any `json:"nodes"`
	Pods           []map[string]any `json:"pods"`
	Wire           string           `json:"wire"` // a MaxAvailableReplicasRequest, in hex
	RespWire       string           `json:"respWire"`
	ComponentsWire string           `json:"componentsWire"` // a MaxAvailableComponentSetsRequest
	Sets           int32            `json:"sets"`
}

// TestRecordedOverGRPC hands recorded messages to a running Evenkeel, as they are. Its answers are to be those bytes.
func TestRecordedOverGRPC(t *testing.T) {
	text, err := os.ReadFile(fromRoot(t, "tests/conformance/data/karmada/accurate_estimator.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	program, dir := binary(t), t.TempDir()
	var running sync.WaitGroup
	slots := make(chan struct{}, 4)
	lines, scanner := 0, bufio.NewScanner(bytes.NewReader(text))
	for scanner.Buffer(nil, len(text)); scanner.Scan(); {
		lines++
		slots <- struct{}{}
		line, number := bytes.Clone(scanner.Bytes()), lines
		running.Go(func() {
			defer func() { <-slots }()
			if err := askRecorded(program, filepath.Join(dir, fmt.Sprintf("%d.json", number)), line); err != nil {
				t.Errorf("line %d: %v", number, err)
			}
		})
	}
	running.Wait()
	if lines < 300 {
		t.Errorf("only %d cases are recorded", lines)
	}
}

func askRecorded(program, state string, line []byte) error {
	var r recorded
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	items := []any{}
	for kind, objects := range map[string][]map[string]any{"Node": r.Nodes, "Pod": r.Pods} {
		for _, one := range objects {
			one["apiVersion"], one["kind"] = "v1", kind
			items = append(items, one)
		}
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		return err
	}
	if err := os.WriteFile(state, text, 0o600); err != nil {
		return err
	}
	e, err := evenkeel.StartEstimator(program, memberName, state)
	if err != nil {
		return err
	}
	defer e.Stop()
	connection, err := grpc.NewClient(e.Address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	sets, err := proto.Marshal(&pb.MaxAvailableComponentSetsResponse{MaxSets: r.Sets})
	if err != nil {
		return err
	}
	if err := callRecorded(connection, "MaxAvailableReplicas", r.Wire, r.RespWire); err != nil {
		return err
	}
	return callRecorded(connection, "MaxAvailableComponentSets", r.ComponentsWire, hex.EncodeToString(sets))
}

// bytesCodec sends and receives messages as they are.
type bytesCodec struct{}

func (bytesCodec) Name() string                    { return "proto" }
func (bytesCodec) Marshal(v any) ([]byte, error)   { return *v.(*[]byte), nil }
func (bytesCodec) Unmarshal(b []byte, v any) error { *v.(*[]byte) = bytes.Clone(b); return nil }

func callRecorded(connection *grpc.ClientConn, method, message, wanted string) error {
	request, err := hex.DecodeString(message)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var response []byte
	err = connection.Invoke(ctx, "/github.com.karmada_io.karmada.pkg.estimator.service.Estimator/"+method, &request, &response, grpc.ForceCodec(bytesCodec{}))
	if err != nil || hex.EncodeToString(response) != wanted {
		return fmt.Errorf("%s: %x (%v) instead of %s", method, response, err, wanted)
	}
	return nil
}
