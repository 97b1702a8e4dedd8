#include "cli/explanation.h"

#include "base/json_reader.h"
#include "base/table.h"
#include "cli/decision_lists.h"
#include "cli/explanation_read.h"

#include <errno.h>

/* ---- lines ---- */

/* A line; `text` may be anybody's, so nothing in it may end the line or move the cursor. */
static void say(struct strbuf *out, const char *before, struct str text, const char *after) {
    strbuf_append_str(out, str_of(before));
    table_text(text, out);
    strbuf_append_str(out, str_of(after));
}

/* ---- what a decision means to kube-scheduler ---- */

/* Does `wanted` hold for any item of the list? */
static bool any_item(struct str list, bool (*wanted)(const struct json_reader *),
                     struct arena *arena) {
    struct json_reader r;
    bool found = false;
    json_reader_init(&r, list, arena, "Explanation.decisions");
    if (json_array(&r))
        while (!found && json_element(&r))
            found = wanted(&r);
    return found;
}

static bool is_hard_and_ours(const struct json_reader *constraint) {
    return !str_eq(json_peek_member(constraint, STR("from")), STR("pod")) &&
           str_eq(json_peek_member(constraint, STR("whenUnsatisfiable")), STR("DoNotSchedule"));
}

static bool could_be_made_room(const struct json_reader *dropped) {
    return str_eq(json_peek_member(dropped, STR("verdict")), STR("Unschedulable"));
}

/* upstream: kube-scheduler preemption.go DryRunPreemption, which asks no extender. */
static void say_who_evicts(const struct explained *d, struct arena *arena, struct strbuf *out) {
    if (any_item(d->constraints, is_hard_and_ours, arena) &&
        any_item(d->dropped, could_be_made_room, arena))
        strbuf_appendf(out, "\nkube-scheduler evicts no pod to make room under a constraint of "
                            "defaults or of a rule, unless it is configured with the same.\n");
}

/* ---- whole decisions ---- */

/* "nodes heard 12 ms and pods 3 ms before", of what was used. Files and older daemons have one
 * age. */
static void say_ages(const struct explained *d, struct arena *arena, struct strbuf *out) {
    struct json_reader r;
    struct str kind;
    bool said = false;
    json_reader_init(&r, d->ages, arena, "Explanation.decisions");
    if (d->ages.n > 0 && json_object(&r))
        while (json_member(&r, &kind)) {
            int64_t ms = json_integer(&r, INT64_MIN, INT64_MAX);
            say(out, said ? ", " : "", kind, "");
            strbuf_appendf(out, " heard %lld ms before", (long long)ms);
            said = true;
        }
    if (!said)
        strbuf_appendf(out, "from data %lld ms old", (long long)d->data_age_ms);
}

static void print_head(const struct explained *d, struct arena *arena, struct strbuf *out) {
    strbuf_append_char(out, '\n');
    if (d->number >= 0)
        strbuf_appendf(out, "#%lld ", (long long)d->number);
    if (d->replica.n > 0)
        say(out, "of ", d->replica, " ");
    say(out, "", d->verb, ": ");
    say(out, "", d->result, ", ");
    say(out, "", d->time, "");
    strbuf_appendf(out, ", in %lld us, ", (long long)d->took_us);
    say_ages(d, arena, out);
    strbuf_appendf(out, "%s%s\n", d->dry_run ? ", a dry run" : "",
                   d->cut ? ", of which only a part was kept" : "");
    if (d->message.n > 0)
        say(out, "", d->message, "\n");
    if (d->generate_name.n > 0)
        say(out, "as a pod of ", d->generate_name, "*, before it had its name\n");
    if (d->policy.n > 0)
        say(out, "by policy ", d->policy, "\n");
    if (d->node.n > 0)
        say(out, "to node ", d->node, "\n");
    if (d->by.n > 0)
        say(out, "asked for by ", d->by, d->from.n > 0 ? "" : "\n");
    if (d->from.n > 0)
        say(out, d->by.n > 0 ? ", from " : "asked for from ", d->from, "\n");
    if (d->passed >= 0 && d->candidates >= 0)
        strbuf_appendf(out, "%lld of %lld nodes passed\n", (long long)d->passed,
                       (long long)d->candidates);
    else if (d->candidates >= 0)
        strbuf_appendf(out, "%lld nodes scored\n", (long long)d->candidates);
    if (d->candidates >= 0 && d->known > d->candidates)
        strbuf_appendf(out, "%lld other nodes were not offered by kube-scheduler\n",
                       (long long)(d->known - d->candidates));
    if (d->preferred >= 0)
        strbuf_appendf(
            out,
            "%lld of the best preferred, all in one domain: there the pod counts until it "
            "is seen\n",
            (long long)d->preferred);
}

