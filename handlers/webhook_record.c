#include "handlers/webhook_record.h"

#include "base/json_reader.h"
#include "explain/admission.h"

#include <stddef.h>

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
                                   .subject = subject_pod(pod.meta.namespace, pod.meta.name),
                                   .uid = pod.meta.uid,
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
