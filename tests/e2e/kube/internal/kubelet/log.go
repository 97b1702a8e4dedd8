package kubelet

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// logger writes lines with the time to standard error.
type logger struct{ mu sync.Mutex }

func (l *logger) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(os.Stderr, "%s %s\n", time.Now().Format("15:04:05.000"), fmt.Sprintf(format, args...))
}
