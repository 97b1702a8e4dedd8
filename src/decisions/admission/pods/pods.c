#include "admission/pods/pods.h"

#include "admission/pods/annotate.h"
#include "admission/pods/spread_inject.h"
#include "admission/pods/spread_plan.h"
#include "base/json_reader.h"
#include "findings/terms.h"
#include "model/fixed_pod.h"
#include "model/names.h"
#include "policy/match.h"

#include <errno.h>

static struct pod_question *own(struct admission_question *question) {
    return (struct pod_question *)question; /* its first member */
}

/* ---- the pod ---- */

static int decode(struct admission_question *question, struct str object, struct err *err) {
    struct pod_question *q = own(question);
    struct str namespace = question->review->namespace;
    struct json_reader r;
    if (!steps_take_bytes(&question->arena->steps, object.n))
        return err_set(err, -E2BIG, "no steps left to read it");
    json_reader_init(&r, object, question->arena, POD_KIND);
    pod_decode(&r, POD_WHOLE, &q->pod);
    q->details = (struct pod_details){.namespace = {0}};
    int failed = json_finish(&r, err);
    if (failed == 0)
        failed = pod_details_read_metadata(object, question->arena, &q->details, err);
    if (failed == 0 && !str_empty(namespace))
        q->pod.meta.namespace = namespace;
    return failed;
}

/* Returns the reason why the pod is left alone, or "". */
static struct str settled(const struct pod_question *q) {
    struct str fixed = pod_fixed_because(&q->pod, &q->details.annotations);
    return str_empty(fixed) && q->pod.meta.terminating ? STR("a pod that is being deleted") : fixed;
}

/* ---- its policies ---- */

static int choose_policies(struct pod_question *q, const struct policy_namespace *namespace,
                           enum policy_purpose purpose, struct err *err) {
    const struct admission_options *o = q->head.options;
    const struct policy_list policies = {o->policies, o->policy_count};
    if (!policy_of_pod(policies, namespace, &q->pod, purpose, &q->policies))
        return err_set(err, -ENOENT, "the labels of namespace '%.*s' are not known yet",
                       STR_ARG(q->pod.meta.namespace));
    q->policy = q->policies.enforced[POLICY_SPREAD];
    q->locality_policy = q->policies.enforced[POLICY_LOCALITY];
    return 0;
}

/* Notes the policies whose parts the pod gets: "web", "web, near-data". */
static int name_policies(const struct pod_question *q, struct review_answer *answer,
                         struct err *err) {
    const struct policy *spread = q->policy, *locality = q->locality_policy;
    const struct policy *one = spread != NULL ? spread : locality;
    CLEANUP(strbuf_done) struct strbuf names = {0};
    struct str text = one != NULL ? one->name : (struct str){0};
    if (spread != NULL && locality != NULL && locality != spread) {
        strbuf_appendf(&names, "%.*s, %.*s", STR_ARG(spread->name), STR_ARG(locality->name));
        text = arena_str(q->head.arena, strbuf_str(&names));
    }
    if (strbuf_failed(&names) || arena_failed(q->head.arena))
        return err_set(err, -ENOMEM, "no memory to admit a pod");
    review_annotate(answer, STR("policy"), text);
    return 0;
}

static int find_namespace(struct pod_question *q, struct policy_namespace *ret, struct err *err) {
    if (!steps_take(&q->head.arena->steps, q->head.options->policy_count))
        return err_set(err, -E2BIG, "no steps left to find its policy");
    if (policy_namespace_find(pod_options(q)->cache, q->pod.meta.namespace, q->head.arena, ret) !=
        0)
        return err_set(err, -ENOMEM, "no memory to admit a pod");
    q->namespace_labels = ret->labels;
    q->namespace_known = ret->known;
    return 0;
}

static bool is_for_nobody(const struct policy_choice *choice) {
    for (int part = 0; part < POLICY_PARTS; part++)
        if (choice->enforced[part] != NULL)
            return false;
    return true;
}

/* A pod that already has its place gets no policy. */
static int prepare(struct admission_question *question, struct review_answer *answer,
                   struct str *ret_settled, struct err *err) {
    struct pod_question *q = own(question);
    struct policy_namespace namespace;
    int r = find_namespace(q, &namespace, err);
    if (r != 0)
        return r;
    *ret_settled = settled(q);
    if (str_empty(*ret_settled))
        r = choose_policies(q, &namespace, POLICY_TO_CHANGE, err);
    if (r == 0 && str_empty(*ret_settled) && is_for_nobody(&q->policies))
        *ret_settled = policy_opt_out(&namespace, &q->pod.meta.labels);
    return r == 0 ? name_policies(q, answer, err) : r;
}

/* Reads the stored pod. An update may have narrowed its terms or changed its labels; other parts of
 * a pod cannot change after its creation. upstream: pkg/apis/core/validation ValidatePodUpdate */
