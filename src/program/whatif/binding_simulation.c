#include "whatif/binding_simulation.h"

#include "base/json_writer.h"
#include "base/limits.h"
#include "clusters/ask.h"
#include "clusters/state.h"
#include "config/karmada.h"
#include "findings/state/binding.h"
#include "findings/terms.h"
#include "model/names.h"
#include "whatif/member_nodes.h"

#include <errno.h>

/* The inputs that all bindings of a command share. */
struct asking {
    const struct binding_simulation *how;
    struct clusters_state state;
    struct member_nodes nodes; /* the nodes of the cluster how->member */
    struct karmada_options options;
    struct karmada_assumed assumed;
    struct arena *arena;
    uint32_t findings;
};

static void asking_done(struct asking *a) {
    member_nodes_done(&a->nodes);
    clusters_state_done(&a->state);
}

/* ---- findings ---- */

static void find_in_policy(const struct binding_subject *s, struct findings *f) {
    const enum division division = s->binding.spec.placement.replicas.division;
    if (s->made.binding.p == NULL)
        findings_add(f, FINDING_PASSED_OVER, s->made.path, s->made.remedy, "%.*s",
                     STR_ARG(s->made.reason));
    else if (!s->interpreted && division != DIVISION_NONE && division != DIVISION_DUPLICATED)
        findings_add(f, FINDING_PASSED_OVER, STR("spec.placement.replicaScheduling"),
                     STR("Divide a kind with replicas; for others Karmada needs a "
                         "ResourceInterpreterCustomization, which is not read here"),
                     "nothing is divided: Karmada's built-in interpreters read no replicas of "
                     "%.*s",
                     STR_ARG(s->type));
    if (s->made.binding.p != NULL && s->scope_unknown)
        findings_add(f, FINDING_PASSED_OVER, STR(""),
                     STR("Write metadata.namespace into the workload if its kind is namespaced"),
                     "the workload is taken for cluster-scoped: it has no namespace, and only the "
                     "API server knows the scope of %.*s",
                     STR_ARG(s->type));
}

static int find_all(struct asking *a, const struct binding_subject *s, struct str answer,
                    struct findings *f, struct err *err) {
    struct binding_answer parts;
    const int r = binding_answer_read(answer, f->arena, &parts, err);
    if (r != 0)
        return r;
    findings_of_binding(&s->binding, &a->options, &parts, f);
    (void)findings_of_karmada(a->state.karmada, &s->binding, &parts, f);
    return 0;
}

/* ---- answers ---- */

/* Reopens the object at the end of the answer, and adds the member "madeBinding". */
static void put_made(struct str binding, struct strbuf *out) {
    struct json_writer w = {.out = out, .comma = true};
    if (out->n > 0)
        out->n--;
    json_key(&w, STR("madeBinding"));
    json_put_raw(&w, binding);
    json_end_object(&w);
}

static int ask(struct asking *a, const struct binding_subject *s, struct arena *arena,
               struct strbuf *out, struct err *err) {
    const struct clusters_question question = {.has_binding = true, .binding = s->binding};
    struct binding_asked asked = {.question = &question,
                                  .verb = BINDING_SELECT,
                                  .with_plan = true,
                                  .now_ms = a->how->now_ms,
                                  .options = &a->options,
                                  .member = a->how->member,
                                  .assumed = &a->assumed};
    const struct karmada_assumed_cluster *taken = karmada_assumed_of(&a->assumed, asked.member);
    int r = 0;
    if (!str_empty(asked.member))
        r = member_nodes_replicas(&a->nodes, &s->binding.spec, taken != NULL ? taken->sets : NULL,
                                  taken != NULL ? taken->count : 0, arena, &asked.accurate, err);
    return r == 0 ? clusters_ask_binding(a->state.karmada, &asked, arena, out, err) : r;
}

static int answer_one(struct asking *a, const struct binding_subject *s, struct arena *arena,
                      struct strbuf *out, struct err *err) {
    CLEANUP(strbuf_done) struct strbuf json = {.max = LIMIT_STATE_BYTES};
    CLEANUP(arena_done) struct arena of_findings;
    struct findings findings;
    const bool is_made = s->made.binding.p != NULL;
    int r = 0;
    findings_init(&findings, &of_findings);
    (void)schema_check(s->text, s->schema, &findings);
    findings_of_version(s->text, KARMADA_WORK_GROUP "/v1alpha1", KARMADA_WORK_GROUP "/v1alpha2",
                        "read as v1alpha2, which has replicas at spec.replicas", &findings);
    if (s->from_policy)
        find_in_policy(s, &findings);
    if (s->from_policy && !is_made) {
        strbuf_append_str(&json, STR("{\"madeBinding\":null,\"warnings\":[]}"));
    } else {
        r = ask(a, s, arena, &json, err);
        if (r == 0)
            r = find_all(a, s, strbuf_str(&json), &findings, err);
        if (r == 0 && is_made)
            put_made(s->made.binding, &json);
    }
    if (r != 0)
        return r;
    findings_put(&findings, &json);
    a->findings += findings.count;
    strbuf_append_str(out, strbuf_str(&json));
    return strbuf_failed(&json) ? err_set(err, -ENOMEM, "no memory for the answer") : 0;
}

/* Each answer has memory of its own, which is then freed; only the replicas of the binding are kept
 * for the next bindings. */
static int answer_all(struct asking *a, const struct binding_subject *subjects, uint32_t count,
                      struct strbuf *out, struct err *err) {
    int r = 0;
    strbuf_append_str(out, count > 1 ? STR("{\"answers\":[") : STR(""));
    for (uint32_t i = 0; r == 0 && i < count; i++) {
        CLEANUP(arena_done) struct arena arena;
        arena_init(&arena, LIMIT_REQUEST_ARENA);
        arena.steps = a->arena->steps;
        strbuf_append_str(out, i > 0 ? STR(",") : STR(""));
        r = answer_one(a, &subjects[i], &arena, out, err);
        a->arena->steps = arena.steps;
    }
    strbuf_append_str(out, count > 1 ? STR("]}") : STR(""));
    return r;
}

int binding_simulation_run(const struct configuration *c, const struct binding_simulation *how,
                           struct arena *arena, struct strbuf *out, uint32_t *ret_findings,
                           struct err *err) {
    CLEANUP(arena_done) struct arena of_assumed; /* its size grows with bindings x clusters */
    CLEANUP(asking_done)
    struct asking a = {.how = how, .arena = arena, .assumed = {.arena = &of_assumed}};
    struct binding_subject *subjects;
    uint32_t count;
    arena_init(&of_assumed, LIMIT_STATE_BYTES);
    int r = binding_subjects_read(&how->sources, arena, &subjects, &count, err);
    if (r == 0)
        r = clusters_state_load(c->state.paths, c->state.path_count, NULL, 0, &a.state, err);
    if (r == 0 && !str_empty(how->member))
        r = member_nodes_read(c, arena, &a.nodes, err);
    configuration_karmada(c, &a.options);
    if (r == 0)
        r = answer_all(&a, subjects, count, out, err);
    *ret_findings = a.findings;
    return r;
}
