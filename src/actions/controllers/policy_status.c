#include "controllers/policy_status.h"

#include "base/limits.h"
#include "base/log.h"
#include "controllers/reasons.h"
#include "kube/client/path.h"
#include "model/kinds.h"
#include "model/names.h"
#include "policy/count.h"
#include "policy/outlook.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LOOK_MS = 1000,  /* between two checks of all policies */
    PACE_MS = 200,   /* between two writes */
    AGAIN_MS = 5000, /* between two writes of one policy */
    RECOUNT_MS = 60000,
    RECOUNT_SOON_MS = 5000, /* from one round to the next, if a policy is not counted yet */
    STEPS_SOON = 8, /* of a round, in each look while a policy waits; about a millisecond a step */
    REFUSED_MS = 60000,
    LACKS_MS = 600000, /* between two writes of a field that the object did not have after the first
                          write */
    CHANGES = 8,       /* writes under way that Events will report */
    NAMES_BYTES = LIMIT_POLICIES * 254,
    ARENA_BYTES = 1 << 20, /* memory for the verdict on one policy */
};

/* Conditions that a write under way changes. Events report them when the write is done. */
struct change {
    char name[254], uid[64];
    bool changed[POLICY_CONDITIONS];
    enum policy_reason reasons[POLICY_CONDITIONS];
    char messages[POLICY_CONDITIONS][ERR_TEXT_SIZE];
};

struct policy_status_controller {
    struct policy_status_controller_options options;
    struct kube_io io;
    struct write_handle *writes;
    struct kube_timer timer;
    struct strbuf uneven;       /* text about the uneven workloads of one policy */
    struct strbuf names;        /* names of the policies to write; a NUL ends each name */
    struct policy_count *count; /* NULL: pods are not counted */
    struct policy_outlook *outlook;
    struct arena arena; /* memory of one verdict */
    int64_t counted_ms; /* when the last round ended; INT64_MIN: none has */
    bool count_soon;    /* a policy waits for a round that has it */
    bool refused;       /* the last write was refused, which was logged */
    struct {            /* fields that the API server does not know, as bits */
        uint32_t fields, logged;
        int64_t until_ms; /* when they are written again: the definition may be new by then */
    } undeclared;
    struct change changes[CHANGES]; /* a change without a name is free */
};

static int64_t now_ms(const struct policy_status_controller *r) {
    return r->options.clock->now_ms(r->options.clock);
}

static void wall_time(const struct policy_status_controller *r, char ret[KUBE_TIME_SIZE]) {
    kube_time_text(r->io.wall_us(), ret);
    (void)snprintf(ret + 19, KUBE_TIME_SIZE - 19, "Z"); /* metav1.Time has whole seconds */
}

static uint32_t undeclared(const struct policy_status_controller *r) {
    return now_ms(r) < r->undeclared.until_ms ? r->undeclared.fields : 0;
}

static int64_t may_write_ms(void *ctx) {
    const struct policy_status_controller *r = ctx;
    return elector_remaining_ms(r->options.elector);
}

/* ---- Events ---- */

static void report(const struct policy_status_controller *r, const struct event_object *policy,
                   enum controller_reason why, struct str note) {
    const struct event_reason *reason = &controller_reasons[why];
    const struct event event = {
        .regarding = *policy, .type = reason->type, .reason = str_of(reason->name), .note = note};
    event_record(r->options.events, &event);
}

static struct event_object object_of(struct str name, struct str uid) {
    const struct watched_kind *kind = &watched_kinds[KIND_TOPOLOGY_POLICY];
    return (struct event_object){STR(EVENKEEL_API), str_of(kind->kind), STR(""), name, uid};
}

static bool is_good(enum policy_reason reason) {
    return reason == POLICY_IN_FORCE || reason == POLICY_AUDITED || reason == POLICY_NODES_SUIT ||
           reason == POLICY_NOT_SHADOWED;
}

