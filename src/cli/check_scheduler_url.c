/*
 * Where an extender's entry makes kube-scheduler call: urlPrefix + "/" + verb, by POST. upstream:
 * kube-scheduler extender.go send.
 */
#include "cli/check_scheduler.h"

#include <stdio.h>

struct str judge_bare_url(struct str url) {
    while (url.n > 0 && url.p[url.n - 1] == '/')
        url.n--;
    return url;
}

static const struct verb {
    const char *field, *name;
    size_t offset;
    enum severity when_missing;
    const char *consequence;
} verbs[] = {
    {"filterVerb", "filter", offsetof(struct scheduler_extender, filter_verb), SEVERITY_ERROR,
     "hard constraints are not kept"},
    {"prioritizeVerb", "prioritize", offsetof(struct scheduler_extender, prioritize_verb),
     SEVERITY_WARNING, "soft constraints have no effect"},
    {"preemptVerb", "preempt", offsetof(struct scheduler_extender, preempt_verb), SEVERITY_WARNING,
     "preemption evicts pods from nodes that filter then rejects"},
};
enum { VERBS = sizeof verbs / sizeof verbs[0] };

static struct str verb_of(const struct scheduler_extender *e, const struct verb *verb) {
    struct str value;
    memcpy(&value, (const char *)e + verb->offset, sizeof value);
    return value;
}

/* The verb may be written with a part of the path in front. */
static bool ends_in_name(struct str verb, const char *name) {
    size_t slash = verb.n;
    while (slash > 0 && verb.p[slash - 1] != '/')
        slash--;
    return str_eq((struct str){verb.p + slash, verb.n - slash}, str_of(name));
}

/* Does urlPrefix + "/" + verb end in /extender/v1/NAME? */
static bool leads_to(struct str prefix, struct str verb, const char *name) {
    CLEANUP(strbuf_done) struct strbuf url = {.max = 1 << 16}, wanted = {.max = 100};
    strbuf_append_str(&url, judge_bare_url(prefix));
    strbuf_append_char(&url, '/');
    strbuf_append_str(&url, verb);
    strbuf_appendf(&wanted, "%s/%s", EXTENDER_PATH, name);
    return str_has_suffix(strbuf_str(&url), strbuf_str(&wanted));
}

void judge_verbs(const struct judge *j) {
    char advice[64];
    bool prefix_good = str_has_suffix(judge_bare_url(j->extender->url_prefix), STR(EXTENDER_PATH));
    for (size_t i = 0; i < VERBS; i++) {
        struct str verb = verb_of(j->extender, &verbs[i]);
        (void)snprintf(advice, sizeof advice, "set %s: %s", verbs[i].field,
                       verbs[i].name); /* fits */
        if (verb.n == 0)
            judge_say(j, verbs[i].when_missing, verbs[i].field, advice, "it is not set: %s",
                      verbs[i].consequence);
        else if (!ends_in_name(verb, verbs[i].name) ||
                 (prefix_good && !leads_to(j->extender->url_prefix, verb, verbs[i].name)))
            judge_say(j, SEVERITY_ERROR, verbs[i].field, advice,
                      "Evenkeel serves nothing at '%.*s/%.*s'",
                      STR_ARG(judge_bare_url(j->extender->url_prefix)), STR_ARG(verb));
    }
}

/* The path, when no verb of the right name makes it good. */
static void judge_path(const struct judge *j, struct str prefix) {
    static const char advice[] = "end it in " EXTENDER_PATH;
    struct str bare = judge_bare_url(prefix);
    for (size_t i = 0; i < VERBS; i++) {
        struct str verb = verb_of(j->extender, &verbs[i]);
        char ending[32];
        (void)snprintf(ending, sizeof ending, "/%s", verbs[i].name); /* fits */
        if (str_has_suffix(bare, str_of(ending))) {
            judge_say(j, SEVERITY_ERROR, "urlPrefix", advice,
                      "it ends in a verb, which kube-scheduler appends by itself");
            return;
        }
        if (verb.n > 0 && leads_to(prefix, verb, verbs[i].name))
            return;
    }
    if (!str_has_suffix(bare, STR(EXTENDER_PATH)))
        judge_say(j, j->chosen ? SEVERITY_WARNING : SEVERITY_ERROR, "urlPrefix", advice,
                  "Evenkeel answers below " EXTENDER_PATH
                  " only; another path needs a proxy that rewrites it");
}

void judge_url(const struct judge *j) {
    struct str prefix = j->extender->url_prefix;
    static const char example[] =
        "for instance https://evenkeel.kube-system.svc:8443" EXTENDER_PATH;
    if (prefix.n == 0) {
        judge_say(j, SEVERITY_ERROR, "urlPrefix", example,
                  "it is missing: kube-scheduler has nowhere to call");
        return;
    }
    if (str_has_prefix(prefix, STR("http://")))
        judge_say(j, SEVERITY_WARNING, "urlPrefix", "write https://",
                  "plain http: nobody is authenticated, pods are readable on the way, and Evenkeel "
                  "answers it with --insecure-extender only%s",
                  j->extender->enable_https ? " (enableHTTPS does not change the scheme)" : "");
    else if (!str_has_prefix(prefix, STR("https://")))
        judge_say(j, SEVERITY_ERROR, "urlPrefix", example, "'%.*s' is no https:// URL",
                  STR_ARG(prefix));
    if (str_find(prefix, '?') != SIZE_MAX || str_find(prefix, '#') != SIZE_MAX)
        judge_say(
            j, SEVERITY_ERROR, "urlPrefix", example,
            "kube-scheduler appends \"/filter\" to it, so it cannot have a query or fragment");
    else
        judge_path(j, prefix);
}
