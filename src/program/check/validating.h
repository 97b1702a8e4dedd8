/*
 * A TopologyPolicy with mode Require has effect only if API servers ask the webhook about pods as
 * they will be stored. Is there a ValidatingWebhookConfiguration that makes them ask about new pods
 * and about pods that lose schedulingGates?
 */
#pragma once

#include "check/report.h"
#include "config/configuration.h"
#include "kube/client/client.h"

/* Lists TopologyPolicies and ValidatingWebhookConfigurations. If this user may not list the
 * configurations, reads the configurations that webhook.certificates names. Adds nothing to `out`
 * if no policy has mode Require, or if the policies cannot be listed. */
void validating_check(const struct configuration *configuration, struct kube_client *client,
                      struct check_report *out);