static int print_decision(const struct explained *d, struct arena *arena, struct strbuf *out,
                          struct err *err) {
    const struct {
        struct str list;
        const struct listing *how;
    } lists[] = {{d->constraints, &constraint_listing},     {d->dropped, &dropped_listing},
                 {d->datasets, &dataset_listing},           {d->leaving, &leaving_listing},
                 {d->scores, listing_of_scores(d->scores)}, {d->notes, &note_listing},
                 {d->warnings, &warning_listing},           {d->patch, &patch_listing}};
    int r = 0;
    print_head(d, arena, out);
    for (size_t i = 0; r == 0 && i < sizeof lists / sizeof lists[0]; i++) {
        r = listing_print(lists[i].list, lists[i].how, arena, out, err);
        if (r == 0 && i == 0)
            r = print_domains_of(d->constraints, arena, out, err);
        if (r == 0 && i == 0)
            r = print_counts(d->counts, arena, out, err);
    }
    if (r == 0)
        say_who_evicts(d, arena, out);
    return r;
}

static int check_memory(const struct arena *arena, const struct strbuf *out, struct err *err) {
    if (arena_failed(arena) || strbuf_failed(out))
        return err_set(err, -ENOMEM, "no memory for the answer");
    return 0;
}

/* ---- the object itself, and who was asked ---- */

static struct str member_text(struct str object, struct str key, struct arena *arena) {
    struct json_reader r;
    if (object.n == 0)
        return STR("");
    json_reader_init(&r, object, arena, "Explanation");
    return json_peek_member(&r, key);
}

struct row_replica {
    struct str server, error;
    bool answered;
};

static void read_replica(struct json_reader *r, struct row_replica *ret) {
    struct str key;
    *ret = (struct row_replica){.answered = false};
    if (json_object(r))
        while (json_member(r, &key)) {
            if (str_eq(key, STR("server")))
                ret->server = json_string(r);
            else if (str_eq(key, STR("error")))
                ret->error = json_string(r);
            else if (str_eq(key, STR("answered")))
                ret->answered = json_bool(r);
        }
}

/* Only if some did not answer: then decisions may be missing. */
static void say_silent(struct str list, struct arena *arena, struct strbuf *out) {
    CLEANUP(strbuf_done) struct strbuf silent = {0};
    uint32_t count = 0, answered = 0;
    struct row_replica row;
    struct json_reader r;
    if (list.n == 0)
        return;
    json_reader_init(&r, list, arena, "Explanation.replicas");
    if (json_array(&r))
        while (json_element(&r)) {
            read_replica(&r, &row);
            count++;
            answered += row.answered;
            if (!row.answered) {
                say(&silent, "no answer from ", row.server, ": ");
                say(&silent, "", row.error, "\n");
            }
        }
    if (answered == count)
        return;
    strbuf_appendf(out, "%u of %u replicas answered; decisions of the others are missing\n",
                   answered, count);
    strbuf_append_str(out, strbuf_str(&silent));
}

static void say_condition(struct str state, struct arena *arena, struct strbuf *out) {
    struct json_reader r;
    struct str key, condition = STR("");
    if (state.n == 0)
        return;
    json_reader_init(&r, state, arena, "Explanation.state");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            struct str value = json_skip(&r);
            if (str_eq(key, STR("podScheduled")))
                condition = value;
        }
    if (str_eq(member_text(condition, STR("status"), arena), STR("False"))) {
        struct str since = member_text(condition, STR("since"), arena);
        say(out, "PodScheduled is False", since.n > 0 ? STR(" since ") : since, "");
        say(out, "", since, "");
        say(out, ", ", member_text(condition, STR("reason"), arena), ": ");
        say(out, "", member_text(condition, STR("message"), arena), "\n");
    }
}

/* The first lines. */
static void say_state(const struct explanation *a, const struct subject *subject,
                      struct arena *arena, struct strbuf *out) {
    CLEANUP(strbuf_done) struct strbuf name = {0};
    if (a->cause.n > 0) {
        const struct subject asked = !str_empty(subject->name) || a->count == 0
                                         ? *subject
                                         : explained_subject(&a->items[a->count - 1]);
        subject_print(&asked, &name);
        say(out, "", strbuf_str(&name), ": ");
        say(out, "", member_text(a->cause, STR("text"), arena), "\n");
        say_condition(a->state, arena, out);
        if (a->pod_from.n > 0)
            say(out, "the pod as ", a->pod_from, " has it\n");
    }
    say_silent(a->replicas, arena, out);
    if (a->cause.n > 0 || out->n > 0)
        strbuf_append_char(out, '\n');
}

