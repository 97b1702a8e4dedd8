/*
 * The settings of webhook.certificates, as a table of their own.
 */
#include "config/table.h"

#include "certs/host.h"

#define MEMBER(member) FIELD_MEMBER(struct configuration_certificates, member)
#define COUNT(member) FIELD_COUNT(struct configuration_certificates, member)

static const struct field_choice mode_words[] = {{"Files", CERTIFICATES_FILES},
                                                 {"Secret", CERTIFICATES_SECRET},
                                                 {"SelfSigned", CERTIFICATES_SELF_SIGNED},
                                                 {0}};

/* As Kubernetes names objects: DNS labels, with dots between them. */
static bool name_valid(struct str s) {
    bool at_edge = true; /* of a label: there, only letters and digits */
    if (s.n == 0 || s.n > 253)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool alphanumeric = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!alphanumeric && ((c != '-' && c != '.') || at_edge))
            return false;
        if (c == '.' && s.p[i - 1] == '-')
            return false;
        at_edge = c == '.';
    }
    return !at_edge && s.p[s.n - 1] != '-';
}

static bool host_valid(struct str s) {
    struct host host;
    return host_parse(s, &host, NULL) == 0;
}

static const struct field fields[] = {
    {.path = "mode",
     .type = FIELD_CHOICE,
     MEMBER(mode),
     .choices = mode_words,
     .initial = CERTIFICATES_FILES,
     .help = "`Files`: `webhook.certFile` and `keyFile`. `Secret`: `tls.crt`, `tls.key` and "
             "`ca.crt` of a Secret that somebody else fills, cert-manager for instance. "
             "`SelfSigned`: the same, filled and renewed by Evenkeel."},
    {.path = "secretName",
     .type = FIELD_CSTR,
     MEMBER(secret),
     .valid = name_valid,
     .noun = "name",
     .initial_text = "evenkeel-webhook-tls",
     .help = "The Secret. Replicas share it; it is watched."},
    {.path = "secretNamespace",
     .type = FIELD_CSTR,
     MEMBER(namespace),
     .valid = name_valid,
     .noun = "name",
     .help = "Where it is; otherwise the namespace of the pod, or of the kubeconfig's context."},
    {.path = "hosts",
     .type = FIELD_STRS,
     MEMBER(hosts),
     COUNT(host_count),
     .valid = host_valid,
     .noun = "host",
     .help = "Names and addresses that API servers call the webhook by, for instance "
             "`evenkeel.evenkeel.svc`. Only with `SelfSigned`, which needs them."},
    {.path = "configurations",
     .type = FIELD_CSTRS,
     MEMBER(configurations),
     COUNT(configuration_count),
     .valid = name_valid,
     .noun = "name",
     .help = "MutatingWebhookConfigurations. Their `caBundle` is kept right where they call a name "
             "of the certificate. Not with `Files`."},
    {.path = "validatingConfigurations",
     .type = FIELD_CSTRS,
     MEMBER(validating),
     COUNT(validating_count),
     .valid = name_valid,
     .noun = "name",
     .help = "The same of ValidatingWebhookConfigurations, for policies that bind."},
};

const struct field_table configuration_certificates_table =
    FIELD_TABLE(fields, struct configuration_certificates, NULL);
