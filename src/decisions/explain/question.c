#include "explain/question.h"

#include "base/json_fields.h"
#include "model/names.h"

#include <errno.h>
#include <stdlib.h>

int explain_pod_decode(struct str text, struct arena *arena, struct pod *ret, struct err *err) {
    struct json_reader r;
    *ret = (struct pod){0};
    json_reader_init(&r, text, arena, POD_KIND);
    if (json_peek(&r) != JSON_OBJECT)
        json_fail(&r, "expected a Pod");
    json_check_type(&r, STR("v1"), STR(POD_KIND));
    pod_decode(&r, POD_SCORED, ret);
    int failed = json_finish(&r, err);
    return failed == 0 && pod_as_stored(ret, arena) != 0
               ? err_set(err, -ENOMEM, "no memory for the pod's terms")
               : failed;
}

/* Reads a policy. Refuses a policy that cannot work: otherwise it would be ignored without a
 * message. */
static void policy_item(struct json_reader *r, void *into) {
    struct policy *policy = into;
    struct str kind = json_peek_member(r, STR("kind"));
    if (!json_failed(r) && !str_eq(kind, STR(POLICY_KIND)))
        json_fail_kind(r, kind, STR(POLICY_KIND));
    json_check_type(r, STR(EVENKEEL_API), STR(POLICY_KIND));
    policy_decode(r, policy);
    if (!json_failed(r) && !str_empty(policy->problem))
        json_fail(r, "the policy cannot work: %.*s", STR_ARG(policy->problem));
}

static int by_text(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Reads names of resources, sorted. */
static const struct str *names_decode(struct json_reader *r, uint32_t *ret_count) {
    struct str *names = json_string_array(r, LIMIT_IGNORED_RESOURCES, ret_count);
    if (*ret_count > 0)
        qsort(names, *ret_count, sizeof *names, by_text);
    return names;
}

/* Reads the members with kube-scheduler's configuration. Returns false for any other member. */
static bool scheduler_decode(struct json_reader *r, struct str key, struct explain_question *q) {
    if (str_eq(key, STR("addedAffinity"))) {
        q->has_added = json_peek(r) == JSON_OBJECT;
        added_affinity_decode(r, &q->added);
    } else if (str_eq(key, STR("ignoredResources"))) {
        q->ignored.names = names_decode(r, &q->ignored.name_count);
    } else if (str_eq(key, STR("ignoredResourceGroups"))) {
        q->ignored.groups = names_decode(r, &q->ignored.group_count);
    } else if (str_eq(key, STR("notRead"))) {
        q->not_read = json_string(r);
        if (q->not_read.n > LIMIT_NOT_READ)
            json_fail(r, "longer than %d bytes", LIMIT_NOT_READ);
    } else {
        return false;
    }
    return true;
}

static void members_decode(struct json_reader *r, struct explain_question *q) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("pod"))) {
            q->text = json_skip(r);
        } else if (str_eq(key, STR("nodeNames"))) {
            q->has_nodes = json_peek(r) == JSON_ARRAY;
            q->nodes.names = json_string_array(r, LIMIT_NODE_NAMES, &q->nodes.count);
        } else if (str_eq(key, STR("policies"))) {
            q->has_policies = json_peek(r) == JSON_ARRAY;
            struct policy *policies =
                json_array_of(r, sizeof *policies, LIMIT_POLICIES, policy_item, &q->policies.count);
            if (!json_failed(r) && q->policies.count > 0)
                policies_sort(policies, q->policies.count);
            q->policies.items = policies;
        } else if (str_eq(key, STR("workload"))) {
            q->workload = json_skip(r);
        } else if (str_eq(key, STR("podSpecPath"))) {
            q->spec_path = json_string(r);
        } else if (!scheduler_decode(r, key, q)) {
            json_fail(r, "unknown member; there are pod, nodeNames, addedAffinity, "
                         "ignoredResources, ignoredResourceGroups, notRead, policies, workload and "
                         "podSpecPath");
        }
    }
}

int explain_question_decode(struct str body, struct arena *arena, struct explain_question *ret,
                            struct err *err) {
    struct explain_question q = {0};
    struct json_reader r;
    json_reader_init(&r, body, arena, "Question");
    if (str_eq(json_peek_member(&r, STR("kind")), STR(POD_KIND)))
        q.text = json_skip(&r);
    else if (json_peek(&r) == JSON_OBJECT)
        members_decode(&r, &q);
    else
        json_fail(&r, "expected a Pod, or an object with a pod");
    int failed = json_finish(&r, err);
    if (failed == 0 && str_empty(q.text))
        failed = err_set(err, -EINVAL, "Question.pod: missing");
    if (failed == 0)
        failed = explain_pod_decode(q.text, arena, &q.pod, err);
    if (str_empty(q.workload) || str_empty(q.spec_path)) {
        q.workload = q.text;
        q.spec_path = STR("spec");
    }
    if (failed == 0)
        *ret = q;
    return failed;
}
