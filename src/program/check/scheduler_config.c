#include "check/scheduler_config.h"

#include "base/json_fields.h"
#include "config/fields.h"
#include "model/names.h"

#include <stdio.h>

enum { EXTENDERS_MAX = 100, PROFILES_MAX = 1000, PLUGINS_MAX = 1000, FINDINGS_MAX = 100 };

static const char api_version[] = SCHEDULER_CONFIG_API;
static const char kind[] = SCHEDULER_CONFIG_KIND;

#define CONFIG(member) FIELD_MEMBER(struct scheduler_config, member)
#define EXTENDER(member) FIELD_MEMBER(struct scheduler_extender, member)
#define RESOURCE(member) FIELD_MEMBER(struct managed_resource, member)

static const struct field resource_fields[] = {
    {.path = "name", .type = FIELD_STR, RESOURCE(name)},
    {.path = "ignoredByScheduler", .type = FIELD_BOOL, RESOURCE(ignored_by_scheduler)},
};

static const struct field_table resource_table =
    FIELD_TABLE(resource_fields, struct managed_resource, NULL);

static const struct field extender_fields[] = {
    {.path = "urlPrefix", .type = FIELD_STR, EXTENDER(url_prefix)},
    {.path = "filterVerb", .type = FIELD_STR, EXTENDER(filter_verb)},
    {.path = "preemptVerb", .type = FIELD_STR, EXTENDER(preempt_verb)},
    {.path = "prioritizeVerb", .type = FIELD_STR, EXTENDER(prioritize_verb)},
    {.path = "weight", .type = FIELD_NUMBER, EXTENDER(weight), .min = INT64_MIN, .max = INT64_MAX},
    {.path = "bindVerb", .type = FIELD_STR, EXTENDER(bind_verb)},
    {.path = "enableHTTPS", .type = FIELD_BOOL, EXTENDER(enable_https)},
    {.path = "tlsConfig.insecure", .type = FIELD_BOOL, EXTENDER(tls.insecure)},
    {.path = "tlsConfig.serverName", .type = FIELD_STR, EXTENDER(tls.server_name)},
    {.path = "tlsConfig.certFile", .type = FIELD_STR, EXTENDER(tls.cert_file)},
    {.path = "tlsConfig.keyFile", .type = FIELD_STR, EXTENDER(tls.key_file)},
    {.path = "tlsConfig.caFile", .type = FIELD_STR, EXTENDER(tls.ca_file)},
    {.path = "tlsConfig.certData", .type = FIELD_STR, EXTENDER(tls.cert_data)},
    {.path = "tlsConfig.keyData", .type = FIELD_STR, EXTENDER(tls.key_data)},
    {.path = "tlsConfig.caData", .type = FIELD_STR, EXTENDER(tls.ca_data)},
    {.path = "httpTimeout", .type = FIELD_STR, EXTENDER(http_timeout)},
    {.path = "nodeCacheCapable", .type = FIELD_BOOL, EXTENDER(node_cache_capable)},
    {.path = "managedResources",
     .type = FIELD_OBJECTS,
     EXTENDER(resources),
     FIELD_COUNT(struct scheduler_extender, resource_count),
     .table = &resource_table,
     .max = 1000},
    {.path = "ignorable", .type = FIELD_BOOL, EXTENDER(ignorable)},
};

static const struct field_table extender_table =
    FIELD_TABLE(extender_fields, struct scheduler_extender, NULL);

static void read_extenders(struct field_source *s, const char *path, struct str json, void *object);
static void read_profiles(struct field_source *s, const char *path, struct str json, void *object);

