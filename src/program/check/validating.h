/*
 * A TopologyPolicy with mode Require has effect only if API servers ask the webhook about pods as
 * they will be stored. Is there a ValidatingWebhookConfiguration that makes them ask about new pods
 * and about pods that lose schedulingGates?
 */
#pragma once

#include "check/report.h"
#include "config/configuration.h"
#include "kube/client/client.h"

/* Lists policies and configurations. If this user may not list all configurations, it lists those
 * named in webhook.certificates. Adds nothing if no policy has that mode or policies are hidden. */
void validating_check(const struct configuration *configuration, struct kube_client *client,
                      struct check_report *out);
