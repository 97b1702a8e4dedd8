#include "admission/placements/placements.h"

#include "findings/placement.h"

#include <errno.h>

static struct placement_question *own(struct admission_question *question) {
    return (struct placement_question *)question; /* its first member */
}

/* ---- the Placement ---- */

static int read_placement(struct placement_question *q, struct str object, struct err *err) {
    struct arena *arena = q->head.arena;
    const struct str namespace = q->head.review->namespace;
    struct json_reader r;
    json_reader_init(&r, object, arena, PLACEMENT_KIND);
    placement_decode(&r, &q->placement);
    int failed = json_finish(&r, err);
    if (failed == 0)
        failed = placement_shape(object, arena, &q->shape, err);
    if (failed == 0 && !str_empty(namespace))
        q->placement.meta.namespace = namespace;
    return failed;
}

static int decode(struct admission_question *question, struct str object, struct err *err) {
    enum { PASSES = 4 }; /* passes over the object's text, at most */
    struct placement_question *q = own(question);
    if (!steps_take_bytes(&question->arena->steps, (uint64_t)object.n * PASSES))
        return err_set(err, -E2BIG, "no steps left to read it");
    int r = placement_number(object, question->arena, &q->number, err);
    q->is_negative = q->number < 0;
    return r == 0 && !q->is_negative ? read_placement(q, object, err) : r;
}

/* The stored object may be older than the rules: treats unreadable parts as absent. */
static int read_old(struct placement_question *q, struct err *err) {
    const struct str old = q->head.review->old_object;
    struct err unsaid;
    if (str_empty(old))
        return 0;
    if (!steps_take_bytes(&q->head.arena->steps, (uint64_t)old.n * 2))
        return err_set(err, -E2BIG, "no steps left to read its old version");
    if (placement_number(old, q->head.arena, &q->old_number, &unsaid) != 0)
        q->old_number = 0;
    if (placement_shape(old, q->head.arena, &q->old, &unsaid) != 0)
        q->old = (struct placement_shape){.number = 0};
    return arena_failed(q->head.arena) ? err_set(err, -ENOMEM, "no memory to admit it") : 0;
}

/* ---- its terms ---- */

/* The user may not know Evenkeel, so the warning begins with its name. */
static void warn(struct review_answer *answer, struct str sentence, struct arena *arena) {
    review_warn(answer, arena_printf(arena, "evenkeel: %.*s", STR_ARG(sentence)));
}

static int find_terms(struct placement_question *q, struct review_answer *answer, struct err *err) {
    const struct placement_options *o = placement_options(q);
    const struct policy_list policies = {o->head.policies, o->head.policy_count};
    struct arena *arena = q->head.arena;
    int r = 0;
    if (!steps_take(&arena->steps, policies.count))
        return err_set(err, -E2BIG, "no steps left to find its policy");
    if (policies.count > 0 && q->placement.term_count == 0)
        r = policy_terms_of_placement(policies, o->namespace, &q->placement.meta, arena,
                                      &q->policy);
    if (r != 0)
        return err_set(err, r, "no memory to find its policy");
    ocm_terms_find(&q->placement, &q->policy, &q->terms);
    review_annotate(answer, STR("policy"), q->terms.policy);
    if (q->terms.unknown_mode.p != NULL)
        warn(answer, ocm_unknown_mode_text(q->terms.unknown_mode, arena), arena);
    if (q->terms.warning.n > 0)
        warn(answer, q->terms.warning, arena);
    if (q->terms.count > 0) {
        const struct str of_terms[] = {ocm_key_twice(&q->terms, arena),
                                       ocm_group_invalid(&q->placement, arena)};
        for (size_t i = 0; i < sizeof of_terms / sizeof of_terms[0]; i++)
            if (of_terms[i].n > 0)
                warn(answer, of_terms[i], arena);
    }
    return 0;
}

static int prepare(struct admission_question *question, struct review_answer *answer,
                   struct str *ret_settled, struct err *err) {
    struct placement_question *q = own(question);
    q->is_updated = str_eq(question->review->operation, STR("UPDATE"));
    *ret_settled = STR("");
    int r = q->is_updated ? read_old(q, err) : 0;
    if (r != 0)
        return r;
    if (q->is_negative)
        *ret_settled = STR("a Placement that no cluster can be selected for");
    else if (q->placement.meta.terminating)
        *ret_settled = STR("a Placement that is being deleted");
    else if (q->shape.disabled && !placement_options(q)->is_publisher)
        *ret_settled = STR("a Placement that Open Cluster Management leaves alone");
    return str_empty(*ret_settled) ? find_terms(q, answer, err) : 0;
}

/* ---- the result ---- */

/* Counts the entries that are not ours: a patch must not change their number. */
static uint32_t count_theirs(const struct placement_shape *s) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->configuration_count; i++)
        count +=
            !s->configurations[i].is_ours && !str_eq(s->configurations[i].built_in, STR("Spread"));
    for (uint32_t i = 0; i < s->predicate_count; i++)
        count += s->predicates[i].expression_count - s->predicates[i].ours;
    return count;
}

static int check(const struct admission_question *now, const struct admission_question *before,
                 const char **ret_why, struct err *err) {
    const struct placement_shape *is = &placement_question(now)->shape,
                                 *was = &placement_question(before)->shape;
    uint32_t gated = 0;
    *ret_why = "the Placement is unchanged";
    for (uint32_t i = 0; i < is->predicate_count; i++)
        gated += is->predicates[i].ours > 0;
    if (gated != 0 && gated != is->predicate_count)
        return err_set(err, -EINVAL, "its spread would be a condition of some predicates only");
    if (count_theirs(is) != count_theirs(was))
        return err_set(err, -EINVAL, "an entry that is not Evenkeel's would be lost");
    return 0;
}

/* ---- mistakes ---- */

static void find(const struct admission_question *question, struct findings *f) {
    const struct placement_question *q = placement_question(question);
    (void)findings_of_placement(question->review->object, &q->placement,
                                f); /* findings so far stay */
}

/* ---- the kind ---- */

/* OCM's controller uses the number as a slice index. upstream: pkg/placement schedule.go */
static int refuse_negative(const struct admission_question *question, struct patch *patch,
                           struct admission_outcome *ret, struct err *err) {
    const struct placement_question *q = placement_question(question);
    (void)patch, (void)err; /* this plugin changes nothing */
    if (!q->is_negative || (q->is_updated && q->old_number == q->number))
        return 0;
    ret->refused = 422;
    ret->cause = arena_printf(
        q->head.arena,
        "spec.numberOfClusters: %lld is negative, which would crash Open Cluster Management's "
        "controller; without it, all clusters are selected",
        (long long)q->number);
    return 0;
}

const struct admission_plugin placement_plugin_number = {
    .name = "number", .settled_too = true, .run = refuse_negative};

static const struct admission_plugin *const plugins[] = {&placement_plugin_number,
                                                         &placement_plugin_spread};

const struct admitted_kind admitted_placements = {
    .name = "placements",
    .object = "the Placement",
    .group = {OCM_GROUP, sizeof OCM_GROUP - 1},
    .resource = {"placements", 10},
    .kind = {PLACEMENT_KIND, sizeof PLACEMENT_KIND - 1},
    .plugins = plugins,
    .plugin_count = sizeof plugins / sizeof plugins[0],
    .question_size = sizeof(struct placement_question),
    .updates = true,
    .decode = decode,
    .prepare = prepare,
    .check = check,
    .find = find,
};