static const struct field fields[] = {
    {.path = "apiVersion", .type = FIELD_ANY},
    {.path = "kind", .type = FIELD_ANY},
    {.path = "parallelism", .type = FIELD_ANY},
    {.path = "leaderElection", .type = FIELD_ANY},
    {.path = "clientConnection", .type = FIELD_ANY},
    {.path = "enableProfiling", .type = FIELD_ANY},
    {.path = "enableContentionProfiling", .type = FIELD_ANY},
    {.path = "percentageOfNodesToScore",
     .type = FIELD_NUMBER,
     CONFIG(percentage_of_nodes),
     .min = 0,
     .max = 100,
     .initial = SCHEDULER_PERCENTAGE_UNSET},
    {.path = "podInitialBackoffSeconds", .type = FIELD_ANY},
    {.path = "podMaxBackoffSeconds", .type = FIELD_ANY},
    {.path = "delayCacheUntilActive", .type = FIELD_ANY},
    {.path = "profiles", .type = FIELD_CUSTOM, .read = read_profiles},
    {.path = "extenders", .type = FIELD_CUSTOM, .read = read_extenders},
};

static const struct field_table config_table = FIELD_TABLE(fields, struct scheduler_config, NULL);

/* ---- finding members in the document ---- */

/* Returns the member's value as written in the object; empty if it is missing. *ret_at is the
 * member's colon, which is on the line of the key. */
static struct str find_member(struct str object, struct str name, struct arena *arena,
                              const char **ret_at) {
    struct json_reader r;
    struct str key;
    json_reader_init(&r, object, arena, "value");
    if (json_peek(&r) == JSON_OBJECT && json_object(&r))
        while (json_member(&r, &key)) {
            const char *at = r.p - 1;
            struct str value = json_skip(&r);
            if (str_eq(key, name)) {
                *ret_at = at;
                return value;
            }
        }
    return (struct str){0};
}

/* Returns the value at a path ("tlsConfig.caFile"). *ret_at is the colon of the last existing
 * member of the path, or the beginning of the object. */
static struct str find_path(struct str object, const char *path, struct arena *arena,
                            const char **ret_at) {
    struct str rest = str_of(path);
    *ret_at = object.p;
    while (rest.n > 0 && object.n > 0) {
        size_t dot = str_find(rest, '.');
        struct str name = {rest.p, dot == SIZE_MAX ? rest.n : dot};
        object = find_member(object, name, arena, ret_at);
        size_t used = name.n + (dot != SIZE_MAX);
        rest = (struct str){rest.p + used, rest.n - used};
    }
    return object;
}

/* ---- lists ---- */

static void read_extenders(struct field_source *s, const char *path, struct str json,
                           void *object) {
    struct scheduler_config *c = object;
    struct json_reader r;
    uint32_t cap = 0;
    json_reader_init(&r, json, s->arena, "value");
    if (!json_array(&r)) {
        field_bad_value(s, path, json, "expected a list");
        return;
    }
    while (json_element(&r)) {
        struct str value = json_skip(&r);
        if (c->extender_count == EXTENDERS_MAX) {
            field_bad_value(s, path, value, "more than %d extenders are not looked at",
                            EXTENDERS_MAX);
            return;
        }
        struct scheduler_extender *items =
            arena_push(s->arena, c->extenders, c->extender_count, &cap, sizeof *items);
        if (items == NULL)
            return; /* the reader below reports that memory ran out */
        c->extenders = items;
        struct scheduler_extender *e = &c->extenders[c->extender_count];
        *e = (struct scheduler_extender){.json = value};
        fields_read(s, &extender_table, field_path_at(s, path, c->extender_count), value, e);
        c->extender_count++;
    }
}

/* ---- profiles: only the parts that matter to an extender are checked ---- */

static int64_t read_percentage(struct field_source *s, const char *path, struct str profile) {
    static const char name[] = "percentageOfNodesToScore";
    const char *at;
    struct str value = find_path(profile, name, s->arena, &at);
    int64_t number;
    if (value.n == 0 || str_eq(value, STR("null")))
        return SCHEDULER_PERCENTAGE_UNSET;
    if (str_to_i64(value, &number) && number >= 0 && number <= 100)
        return number;
    field_bad_value(s, field_path(s, path, name), value,
                    "it is not a whole number between 0 and 100");
    return SCHEDULER_PERCENTAGE_UNSET;
}

static void read_plugin_name(struct json_reader *r, void *into) {
    static const struct json_field member = JSON_TEXT_ALONE("name");
    json_fields(r, &(const struct json_rows){&member, 1}, into);
}

