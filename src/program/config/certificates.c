/*
 * The settings of webhook.certificates and of extender.certificates, each in a table of its own.
 */
#include "config/table.h"

#include "base/dns_name.h"
#include "certs/host.h"
#include "http/client_name.h"

#define MEMBER(member) FIELD_MEMBER(struct configuration_certificates, member)
#define COUNT(member) FIELD_COUNT(struct configuration_certificates, member)

static const struct field_choice mode_words[] = {{"Files", CERTIFICATES_FILES},
                                                 {"Secret", CERTIFICATES_SECRET},
                                                 {"SelfSigned", CERTIFICATES_SELF_SIGNED},
                                                 {0}};

static bool host_valid(struct str s) {
    struct host host;
    return host_parse(s, &host, NULL) == 0;
}

/* Can allowed subjects name this common name of a certificate? Only names in printable ASCII are
 * allowed: reading a certificate changes other characters (certs/inspect.h). */
static bool common_name_valid(struct str s) {
    struct client_name name = client_name_read(s);
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < 0x20 || s.p[i] > 0x7e)
            return false;
    return s.n > 0 && s.n <= 64 && client_name_valid(s) && name.type == CLIENT_NAME_CN &&
           str_eq(name.text, s);
}

/* ---- rows of both tables ---- */

#define MODE(help_)                                                                                \
    {                                                                                              \
        .path = "mode", .type = FIELD_CHOICE, MEMBER(mode), .choices = mode_words,                 \
        .initial = CERTIFICATES_FILES, .help = (help_)                                             \
    }
/* `initial_` is the default; NULL: no default. */
#define OBJECT_NAME(path_, member_, initial_, help_)                                               \
    {                                                                                              \
        .path = (path_), .type = FIELD_CSTR, MEMBER(member_), .valid = dns_subdomain_valid,        \
        .noun = "name", .initial_text = (initial_), .help = (help_)                                \
    }
#define SECRET_NAME(initial_)                                                                      \
    OBJECT_NAME("secretName", secret, initial_, "The Secret. Replicas share it; it is watched.")
#define HOSTS(help_)                                                                               \
    {                                                                                              \
        .path = "hosts", .type = FIELD_STRS, MEMBER(hosts), COUNT(host_count),                     \
        .valid = host_valid, .noun = "host", .help = (help_)                                       \
    }
#define OBJECT_NAMES(path_, member_, count_, help_)                                                \
    {                                                                                              \
        .path = (path_), .type = FIELD_CSTRS, MEMBER(member_), COUNT(count_),                      \
        .valid = dns_subdomain_valid, .noun = "name", .help = (help_)                              \
    }

/* ---- the tables ---- */

static const struct field webhook_fields[] = {
    MODE("`Files`: `webhook.certFile` and `keyFile`. `Secret`: `tls.crt`, `tls.key` and "
         "`ca.crt` of a Secret that somebody else fills, cert-manager for instance. "
         "`SelfSigned`: the same, filled and renewed by Evenkeel."),
    SECRET_NAME("evenkeel-webhook-tls"),
    OBJECT_NAME("secretNamespace", namespace, NULL,
                "The Secret's namespace; otherwise the namespace of the pod, or of the "
                "kubeconfig's context."),
    HOSTS("Names and addresses that API servers call the webhook by, for instance "
          "`evenkeel.evenkeel.svc`. Only with `SelfSigned`, which needs them."),
    OBJECT_NAMES("configurations", configurations, configuration_count,
                 "MutatingWebhookConfigurations. Their `caBundle` is kept right where they call a "
                 "name of the certificate. Not with `Files`."),
    OBJECT_NAMES("validatingConfigurations", validating, validating_count,
                 "ValidatingWebhookConfigurations, for policies with mode Require. Their "
                 "`caBundle` is kept right as in `configurations`."),
};

const struct field_table configuration_certificates_table =
    FIELD_TABLE(webhook_fields, struct configuration_certificates, NULL);

static const struct field extender_fields[] = {
    MODE("`Files`: `extender.certFile`, `keyFile` and `clientCAFile`. `Secret`: `tls.crt`, "
         "`tls.key` and `ca.crt` of a Secret that somebody else fills; callers need a "
         "certificate of that CA. `SelfSigned`: the same, filled and renewed by Evenkeel, with "
         "a certificate for kube-scheduler in a Secret of its own."),
    SECRET_NAME("evenkeel-extender-tls"),
    OBJECT_NAME("secretNamespace", namespace, NULL,
                "Where both Secrets are; otherwise the namespace of the pod, or of the "
                "kubeconfig's context."),
    HOSTS("Names and addresses that kube-scheduler calls the extender by, for instance "
          "`evenkeel-extender.evenkeel.svc` and the Service's `clusterIP`. A kube-scheduler on the "
          "host's network cannot resolve the Service's name. Only with `SelfSigned`, which needs "
          "them."),
    OBJECT_NAME("clientSecretName", client_secret, "evenkeel-extender-client",
                "With `SelfSigned`: the Secret with kube-scheduler's `tls.crt` and `tls.key`, and "
                "with `ca.crt`, by which it knows Evenkeel."),
    {.path = "clientName",
     .type = FIELD_CSTR,
     MEMBER(client_name),
     .valid = common_name_valid,
     .noun = "name",
     .initial_text = "system:kube-scheduler",
     .help = "The common name in kube-scheduler's certificate. Without `allowedSubjects` no other "
             "name may call. If you change the name, Evenkeel makes a new certificate and refuses "
             "the former one."},
    {.path = "clientDays",
     .type = FIELD_NUMBER,
     MEMBER(client_days),
     .min = 1,
     .max = 3650,
     .initial = 90,
     .help = "How many days kube-scheduler's certificate is valid. It is renewed when two thirds "
             "of them are over. Set 365 where the certificate is brought to the machines by hand."},
};

const struct field_table configuration_extender_certificates_table =
    FIELD_TABLE(extender_fields, struct configuration_certificates, NULL);
