#include "whatif/scheduler_profile.h"

#include "base/file.h"
#include "base/json_reader.h"
#include "base/limits.h"
#include "check/scheduler_config.h"
#include "extender/verbs.h"
#include "model/fixed_pod.h"
#include "model/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads schedulerName of a pod's spec or of a profile; upstream's default if it is missing. */
static struct str scheduler_name(struct json_reader *r) {
    return scheduler_of(json_peek_member(r, STR("schedulerName")));
}

static struct str name_in_pod(struct str pod, struct arena *arena) {
    struct json_reader r;
    struct str key, name = scheduler_of(STR(""));
    json_reader_init(&r, pod, arena, POD_KIND);
    if (json_object(&r))
        while (json_member(&r, &key))
            if (str_eq(key, STR("spec")) && json_peek(&r) == JSON_OBJECT)
                name = scheduler_name(&r);
    return name;
}

/* ---- resources to ignore ---- */

/* A list that grows; its strings are borrowed. */
struct texts {
    struct str *items; /* in the arena */
    uint32_t count, cap;
};

static int add_text(struct texts *list, struct str text, struct arena *arena, struct err *err) {
    if (list->count == LIMIT_IGNORED_RESOURCES)
        return err_set(err, -E2BIG, "more than %d ignored resources", LIMIT_IGNORED_RESOURCES);
    struct str *items = arena_push(arena, list->items, list->count, &list->cap, sizeof *items);
    if (items == NULL)
        return err_set(err, -ENOMEM, "no memory for the ignored resources");
    list->items = items;
    list->items[list->count++] = text;
    return 0;
}

static int by_text(const void *a, const void *b) {
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void sort_texts(struct texts *list) {
    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, by_text);
}

/* Gathers the resources that extenders take over from kube-scheduler. */
static int gather_managed(const struct scheduler_config *config, struct texts *ret,
                          struct arena *arena, struct err *err) {
    int r = 0;
    for (uint32_t i = 0; i < config->extender_count && r == 0; i++)
        for (uint32_t k = 0; k < config->extenders[i].resource_count && r == 0; k++)
            if (config->extenders[i].resources[k].ignored_by_scheduler)
                r = add_text(ret, config->extenders[i].resources[k].name, arena, err);
    return r;
}

/* ---- one profile ---- */

struct reading {
    struct scheduler_profile_parts *parts;
    struct texts names, groups;
    struct strbuf *not_read;
    uint32_t unnamed; /* number of parts that are not read and for which `not_read` has no room */
};

static void add_not_read(struct reading *to, const char *before, struct str name) {
    static const size_t room_for_number = 40;
    if (to->not_read->n + strlen(before) + name.n + room_for_number > LIMIT_NOT_READ) {
        to->unnamed++;
        return;
    }
    strbuf_appendf(to->not_read, "%s%s%.*s", to->not_read->n > 0 ? ", " : "", before,
                   STR_ARG(name));
}

static void read_texts(struct json_reader *r, struct texts *ret) {
    ret->items = json_string_array(r, LIMIT_IGNORED_RESOURCES, &ret->count);
}

static void read_fit(struct json_reader *r, struct reading *to) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("ignoredResources")))
            read_texts(r, &to->names);
        else if (str_eq(key, STR("ignoredResourceGroups")))
            read_texts(r, &to->groups);
        else if (str_eq(key, STR("scoringStrategy")))
            add_not_read(to, "", STR("scoringStrategy of NodeResourcesFit"));
    }
}

static void read_affinity(struct json_reader *r, struct reading *to) {
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key))
        if (str_eq(key, STR("addedAffinity")))
            to->parts->added_affinity = json_skip(r);
}

/* Reads the arguments of one plugin, an entry of pluginConfig. DefaultPreemption is not read: it
 * has no effect on a pod that fits. */
static void read_arguments(struct json_reader *r, struct reading *to) {
    struct str key;
    const struct str plugin = json_peek_member(r, STR("name"));
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (!str_eq(key, STR("args")))
            continue;
        if (str_eq(plugin, STR("NodeAffinity")))
            read_affinity(r, to);
        else if (str_eq(plugin, STR("NodeResourcesFit")))
            read_fit(r, to);
        else if (!str_eq(plugin, STR("DefaultPreemption")))
            add_not_read(to, "arguments of ", plugin);
    }
}