/* Reports a change: "Effective is False (NoNodeHasKey): no node has the label ..." */
static void tell_change(const struct policy_status_controller *r, const struct change *c) {
    const struct event_object policy = object_of(str_of(c->name), str_of(c->uid));
    for (int i = 0; i < POLICY_CONDITIONS; i++) {
        const struct policy_reason_row *row = &policy_reasons[c->reasons[i]];
        CLEANUP(strbuf_done) struct strbuf note = {0};
        if (!c->changed[i])
            continue;
        strbuf_appendf(&note, "%s is %s (%s): %s", row->type, row->status, row->name,
                       c->messages[i]);
        report(r, &policy, is_good(c->reasons[i]) ? REASON_POLICY_RECOVERED : REASON_POLICY_PROBLEM,
               strbuf_str(&note));
    }
}

/* Remembers conditions that are bad, until they are good: between the two they may be Unknown,
 * which is no recovery. Every replica does, because the next one to lead reports the recovery. */
static void remember_problems(const struct policy_status *status, struct policy_note *note) {
    for (int i = 0; i < POLICY_CONDITIONS; i++) {
        const bool bad_is_true = i == POLICY_SHADOWED;
        if (str_eq(status->conditions[i].status, bad_is_true ? STR("True") : STR("False")))
            note->unresolved |= 1u << i;
        else if (str_eq(status->conditions[i].status, bad_is_true ? STR("False") : STR("True")))
            note->unresolved &= ~(1u << i);
    }
}

/* Notes the conditions that a write would change. Leaves out unknown conditions, and new ones that
 * are good unless they were bad before. */
static void note_change(struct policy_status_controller *r, const struct policy *policy,
                        const struct policy_status *status, unsigned unresolved,
                        const struct policy_verdict *verdict) {
    struct change *c = NULL;
    bool any = false;
    for (int i = 0; i < CHANGES && c == NULL; i++)
        if (r->changes[i].name[0] == '\0' || str_eq(str_of(r->changes[i].name), policy->name))
            c = &r->changes[i];
    if (c == NULL || policy->name.n >= sizeof c->name || status->uid.n >= sizeof c->uid)
        return; /* Events may be lost */
    *c = (struct change){.name = ""};
    for (int i = 0; i < POLICY_CONDITIONS; i++) {
        const struct policy_condition_status *was = &status->conditions[i];
        const struct policy_reason_row *row = &policy_reasons[verdict->reasons[i]];
        bool same =
            str_eq(was->status, str_of(row->status)) && str_eq(was->reason, str_of(row->name));
        bool begins_well = is_good(verdict->reasons[i]) && (unresolved & 1u << i) == 0 &&
                           (str_empty(was->status) || str_eq(was->status, STR("Unknown")));
        c->changed[i] = !same && !begins_well && !str_eq(str_of(row->status), STR("Unknown"));
        c->reasons[i] = verdict->reasons[i];
        (void)snprintf(c->messages[i], sizeof c->messages[i], "%.*s",
                       STR_ARG(verdict->messages[i])); /* truncation is fine: for people */
        any = any || c->changed[i];
    }
    if (!any)
        return;
    memcpy(c->name, policy->name.p, policy->name.n);
    if (status->uid.n > 0)
        memcpy(c->uid, status->uid.p, status->uid.n);
}

static void conclude_change(struct policy_status_controller *r, struct str name, bool written) {
    for (int i = 0; i < CHANGES; i++) {
        if (!str_eq(str_of(r->changes[i].name), name))
            continue;
        if (written)
            tell_change(r, &r->changes[i]);
        r->changes[i].name[0] = '\0';
    }
}

