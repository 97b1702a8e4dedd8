#include "bench/question.h"

#include "bench/cluster.h"

#include <errno.h>
#include <stdlib.h>

/* ---- asking ---- */

enum {
    WORKERS = 16,
    FULL_POD = 1, /* the filter keeps 11 zones of 12 for it: the answer is nearly the request */
};

/* The nodes a worker has taken and not yet handed on. */
struct chunk {
    uint32_t next, end;
};

/* kube-scheduler's parallelize.Until() deals work in chunks of about its square root. */
static uint32_t chunk_size(uint32_t count) {
    uint32_t size = 1;
    while ((size + 1) * (size + 1) <= count)
        size++;
    return size < count / WORKERS + 1 ? size : count / WORKERS + 1;
}

/*
 * The order of names in a request: sixteen workers of kube-scheduler filter chunks of the nodes at
 * the same time, and each appends what passed. So names that follow one another in the cluster are
 * near, but not beside each other, and never twice in the same order.
 */
static void mix_up(uint32_t count, uint32_t seed, uint32_t *order) {
    struct chunk chunks[WORKERS] = {{0, 0}};
    uint32_t dealt = 0, size = chunk_size(count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t worker = (uint32_t)(cluster_hash((uint64_t)seed << 32 | i) % WORKERS);
        while (chunks[worker].next == chunks[worker].end && dealt == count)
            worker = (worker + 1) % WORKERS; /* this one has nothing left to do */
        if (chunks[worker].next == chunks[worker].end) {
            chunks[worker] = (struct chunk){dealt, count - dealt < size ? count : dealt + size};
            dealt = chunks[worker].end;
        }
        order[i] = chunks[worker].next++;
    }
}

static void put_question(uint32_t nodes, bool full, uint32_t pod, const uint32_t *order,
                         uint32_t names, struct strbuf *out) {
    strbuf_append_str(out, STR("{\"Pod\":"));
    cluster_waiting_pod(pod, out);
    strbuf_append_str(out, full ? STR(",\"Nodes\":{\"metadata\":{},\"items\":[")
                                : STR(",\"Nodes\":null,\"NodeNames\":["));
    for (uint32_t i = 0; i < names; i++) {
        uint32_t node = (uint32_t)(((uint64_t)pod * names + order[i]) % nodes);
        if (i > 0)
            strbuf_append_char(out, ',');
        if (full) {
            cluster_node(node, false, out);
            continue;
        }
        strbuf_append_char(out, '"');
        cluster_node_name(node, out);
        strbuf_append_char(out, '"');
    }
    strbuf_append_str(out, full ? STR("]},\"NodeNames\":null}") : STR("]}"));
}

int questions_make(uint32_t nodes, uint32_t names, bool full, struct questions *ret,
                   struct err *err) {
    struct questions q = {.count = full ? 1 : CLUSTER_WAITING_PODS, .names = names};
    q.bodies = calloc(q.count, sizeof *q.bodies);
    uint32_t *order = calloc(names, sizeof *order);
    bool failed = q.bodies == NULL || order == NULL;
    for (uint32_t i = 0; !failed && i < q.count; i++) {
        mix_up(names, i, order);
        put_question(nodes, full, full ? FULL_POD : i, order, names, &q.bodies[i]);
        failed = strbuf_failed(&q.bodies[i]);
    }
    free(order);
    if (failed) {
        questions_free(&q);
        return err_set(err, -ENOMEM, "no memory for the questions");
    }
    *ret = q;
    return 0;
}

void questions_free(struct questions *q) {
    for (uint32_t i = 0; q->bodies != NULL && i < q->count; i++)
        strbuf_done(&q->bodies[i]);
    free(q->bodies);
    free(q->left);
    *q = (struct questions){.bodies = NULL};
}

/* ---- judging answers ---- */

