/* The step `unschedulable`: how many pods of a Deployment have found no node for too long, as
 * Karmada's estimator in the member cluster answers the descheduler. */
#include "estimator/unschedulable.h"

#include "base/json_fields.h"
#include "base/limits.h"
#include "lines/hex.h"
#include "lines/karmada_nodes.h"
#include "lines/steps.h"
#include "model/names.h"

#include <errno.h>

struct unschedulable_line {
    struct str cluster;
    const struct karmada_workload *deployments;
    uint32_t deployment_count;
    struct unschedulable_question question;
    struct str wire;
    bool has_now;
};

static void workload_item_decode(struct json_reader *r, void *into) {
    karmada_workload_decode(r, into);
}

static void wire_decode(struct json_reader *r, void *into) {
    *(struct str *)into = hex_decode(r);
}

static const struct json_field line_fields[] = {
    JSON_LIST_BY("deployments", struct unschedulable_line, deployments, deployment_count,
                 UINT32_MAX, workload_item_decode),
    JSON_LIST_BY("replicaSets", struct unschedulable_line, question.replica_sets,
                 question.replica_set_count, UINT32_MAX, workload_item_decode),
    JSON_LIST_BY("pods", struct unschedulable_line, question.pods, question.pod_count, UINT32_MAX,
                 line_pod_decode),
    JSON_CALL("wire", struct unschedulable_line, wire, wire_decode),
    JSON_TIME("now", struct unschedulable_line, question.now_ms,
              JSON_GIVEN(struct unschedulable_line, has_now)),
    JSON_TEXT("cluster", struct unschedulable_line, cluster),
};

static int line_check(const struct unschedulable_line *line, struct err *err) {
    if (line->wire.p == NULL)
        return err_set(err, -EINVAL, "question: wire is required");
    if (!line->has_now)
        return err_set(err, -EINVAL, "question: now is required");
    return 0;
}

/* Returns the last Deployment with that name, because the last of repeated objects counts; NULL if
 * not found. */
static const struct karmada_workload *find_deployment(const struct unschedulable_line *line,
                                                      const struct wire_unschedulable *asked) {
    const struct karmada_workload *found = NULL;
    for (uint32_t i = 0; i < line->deployment_count; i++) {
        const struct object_meta *meta = &line->deployments[i].meta;
        if (str_eq(meta->name, asked->name) && str_eq(meta->namespace, asked->namespace))
            found = &line->deployments[i];
    }
    return found;
}

/* Returns the reason, in upstream's words, why a well-formed request has no answer; empty if it has
 * an answer. */
static struct str refusal(const struct unschedulable_line *line,
                          const struct wire_unschedulable *asked, struct arena *arena) {
    if (line->cluster.p != NULL && !str_eq(line->cluster, asked->cluster))
        return arena_printf(arena, "cluster name does not match, got: %.*s, desire: %.*s",
                            STR_ARG(asked->cluster), STR_ARG(line->cluster));
    const struct str refused = estimator_unschedulable_refusal(asked, arena);
    if (!str_empty(refused) || arena_failed(arena))
        return refused;
    if (line->question.deployment == NULL)
        return arena_printf(arena, "deployments.apps \"%.*s\" not found", STR_ARG(asked->name));
    return (struct str){0};
}

static void put_count(struct json_writer *w, int64_t count) {
    CLEANUP(strbuf_done) struct strbuf bytes = {0}, hex = {0};
    wire_response_encode((int32_t)count, WIRE_BYTES, &bytes);
    hex_append(strbuf_str(&bytes), &hex);
    json_key(w, STR("unschedulable"));
    json_put_integer(w, count);
    json_put_member(w, STR("wire"), strbuf_str(&hex));
}

int line_unschedulable(struct json_reader *r, struct json_writer *w, struct err *err) {
    struct unschedulable_line line = {.has_now = false};
    struct wire_unschedulable asked;
    int64_t count;
    json_fields(r, &JSON_ROWS(line_fields), &line);
    int e = json_finish(r, err);
    if (e == 0)
        e = line_check(&line, err);
    if (e != 0)
        return e;
    if (wire_unschedulable_decode(line.wire, r->arena, &asked, err) != 0)
        return err_wrap(err, "question.wire");
    line.question.threshold_ns = asked.threshold_ns;
    line.question.deployment = find_deployment(&line, &asked);
    const struct str error = refusal(&line, &asked, r->arena);
    if (arena_failed(r->arena))
        return err_set(err, -ENOMEM, "question: too large to be answered");
    if (!str_empty(error)) {
        json_key(w, STR("error"));
        json_put_text(w, error);
        return 0;
    }
    if (estimator_unschedulable(&line.question, r->arena, &count, err) != 0)
        return err_wrap(err, "question.deployments");
    put_count(w, count);
    return 0;
}