/* Uses the same words for the same reason, so that Events count repetitions. */
static void tell_evasions(const struct policy_status_controller *r, const struct policy *policy,
                          const struct policy_status *status) {
    uint32_t evaded =
        policy_tallies_take_evaded(policy_source_tallies(r->options.policies), policy->name);
    const struct event_object object = object_of(policy->name, status->uid);
    for (uint32_t i = 0; r->options.evasions != NULL && i < POLICY_EVASIONS; i++) {
        const struct policy_evasion_row *row = &r->options.evasions[i];
        CLEANUP(strbuf_done) struct strbuf note = {0};
        if ((evaded & 1u << i) == 0 || row->name == NULL)
            continue;
        strbuf_appendf(&note, "%s: %s; the metric evenkeel_policy_evasions_total counts them",
                       row->name, row->note);
        report(r, &object,
               !row->denies                     ? REASON_POD_NOT_SPREAD
               : policy->mode == POLICY_REQUIRE ? REASON_POD_DENIED
                                                : REASON_POD_EVADES,
               strbuf_str(&note));
    }
}

/* Prepares and makes the Events that need no write of the status. The recorder limits them. */
static bool tell_events_of(void *ctx, const struct policy *policy,
                           const struct policy_status *status, struct policy_note *note) {
    remember_problems(status, note);
    tell_evasions(ctx, policy, status);
    return true;
}

/* ---- policies that need a write ---- */

static int64_t matched_by(const struct policy_status_controller *r, const struct policy *policy) {
    return r->count != NULL ? policy_count_of(r->count, policy) : -1;
}

/* Returns the policy's numbers. They borrow from r->uneven. */
static struct policy_numbers numbers_of(struct policy_status_controller *r,
                                        const struct policy *policy) {
    const uint32_t left_out = undeclared(r);
    strbuf_clear(&r->uneven);
    if (r->options.latest != NULL && (left_out & 1u << POLICY_UNEVEN) == 0)
        evenness_latest_note(r->options.latest, policy->name, &r->uneven);
    return (struct policy_numbers){
        .matched = matched_by(r, policy), .uneven = strbuf_str(&r->uneven), .undeclared = left_out};
}

static bool numbers_differ(const struct policy_status *status, const struct policy_verdict *verdict,
                           const struct policy_numbers *numbers) {
    return !policy_messages_are_right(status, verdict) ||
           (numbers->matched >= 0 && numbers->matched != status->matched) ||
           (numbers->uneven.n > 0 && !str_eq(numbers->uneven, status->uneven));
}

/* Adds to the verdict whether the policy has pods. Returns false if they have to be counted first,
 * and lets that begin. A number in the status counts only if it is of this generation: another
 * match is for other pods. */
static bool find_pods(struct policy_status_controller *r, const struct policy *policy,
                      const struct policy_status *status, struct policy_verdict *verdict) {
    const int64_t counted = matched_by(r, policy);
    const int64_t pods = counted >= 0 ? counted : policy_status_matched(status);
    r->count_soon |= counted < 0;
    if (!policy_status_had_pods(status))
        policy_verdict_count(verdict, pods);
    return pods >= 0;
}

/* Returns false without memory, if a listing is under way and the policy is not in force yet, or if
 * its pods are not counted yet. */
static bool judge(struct policy_status_controller *r, const struct policy *policy,
                  const struct policy_status *status, struct policy_verdict *ret) {
    const struct policy_prospect prospect = policy_outlook_of(r->outlook, policy->name);
    if (str_empty(policy->problem) && !prospect.found)
        return false;
    arena_reset(&r->arena);
    *ret = policy_verdict_on(policy, &prospect, &r->arena);
    if (ret->reasons[POLICY_EFFECTIVE] == POLICY_NODES_SUIT && !find_pods(r, policy, status, ret))
        return false;
    policy_verdict_keep(ret, status);
    return !arena_failed(&r->arena);
}

static bool is_due(const struct policy_status_controller *r, int64_t written_ms, int64_t pause_ms) {
    return written_ms == INT64_MIN || now_ms(r) - written_ms >= pause_ms;
}

/* Should a field be written that an earlier Evenkeel did not write? The answer may be yes again and
 * again, if somebody takes the field away. */
static bool should_add_keys(const struct policy_status_controller *r, const struct policy *policy,
                            const struct policy_status *status, int64_t written_ms) {
    return policy_status_lacks_keys(status, policy) &&
           (undeclared(r) & 1u << POLICY_SPREAD_TEXT) == 0 && is_due(r, written_ms, LACKS_MS);
}

