#include "data/fluid/profile.h"

#include "base/json_reader.h"
#include "data/fluid/plugin.h"
#include "model/fluid.h"
#include "model/topology.h"
#include "yaml/yaml.h"

#include <errno.h>

enum { TIERS_MAX = 64 };

/* The profile of Fluid 1.1's chart. */
static const char default_profile[] =
    "plugins:\n"
    "  serverful:\n"
    "    withDataset: [FilePrefetcher, RequireNodeWithFuse, NodeAffinityWithCache,\n"
    "                  MountPropagationInjector, DatasetUsageInjector]\n"
    "    withoutDataset: [PreferNodesWithoutCache]\n"
    "  serverless:\n"
    "    withDataset: [FilePrefetcher, FuseSidecar, DatasetUsageInjector]\n"
    "    withoutDataset: []\n"
    "pluginConfig:\n"
    "- name: NodeAffinityWithCache\n"
    "  args: |\n"
    "    preferred:\n"
    "    - {name: " FLUID_TIER_NODE ", weight: 100}\n"
    "    - {name: " TOPOLOGY_NAME_ZONE ", weight: 50}\n"
    "    - {name: " TOPOLOGY_NAME_REGION ", weight: 20}\n"
    "    required: [" FLUID_TIER_NODE "]\n";

static const char design_args[] =
    "{preferred: [{name: " FLUID_TIER_NODE ", weight: 100}], required: [" FLUID_TIER_NODE "]}";

/* Opens a reader over the first document of a YAML text; an empty text reads as null. */
static int open_yaml(struct str yaml, const char *what, struct arena *arena,
                     struct json_reader *ret, struct err *err) {
    struct yaml_json doc = {0};
    int r = str_empty(yaml) ? 0 : yaml_to_json(yaml, false, arena, &doc, err);
    if (r != 0) {
        (void)err_wrap(err, "%s", what); /* the code stays */
        return r;
    }
    json_reader_init(ret, doc.document_count > 0 ? doc.documents[0] : STR("null"), arena, what);
    return 0;
}

/* ---- arguments ---- */

static void read_preferred(struct json_reader *r, struct fluid_tiers *tiers) {
    struct fluid_tier tier = {.name = ""};
    struct str key, name = {0};
    if (json_object(r)) {
        while (json_member(r, &key))
            if (str_eq(key, STR("name")))
                name = json_string(r);
            else if (str_eq(key, STR("weight")))
                tier.weight = (int32_t)json_integer(r, INT32_MIN, INT32_MAX);
    }
    tier.name = arena_cstr(r->arena, name);
    if (tier.name == NULL)
        return; /* the caller checks the arena */
    for (uint32_t i = 0; i < tiers->preferred_count; i++)
        if (strcmp(tiers->preferred[i].name, tier.name) == 0) {
            tiers->preferred[i].weight = tier.weight;
            return;
        }
    if (tiers->preferred_count == TIERS_MAX)
        json_fail(r, "more than %d tiers", TIERS_MAX);
    else
        tiers->preferred[tiers->preferred_count++] = tier;
}

static void read_required(struct json_reader *r, struct fluid_tiers *tiers) {
    const char *name = arena_cstr(r->arena, json_string(r));
    if (tiers->required_count == TIERS_MAX)
        json_fail(r, "more than %d tiers", TIERS_MAX);
    else if (name != NULL)
        tiers->required[tiers->required_count++] = name;
}

