/*
 * `evenkeel check kube-scheduler-config`: will this kube-scheduler call Evenkeel as it should?
 *
 * Most mistakes in an extender's entry are silent: kube-scheduler starts, calls nobody or does not
 * verify whom it calls, and ignores errors of prioritize altogether. Each rule here is one such
 * mistake, with its consequence and what to write instead.
 */
#pragma once

#include "check/findings.h"
#include "check/scheduler_config.h"
#include "extender/verbs.h"

struct scheduler_check {
    int64_t index;        /* which entry is ours; -1: ... */
    const char *url_part; /* ... the one whose urlPrefix contains this; NULL: EXTENDER_PATH */
};

/* Judges a configuration's bytes. Errors among the findings: kube-scheduler does not start with it,
 * or Evenkeel does not do its work. Memory is from the findings' arena. */
void scheduler_check(struct str text, const struct scheduler_check *which, struct findings *out);

/* ---- for the files check_scheduler*.c ---- */

/* One entry under judgement. */
struct judge {
    const struct scheduler_config *config;
    const struct scheduler_extender *extender;
    uint32_t index;
    bool chosen; /* the user said which entry is ours */
    struct findings *out;
};

/* Adds a finding about the entry's member ("tlsConfig.caFile"; "" for the entry itself). */
void judge_say(const struct judge *j, enum severity severity, const char *member,
               const char *advice, const char *fmt, ...) PRINTF_LIKE(5, 6);

/* urlPrefix and the verbs. */
void judge_url(const struct judge *j);
void judge_verbs(const struct judge *j);
/* Does a verb as it is written, perhaps with a part of the path in front, name this one? */
bool judge_is_verb(struct str verb, const char *name);
/* A urlPrefix without the slashes at its end, which count for nothing. */
struct str judge_bare_url(struct str url);

/* tlsConfig, enableHTTPS and the files they name. */
void judge_tls_start(const struct judge *j); /* what keeps kube-scheduler from starting */
void judge_tls(const struct judge *j);

/* The in-tree plugin that keeps the same constraints, in every profile. */
void judge_plugins(const struct judge *j);
