/*
 * Writes the state of a synthetic cluster to standard output, as `kubectl get nodes,pods -A -o
 * json` would (without its indentation):
 *
 *     make_state NODES PODS >state.json
 */
#include "bench/cluster.h"

#include <stdio.h>
#include <stdlib.h>

enum { FLUSH_BYTES = 1 << 20 };

/* Writes what is there once it is worth a system call, or `all` of it; false on failure. */
static bool flush(struct strbuf *out, bool all) {
    if (out->n < FLUSH_BYTES && !all)
        return !strbuf_failed(out);
    bool good = !strbuf_failed(out) && fwrite(out->p, 1, out->n, stdout) == out->n;
    strbuf_clear(out);
    return good;
}

static bool write_state(uint32_t nodes, uint32_t pods, struct strbuf *out) {
    struct cluster_pods walk = {.nodes = nodes};
    strbuf_append_str(out, STR("{\"apiVersion\":\"v1\",\"items\":["));
    for (uint32_t i = 0; i < nodes; i++) {
        if (i > 0)
            strbuf_append_char(out, ',');
        cluster_node(i, true, out);
        if (!flush(out, false))
            return false;
    }
    for (uint32_t i = 0; i < pods; i++) {
        if (i + nodes > 0)
            strbuf_append_char(out, ',');
        cluster_pod(&walk, out);
        if (!flush(out, false))
            return false;
    }
    strbuf_append_str(out, STR("],\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"\"}}\n"));
    return flush(out, true) && fflush(stdout) == 0;
}

int main(int argc, char **argv) {
    int64_t nodes, pods;
    if (argc != 3 || !str_to_i64(str_of(argv[1]), &nodes) || !str_to_i64(str_of(argv[2]), &pods) ||
        nodes < 1 || nodes > 100000 || pods < 0 || pods > 10000000) {
        (void)fprintf(stderr, "usage: make_state NODES PODS >state.json\n");
        return 2;
    }
    struct strbuf out = {.max = 8 * FLUSH_BYTES};
    bool good = write_state((uint32_t)nodes, (uint32_t)pods, &out);
    strbuf_done(&out);
    if (!good)
        perror("make_state");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
