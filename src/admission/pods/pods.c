#include "admission/pods/pods.h"

#include "admission/pods/annotate.h"
#include "admission/pods/spread_inject.h"
#include "base/json_reader.h"
#include "model/placement.h"
#include "policy/match.h"

#include <errno.h>

const struct pod_plugin *const pod_plugins_default[] = {&pod_plugin_fluid, &pod_plugin_spread};
const uint32_t pod_plugins_default_count =
    sizeof pod_plugins_default / sizeof pod_plugins_default[0];

/* ---- the pod ---- */

static int decode(struct str object, struct pod_question *q, struct err *err) {
    struct json_reader r;
    json_reader_init(&r, object, q->arena, "Pod");
    pod_decode(&r, POD_WHOLE, &q->pod);
    q->details = (struct pod_details){.namespace = {0}};
    int failed = json_finish(&r, err);
    if (failed == 0)
        failed = pod_details_read_metadata(object, q->arena, &q->details, err);
    if (failed == 0 && !str_empty(q->review->namespace))
        q->pod.meta.namespace = q->review->namespace;
    return failed;
}

/* Why nothing is to be done to this pod, or "". */
static struct str settled(const struct pod_question *q) {
    struct str placed = pod_placement(&q->pod, &q->details.annotations);
    return str_empty(placed) && q->pod.meta.terminating ? STR("a pod that is going") : placed;
}

/* ---- its policy ---- */

/* A pod whose place is settled has none. */
static int choose_policy(const struct pods_options *o, struct pod_question *q, bool is_settled,
                         struct err *err) {
    bool unknown = false;
    struct policy_namespace namespace;
    if (policy_namespace_find(o->cache, q->pod.meta.namespace, q->arena, &namespace) != 0)
        return err_set(err, -ENOMEM, "no memory to admit a pod");
    q->namespace_labels = namespace.labels;
    q->namespace_known = namespace.known;
    if (!is_settled)
        q->policy =
            policy_choose(o->policies, o->policy_count, &namespace, &q->pod.meta.labels, &unknown);
    if (unknown)
        return err_set(err, -ENOENT, "the labels of namespace '%.*s' are not known yet",
                       STR_ARG(q->pod.meta.namespace));
    return 0;
}

/* ---- what is done to it ---- */

struct admitting {
    const struct pods_options *options;
    struct pod_question question;
    struct patch *patch;
    struct review_answer *answer;
    uint32_t notes; /* annotations of the answer that are not the plugins' */
    bool failed, denied;
};

/* Shown to the user, who may have nothing to do with us: so it says who speaks. */
static void warn(struct admitting *a, const char *what, const struct err *err) {
    struct strbuf text = {.max = 1024};
    strbuf_appendf(&text, "evenkeel: %s: %s", what, err->text);
    struct str copy = arena_str(a->question.arena, strbuf_str(&text));
    strbuf_done(&text);
    review_warn(a->answer,
                str_empty(copy) ? STR("evenkeel: out of memory; the pod lacks something") : copy);
    a->failed = true;
}

/* And the plugins did not do what they say. */
static void rewind_all(struct admitting *a) {
    a->answer->annotation_count = a->notes;
    patch_rewind(a->patch, (struct patch_mark){a->question.review->object, 0});
}

static void deny(struct admitting *a, const struct pod_outcome *outcome) {
    rewind_all(a);
    a->answer->allowed = false;
    a->answer->code = outcome->refused;
    a->answer->message = outcome->cause;
    a->denied = true;
}

static void run_plugin(struct admitting *a, const struct pod_plugin *plugin) {
    const struct patch_mark before = patch_mark(a->patch);
    const struct pod_question question = a->question;
    struct pod_outcome outcome = {0};
    struct err err = {0};
    int r = plugin->run(&a->question, a->patch, &outcome, &err);
    if (r == 0 && outcome.refused != 0) {
        deny(a, &outcome);
        return;
    }
    if (r == 0 && a->patch->count > before.count)
        r = decode(a->patch->document, &a->question, &err);
    if (r == 0) {
        review_annotate(a->answer, str_of(plugin->name), outcome.note);
        return;
    }
    patch_rewind(a->patch, before);
    a->question = question;
    warn(a, plugin->name, &err);
}

