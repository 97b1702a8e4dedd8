#include "cli/explanation.h"

#include "base/table.h"
#include "cli/answer_table.h"
#include "cli/decision_lists.h"

/* ---- what a decision is about ---- */

/* Decisions of older daemons have no kind: they are about pods. */
static struct subject subject_of(const struct value *decision) {
    const struct str name = value_text(value_at(decision, "name"));
    const struct str kind = value_text(value_at(decision, "kind"));
    const struct subject pod =
        subject_pod(value_text(value_at(decision, "namespace")),
                    name.n > 0 ? name : value_text(value_at(decision, "generateName")));
    return str_empty(kind) || str_eq(kind, pod.kind)
               ? pod
               : (struct subject){value_text(value_at(decision, "group")), kind, pod.namespace,
                                  pod.name};
}

/* Appends the subject's name for people, followed by a text. */
static void say_subject(const struct subject *subject, const char *after, struct strbuf *out) {
    CLEANUP(strbuf_done) struct strbuf name = {0};
    subject_print(subject, &name);
    table_text(strbuf_str(&name), out);
    strbuf_append_str(out, str_of(after));
}

/* ---- whole decisions ---- */

/* upstream: kube-scheduler preemption.go DryRunPreemption, which does not call extenders. */
static void say_who_evicts(const struct value *decision, struct strbuf *out) {
    bool is_ours = false, could_be_made_room = false;
    for (const struct value *c = value_at(decision, "constraints")->first; c != NULL; c = c->next)
        is_ours =
            is_ours || (!str_eq(value_text(value_at(c, "from")), STR("pod")) &&
                        str_eq(value_text(value_at(c, "whenUnsatisfiable")), STR("DoNotSchedule")));
    for (const struct value *d = value_at(decision, "dropped")->first; d != NULL; d = d->next)
        could_be_made_room =
            could_be_made_room || str_eq(value_text(value_at(d, "verdict")), STR("Unschedulable"));
    if (is_ours && could_be_made_room)
        strbuf_append_str(
            out,
            STR("\nkube-scheduler evicts no pod to make room under a constraint of defaults or of "
                "a rule, unless kube-scheduler's configuration has the same constraint.\n"));
}

/* Appends the ages of the data that was used. State files and older daemons have only one age. */
static void say_ages(const struct value *decision, struct strbuf *out) {
    const struct value *ages = value_as(decision, "dataAges", JSON_OBJECT);
    for (const struct value *kind = ages->first; kind != NULL; kind = kind->next)
        value_say(kind, kind->at > 0 ? ", {@} heard {#} ms before" : "{@} heard {#} ms before",
                  out);
    if (ages->count == 0)
        value_say(decision, "from data {0dataAgeMilliseconds} ms old", out);
}

static const struct value_kind decision_kinds[] = {
    {"dryRun", JSON_BOOL},       {"cut", JSON_BOOL},      {"number", JSON_NUMBER},
    {"candidates", JSON_NUMBER}, {"passed", JSON_NUMBER}, {"preferred", JSON_NUMBER},
};

static void print_decision(const struct value *decision, struct strbuf *out) {
    VALUE_EXPECT(decision, decision_kinds);
    value_say(decision,
              "\n[#{#number} ][of {replica} ]{~verb}: {~result}, {~time}, in {0tookMicroseconds} "
              "us, ",
              out);
    say_ages(decision, out);
    value_say(decision,
              "[{?dryRun}, a dry run][{?cut}, of which only a part was kept]\n"
              "[{message}\n]"
              "[as a pod of {generateName}*, before it had its name\n]"
              "[by policy {policy}\n]"
              "[to node {node}\n]"
              "[asked for by {by}, from {from}\n|asked for by {by}\n|asked for from {from}\n]"
              "[{#passed} of {#candidates} nodes passed\n|{#candidates} nodes scored\n]",
              out);
    const int64_t candidates = value_count(value_at(decision, "candidates"));
    const int64_t known = value_count(value_at(decision, "knownNodes"));
    if (known > candidates && value_at(decision, "candidates")->kind == JSON_NUMBER)
        strbuf_appendf(out, "%lld other nodes were not offered by kube-scheduler\n",
                       (long long)(known - candidates));
    value_say(decision,
              "[{#preferred} of the best nodes preferred, all in one domain: the pod counts there "
              "until it is seen\n]",
              out);
    decision_lists_put(decision, out);
    say_who_evicts(decision, out);
}

/* ---- the object itself, and who was asked ---- */

/* Appends the replicas that did not answer: their decisions are missing. */
static void say_silent(const struct value *root, struct strbuf *out) {
    const struct value *replicas = value_as(root, "replicas", JSON_ARRAY);
    uint32_t answered = 0;
    for (const struct value *r = replicas->first; r != NULL; r = r->next)
        answered += value_holds(value_as(r, "answered", JSON_BOOL));
    if (answered == replicas->count)
        return;
    strbuf_appendf(out, "%u of %u replicas answered; decisions of the others are missing\n",
                   answered, replicas->count);
    value_say_each(replicas, "[{!answered}no answer from {~server}: {~error}\n]", UINT32_MAX, out);
}