/* ---- an answer ---- */

static int print_decisions(const struct explanation *a, struct arena *arena, struct strbuf *out,
                           struct err *err) {
    int r = 0;
    if (a->count > 0) {
        CLEANUP(strbuf_done) struct strbuf name = {0};
        const struct subject last = explained_subject(&a->items[a->count - 1]);
        subject_print(&last, &name);
        say(out, "", strbuf_str(&name), ", ");
    }
    say(out, "by replica ", a->replica, "");
    say(out, " (evenkeel ", a->version, ")\n");
    struct str uid = member_text(a->state, STR("uid"), arena);
    for (uint32_t i = 0; r == 0 && i < a->count; i++) {
        r = print_decision(&a->items[i], arena, out, err);
        if (uid.n > 0 && a->items[i].uid.n > 0 && !str_eq(uid, a->items[i].uid))
            strbuf_append_str(out, STR("This was about another pod of the same name.\n"));
    }
    if (!str_empty(a->not_judged))
        say(out, "\nnot judged: ", a->not_judged, "\n");
    return r;
}

static int print_now(struct str now, struct arena *arena, struct strbuf *out, struct err *err) {
    struct explanation a;
    if (now.n == 0)
        return 0;
    int r = explanation_read(now, arena, &a, err);
    strbuf_append_str(out, STR("\njudged now, as a what-if: "));
    return r == 0 ? print_decisions(&a, arena, out, err) : r;
}

int explanation_print(struct str json, const struct subject *subject, struct arena *arena,
                      struct strbuf *out, struct err *err) {
    struct explanation a;
    int r = explanation_read(json, arena, &a, err);
    if (r != 0)
        return r;
    say_state(&a, subject, arena, out);
    if (a.count == 0 && a.now.n > 0)
        strbuf_append_str(out, STR("no decision about it is kept\n"));
    else
        r = print_decisions(&a, arena, out, err);
    if (r == 0)
        r = print_now(a.now, arena, out, err);
    if (a.pod_not_read.n > 0)
        say(out, "\nthe pod itself was not read: ", a.pod_not_read, "\n");
    return r == 0 ? check_memory(arena, out, err) : r;
}

/* A pod by its name alone, for most decisions are about pods. */
static struct str object_of(const struct explained *d, struct arena *arena) {
    CLEANUP(strbuf_done) struct strbuf text = {0};
    const struct subject s = explained_subject(d);
    const struct subject pod = subject_pod(s.namespace, s.name);
    if (subject_eq(&s, &pod))
        strbuf_appendf(&text, "%.*s/%.*s", STR_ARG(s.namespace), STR_ARG(s.name));
    else
        subject_print(&s, &text);
    strbuf_append_str(&text, d->name.n > 0 ? STR("") : STR("*"));
    return arena_str(arena, strbuf_str(&text));
}

static void put_recent(struct listing_rows *rows, const struct explained *d, struct arena *arena) {
    listing_put_number(rows, "number", d->number);
    listing_put(rows, "time", d->time);
    listing_put(rows, "verb", d->verb);
    listing_put(rows, "object", object_of(d, arena));
    if (d->node.n > 0)
        listing_put(rows, "nodes", d->node);
    else if (d->passed >= 0 && d->candidates >= 0)
        listing_put(
            rows, "nodes",
            arena_printf(arena, "%lld of %lld", (long long)d->passed, (long long)d->candidates));
    else if (d->candidates >= 0)
        listing_put_number(rows, "nodes", d->candidates);
    listing_put(rows, "result", d->result);
    listing_put(rows, "message", d->message);
    listing_end_row(rows);
}

int explanation_print_list(struct str json, struct arena *arena, struct strbuf *out,
                           struct err *err) {
    struct explanation a;
    struct listing_rows rows;
    int r = explanation_read(json, arena, &a, err);
    if (r != 0)
        return r;
    listing_begin(&rows, &recent_listing, arena);
    for (uint32_t i = 0; i < a.count; i++)
        put_recent(&rows, &a.items[i], arena);
    if (!listing_render(&rows, out))
        return err_set(err, -ENOMEM, "no memory for the table");
    say_silent(a.replicas, arena, out);
    return check_memory(arena, out, err);
}