/* `written_ms`: when the policy was written last; INT64_MIN: never. The writer limits how often a
 * policy is written. This only limits writes of numbers, because numbers change all the time, and
 * of fields that are not there. */
static bool needs_write(struct policy_status_controller *r, const struct policy *policy,
                        const struct policy_status *status, int64_t written_ms) {
    struct policy_verdict verdict;
    if (status->generation <= 0 || !kube_path_segment(policy->name))
        return false; /* the policy was not read, or its name is not valid */
    if (!judge(r, policy, status, &verdict))
        return false;
    if (!policy_status_is_right(status, &verdict) || should_add_keys(r, policy, status, written_ms))
        return true;
    if (!is_due(r, written_ms, RECOUNT_MS))
        return false;
    const struct policy_numbers numbers = numbers_of(r, policy);
    return numbers_differ(status, &verdict, &numbers);
}

static bool note_name(void *ctx, const struct policy *policy, const struct policy_status *status,
                      struct policy_note *note) {
    struct policy_status_controller *r = ctx;
    if (needs_write(r, policy, status, note->written_ms)) {
        strbuf_append_str(&r->names, policy->name);
        strbuf_append_char(&r->names, '\0');
    }
    return !strbuf_failed(&r->names); /* policies that do not fit wait for a later check */
}

static void want_writes(struct policy_status_controller *r) {
    strbuf_clear(&r->names);
    policy_live_each(r->options.policies, note_name, r);
    writer_want_each(r->writes, strbuf_str(&r->names));
}

/* A round begins a minute after the last one, or some seconds after it if a policy waits. */
static void count_pods(struct policy_status_controller *r) {
    const int64_t pause_ms = r->count_soon ? RECOUNT_SOON_MS : RECOUNT_MS;
    if (r->count == NULL || !cache_ready(r->options.cache) || !is_due(r, r->counted_ms, pause_ms))
        return;
    bool ended = false;
    for (int i = 0; i < (r->count_soon ? STEPS_SOON : 1) && !ended; i++)
        ended = policy_count_step(r->count);
    if (!ended)
        return;
    r->counted_ms = now_ms(r);
    r->count_soon = false;
}

static void look(void *ctx) {
    struct policy_status_controller *r = ctx;
    if (may_write_ms(r) > 0) {
        policy_outlook_step(r->outlook);
        count_pods(r);
        want_writes(r);
    }
    if (r->options.events != NULL)
        policy_live_each(r->options.policies, tell_events_of, r);
    r->io.timer_start(r->options.client, &r->timer, LOOK_MS);
}

/* ---- writing ---- */

struct making {
    struct policy_status_controller *controller;
    struct str name;
    struct write *write;
};

/* Makes the write if the policy has the wanted name. */
static bool make_for(void *ctx, const struct policy *policy, const struct policy_status *status,
                     struct policy_note *note) {
    struct making *m = ctx;
    struct policy_status_controller *r = m->controller;
    char now[KUBE_TIME_SIZE], policies[KIND_PATH_SIZE];
    struct policy_verdict verdict;
    if (!str_eq(policy->name, m->name))
        return true;
    if (!needs_write(r, policy, status, note->written_ms) || !judge(r, policy, status, &verdict))
        return false;
    note->written_ms = now_ms(r);
    wall_time(r, now);
    kind_path(&watched_kinds[KIND_TOPOLOGY_POLICY], policies);
    m->write->verb = WRITE_APPLY;
    strbuf_appendf(&m->write->path, "%s/%.*s/status", policies, STR_ARG(policy->name));
    const struct policy_numbers numbers = numbers_of(r, policy);
    policy_status_write(status, policy, &verdict, &numbers, str_of(now), &m->write->body);
    remember_problems(status, note);
    note_change(r, policy, status, note->unresolved, &verdict);
    return false;
}

