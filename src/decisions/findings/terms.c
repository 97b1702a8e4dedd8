#include "findings/terms.h"

#include "base/json_reader.h"
#include "findings/affinity.h"
#include "findings/label_keys.h"
#include "findings/words.h"
#include "model/selector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Room for a path within a pod or a Placement. */
enum { PATH_BYTES = 200 };

/* ---- tolerations ---- */

struct toleration_rule {
    const char *operators[5], *effects[4]; /* each ended by NULL */
    bool is_whole;                         /* keys, values and combinations are checked, too */
};
static const struct toleration_rule rules_of[] = {
    [TOLERATIONS_OF_PODS] = {{"Equal", "Exists", "Lt", "Gt"},
                             {"NoSchedule", "PreferNoSchedule", "NoExecute"},
                             .is_whole = true},
    [TOLERATIONS_OF_PLACEMENTS] = {{"Equal", "Exists"},
                                   {"NoSelect", "PreferNoSelect", "NoSelectIfNew"},
                                   .is_whole = false},
    [TOLERATIONS_OF_BINDINGS] = {{"Equal", "Exists"},
                                 {"NoSchedule", "PreferNoSchedule", "NoExecute"},
                                 .is_whole = false},
};

static void check_word(struct str word, const char *const *words, struct str path,
                       const char *field, struct findings *f) {
    char at[PATH_BYTES], what[64];
    (void)snprintf(at, sizeof at, "%.*s.%s", STR_ARG(path), field);
    (void)snprintf(what, sizeof what, "%s of a toleration", field);
    (void)findings_of_word(word, words, what, str_of(at), f); /* the findings are the answer */
}

/* upstream: apimachinery api/validate/content IsDecimalInteger: no "+", and no 0 in front. */
static bool is_decimal_integer(struct str s) {
    const size_t sign = s.n > 0 && s.p[0] == '-' ? 1 : 0;
    int64_t value;
    return str_to_i64(s, &value) && s.p[0] != '+' && (s.p[sign] != '0' || s.n == 1);
}

/* Checks the value of a toleration with an operator that needs a value. */
static void check_value(const struct toleration *t, struct str path, struct findings *f) {
    const bool compares = str_eq(t->op, STR("Lt")) || str_eq(t->op, STR("Gt"));
    const bool equals = str_empty(t->op) || str_eq(t->op, STR("Equal"));
    char at[PATH_BYTES];
    (void)snprintf(at, sizeof at, "%.*s.value", STR_ARG(path));
    if (compares && !is_decimal_integer(t->value))
        findings_add(f, FINDING_INVALID, str_of(at), STR("Write a whole number"),
                     "'%.*s' is no whole number, which operator %.*s needs", STR_ARG(t->value),
                     STR_ARG(t->op));
    if (equals && !label_value_valid(t->value))
        findings_add(f, FINDING_INVALID, str_of(at), STR("Write the value of a taint"),
                     "an API server refuses '%.*s': it is no label value", STR_ARG(t->value));
}

static void check_parts(const struct toleration *t, struct str path, struct findings *f) {
    char at[PATH_BYTES];
    (void)snprintf(at, sizeof at, "%.*s.key", STR_ARG(path));
    if (!str_empty(t->key) && !label_key_valid(t->key))
        findings_add(f, FINDING_INVALID, str_of(at), STR("Write the key of a taint"),
                     "an API server refuses '%.*s': it is no label key", STR_ARG(t->key));
    (void)snprintf(at, sizeof at, "%.*s.tolerationSeconds", STR_ARG(path));
    if (t->has_seconds && !str_eq(t->effect, STR("NoExecute")))
        findings_add(f, FINDING_INVALID, str_of(at), STR("Remove it, or write effect: NoExecute"),
                     "an API server takes tolerationSeconds only with effect: NoExecute");
    check_value(t, path, f);
}

static void check_toleration(const struct toleration *t, const struct toleration_rule *rule,
                             struct str path, struct findings *f) {
    check_word(t->op, rule->operators, path, "operator", f);
    check_word(t->effect, rule->effects, path, "effect", f);
    if (!rule->is_whole)
        return;
    check_parts(t, path, f);
    if (str_empty(t->key) && !str_eq(t->op, STR("Exists")))
        findings_add(f, FINDING_INVALID, path, STR("Write operator: Exists, or a key"),
                     "without a key the operator must be Exists");
    if (str_eq(t->op, STR("Exists")) && !str_empty(t->value))
        findings_add(f, FINDING_INVALID, path, STR("Remove the value, or write operator: Equal"),
                     "a toleration with operator Exists has no value");
}

void findings_of_tolerations(struct tolerations tolerations, enum toleration_rules rules,
                             struct str path, struct findings *f) {
    char at[PATH_BYTES];
    for (uint32_t i = 0; i < tolerations.count && steps_take(&f->arena->steps, 1); i++) {
        (void)snprintf(at, sizeof at, "%.*s[%u]", STR_ARG(path), i);
        check_toleration(&tolerations.items[i], &rules_of[rules], str_of(at), f);
    }
}

/* ---- constraints ---- */

/* Gets the first label of the selector that the pod lacks, or has with another value. */
static void say_difference(const struct label_selector *s, const struct labels *pod,
                           struct str *ret_key, struct str *ret_value) {
    struct str value;
    for (uint32_t i = 0; i < s->match_labels.count; i++) {
        const struct label *wanted = &s->match_labels.items[i];
        if (labels_lookup(pod, wanted->key, &value) && str_eq(value, wanted->value))
            continue;
        *ret_key = wanted->key;
        *ret_value = wanted->value;
        return;
    }
}

