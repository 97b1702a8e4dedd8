/*
 * Checks the URLs that an extender's entry lets kube-scheduler call: urlPrefix + "/" + verb, by
 * POST. upstream: kube-scheduler extender.go send.
 */
#include "check/scheduler.h"

#include <stdio.h>

struct str judge_bare_url(struct str url) {
    while (url.n > 0 && url.p[url.n - 1] == '/')
        url.n--;
    return url;
}

/* The fields that name a verb. A field with no consequence may be unset. */
static const struct verb_field {
    const char *name;
    size_t offset;
    enum severity when_missing;
    const char *consequence;
} verb_fields[] = {
    {"filterVerb", offsetof(struct scheduler_extender, filter_verb), SEVERITY_INFO,
     "one call less for each pod, and hard rules that only Evenkeel knows are not kept"},
    {"prioritizeVerb", offsetof(struct scheduler_extender, prioritize_verb), SEVERITY_WARNING,
     "soft constraints have no effect"},
    {"preemptVerb", offsetof(struct scheduler_extender, preempt_verb), SEVERITY_WARNING,
     "preemption evicts pods from nodes that filter then rejects"},
    {"bindVerb", offsetof(struct scheduler_extender, bind_verb), SEVERITY_INFO, NULL},
};
enum { VERB_FIELDS = sizeof verb_fields / sizeof verb_fields[0] };

static struct str verb_of(const struct scheduler_extender *e, const struct verb_field *field) {
    struct str value;
    memcpy(&value, (const char *)e + field->offset, sizeof value);
    return value;
}

/* Returns the name to recommend; every field has a verb. */
static const char *first_verb_for(const struct verb_field *field) {
    size_t i = 0;
    while (strcmp(extender_verbs[i].field, field->name) != 0)
        i++;
    return extender_verbs[i].name;
}

bool judge_is_verb(struct str verb, const char *name) {
    size_t slash = verb.n;
    while (slash > 0 && verb.p[slash - 1] != '/')
        slash--;
    return verb.n > 0 && str_eq((struct str){verb.p + slash, verb.n - slash}, str_of(name));
}

/* Does urlPrefix + "/" + verb end in this path? */
static bool leads_to(struct str prefix, struct str verb, const char *path) {
    CLEANUP(strbuf_done) struct strbuf url = {.max = 1 << 16};
    strbuf_append_str(&url, judge_bare_url(prefix));
    strbuf_append_char(&url, '/');
    strbuf_append_str(&url, verb);
    return str_has_suffix(strbuf_str(&url), str_of(path));
}

/* Does the field name a verb that Evenkeel serves for it? Compares the whole URL, or only the name
 * if a proxy may rewrite the path. */
static bool is_served(const struct judge *j, const struct verb_field *field, bool by_name) {
    struct str prefix = j->extender->url_prefix, verb = verb_of(j->extender, field);
    for (size_t i = 0; i < EXTENDER_VERBS; i++)
        if (strcmp(extender_verbs[i].field, field->name) == 0 &&
            (by_name ? judge_is_verb(verb, extender_verbs[i].name)
                     : leads_to(prefix, verb, extender_verbs[i].path)))
            return true;
    return false;
}

void judge_verbs(const struct judge *j) {
    char advice[64];
    struct str prefix = judge_bare_url(j->extender->url_prefix);
    bool by_name = !str_has_suffix(prefix, STR(EXTENDER_PATH));
    for (size_t i = 0; i < VERB_FIELDS; i++) {
        const struct verb_field *field = &verb_fields[i];
        struct str verb = verb_of(j->extender, field);
        (void)snprintf(advice, sizeof advice, "set %s: %s", field->name,
                       first_verb_for(field)); /* fits */
        if (verb.n > 0 && !is_served(j, field, by_name))
            judge_say(j, SEVERITY_ERROR, field->name, advice,
                      "Evenkeel serves nothing at '%.*s/%.*s'", STR_ARG(prefix), STR_ARG(verb));
        else if (verb.n == 0 && field->consequence != NULL)
            judge_say(j, field->when_missing, field->name, advice, "it is not set: %s",
                      field->consequence);
    }
}

static bool ends_in_verb(struct str url) {
    char ending[32];
    for (size_t i = 0; i < EXTENDER_VERBS; i++) {
        (void)snprintf(ending, sizeof ending, "/%s", extender_verbs[i].name); /* fits */
        if (str_has_suffix(url, str_of(ending)))
            return true;
    }
    return false;
}

/* Checks the path of urlPrefix, unless a verb with the right name makes the URL correct. */
static void judge_path(const struct judge *j, struct str prefix) {
    static const char advice[] = "end it in " EXTENDER_PATH;
    struct str bare = judge_bare_url(prefix);
    if (ends_in_verb(bare)) {
        judge_say(j, SEVERITY_ERROR, "urlPrefix", advice,
                  "it ends in a verb, which kube-scheduler appends by itself");
        return;
    }
    for (size_t i = 0; i < VERB_FIELDS; i++)
        if (is_served(j, &verb_fields[i], false))
            return;
    if (!str_has_suffix(bare, STR(EXTENDER_PATH)))
        judge_say(j, j->chosen ? SEVERITY_WARNING : SEVERITY_ERROR, "urlPrefix", advice,
                  "Evenkeel answers below " EXTENDER_PATH
                  " only; another path needs a proxy that rewrites it");
}

void judge_url(const struct judge *j) {
    struct str prefix = j->extender->url_prefix;
    static const char example[] = "for instance https://evenkeel.example.com:8443" EXTENDER_PATH;
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