/* Appends the reason why the pod itself was not read, and the age of the replica's data, which is
 * then used. */
static void say_not_read(const struct value *root, const struct subject *subject,
                         struct strbuf *out) {
    if (!value_holds(value_at(root, "podNotRead")))
        return;
    say_subject(subject, ": ", out);
    value_say(root,
              "the pod itself was not read: {podNotRead}\n"
              "[the data of replica {~replica.name} is {#replica.dataAgeMilliseconds} ms old\n]",
              out);
}

/* Appends the cause and state of the object. */
static void say_object(const struct value *root, const struct subject *subject,
                       struct strbuf *out) {
    const struct value *decisions = value_as(root, "decisions", JSON_ARRAY);
    if (value_holds(value_at(root, "cause"))) {
        const struct subject asked = !str_empty(subject->name) || decisions->count == 0
                                         ? *subject
                                         : subject_of(decisions->last);
        say_subject(&asked, ": ", out);
        value_say(root, "[{cause.summary}\n]{~cause.text}\n", out);
        value_say(value_at(root, "state.podScheduled"),
                  "[{status=False}PodScheduled is False]"
                  "[{status=False} since {since}]"
                  "[{status=False}, {~reason}: {~message}\n]",
                  out);
        value_say(root, "[the pod as {podFrom} has it\n]", out);
    }
    value_say(root, "[{noAdmission}\n]", out);
    say_not_read(root, subject, out);
}

/* Appends the first lines: the cause and state of the object, and silent replicas. */
static void say_state(const struct value *root, const struct subject *subject, struct strbuf *out) {
    say_object(root, subject, out);
    say_silent(root, out);
    if (value_holds(value_at(root, "cause")) || out->n > 0)
        strbuf_append_char(out, '\n');
}

/* ---- an answer ---- */

static void print_decisions(const struct value *answer, struct strbuf *out) {
    const struct value *decisions = value_as(answer, "decisions", JSON_ARRAY);
    const struct str uid = value_text(value_at(answer, "state.uid"));
    if (decisions->count > 0) {
        const struct subject last = subject_of(decisions->last);
        say_subject(&last, ", ", out);
    }
    value_say(answer, "by replica {~replica.name} (evenkeel {~replica.version})\n", out);
    for (const struct value *d = decisions->first; d != NULL; d = d->next) {
        const struct str of = value_text(value_at(d, "uid"));
        print_decision(d, out);
        if (uid.n > 0 && of.n > 0 && !str_eq(uid, of))
            strbuf_append_str(out, STR("This was about another pod of the same name.\n"));
    }
    value_say(answer, "[\nnot judged: {notJudged}\n]", out);
}

static void print_now(const struct value *now, struct strbuf *out) {
    if (now->kind != JSON_OBJECT)
        return;
    strbuf_append_str(out, STR("\njudged now, as a what-if: "));
    print_decisions(now, out);
}

void explanation_print(const struct value *root, const struct subject *subject,
                       struct strbuf *out) {
    const struct value *now = value_as(root, "now", JSON_OBJECT);
    say_state(root, subject, out);
    if (now->kind == JSON_OBJECT && value_at(root, "decisions")->count == 0)
        strbuf_append_str(out, STR("no decision about it is kept\n"));
    else
        print_decisions(root, out);
    print_now(now, out);
}

void explanation_print_late(const struct value *root, const struct subject *subject,
                            struct strbuf *out) {
    strbuf_append_char(out, '\n');
    say_object(root, subject, out);
    print_now(value_as(root, "now", JSON_OBJECT), out);
}

/* ---- a line for each decision ---- */

/* Returns an object's kind and name; for a pod only the name, because most decisions are about
 * pods. */
static struct str cell_object(const struct value *decision, const void *ctx) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    const struct subject s = subject_of(decision), pod = subject_pod(s.namespace, s.name);
    (void)ctx;
    if (subject_eq(&s, &pod))
        strbuf_appendf(&text, "%.*s/%.*s", STR_ARG(s.namespace), STR_ARG(s.name));
    else
        subject_print(&s, &text);
    strbuf_append_str(&text, value_holds(value_at(decision, "name")) ? STR("") : STR("*"));
    return arena_str(decision->of->arena, strbuf_str(&text));
}

static const struct answer_column recent_columns[] = {
    NUMBER("NUMBER", "{#number}", "-"),
    COLUMN("TIME", "{time}"),
    COLUMN("VERB", "{verb}"),
    CELL("OBJECT", cell_object, NULL),
    COLUMN("NODES", "[{node}|{#passed} of {#candidates}|{#candidates}|-]"),
    COLUMN("RESULT", "{result}"),
    COLUMN("MESSAGE", "{message}"),
};
static const struct answer_table recent = {COLUMNS(recent_columns), .is_first = true};

void explanation_print_list(const struct value *root, struct strbuf *out) {
    answer_table_put(&recent, value_as(root, "decisions", JSON_ARRAY), out);
    say_silent(root, out);
}
