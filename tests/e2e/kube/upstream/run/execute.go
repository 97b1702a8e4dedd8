package main

import (
	"context"
	"fmt"
	"time"

	"evenkeel.io/tests/e2e/kube/upstream/program"
)

// The program says itself that it took too long; this is for one that does not even do that.
const grace = 30 * time.Second

// execute runs the program of a job.
func (o options) execute(ctx context.Context, j job, dir string) (program.Ending, error) {
	return program.Run(ctx, program.Spec{
		Bin: o.bin, Name: j.pkg.binary(), Dir: dir, Mode: j.mode, Limit: j.limit() + grace,
		Args: []string{
			"-test.v=test2json", "-test.run=" + j.pattern(), fmt.Sprintf("-test.count=%d", j.count),
			"-test.timeout=" + j.limit().String(),
		},
	})
}