static uint32_t count(struct str text, struct str what) {
    uint32_t found = 0;
    while (text.n > 0) {
        const char *at = memmem(text.p, text.n, what.p, what.n);
        if (at == NULL)
            break;
        found++;
        text.n -= (size_t)(at - text.p) + what.n;
        text.p = at + what.n;
    }
    return found;
}

/* What stands behind `from`, up to `to`; empty when it is not there. */
static struct str between(struct str text, struct str from, struct str to) {
    const char *begin = memmem(text.p, text.n, from.p, from.n);
    if (begin == NULL)
        return (struct str){0};
    begin += from.n;
    const char *end = memmem(begin, (size_t)(text.p + text.n - begin), to.p, to.n);
    if (end == NULL)
        return (struct str){0};
    return (struct str){begin, (size_t)(end - begin)};
}

static int check_filter(const struct questions *q, struct str answer, uint32_t *ret_kept,
                        struct err *err) {
    struct str nodes = between(answer, STR("\"items\":["), STR("]},\"NodeNames\":"));
    struct str names = between(answer, STR("\"NodeNames\":["), STR("]"));
    struct str failed = between(answer, STR("\"FailedNodes\":{"), STR("}"));
    struct str unresolvable = between(answer, STR("\"FailedAndUnresolvableNodes\":{"), STR("}"));
    *ret_kept = count(names, STR("\"")) / 2 + count(nodes, STR("\"metadata\":{"));
    uint32_t refused = (count(failed, STR("\"")) + count(unresolvable, STR("\""))) / 4;
    if (!str_has_suffix(str_trim(answer), STR("\"Error\":\"\"}")))
        return err_set(err, -EPROTO, "filter answered an error: %.*s", STR_ARG(answer));
    if (*ret_kept + refused != q->names || *ret_kept == 0)
        return err_set(err, -EPROTO, "filter kept %u and refused %u of %u nodes", *ret_kept,
                       refused, q->names);
    return 0;
}

int questions_left_init(const struct questions *q, struct questions *ret, struct err *err) {
    struct questions left = {.count = q->count, .names = q->names};
    left.bodies = calloc(q->count, sizeof *left.bodies);
    left.left = calloc(q->count, sizeof *left.left);
    if (left.bodies == NULL || left.left == NULL) {
        questions_free(&left);
        return err_set(err, -ENOMEM, "no memory for the questions");
    }
    *ret = left;
    return 0;
}

int question_left(const struct questions *q, uint32_t index, struct str answer,
                  struct questions *left, struct err *err) {
    static const struct str key = {"\"NodeNames\":[", 13};
    struct str body = strbuf_str(&q->bodies[index]), names = between(answer, key, STR("]"));
    const char *at = memmem(body.p, body.n, key.p, key.n);
    struct strbuf *to = &left->bodies[index];
    if (at == NULL || names.n == 0)
        return err_set(err, -EPROTO, "filter left no names");
    strbuf_clear(to);
    strbuf_append(to, body.p, (size_t)(at - body.p) + key.n);
    strbuf_append_str(to, names);
    strbuf_append_str(to, STR("]}"));
    left->left[index] = count(names, STR("\"")) / 2;
    return strbuf_failed(to) ? err_set(err, -ENOMEM, "no memory for the questions") : 0;
}

int question_check(enum question_kind kind, const struct questions *q, uint32_t index,
                   struct str answer, uint32_t *ret_kept, struct err *err) {
    uint32_t names = q->left != NULL ? q->left[index] : q->names;
    *ret_kept = names;
    if (kind == QUESTION_FILTER)
        return check_filter(q, answer, ret_kept, err);
    if (kind == QUESTION_ECHO && !str_eq(answer, strbuf_str(&q->bodies[index])))
        return err_set(err, -EPROTO, "the echo is not what was sent");
    if (kind == QUESTION_PRIORITIZE &&
        (count(answer, STR("\"Host\":")) != names || count(answer, STR("\"Score\":")) != names))
        return err_set(err, -EPROTO, "prioritize did not score every node: %.*s", STR_ARG(answer));
    return 0;
}