static void check_selector(const struct pod *pod, const struct spread_constraint *c,
                           struct str path, struct findings *f) {
    struct selector s = {0};
    struct str key = {0}, value = {0};
    struct err err;
    if (!c->selector.present) {
        findings_add(f, FINDING_SELECTOR_MISSES_POD, path,
                     STR("Add a labelSelector that selects the pod's own labels"),
                     "the constraint has no labelSelector: it counts no pods, so it spreads "
                     "nothing");
        return;
    }
    const int r = selector_compile(&c->selector, (struct labels){0}, f->arena, &s, &err);
    if (r == -EINVAL)
        findings_add(f, FINDING_INVALID, path,
                     STR("Write valid labels, and In, NotIn, Exists or DoesNotExist"),
                     "an API server refuses the selector: %s", err.text);
    if (r != 0 || selector_matches(&s, labels_lookup, &pod->meta.labels))
        return;
    say_difference(&c->selector, &pod->meta.labels, &key, &value);
    if (str_empty(key))
        findings_add(f, FINDING_SELECTOR_MISSES_POD, path,
                     STR("Select labels that the pod has, or give the pod these labels"),
                     "the labelSelector does not select the pod itself: the constraint counts none "
                     "of these pods");
    else
        findings_add(f, FINDING_SELECTOR_MISSES_POD, path,
                     STR("Select labels that the pod has, or give the pod this label"),
                     "the labelSelector does not select the pod itself, which has no label "
                     "'%.*s: %.*s': the constraint counts none of these pods",
                     STR_ARG(key), STR_ARG(value));
}

static int compare_keys(const struct spread_constraint *a, const struct spread_constraint *b) {
    const int by_key = str_cmp(a->topology_key, b->topology_key);
    return by_key != 0 ? by_key : (int)a->hard - (int)b->hard;
}

/* Equal constraints stay in the order of the pod's list. */
static int compare_constraints(const void *a, const void *b) {
    const struct spread_constraint *x = *(const struct spread_constraint *const *)a,
                                   *y = *(const struct spread_constraint *const *)b;
    const int by_key = compare_keys(x, y);
    return by_key != 0 ? by_key : (x > y) - (x < y);
}

/* Marks each constraint that has the topologyKey and whenUnsatisfiable of an earlier constraint.
 * Returns NULL if there is no memory, or if no steps are left. */
static const bool *find_repeated(const struct pod *pod, struct arena *arena) {
    const uint32_t count = pod->constraint_count;
    const struct spread_constraint **sorted = arena_array(arena, count, sizeof *sorted);
    bool *repeated = arena_array(arena, count, sizeof *repeated);
    if (sorted == NULL || repeated == NULL || !steps_take_sort(&arena->steps, count))
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &pod->constraints[i];
    qsort(sorted, count, sizeof *sorted, compare_constraints);
    for (uint32_t i = 1; i < count; i++)
        if (compare_keys(sorted[i - 1], sorted[i]) == 0)
            repeated[sorted[i] - pod->constraints] = true;
    return repeated;
}

static void check_constraint(const struct pod *pod, const struct spread_constraint *c,
                             bool repeated, struct str path, struct findings *f) {
    const struct keyed_selector keyed = {&c->selector, &pod->meta.labels, c->match_label_keys,
                                         c->match_label_key_count};
    char at[PATH_BYTES];
    findings_of_label_keys(&keyed, path, f);
    if (c->has_min_domains && !c->hard) {
        (void)snprintf(at, sizeof at, "%.*s.minDomains", STR_ARG(path));
        findings_add(f, FINDING_INVALID, str_of(at),
                     STR("Remove it, or write whenUnsatisfiable: DoNotSchedule"),
                     "an API server takes minDomains only with whenUnsatisfiable: DoNotSchedule");
    }
    if (repeated)
        findings_add(f, FINDING_INVALID, path, STR("Remove one of them"),
                     "an API server refuses a second constraint with the same topologyKey '%.*s' "
                     "and whenUnsatisfiable",
                     STR_ARG(c->topology_key));
    (void)snprintf(at, sizeof at, "%.*s.labelSelector", STR_ARG(path));
    check_selector(pod, c, str_of(at), f);
}

void findings_of_pod(const struct pod *pod, struct str spec, struct findings *f) {
    const bool *repeated = find_repeated(pod, f->arena);
    char path[PATH_BYTES];
    for (uint32_t i = 0; repeated != NULL && i < pod->constraint_count; i++) {
        const struct spread_constraint *c = &pod->constraints[i];
        if (!steps_take(&f->arena->steps,
                        label_selector_steps(&c->selector) + pod->meta.labels.count))
            return;
        (void)snprintf(path, sizeof path, "%.*s.topologySpreadConstraints[%u]", STR_ARG(spec), i);
        check_constraint(pod, c, repeated[i], str_of(path), f);
    }
    (void)snprintf(path, sizeof path, "%.*s.tolerations", STR_ARG(spec));
    findings_of_tolerations(pod->tolerations, TOLERATIONS_OF_PODS, str_of(path), f);
    findings_of_affinity(pod, spec, f);
}

/* ---- versions ---- */

void findings_of_version(struct str json, const char *old, const char *write, const char *effect,
                         struct findings *f) {
    CLEANUP(strbuf_done) struct strbuf remedy = {.max = 256};
    struct json_reader r;
    json_reader_init(&r, json, f->arena, "object");
    if (!str_eq(json_peek_member(&r, STR("apiVersion")), str_of(old)))
        return;
    strbuf_appendf(&remedy, "Write %s", write);
    findings_add(f, FINDING_OLD_VERSION, STR("apiVersion"), strbuf_str(&remedy),
                 "%s is no longer served: %s", old, effect);
}
