/*
 * Reads the command line of karmada-scheduler-estimator, and makes a configuration with one member
 * cluster from it. Values are written as for pflag: true and false only after '=', '_' for '-',
 * -v=4.
 *
 * upstream: karmada v1.18.1 cmd/scheduler-estimator/app/options, pkg/sharedcli/{klogflag,
 * profileflag}, pkg/features; k8s.io/component-base logs/api/v1, featuregate; klog v2.
 */
#pragma once

#include "cli/options.h"

/* The state of a feature gate: not given, given as off, or given as on. */
enum gate_state { GATE_UNSET, GATE_OFF, GATE_ON };

/* The gates of --feature-gates that have an effect here. */
struct estimator_gates {
    enum gate_state resource_quota, overcommit_protection;
    enum gate_state all_alpha; /* used for the gates below if they are not set: both are alpha */
};

/* Texts are borrowed from argv, or literals. */
struct estimator_flags {
    const char *cluster_name;
    const char *kubeconfig, *master;              /* NULL: the flag is not given, or empty */
    const char *cert_file, *key_file, *client_ca; /* NULL: the flag is not given, or empty */
    bool skip_client_verify;
    int64_t port;
    const char *metrics, *probes; /* "0": off */
    struct estimator_gates gates;
    int64_t verbosity;
    bool logs_json;
    struct strbuf unused; /* "kube-api-qps, v": given flags without an effect here */
};

/* Reads the command line. Wrong usage is printed, and sets o->stopped. Call
 * estimator_flags_done() in any case. */
void estimator_flags_read(struct options *o, struct estimator_flags *ret);
void estimator_flags_done(struct estimator_flags *f);

/* Sets the settings that follow from the flags in `c`, which must be initialised. The texts of `c`
 * are in its arena or borrowed from the flags. Returns 0 or -ENOMEM. */
int estimator_flags_apply(const struct estimator_flags *f, struct configuration *c,
                          struct err *err) MUST_CHECK;
/* Is the listener plaintext, as upstream, although some file for TLS was given? */
bool estimator_flags_lack_tls(const struct estimator_flags *f);
