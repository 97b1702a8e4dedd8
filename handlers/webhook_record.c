#include "handlers/webhook_record.h"

#include "base/json_reader.h"

#include <stddef.h>

/* ---- telling ---- */

struct pod_names {
    struct str name, generate_name, namespace, uid;
};

void webhook_pod_of(const struct review *review, struct arena *arena, struct webhook_pod *ret) {
    static const struct json_string_field fields[] = {
        {{"name", 4}, offsetof(struct pod_names, name)},
        {{"generateName", 12}, offsetof(struct pod_names, generate_name)},
        {{"namespace", 9}, offsetof(struct pod_names, namespace)},
        {{"uid", 3}, offsetof(struct pod_names, uid)},
    };
    struct pod_names names = {0};
    struct json_reader r;
    struct str key;
    json_reader_init(&r, review->object, arena, "Pod");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("metadata"))) {
                json_strings_of(&r, fields, sizeof fields / sizeof fields[0], &names);
                break;
            }
            (void)json_skip(&r); /* what is malformed has been told already */
        }
    *ret = (struct webhook_pod){
        .meta = {.name = names.name,
                 .namespace = str_empty(review->namespace) ? names.namespace : review->namespace,
                 .uid = names.uid},
        .generate_name = str_empty(names.name) ? names.generate_name : STR("")};
}

void webhook_tell(enum admission result, const struct review_answer *answer,
                  struct decision_about *about) {
    static const char *const words[] = {[ADMISSION_UNCHANGED] = "unchanged",
                                        [ADMISSION_PATCHED] = "patched",
                                        [ADMISSION_DENIED] = "denied",
                                        [ADMISSION_FAILED] = "failed"};
    about->result = words[result];
    about->message = answer->message;
    for (uint32_t i = 0; i < answer->annotation_count; i++)
        if (str_eq(answer->annotations[i].key, STR("unchanged")))
            about->message = answer->annotations[i].value;
}

void webhook_record(const struct webhook *webhook, const struct review *review,
                    enum admission result, const struct review_answer *answer,
                    const struct moment *began, struct arena *arena) {
    struct recording rec;
    struct webhook_pod pod;
    if (webhook->decisions == NULL || !str_eq(review->operation, STR("CREATE")))
        return;
    webhook_pod_of(review, arena, &pod);
    struct decision_about about = {.verb = "admit",
                                   .pod = &pod.meta,
                                   .generate_name = pod.generate_name,
                                   .at_us = began->at_us,
                                   .took_us = moment_took_us(began),
                                   .data_age_ms = cache_age_ms(webhook->cache)};
    webhook_tell(result, answer, &about);
    if (!recording_begin(&rec, webhook->decisions, &about))
        return;
    decision_put_admission(&rec.decision, review, answer);
    recording_end(&rec);
}

/* ---- deciding ---- */

void webhook_admit(const struct webhook *webhook, const struct review *review,
                   const struct webhook_inputs *inputs, struct arena *arena,
                   struct webhook_admission *ret) {
    *ret = (struct webhook_admission){.data = fluid_hold(webhook->fluid)};
    const struct policy_list *instead = inputs->instead;
    struct pod_data data = {.store = inputs->found};
    if (inputs->found != NULL) { /* which nobody looks for where nothing is known of data */
        fluid_store_set_behind(inputs->found, fluid_set_data(ret->data)->store);
        data.options = fluid_set_data(ret->data)->options;
    }
    struct pods_options options = {.cache = webhook->cache,
                                   .data =
                                       inputs->found != NULL ? &data : fluid_set_data(ret->data),
                                   .missing = inputs->missing,
                                   .plugins = pod_plugins_default,
                                   .plugin_count = pod_plugins_default_count,
                                   .annotate = webhook->annotate};
    if (instead != NULL) {
        options.policies = instead->items;
        options.policy_count = instead->count;
    } else {
        ret->policies = policies_hold(webhook->policies);
        options.policies = policies_items(ret->policies, &options.policy_count);
    }
    ret->result = admit_pod(&options, review, arena, &ret->patch, &ret->answer);
}

void webhook_admission_done(struct webhook_admission *a) {
    fluid_release(a->data);
    if (a->policies != NULL)
        policies_release(a->policies);
}
