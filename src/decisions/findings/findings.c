#include "findings/findings.h"

#include "base/json_writer.h"
#include "base/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct finding_kind finding_kinds[FINDING_CODES] = {
    [FINDING_BEING_DELETED] = {"BeingDeleted",
                               "a candidate is left out because it is being deleted"},
    [FINDING_EXPIRED] = {"Expired", "a score is past its validUntil"},
    [FINDING_INVALID] = {"Invalid", "the API server or the owner's webhook would refuse a value, "
                                    "which is answered all the same"},
    [FINDING_KEEPS_FAILED] = {"KeepsFailed", "a cluster with a taint that the binding does not "
                                             "tolerate keeps replicas, or gets more"},
    [FINDING_KEY_UNKNOWN] = {"KeyUnknown", "no candidate has the key of a constraint or term"},
    [FINDING_LABEL_UNKNOWN] = {"LabelUnknown", "no candidate has a label that a selector or a "
                                               "spread asks for, which empties the answer"},
    [FINDING_MAX_GROUPS_UNSET] = {"MaxGroupsUnset", "maxGroups is not set: Karmada reads it as 0"},
    [FINDING_NAME_UNKNOWN] = {"NameUnknown", "the state has no object of a name, but has others of "
                                             "its kind"},
    [FINDING_NOT_SCHEDULED] = {"NotScheduled", "Karmada would not schedule this binding now"},
    [FINDING_OLD_VERSION] =
        {"OldVersion", "a version was read that API servers, or kube-schedulers, no longer read"},
    [FINDING_OTHER_KEY_TYPE] = {"OtherKeyType", "a term of type Label has a key that is a claim of "
                                                "clusters, or the reverse"},
    [FINDING_PASSED_OVER] = {"PassedOver", "a rule of the file has no effect: the peer passes over "
                                           "it, or Evenkeel does not judge it"},
    [FINDING_SELECTOR_MISSES_POD] = {"SelectorMissesPod", "a constraint's selector does not select "
                                                          "the pod itself: the constraint counts "
                                                          "none of these pods"},
    [FINDING_SINGLE_DOMAIN] = {"SingleDomain", "all candidates that count have the same value of a "
                                               "key: the constraint spreads over nothing"},
    [FINDING_TEMPLATE] = {"Template", "the file is a template that was not rendered"},
    [FINDING_UNKNOWN_FIELD] = {"UnknownField", "the kind has no such member, or not at this "
                                               "place"},
    [FINDING_UNUSABLE_DOMAIN] = {"UnusableDomain", "a domain counts as empty although none of its "
                                                   "candidates can take the pod"},
    [FINDING_VOLUME_PINS] = {"VolumePins", "a claim leaves only domains in which a constraint "
                                           "refuses the pod"},
};

/* ---- the list ---- */

void findings_init(struct findings *f, struct arena *own) {
    arena_init(own, LIMIT_FINDINGS_ARENA);
    own->steps.max = LIMIT_FINDINGS_STEPS;
    *f = (struct findings){.arena = own};
}

/* Orders findings with equal path and code by their texts, so that the order is always the same. */
static int compare(const struct finding *a, const struct finding *b) {
    const int by_path = str_cmp(a->path, b->path);
    if (by_path != 0)
        return by_path;
    const int by_code = strcmp(finding_kinds[a->code].code, finding_kinds[b->code].code);
    return by_code != 0 ? by_code : str_cmp(a->message, b->message);
}

/* Copies the texts only of a finding that is kept: a file may have very many mistakes. */
static void insert(struct findings *f, struct finding *finding) {
    uint32_t at = f->count;
    while (at > 0 && compare(&f->items[at - 1], finding) > 0)
        at--;
    if (at > 0 && compare(&f->items[at - 1], finding) == 0)
        return;
    if (at == LIMIT_FINDINGS) {
        f->omitted++;
        return;
    }
    finding->path = arena_str(f->arena, finding->path);
    finding->message = arena_str(f->arena, finding->message);
    finding->remedy = arena_str(f->arena, finding->remedy);
    if (arena_failed(f->arena))
        return;
    if (f->count == LIMIT_FINDINGS) {
        f->omitted++;
        f->count--;
    }
    memmove(&f->items[at + 1], &f->items[at], (f->count - at) * sizeof *f->items);
    f->items[at] = *finding;
    f->count++;
}

void findings_add(struct findings *f, enum finding_code code, struct str path, struct str remedy,
                  const char *message, ...) {
    enum { STEPS = 100 };           /* to write a message, and to find its place in the list */
    char text[LIMIT_FINDING_BYTES]; /* a longer message is cut */
    const struct str about = str_cut(f->about, sizeof text / 2);
    va_list args;
    if (!steps_take(&f->arena->steps, STEPS)) {
        f->omitted++;
        return;
    }
    if (about.n > 0)
        memcpy(text, about.p, about.n);
    va_start(args, message);
    (void)vsnprintf(text + about.n, sizeof text - about.n, message, args);
    va_end(args);
    if (f->items == NULL)
        f->items = arena_array(f->arena, LIMIT_FINDINGS + 1, sizeof *f->items);
    struct finding finding = {
        .code = code, .path = path, .message = str_of(text), .remedy = remedy};
    if (f->items != NULL && !arena_failed(f->arena))
        insert(f, &finding);
}

/* ---- as text ---- */

void findings_put(const struct findings *f, struct strbuf *json) {
    struct json_writer w = {.out = json};
    while (json->n > 0 && json->p[json->n - 1] != '}')
        json->n--; /* a line end */
    if (json->n == 0)
        return;
    json->n--;
    w.comma = json->p[json->n - 1] != '{';
    json_key(&w, STR("findings"));
    json_begin_array(&w);
    for (uint32_t i = 0; i < f->count; i++) {
        const struct finding *finding = &f->items[i];
        json_begin_object(&w);
        json_put_member(&w, STR("code"), str_of(finding_kinds[finding->code].code));
        json_put_member(&w, STR("path"), finding->path);
        json_key(&w, STR("message"));
        json_put_text(&w, finding->message);
        json_key(&w, STR("remedy"));
        json_put_text(&w, finding->remedy);
        json_end_object(&w);
    }
    json_end_array(&w);
    const bool ended_early = arena_failed(f->arena) || steps_spent(&f->arena->steps);
    const uint32_t omitted = f->omitted > 0 || !ended_early ? f->omitted : 1;
    if (omitted > 0) {
        json_key(&w, STR("findingsOmitted"));
        json_put_integer(&w, omitted);
    }
    json_end_object(&w);
}

void finding_say(const struct finding *finding, struct strbuf *out) {
    if (!str_empty(finding->path))
        strbuf_appendf(out, "%.*s: ", STR_ARG(finding->path));
    strbuf_append_str(out, finding->message);
    if (!str_empty(finding->remedy))
        strbuf_appendf(out, ". %.*s", STR_ARG(finding->remedy));
}
