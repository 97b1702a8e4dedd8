/*
 * The plugin "audit" notes the changes that policies with mode Audit would make, for the audit log.
 * It runs the other plugins with those policies, on the pod as it came, and takes back all their
 * changes. It has a step budget of its own, so a policy with mode Audit cannot use up the review's
 * steps.
 */
#include "admission/pods/pods.h"
#include "base/limits.h"

#include <errno.h>

/* Appends "web: added: zone", if the plugin has a note. */
static int try_plugin(const struct admission_plugin *plugin, const struct pod_question *question,
                      const struct policy *policy, struct patch *patch, struct strbuf *out) {
    const struct patch_mark before = patch_mark(patch);
    struct admission_outcome outcome = {0};
    struct err err = {0};
    int r = plugin->run(&question->head, patch, &outcome, &err);
    patch_rewind(patch, before);
    if (r == -ENOMEM)
        return r;
    if (r != 0)
        outcome.note = str_of(err.text);
    else if (outcome.refused != 0)
        outcome.note = outcome.cause;
    if (!str_empty(outcome.note)) {
        strbuf_append_str(out, out->n > 0 ? STR("; ") : STR(""));
        strbuf_append_str(out, policy->name);
        strbuf_append_str(out, STR(": "));
        strbuf_append_str(out, outcome.note);
    }
    return 0;
}

static int try_policies(const struct pod_question *q, const struct pod_options *options,
                        struct patch *patch, struct strbuf *out) {
    const struct policy *spread = q->policies.audited[POLICY_SPREAD];
    const struct policy *locality = q->policies.audited[POLICY_LOCALITY];
    struct pod_question trial = *q;
    int r = 0;
    trial.head.options = &options->head;
    if (spread != NULL) {
        trial.policy = spread;
        r = try_plugin(&pod_plugin_spread, &trial, spread, patch, out);
    }
    if (r == 0 && locality != NULL) {
        trial.locality_policy = locality;
        r = try_plugin(&pod_plugin_fluid, &trial, locality, patch, out);
    }
    return r;
}

static int run(const struct admission_question *question, struct patch *patch,
               struct admission_outcome *ret, struct err *err) {
    const struct pod_question *q = pod_question(question);
    struct arena *arena = question->arena;
    struct pod_options options = *pod_options(pod_question(question));
    CLEANUP(strbuf_done) struct strbuf text = {0};
    if (q->policies.audited[POLICY_SPREAD] == NULL && q->policies.audited[POLICY_LOCALITY] == NULL)
        return 0;
    options.spread = options.audited; /* counted separately from real changes */
    options.missing = NULL; /* the answer does not wait for data that only a trial needs */
    const struct steps own = arena->steps;
    arena->steps = (struct steps){.max = LIMIT_AUDIT_STEPS};
    int r = try_policies(q, &options, patch, &text);
    bool spent = steps_spent(&arena->steps);
    arena->steps = own;
    ret->note = spent ? STR("not tried: the pod takes too many steps")
                      : arena_str(arena, strbuf_str(&text));
    if (r != 0 || strbuf_failed(&text) || arena_failed(arena))
        return err_set(err, -ENOMEM, "no memory to try policies");
    return 0;
}

const struct admission_plugin pod_plugin_audit = {.name = "audit", .run = run};
