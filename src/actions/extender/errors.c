#include "extender/errors.h"

#include "base/log.h"
#include "base/metrics.h"
#include "extender/verbs.h"

#include <assert.h>

#define ERROR(verb_name, reason)                                                                   \
    {                                                                                              \
        .name = "evenkeel_extender_errors_total",                                                  \
        .help = "Answers of the extender that are errors, whatever their status.",                 \
        .labels = "verb=\"" verb_name "\",reason=\"" reason "\"", .kind = METRIC_COUNTER           \
    }
#define ERRORS_OF(verb_name)                                                                       \
    {                                                                                              \
        [EXTENDER_MALFORMED] = ERROR(verb_name, "malformed"),                                      \
        [EXTENDER_NO_MEMORY] = ERROR(verb_name, "memory"),                                         \
        [EXTENDER_UNREADY] = ERROR(verb_name, "not_ready"),                                        \
        [EXTENDER_BAD_POD] = ERROR(verb_name, "pod"),                                              \
    }

/* An error that cannot happen with a verb has no name. */
static struct metric errors[EXTENDER_VERBS][EXTENDER_ERRORS] = {
    [EXTENDER_FILTER] = ERRORS_OF("filter"),
    [EXTENDER_PRIORITIZE] = ERRORS_OF("prioritize"),
    [EXTENDER_COMPLEMENT] = ERRORS_OF("complement"),
    [EXTENDER_PREEMPT] = ERRORS_OF("preempt"),
    [EXTENDER_BIND] =
        {
            [EXTENDER_MALFORMED] = ERROR("bind", "malformed"),
            [EXTENDER_NO_MEMORY] = ERROR("bind", "memory"),
            [EXTENDER_UNVERIFIED] = ERROR("bind", "unverified"),
            [EXTENDER_NO_API_SERVER] = ERROR("bind", "no_api_server"),
            [EXTENDER_NOT_BOUND] = ERROR("bind", "not_bound"),
            [EXTENDER_UNKNOWN] = ERROR("bind", "unknown"),
        },
};

static void for_each(void (*visit)(struct metric *)) {
    for (size_t verb = 0; verb < EXTENDER_VERBS; verb++)
        for (size_t why = 0; why < EXTENDER_ERRORS; why++)
            if (errors[verb][why].name != NULL)
                visit(&errors[verb][why]);
}

void extender_errors_start(void) {
    for_each(metric_register);
}

void extender_errors_stop(void) {
    for_each(metric_unregister);
}

void extender_count_error(const char *verb, enum extender_error why) {
    size_t at = 0;
    while (at < EXTENDER_VERBS && strcmp(extender_verbs[at].name, verb) != 0)
        at++;
    assert(at < EXTENDER_VERBS && errors[at][why].name != NULL);
    metric_add(&errors[at][why], 1);
}

void extender_note_error(const char *verb, enum extender_error why, const struct object_meta *pod,
                         const char *text) {
    static const struct object_meta unknown = {0};
    pod = pod != NULL ? pod : &unknown;
    extender_count_error(verb, why);
    LOG_W("answered with an error", LOG_CSTR("verb", verb), LOG_STR("namespace", pod->namespace),
          LOG_STR("pod", pod->name), LOG_CSTR("err", text));
}