static int parse_tiers(struct str args, struct arena *arena, struct fluid_tiers *ret,
                       struct err *err) {
    struct json_reader r;
    struct fluid_tiers tiers = {
        .preferred = arena_array(arena, TIERS_MAX, sizeof *tiers.preferred),
        .required = arena_array(arena, TIERS_MAX, sizeof *tiers.required),
    };
    if (tiers.preferred == NULL || tiers.required == NULL)
        return err_set(err, -ENOMEM, "out of memory");
    int code = open_yaml(args, "args", arena, &r, err);
    if (code != 0)
        return code;
    struct str key;
    if (json_object(&r)) {
        while (json_member(&r, &key)) {
            bool preferred = str_eq(key, STR("preferred"));
            if (!preferred && !str_eq(key, STR("required")))
                continue;
            if (json_array(&r)) {
                while (json_element(&r))
                    if (preferred)
                        read_preferred(&r, &tiers);
                    else
                        read_required(&r, &tiers);
            }
        }
    }
    code = json_finish(&r, err);
    if (code == 0)
        *ret = tiers;
    return code;
}

/* ---- the profile ---- */

static void read_chain(struct json_reader *r, struct fluid_chain *chain) {
    chain->count = 0;
    if (!json_array(r))
        return;
    while (json_element(r)) {
        struct str name = json_string(r);
        const struct fluid_plugin *plugin = fluid_plugin_find(name);
        if (json_failed(r))
            return;
        if (plugin == NULL)
            json_fail(r, "unknown plugin '%.*s'", STR_ARG(name));
        else if (chain->count == FLUID_CHAIN_MAX)
            json_fail(r, "more than %d plugins in one list", FLUID_CHAIN_MAX);
        else
            chain->plugins[chain->count++] = plugin;
    }
}

static void read_plugins(struct json_reader *r, struct fluid_profile *p) {
    struct str mount, key;
    if (!json_object(r))
        return;
    while (json_member(r, &mount)) {
        bool serverless = str_eq(mount, STR("serverless"));
        if (!serverless && !str_eq(mount, STR("serverful")))
            continue;
        struct fluid_chain *chains = p->chains[serverless ? FLUID_SERVERLESS : FLUID_SERVERFUL];
        if (json_object(r)) {
            while (json_member(r, &key))
                if (str_eq(key, STR("withDataset")))
                    read_chain(r, &chains[true]);
                else if (str_eq(key, STR("withoutDataset")))
                    read_chain(r, &chains[false]);
        }
    }
}

/* The texts of args in pluginConfig. They are read when the whole profile is known to be well
 * formed. */
struct arguments {
    struct str tiers, design_tiers;
};

static void read_config(struct json_reader *r, struct arguments *arguments) {
    struct str key, name = {0}, args = {0};
    if (json_object(r)) {
        while (json_member(r, &key))
            if (str_eq(key, STR("name")))
                name = json_string(r);
            else if (str_eq(key, STR("args")))
                args = json_string(r);
    }
    if (str_eq(name, STR("NodeAffinityWithCache")))
        arguments->tiers = args;
    else if (str_eq(name, STR("PreferNodesWithCache")))
        arguments->design_tiers = args;
}

int fluid_profile_parse(struct str yaml, struct arena *arena, struct fluid_profile *ret,
                        struct err *err) {
    struct fluid_profile profile = {0};
    struct arguments arguments = {.design_tiers = str_of(design_args)};
    struct json_reader r;
    struct str key;
    int code = open_yaml(yaml, "profile", arena, &r, err);
    if (code != 0)
        return code;
    if (json_object(&r)) {
        while (json_member(&r, &key))
            if (str_eq(key, STR("plugins")))
                read_plugins(&r, &profile);
            else if (str_eq(key, STR("pluginConfig"))) {
                if (json_array(&r))
                    while (json_element(&r))
                        read_config(&r, &arguments);
            }
    }
    code = json_finish(&r, err);
    if (code != 0)
        return code;
    code = parse_tiers(arguments.tiers, arena, &profile.tiers, err);
    if (code == 0)
        code = parse_tiers(arguments.design_tiers, arena, &profile.design_tiers, err);
    if (code != 0) {
        (void)err_wrap(err, "profile: pluginConfig"); /* the code stays */
        return code;
    }
    *ret = profile;
    return 0;
}

int fluid_profile_default(struct arena *arena, struct fluid_profile *ret, struct err *err) {
    return fluid_profile_parse(str_of(default_profile), arena, ret, err);
}