static int find_old(struct pod_question *q, struct str *ret_settled, struct err *err) {
    const struct str old = q->head.review->old_object;
    struct json_reader r;
    if (!steps_take_bytes(&q->head.arena->steps, old.n))
        return err_set(err, -E2BIG, "no steps left to read its old version");
    json_reader_init(&r, old, q->head.arena, "old Pod");
    pod_decode(&r, POD_WHOLE, &q->old);
    int failed = json_finish(&r, err);
    if (failed == 0 && (!q->old.has_gates || q->pod.has_gates))
        *ret_settled = STR("a pod whose last scheduling gate is not removed by this change");
    else if (failed == 0 && q->pod.meta.terminating)
        *ret_settled = STR("a pod that is being deleted");
    return failed;
}

/* A validated pod gets the policies that it would have if it did not opt out. */
static int prepare_validated(struct admission_question *question, struct review_answer *answer,
                             struct str *ret_settled, struct err *err) {
    struct pod_question *q = own(question);
    struct policy_namespace namespace;
    int r = 0;
    *ret_settled = STR("");
    q->is_updated = str_eq(question->review->operation, STR("UPDATE"));
    if (q->is_updated)
        r = find_old(q, ret_settled, err);
    if (r != 0 || !str_empty(*ret_settled))
        return r;
    r = find_namespace(q, &namespace, err);
    if (r == 0)
        r = choose_policies(q, &namespace, POLICY_TO_VALIDATE, err);
    return r == 0 ? name_policies(q, answer, err) : r;
}

/* ---- the result ---- */

/* Checks that the pod cannot go to more nodes than before. Modes that behave like Fluid are not
 * checked. */
static int check_affinity(const struct pod_question *now, const struct pod_question *before,
                          struct err *err) {
    const struct pod_data *data = pod_options(now)->data;
    if (data != NULL && data->options.compat != FLUID_CORRECT)
        return 0;
    if (node_affinity_invalid(&now->pod.affinity) && !node_affinity_invalid(&before->pod.affinity))
        return err_set(err, -EINVAL, "its required node affinity would not be valid");
    if (!node_affinity_implies(&now->pod.affinity, &before->pod.affinity, &now->head.arena->steps))
        return err_set(err, -EINVAL, "its required node affinity would be widened");
    return 0;
}

static int check(const struct admission_question *now, const struct admission_question *before,
                 const char **ret_why, struct err *err) {
    const struct pod_question *q = pod_question(now), *came = pod_question(before);
    *ret_why = "the pod is unchanged, because the API server would refuse the result";
    int r = spread_check(&q->pod, came->pod.constraint_count, now->arena, err);
    if (r != 0)
        return r;
    *ret_why = "the pod is unchanged";
    return check_affinity(q, came, err);
}

/* Constraints that were left out stay left out, so their counts stay. */
static void undone(const struct admission_question *question) {
    struct spread_tally *counts = pod_options(pod_question(question))->spread;
    for (int fate = 0; counts != NULL && fate < SPREAD_FATES; fate++)
        if (spread_form((enum spread_fate)fate) != SPREAD_NOT)
            counts->fates[fate] = 0;
}

/* ---- mistakes ---- */

/* An API server drops unknown members before it asks a webhook, so they are not searched. */
static void find(const struct admission_question *question, struct findings *f) {
    findings_of_pod(&pod_question(question)->pod, STR("spec"), f);
}

/* ---- the kind ---- */

/* audit comes first: it works on the pod as it came */
static const struct admission_plugin *const plugins[] = {&pod_plugin_audit, &pod_plugin_fluid,
                                                         &pod_plugin_spread};

const struct admitted_kind admitted_pods = {
    .name = "pods",
    .object = "the pod",
    .resource = {"pods", 4},
    .kind = {POD_KIND, sizeof POD_KIND - 1},
    .plugins = plugins,
    .plugin_count = sizeof plugins / sizeof plugins[0],
    .question_size = sizeof(struct pod_question),
    .decode = decode,
    .prepare = prepare,
    .check = check,
    .annotate = annotate_pod,
    .find = find,
    .undone = undone,
};

/* ---- the kind of pods as they will be stored ---- */

/* Plugins of this kind change nothing, so the result cannot be wrong. */
static int check_nothing(const struct admission_question *now,
                         const struct admission_question *before, const char **ret_why,
                         struct err *err) {
    (void)now, (void)before, (void)ret_why, (void)err; /* see above */
    return 0;
}

static const struct admission_plugin *const validators[] = {&pod_plugin_require};

const struct admitted_kind validated_pods = {
    .name = "pods/validate",
    .object = "the pod",
    .resource = {"pods", 4},
    .kind = {POD_KIND, sizeof POD_KIND - 1},
    .plugins = validators,
    .plugin_count = sizeof validators / sizeof validators[0],
    .question_size = sizeof(struct pod_question),
    .validates = true,
    .updates = true,
    .decode = decode,
    .prepare = prepare_validated,
    .check = check_nothing,
};