/* Is one of these plugins in the list at `path` of the profile? An empty name is ignored. */
static bool lists_plugin(struct str profile, const char *path, struct arena *arena, struct str name,
                         struct str or_name) {
    struct json_reader r;
    const char *at;
    uint32_t count = 0;
    json_reader_init(&r, find_path(profile, path, arena, &at), arena, "plugins");
    const struct str *names =
        json_array_of(&r, sizeof *names, PLUGINS_MAX, read_plugin_name, &count);
    for (uint32_t i = 0; i < count; i++)
        if (names[i].n > 0 && (str_eq(names[i], name) || str_eq(names[i], or_name)))
            return true;
    return false;
}

/*
 * `multiPoint` turns every plugin of the default profile on. A profile can turn a plugin off and on
 * again, in multiPoint or at one extension point. upstream: kube-scheduler default_plugins.go
 * mergePluginSet, framework.go expandMultiPointPlugins.
 */
static void read_spread_plugin(struct scheduler_profile *p, struct arena *arena) {
    static const struct {
        const char *enabled, *disabled;
    } everywhere = {"plugins.multiPoint.enabled", "plugins.multiPoint.disabled"},
      points[SPREAD_POINTS] = {
          [SPREAD_PRE_FILTER] = {"plugins.preFilter.enabled", "plugins.preFilter.disabled"},
          [SPREAD_FILTER] = {"plugins.filter.enabled", "plugins.filter.disabled"},
          [SPREAD_PRE_SCORE] = {"plugins.preScore.enabled", "plugins.preScore.disabled"},
          [SPREAD_SCORE] = {"plugins.score.enabled", "plugins.score.disabled"},
      };
    const struct str name = STR("PodTopologySpread"), all = STR("*"), none = {0};
    bool off_everywhere = lists_plugin(p->json, everywhere.disabled, arena, name, all) &&
                          !lists_plugin(p->json, everywhere.enabled, arena, name, none);
    for (size_t i = 0; i < SPREAD_POINTS; i++) {
        bool off_here = lists_plugin(p->json, points[i].disabled, arena, name, all);
        if ((off_here || off_everywhere) &&
            !lists_plugin(p->json, points[i].enabled, arena, name, none))
            p->spread_off[i] = off_here ? points[i].disabled : everywhere.disabled;
    }
}

static void read_profiles(struct field_source *s, const char *path, struct str json, void *object) {
    struct scheduler_config *c = object;
    struct json_reader r;
    uint32_t cap = 0;
    json_reader_init(&r, json, s->arena, "value");
    if (json_peek(&r) != JSON_ARRAY || !json_array(&r))
        return;
    while (c->profile_count < PROFILES_MAX && json_element(&r)) {
        struct str value = json_skip(&r);
        struct scheduler_profile *items =
            arena_push(s->arena, c->profiles, c->profile_count, &cap, sizeof *items);
        if (items == NULL)
            return; /* the reader below reports that memory ran out */
        c->profiles = items;
        struct scheduler_profile *p = &c->profiles[c->profile_count];
        *p = (struct scheduler_profile){.json = value};
        p->percentage_of_nodes =
            read_percentage(s, field_path_at(s, path, c->profile_count), value);
        read_spread_plugin(p, s->arena);
        c->profile_count++;
    }
}

/* ---- the document ---- */

/* Adds a finding, because kube-scheduler's strict decoder refuses the file for the same problem. */
static void on_problem(void *ctx, const struct field_problem *p) {
    struct check_report *out = ctx;
    bool in_extender = str_has_prefix(str_of(p->path), STR("extenders["));
    char advice[128] = "remove it";
    if (out->count >= FINDINGS_MAX)
        return;
    if (p->suggestion != NULL)
        (void)snprintf(advice, sizeof advice, "did you mean %s?", p->suggestion); /* fits */
    if (p->kind == FIELD_BAD_VALUE)
        check_report_add(out, SEVERITY_ERROR, p->line, p->path, "kube-scheduler refuses the file",
                         "%s", p->text);
    else if (p->kind == FIELD_REPEATED_KEY)
        check_report_add(out, SEVERITY_ERROR, p->line, p->path, "remove one of the two",
                         "repeated field: kube-scheduler refuses the file");
    else if (in_extender)
        check_report_add(out, SEVERITY_ERROR, p->line, p->path, advice,
                         "unknown field: kube-scheduler refuses the file");
    else
        check_report_add(
            out, SEVERITY_WARNING, p->line, p->path, advice,
            "unknown field: unless it is newer than this check, kube-scheduler refuses "
            "the file");
}

