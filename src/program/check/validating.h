/*
 * A TopologyPolicy with mode Require binds only if API servers ask about pods as they will be
 * stored: is there a ValidatingWebhookConfiguration that has them ask, about new pods and about
 * those whose schedulingGates go?
 */
#pragma once

#include "check/findings.h"
#include "config/configuration.h"
#include "kube/client/client.h"

/* Lists policies and configurations; of those it lists the ones that webhook.certificates names
 * if it may not list all. Says nothing where no policy has that mode, or policies are not shown. */
void validating_check(const struct configuration *configuration, struct kube_client *client,
                      struct findings *out);
