#include "config/karmada.h"

void configuration_karmada(const struct configuration *c, struct karmada_options *ret) {
    struct err unsaid; /* not needed: each word was checked before */
    struct str words[FIELD_LIST_MAX];
    for (size_t i = 0; i < c->karmada.plugin_count; i++)
        words[i] = str_of(c->karmada.plugins[i]);
    *ret = c->karmada.words;
    ret->search_budget = c->karmada.search_budget;
    ret->plugins = karmada_defaults.plugins;
    if (c->karmada.plugin_count > 0 &&
        karmada_plugins_parse(words, (uint32_t)c->karmada.plugin_count, &ret->plugins, &unsaid) !=
            0)
        ret->plugins = karmada_defaults.plugins;
}