static int make(void *ctx, struct str name, struct write *ret, struct err *err) {
    struct policy_status_controller *r = ctx;
    struct making making = {.controller = r, .name = name, .write = ret};
    (void)err; /* the writer notices a body that does not fit */
    policy_live_each(r->options.policies, make_for, &making);
    return 0;
}

/* Leaves fields out for a while that the API server does not know. Returns false if the answer
 * names none. */
static bool leave_out(struct policy_status_controller *r, const struct write_result *result) {
    const uint32_t fields =
        result->end == WRITE_FAILED ? policy_status_undeclared(result->problem) : 0;
    if (fields == 0)
        return false;
    r->undeclared.fields = undeclared(r) | fields;
    r->undeclared.until_ms = now_ms(r) + LACKS_MS;
    for (int i = 0; i < POLICY_FIELDS; i++)
        if ((fields & ~r->undeclared.logged & 1u << i) != 0)
            LOG_W("the API server does not know a field of the status, which is left out: update "
                  "the CustomResourceDefinition of policies",
                  LOG_STR("field", str_of(policy_status_fields[i])),
                  LOG_STR("err", result->problem));
    r->undeclared.logged |= fields;
    return true;
}

static void done(void *ctx, struct str name, const struct write_result *result) {
    struct policy_status_controller *r = ctx;
    bool good = result->end == WRITE_DONE || result->end == WRITE_GONE;
    bool refused = result->end == WRITE_REFUSED;
    if (!leave_out(r, result) && !good && !(refused && r->refused))
        LOG_W("the status of a policy was not written", LOG_STR("policy", name),
              LOG_INT("status", result->status), LOG_STR("err", result->problem));
    r->refused = refused;
    conclude_change(r, name, result->end == WRITE_DONE);
}

/* ---- life ---- */

static int begin(struct policy_status_controller *r, struct err *err) {
    const struct write_owner owner = {.what = kind_name(&watched_kinds[KIND_TOPOLOGY_POLICY]),
                                      .lane = {.objects = LIMIT_POLICIES,
                                               .pace_ms = PACE_MS,
                                               .again_ms = AGAIN_MS,
                                               .retry_ms = AGAIN_MS,
                                               .retry_max_ms = AGAIN_MS,
                                               .refused_ms = REFUSED_MS,
                                               .may_write_ms = may_write_ms,
                                               .ctx = r},
                                      .make = make,
                                      .done = done,
                                      .ctx = r};
    r->outlook = policy_outlook_new(r->options.policies, r->options.cache);
    if (r->options.cache != NULL)
        r->count = policy_count_new(r->options.policies, r->options.cache);
    if (r->outlook == NULL || (r->options.cache != NULL && r->count == NULL))
        return err_set(err, -ENOMEM, "no memory to report on policies");
    return writer_join(r->options.writer, &owner, &r->writes, err);
}

int policy_status_controller_start(const struct policy_status_controller_options *options,
                                   struct policy_status_controller **ret, struct err *err) {
    struct policy_status_controller *r = calloc(1, sizeof *r);
    if (r == NULL)
        return err_set(err, -ENOMEM, "no memory to report on policies");
    r->options = *options;
    if (r->options.clock == NULL)
        r->options.clock = clock_real();
    r->io = kube_io_or_real(options->io);
    r->counted_ms = INT64_MIN;
    arena_init(&r->arena, ARENA_BYTES);
    r->names.max = NAMES_BYTES;
    r->timer = (struct kube_timer){.fn = look, .ctx = r};
    int result = begin(r, err);
    if (result != 0) {
        policy_status_controller_free(r);
        return result;
    }
    *ret = r;
    r->io.timer_start(r->options.client, &r->timer, 0);
    return 0;
}

void policy_status_controller_free(struct policy_status_controller *r) {
    if (r == NULL)
        return;
    r->io.timer_cancel(r->options.client, &r->timer);
    writer_leave(r->writes);
    policy_count_free(r->count);
    policy_outlook_free(r->outlook);
    arena_done(&r->arena);
    strbuf_done(&r->names);
    strbuf_done(&r->uneven);
    free(r);
}
