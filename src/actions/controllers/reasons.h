/*
 * The reasons of the Events that controllers write. docs/events.md lists them, and a test compares
 * it with the table.
 */
#pragma once

#include "kube/events/events.h"

enum controller_reason {
    REASON_CERTIFICATE_ISSUED,
    REASON_CERTIFICATE_NOT_OURS,
    REASON_CERTIFICATE_EXPIRES,
    REASON_CA_BUNDLE_REWRITTEN,
    REASON_CA_BUNDLE_NOT_REPAIRED,
    REASON_CONFIGURATION_MISSING,
    REASON_POLICY_PROBLEM,
    REASON_POLICY_RECOVERED,
    REASON_POD_DENIED,
    REASON_POD_EVADES,
    REASON_POD_NOT_SPREAD,
    REASON_WORKLOAD_UNEVEN,
    REASON_WORKLOAD_EVEN,
    CONTROLLER_REASONS
};

extern const struct event_reason controller_reasons[CONTROLLER_REASONS];