/* The versions that v1 has replaced. upstream: the release notes of the named releases. */
static const struct {
    const char *after_v1, *ended_with;
} old_versions[] = {{"beta1", "1.23"}, {"beta2", "1.28"}, {"beta3", "1.29"}};

/* Reports an old version, and stores it in the configuration. Returns false for any other text. */
static bool is_old_version(struct scheduler_config *c, struct str version, uint32_t line,
                           struct check_report *out) {
    const struct str current = STR(SCHEDULER_CONFIG_API);
    if (!str_has_prefix(version, current))
        return false;
    const struct str rest = {version.p + current.n, version.n - current.n};
    for (size_t i = 0; i < sizeof old_versions / sizeof old_versions[0]; i++)
        if (str_eq(rest, str_of(old_versions[i].after_v1))) {
            c->old_version = version;
            c->ended_with = str_of(old_versions[i].ended_with);
            check_report_add(out, SEVERITY_ERROR, line, "apiVersion",
                             "write " SCHEDULER_CONFIG_API ", which Kubernetes has since 1.25",
                             "'%.*s' ended with Kubernetes %s: kube-scheduler refuses the file "
                             "since then",
                             STR_ARG(version), old_versions[i].ended_with);
            return true;
        }
    return false;
}

static bool header_is(struct scheduler_config *c, const char *name, const char *wanted,
                      struct check_report *out) {
    struct json_reader r;
    const char *at = c->doc.text.p;
    struct str value = find_member(c->doc.documents[0], str_of(name), out->arena, &at), text = {0};
    json_reader_init(&r, value, out->arena, name);
    if (value.n > 0 && json_peek(&r) == JSON_STRING)
        text = json_string(&r);
    if (str_eq(text, str_of(wanted)))
        return true;
    uint32_t line = value.n > 0 ? yaml_line_of(&c->doc, (size_t)(at - c->doc.text.p)) : 0;
    if (wanted == api_version && is_old_version(c, text, line, out))
        return true;
    check_report_add(out, SEVERITY_ERROR, line, name,
                     "check the file that kube-scheduler gets with --config",
                     "expected '%s', found '%.*s'", wanted, STR_ARG(text));
    return false;
}

bool scheduler_config_read(struct str text, struct scheduler_config *ret,
                           struct check_report *out) {
    struct scheduler_config c = {.percentage_of_nodes = SCHEDULER_PERCENTAGE_UNSET};
    struct err err;
    if (yaml_to_json(text, true, out->arena, &c.doc, &err) != 0) {
        check_report_add(out, SEVERITY_ERROR, yaml_line_named(err.text), "",
                         "kube-scheduler refuses the file", "%s", err.text);
        return false;
    }
    if (c.doc.document_count != 1) {
        check_report_add(out, SEVERITY_ERROR, 0, "", "kube-scheduler reads exactly one",
                         "there are %zu documents in the file", c.doc.document_count);
        return false;
    }
    bool known = header_is(&c, "kind", kind, out);
    known = header_is(&c, "apiVersion", api_version, out) && known;
    if (!known)
        return false;
    struct field_source source = {
        .arena = out->arena, .doc = &c.doc, .problem = on_problem, .ctx = out};
    fields_read(&source, &config_table, "", c.doc.documents[0], &c);
    c.refused_count = out->count;
    const char *at;
    c.has_kubeconfig =
        find_path(c.doc.documents[0], "clientConnection.kubeconfig", out->arena, &at).n >
        strlen("\"\"");
    *ret = c;
    return true;
}

uint32_t scheduler_config_line(const struct scheduler_config *c, struct str object,
                               const char *member, struct arena *arena) {
    const char *at;
    (void)find_path(object, member, arena, &at); /* only the position matters */
    return yaml_line_of(&c->doc, (size_t)(at - c->doc.text.p));
}
