#include "model/pod_affinity.h"

#include "base/json_reader.h"

#include <errno.h>

static void term_decode(struct json_reader *r, void *into) {
    struct pod_affinity_term *term = into;
    struct str key;
    if (!json_object(r))
        return;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("topologyKey")))
            term->topology_key = json_string(r);
        else if (str_eq(key, STR("labelSelector")))
            term->pods = label_selector_decode(r);
        else if (str_eq(key, STR("namespaces")))
            term->namespaces = strings_decode(r, &term->namespace_count);
        else if (str_eq(key, STR("namespaceSelector")))
            term->by_labels = label_selector_decode(r);
        else if (str_eq(key, STR("mismatchLabelKeys")))
            term->mismatch_keys = strings_decode(r, &term->mismatch_key_count);
        else
            (void)json_skip(r); /* matchLabelKeys, which only say more of what is meant anyway */
    }
}

struct pod_affinity pod_affinity_decode(struct json_reader *r) {
    struct pod_affinity affinity = {0};
    struct str key;
    if (!json_object(r))
        return affinity;
    while (json_member(r, &key)) {
        if (str_eq(key, STR("requiredDuringSchedulingIgnoredDuringExecution")))
            affinity.terms = json_array_of(r, sizeof *affinity.terms, UINT32_MAX, term_decode,
                                           &affinity.term_count);
        else
            (void)json_skip(r); /* preferences; errors stay in r */
    }
    return affinity;
}

/* Do the labels match? A selector that does not parse matches nothing. */
static int matches(const struct label_selector *written, const struct labels *labels,
                   struct arena *arena, bool *ret) {
    struct selector selector;
    int r = selector_compile(written, (struct labels){0}, arena, &selector, NULL);
    *ret = r == 0 && selector_matches(&selector, labels_lookup, labels);
    return r == -ENOMEM ? r : 0;
}

/* Namespaces by name or by labels; the pod's own where neither is given. */
static int means_namespace(const struct pod_affinity_term *term, const struct meant_pod *pod,
                           struct arena *arena, bool *ret) {
    *ret = term->namespace_count == 0 && !term->by_labels.present;
    for (uint32_t i = 0; !*ret && i < term->namespace_count; i++)
        *ret = str_eq(term->namespaces[i], pod->namespace);
    return *ret ? 0 : matches(&term->by_labels, &pod->namespace_labels, arena, ret);
}

int pod_affinity_means(const struct pod_affinity_term *term, const struct meant_pod *pod,
                       struct arena *arena, bool *ret) {
    struct str value;
    *ret = false;
    for (uint32_t i = 0; i < term->mismatch_key_count; i++)
        if (labels_lookup(&pod->labels, term->mismatch_keys[i], &value))
            return 0;
    int r = means_namespace(term, pod, arena, ret);
    return r == 0 && *ret ? matches(&term->pods, &pod->labels, arena, ret) : r;
}
