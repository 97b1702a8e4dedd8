/*
 * `evenkeel check kube-scheduler-config`: will this kube-scheduler call Evenkeel correctly?
 *
 * Most mistakes in an extender's entry are silent: kube-scheduler starts, but does not call the
 * extender, or does not verify its certificate; and it ignores all errors of prioritize. Each rule
 * here finds one such mistake, and reports its effect and the right setting.
 */
#pragma once

#include "check/report.h"
#include "check/scheduler_config.h"
#include "config/configuration.h"
#include "extender/verbs.h"

struct scheduler_check {
    int64_t index;        /* index of Evenkeel's entry; -1: find the entry by its urlPrefix */
    const char *url_part; /* a part of the urlPrefix to find; NULL: EXTENDER_PATH */
    const struct configuration *evenkeel; /* Evenkeel's own configuration; NULL: not known */
    const char *secret; /* file with a Secret, Evenkeel's or kube-scheduler's; NULL: none */
};

/* Checks the text of a configuration. A finding is an error if kube-scheduler would not start, or
 * Evenkeel could not do its work. Memory is from the findings' arena. */
void scheduler_check(struct str text, const struct scheduler_check *which,
                     struct check_report *out);

/* ---- for the files scheduler*.c of this folder ---- */

/* The entry that is being checked. */
struct judge {
    const struct scheduler_config *config;
    const struct scheduler_extender *extender;
    uint32_t index;
    bool chosen;                          /* the user said which entry is Evenkeel's */
    const struct configuration *evenkeel; /* Evenkeel's own configuration; NULL: not known */
    const char *secret;                   /* file with a Secret; NULL: none */
    struct check_report *out;
};

/* Adds a finding about the entry's member ("tlsConfig.caFile"; "" for the entry itself). */
void judge_say(const struct judge *j, enum severity severity, const char *member,
               const char *advice, const char *fmt, ...) PRINTF_LIKE(5, 6);

/* Check urlPrefix and the verbs. */
void judge_url(const struct judge *j);
void judge_verbs(const struct judge *j);
/* Is this the verb called `name`? It may be written with a part of the path in front. */
bool judge_is_verb(struct str verb, const char *name);
/* Returns a urlPrefix without the slashes at its end, which have no meaning. */
struct str judge_bare_url(struct str url);

/* Check tlsConfig, enableHTTPS and the files that they name. */
void judge_tls_start(const struct judge *j); /* mistakes that keep kube-scheduler from starting */
void judge_tls(const struct judge *j);

/* Is the server's certificate valid for the called name? Can kube-scheduler resolve that name? */
void judge_certificate(const struct judge *j);
/* Reports a certificate that has ended or ends soon; `what` is the place that holds it. */
struct certificate;
void judge_dates(const struct judge *j, const char *member, const char *advice, struct str what,
                 const struct certificate *c);

/* Checks the in-tree plugin that enforces the same constraints, in every profile. */
void judge_plugins(const struct judge *j);
