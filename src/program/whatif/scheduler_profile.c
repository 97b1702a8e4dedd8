#include "whatif/scheduler_profile.h"

#include "base/file.h"
#include "base/json_reader.h"
#include "base/limits.h"
#include "check/scheduler_config.h"
#include "model/fixed_pod.h"
#include "model/names.h"

#include <errno.h>

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

/* Reads NodeAffinity's arguments, if this entry of pluginConfig has them. */
static void args_decode(struct json_reader *r, struct str *added) {
    struct str key;
    bool ours = str_eq(json_peek_member(r, STR("name")), STR("NodeAffinity"));
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (!ours || !str_eq(key, STR("args")) || !json_object(r))
            continue;
        while (json_member(r, &key))
            if (str_eq(key, STR("addedAffinity")))
                *added = json_skip(r);
    }
}

static int profile_decode(struct str profile, struct arena *arena, struct str *ret,
                          struct err *err) {
    struct json_reader r;
    struct str key;
    json_reader_init(&r, profile, arena, "profile");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (!str_eq(key, STR("pluginConfig")))
                continue;
            if (json_array(&r))
                while (json_element(&r))
                    args_decode(&r, ret);
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
                        struct str *ret, struct err *err) {
    for (uint32_t i = 0; i < config->profile_count; i++) {
        struct json_reader r;
        json_reader_init(&r, config->profiles[i].json, arena, "profile");
        if (str_eq(scheduler_name(&r), name))
            return profile_decode(config->profiles[i].json, arena, ret, err);
    }
    if (config->profile_count > 0)
        return err_set(err, -EINVAL, "it has no profile '%.*s', which the pod names",
                       STR_ARG(name));
    return 0;
}

int scheduler_profile_read(const char *path, struct str pod, struct arena *arena, struct str *ret,
                           struct err *err) {
    struct node_affinity unused;
    CLEANUP(strbuf_done) struct strbuf text = {0};
    struct scheduler_config config;
    struct check_report findings;
    check_report_init(&findings, arena);
    *ret = STR("");
    int r = file_read(path, LIMIT_CONFIG_BYTES, &text, err);
    if (r == 0 && !scheduler_config_read(arena_str(arena, strbuf_str(&text)), &config, &findings))
        r = err_set(err, -EINVAL, "%.*s", STR_ARG(findings.items[0].problem));
    if (r == 0)
        r = find_profile(&config, name_in_pod(pod, arena), arena, ret, err);
    if (r == 0)
        r = scheduler_affinity_decode(*ret, arena, &unused, err);
    return r == 0 ? 0 : err_wrap(err, "kube-scheduler's configuration '%s'", path);
}
