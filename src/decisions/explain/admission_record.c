#include "explain/admission_record.h"

#include "base/json_fields.h"
#include "explain/admission.h"
#include "explain/ages.h"

#include <stddef.h>

struct names {
    struct str name, generate_name, namespace, uid;
};

void admission_subject_of(const struct review *review, struct arena *arena,
                          struct admission_subject *ret) {
    static const struct json_field fields[] = {
        JSON_TEXT("name", struct names, name),
        JSON_TEXT("generateName", struct names, generate_name),
        JSON_TEXT("namespace", struct names, namespace),
        JSON_TEXT("uid", struct names, uid),
    };
    struct names names = {0};
    struct json_reader r;
    struct str key;
    json_reader_init(&r, review->object, arena, "object");
    if (json_object(&r))
        while (json_member(&r, &key)) {
            if (str_eq(key, STR("metadata"))) {
                json_fields(&r, &JSON_ROWS(fields), &names);
                break;
            }
        }
    *ret = (struct admission_subject){
        .meta = {.name = names.name,
                 .namespace = str_empty(review->namespace) ? names.namespace : review->namespace,
                 .uid = names.uid},
        .generate_name = str_empty(names.name) ? names.generate_name : STR("")};
}

void admission_tell(enum admission result, const struct review_answer *answer,
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

void admission_record(const struct admission_record *record, struct ring *ring,
                      struct arena *arena) {
    struct recording rec;
    struct admission_subject subject;
    struct decision_ages ages;
    bool is_creation = str_eq(record->review->operation, STR("CREATE"));
    if (ring == NULL || (!is_creation && record->result == ADMISSION_UNCHANGED))
        return;
    admission_subject_of(record->review, arena, &subject);
    struct decision_about about = {.verb = "admit",
                                   .subject = {.group = record->kind->group,
                                               .kind = record->kind->kind,
                                               .namespace = subject.meta.namespace,
                                               .name = subject.meta.name},
                                   .uid = subject.meta.uid,
                                   .generate_name = subject.generate_name,
                                   .at_us = record->began.at_us,
                                   .took_us = moment_took_us(&record->began),
                                   .dry_run = record->review->dry_run};
    if (record->cache != NULL)
        ages_of(record->cache, NULL, 0, &ages, &about);
    admission_tell(record->result, record->answer, &about);
    if (!recording_begin(&rec, ring, &about))
        return;
    decision_put_admission(&rec.decision, record->review, record->answer);
    recording_end(&rec);
}
