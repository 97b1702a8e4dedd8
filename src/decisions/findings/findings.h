/*
 * Findings: parts of a user's file that cannot be meant so, or that have no effect. Each finding
 * has a code, the path in the user's file, a message and a remedy. A finding never refuses
 * anything.
 *
 * A list keeps the first LIMIT_FINDINGS by path, then code, and counts the others. It has memory
 * and steps of its own: in a file with very many mistakes some findings are lost, but never the
 * answer.
 *
 * Threads: none of its own; one thread uses a list.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum finding_code {
    FINDING_BEING_DELETED,
    FINDING_EXPIRED,
    FINDING_INVALID,
    FINDING_KEEPS_FAILED,
    FINDING_KEY_UNKNOWN,
    FINDING_LABEL_UNKNOWN,
    FINDING_MAX_GROUPS_UNSET,
    FINDING_NAME_UNKNOWN,
    FINDING_NOT_SCHEDULED,
    FINDING_OLD_VERSION,
    FINDING_OTHER_KEY_TYPE,
    FINDING_PASSED_OVER,
    FINDING_SELECTOR_MISSES_POD,
    FINDING_SINGLE_DOMAIN,
    FINDING_TEMPLATE,
    FINDING_UNKNOWN_FIELD,
    FINDING_UNUSABLE_DOMAIN,
    FINDING_VOLUME_PINS,
    FINDING_CODES,
};

/* The const table of all codes; docs/findings.md has a line for each. */
struct finding_kind {
    const char *code; /* a fixed word in answers */
    const char *when; /* one sentence: the condition for the finding */
};
extern const struct finding_kind finding_kinds[FINDING_CODES];

struct finding {
    enum finding_code code;
    /* path from the root of the question's file; "": the finding is about the state */
    struct str path;
    struct str message, remedy;
};

struct findings {
    struct arena *arena; /* borrowed; has the texts and the steps. If it has failed, findings are
                            missing, but there is no other error */
    struct finding *items;
    uint32_t count;
    uint32_t omitted; /* number of findings beyond LIMIT_FINDINGS, or without steps; written as 1
                         instead of 0 if memory or steps ran out */
    struct str about; /* the beginning of the next messages, for a question with several objects:
                         "policy 'web': "; or "" */
};

/* Sets up an empty list. `own` becomes an arena for this list alone, with steps. The caller frees
 * it by arena_done() after the list's last use. */
void findings_init(struct findings *f, struct arena *own);

/* Adds a finding; equal findings count once. The remedy may be "". Takes steps; if no steps are
 * left, the finding is counted as omitted. */
void findings_add(struct findings *f, enum finding_code code, struct str path, struct str remedy,
                  const char *message, ...) PRINTF_LIKE(5, 6);

/* Adds "findings", and "findingsOmitted" if findings were omitted, to the JSON object at the end of
 * `json`. */
void findings_put(const struct findings *f, struct strbuf *json);
/* Appends "PATH: MESSAGE. REMEDY", and leaves out empty parts. */
void finding_say(const struct finding *finding, struct strbuf *out);
