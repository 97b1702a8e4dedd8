#include "unit/cache/incoming.h"

int incoming_setup(void **state) {
    static struct incoming f;
    cluster_open(&f.c);
    cluster_nodes(&f.c, "a b x");
    f.foo = cluster_selector(&f.c, "{\"matchLabels\":{\"foo\":\"\"}}");
    f.pod = cluster_pod(&f.c, "foo", "", "");
    *state = &f;
    return 0;
}

int incoming_teardown(void **state) {
    struct incoming *f = *state;
    cluster_close(&f->c);
    return 0;
}

void incoming_seen(struct incoming *f, const char *node, bool finished, bool terminating) {
    struct object seen = {.kind = OBJECT_POD, .pod = f->pod};
    seen.pod.node_name = str_of(node);
    seen.pod.finished = finished;
    seen.pod.meta.terminating = terminating;
    cluster_apply(&f->c, &seen);
}