/* May the pod go nowhere that it might not go before? Fluid's own modes do as Fluid does. */
static int check_affinity(const struct admitting *a, const struct node_affinity *before,
                          struct err *err) {
    const struct node_affinity *now = &a->question.pod.affinity;
    const struct pod_data *data = a->question.data;
    if (data != NULL && data->options.compat != FLUID_CORRECT)
        return 0;
    if (node_affinity_invalid(now) && !node_affinity_invalid(before))
        return err_set(err, -EINVAL, "its required node affinity would not be valid");
    if (!node_affinity_implies(now, before))
        return err_set(err, -EINVAL, "its required node affinity would be widened");
    return 0;
}

/* Would the API server take what we made of the pod, and is it what the user wants still? If not,
 * it is admitted as it was. */
static void check_result(struct admitting *a, const struct pod *before) {
    struct err err = {0};
    if (a->patch->count == 0)
        return;
    const char *why = "the pod is unchanged, for the API server would refuse the result";
    int r = spread_check(&a->question.pod, before->constraint_count, a->question.arena, &err);
    if (r == 0) {
        why = "the pod is unchanged";
        r = check_affinity(a, &before->affinity, &err);
    }
    if (r == 0)
        return;
    rewind_all(a);
    warn(a, why, &err);
}

/* Every plugin, or for a pod whose place is settled those that do more than place it. */
static void run_plugins(struct admitting *a, bool is_settled) {
    const struct pod before = a->question.pod;
    a->notes = a->answer->annotation_count;
    for (uint32_t i = 0; i < a->options->plugin_count && !a->denied; i++)
        if (!is_settled || a->options->plugins[i]->settled_too)
            run_plugin(a, a->options->plugins[i]);
    check_result(a, &before);
}

static void admit(struct admitting *a) {
    struct pod_question *q = &a->question;
    struct err err = {0};
    int r = decode(q->review->object, q, &err);
    struct str reason = r == 0 ? settled(q) : (struct str){0};
    bool is_settled = !str_empty(reason);
    if (r == 0)
        r = choose_policy(a->options, q, is_settled, &err);
    if (r != 0) {
        warn(a, "the pod is unchanged", &err);
        return;
    }
    if (q->policy != NULL)
        review_annotate(a->answer, STR("policy"), q->policy->name);
    run_plugins(a, is_settled);
    if (a->options->annotate && a->patch->count > 0 &&
        annotate_pod(&a->question, a->answer, a->patch, &err) != 0)
        warn(a, "the pod does not say by what it was changed", &err);
    if (a->patch->count == 0)
        review_annotate(a->answer, STR("unchanged"), reason);
}

enum admission admit_pod(const struct pods_options *options, const struct review *review,
                         struct arena *arena, struct patch *patch, struct review_answer *ret) {
    struct admitting a = {.options = options,
                          .question = {.review = review,
                                       .data = options->data,
                                       .missing = options->missing,
                                       .cache = options->cache,
                                       .arena = arena},
                          .patch = patch,
                          .answer = ret};
    if (options->missing != NULL)
        options->missing->count = 0;
    *ret = (struct review_answer){.uid = review->uid, .allowed = true, .code = 200, .patch = patch};
    patch_init(patch, review->object, arena);
    if (str_eq(review->operation, STR("CREATE")) && str_empty(review->group) &&
        str_eq(review->resource, STR("pods")) && str_empty(review->subresource))
        admit(&a);
    if (a.denied)
        return ADMISSION_DENIED;
    if (a.failed)
        return ADMISSION_FAILED;
    return patch->count > 0 ? ADMISSION_PATCHED : ADMISSION_UNCHANGED;
}
