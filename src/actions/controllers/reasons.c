#include "controllers/reasons.h"

#include "model/names.h"

const struct event_reason controller_reasons[CONTROLLER_REASONS] = {
    [REASON_CERTIFICATE_ISSUED] = {"CertificateIssued", EVENT_NORMAL, SECRET_KIND,
                                   "Evenkeel made a certificate for the webhook, the extender or "
                                   "kube-scheduler; the note says "
                                   "why"},
    [REASON_CERTIFICATE_NOT_OURS] =
        {"CertificateNotOurs", EVENT_WARNING, SECRET_KIND,
         "the Secret holds certificates that Evenkeel has not made: Evenkeel serves them and does "
         "not renew them. For kube-scheduler's Secret: Evenkeel neither makes nor renews its "
         "certificate, because the extender's Secret is not Evenkeel's"},
    [REASON_CERTIFICATE_EXPIRES] = {"CertificateExpires", EVENT_WARNING, SECRET_KIND,
                                    "a certificate that Evenkeel does not renew ends soon, or has "
                                    "expired"},
    [REASON_CA_BUNDLE_REWRITTEN] = {"CABundleRewritten", EVENT_WARNING, "webhook configuration",
                                    "somebody else changed the `caBundle`; Evenkeel repairs it"},
    [REASON_CA_BUNDLE_NOT_REPAIRED] = {"CABundleNotRepaired", EVENT_WARNING,
                                       "webhook configuration",
                                       "the API server refused the repair of a wrong `caBundle`, "
                                       "for example because a role is lost; the note says why"},
    [REASON_CONFIGURATION_MISSING] = {"WebhookConfigurationMissing", EVENT_WARNING,
                                      "webhook configuration",
                                      "the configuration was deleted, so API servers do not call "
                                      "Evenkeel; Evenkeel does not create it again"},
    [REASON_POLICY_PROBLEM] = {"PolicyProblem", EVENT_WARNING, POLICY_KIND,
                               "a condition of the policy has become bad, or bad in another way; "
                               "the note has its reason and message"},
    [REASON_POLICY_RECOVERED] = {"PolicyRecovered", EVENT_NORMAL, POLICY_KIND,
                                 "a condition that was bad is good"},
    [REASON_POD_DENIED] = {"PodDenied", EVENT_WARNING, POLICY_KIND,
                           "pods that evade the policy, whose mode is Require, are denied; the "
                           "note has the reason"},
    [REASON_POD_EVADES] = {"PodEvades", EVENT_WARNING, POLICY_KIND,
                           "pods that evade the policy, whose mode is Enforce, are admitted; with "
                           "Require they would be denied"},
    [REASON_POD_NOT_SPREAD] = {"PodNotSpread", EVENT_WARNING, POLICY_KIND,
                               "pods come to the validating webhook without a constraint of the "
                               "policy, which is not their fault, and are admitted"},
    [REASON_WORKLOAD_UNEVEN] = {"WorkloadUneven", EVENT_WARNING, "workload",
                                "the workload's pods have been uneven for `events.unevenAfter`, "
                                "and could be more even; the note has the skew and the domains"},
    [REASON_WORKLOAD_EVEN] =
        {"WorkloadEven", EVENT_NORMAL, "workload",
         "a workload that a WorkloadUneven Event was about is as even as its nodes allow"},
};