static int read_profile(struct str profile, struct arena *arena, struct reading *to,
                        struct err *err) {
    struct json_reader r;
    struct str key;
    json_reader_init(&r, profile, arena, "profile");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("plugins")) && json_peek(&r) == JSON_OBJECT)
                add_not_read(to, "", STR("plugins of kube-scheduler's profile"));
            if (!str_eq(key, STR("pluginConfig")))
                continue;
            if (json_array(&r))
                while (json_element(&r))
                    read_arguments(&r, to);
        }
    return json_finish(&r, err);
}

int scheduler_affinity_decode(struct str text, struct arena *arena, struct node_affinity *ret,
                              struct err *err) {
    struct json_reader r;
    *ret = (struct node_affinity){.required = false};
    if (str_empty(text))
        return 0;
    json_reader_init(&r, text, arena, "addedAffinity");
    added_affinity_decode(&r, ret);
    return json_finish(&r, err);
}

static int find_profile(const struct scheduler_config *config, struct str name, struct arena *arena,
                        struct reading *to, struct err *err) {
    for (uint32_t i = 0; i < config->profile_count; i++) {
        struct json_reader r;
        json_reader_init(&r, config->profiles[i].json, arena, "profile");
        if (str_eq(scheduler_name(&r), name))
            return read_profile(config->profiles[i].json, arena, to, err);
    }
    if (config->profile_count > 0)
        return err_set(err, -EINVAL, "it has no profile '%.*s', which the pod names",
                       STR_ARG(name));
    return 0;
}

/* ---- the file ---- */

/* Names the extenders that filter or score nodes. Evenkeel's own extender is left out: the
 * simulation does its work. */
static void find_extenders(const struct scheduler_config *config, struct reading *to) {
    char text[64];
    uint32_t others = 0;
    for (uint32_t i = 0; i < config->extender_count; i++) {
        const struct scheduler_extender *e = &config->extenders[i];
        others += (e->filter_verb.n > 0 || e->prioritize_verb.n > 0) &&
                  memmem(e->url_prefix.p, e->url_prefix.n, EXTENDER_PATH,
                         sizeof EXTENDER_PATH - 1) == NULL;
    }
    (void)snprintf(text, sizeof text, "%u extender%s of kube-scheduler", others,
                   others == 1 ? "" : "s"); /* fits */
    if (others > 0)
        add_not_read(to, "", str_of(text));
}

static int read_parts(const struct scheduler_config *config, struct str name, struct arena *arena,
                      struct reading *to, struct err *err) {
    struct texts managed = {.count = 0};
    find_extenders(config, to);
    int r = find_profile(config, name, arena, to, err);
    if (r == 0)
        r = gather_managed(config, &managed, arena, err);
    if (managed.count > 0) /* like upstream, they replace the profile's own list */
        to->names = managed;
    sort_texts(&to->names);
    sort_texts(&to->groups);
    if (to->unnamed > 0)
        strbuf_appendf(to->not_read, ", %u more of its parts", to->unnamed);
    to->parts->ignored = (struct ignored_resources){to->names.items, to->groups.items,
                                                    to->names.count, to->groups.count};
    to->parts->not_read = arena_str(arena, strbuf_str(to->not_read));
    to->parts->old_version = config->old_version;
    to->parts->ended_with = config->ended_with;
    return r;
}

int scheduler_profile_read(const char *path, struct str pod, struct arena *arena,
                           struct scheduler_profile_parts *ret, struct err *err) {
    struct node_affinity unused;
    CLEANUP(strbuf_done) struct strbuf text = {0}, not_read = {0};
    struct scheduler_config config;
    struct reading to = {.parts = ret, .not_read = &not_read};
    struct check_report findings;
    check_report_init(&findings, arena);
    *ret = (struct scheduler_profile_parts){.not_read = STR("")};
    int r = file_read(path, LIMIT_CONFIG_BYTES, &text, err);
    if (r == 0 && !scheduler_config_read(arena_str(arena, strbuf_str(&text)), &config, &findings))
        r = err_set(err, -EINVAL, "%.*s", STR_ARG(findings.items[0].problem));
    if (r == 0)
        r = read_parts(&config, name_in_pod(pod, arena), arena, &to, err);
    if (r == 0)
        r = scheduler_affinity_decode(ret->added_affinity, arena, &unused, err);
    return r == 0 ? 0 : err_wrap(err, "kube-scheduler's configuration '%s'", path);
}
