#include "check/estimator.h"

#include "base/mutex.h"
#include "estimator/estimator.h"
#include "estimator/wire.h"
#include "grpc/dial.h"

#include <errno.h>
#include <string.h>

#define SAY(out, severity, path, advice, ...)                                                      \
    check_report_add(out, severity, 0, path, advice, __VA_ARGS__)

/* The reply; it arrives on the dialer's thread. */
struct asked {
    struct mutex lock; /* guards the members below */
    struct condition done;
    bool replied;
    int status;
    bool from_server, understood;
    int32_t count;
    char text[LIMIT_GRPC_TEXT + 1];
    int64_t replied_ns;
};

/* ---- the connection ---- */

static const char *connection_advice(const struct grpc_peer_report *report) {
    switch (report->failure.code) {
    case -ENXIO:
        return "karmada-scheduler dials <prefix>-<cluster>.<namespace>.svc: look at that Service, "
               "or at the ExternalName of the Service in Karmada's API server";
    case -ECONNREFUSED:
        return "nothing listens there: look whether the estimator runs, and check the Service's "
               "port";
    case -EHOSTUNREACH:
    case -ENETUNREACH:
        return "look at routes, and at NetworkPolicies";
    case -EKEYREJECTED:
        return "set --ca-file to the CA that signed the estimator's certificate, and give the "
               "estimator a certificate that has the dialled name among its DNS names";
    case -EACCES:
        return "give --cert-file and --key-file with a certificate of the CA in the estimator's "
               "--grpc-client-ca-file (if the estimator is Evenkeel, the certificate's subject "
               "must be allowed, too)";
    case -ENOPROTOOPT:
        return "karmada-scheduler refuses it, too: look for a proxy in between that speaks "
               "HTTP/1.1 "
               "only";
    case -EPROTO:
        return report->failed_at == GRPC_PEER_GREETS
                   ? "is this the port of the estimator's gRPC (10352), and does it want TLS?"
                   : "is TLS off there? Then leave out --ca-file and --insecure-skip-verify. The "
                     "estimator wants TLS 1.3";
    case -ECONNRESET:
        return report->failed_at == GRPC_PEER_GREETS
                   ? "does it want TLS? Then give --ca-file"
                   : "is TLS off there? Then leave out --ca-file and --insecure-skip-verify";
    case -ETIMEDOUT:
        return "look whether a firewall or NetworkPolicy drops the packets";
    default:
        return "";
    }
}

static bool check_connection(struct grpc_peer *peer, const struct estimator_check *which,
                             struct check_report *out) {
    static const char *const paths[GRPC_PEER_STAGES] = {
        [GRPC_PEER_WAITS] = "connection",    [GRPC_PEER_LOOKS_UP] = "name",
        [GRPC_PEER_CONNECTS] = "connection", [GRPC_PEER_SHAKES_HANDS] = "tls",
        [GRPC_PEER_GREETS] = "http2",        [GRPC_PEER_READY] = "http2",
    };
    struct grpc_peer_report report;
    struct clock *clock = clock_real();
    const int64_t began_ms = clock->now_ms(clock);
    grpc_peer_await(peer, began_ms + which->timeout_ms, &report);
    if (report.stage == GRPC_PEER_READY) {
        SAY(out, SEVERITY_INFO, "connection", "", "connected to %s in %lld ms, %s", which->address,
            (long long)(report.connected_ms - began_ms),
            grpc_dial_tls_is_on(&which->tls) ? which->tls.insecure_skip_verify
                                                   ? "with TLS, its certificate not verified"
                                                   : "with TLS"
                                             : "in plaintext");
        return true;
    }
    if (report.failures == 0) { /* the timeout is shorter than one try */
        report.failed_at = report.stage;
        (void)err_set(&report.failure, -ETIMEDOUT, "nothing answered in %lld ms",
                      (long long)which->timeout_ms);
    }
    SAY(out, SEVERITY_ERROR,
        report.failure.code == -EACCES || report.failure.code == -ENOPROTOOPT
            ? "tls"
            : paths[report.failed_at],
        connection_advice(&report), "cannot connect to %s: %s", which->address,
        report.failure.text);
    return false;
}

/* ---- the answer ---- */

static void keep_reply(void *ctx, const struct grpc_reply *reply) {
    struct asked *a = ctx;
    mutex_lock(&a->lock);
    a->replied = true;
    a->status = reply->status;
    a->from_server = reply->from_server;
    a->understood = reply->status == GRPC_OK && wire_response_decode(reply->message, &a->count);
    memcpy(a->text, reply->text.n > 0 ? reply->text.p : "", reply->text.n);
    a->text[reply->text.n] = '\0';
    a->replied_ns = clock_now_ns();
    condition_signal(&a->done);
    mutex_unlock(&a->lock);
}

static void say_status(const struct asked *a, const struct estimator_check *which,
                       struct check_report *out) {
    const bool is_name = strstr(a->text, "cluster name does not match") != NULL;
    const char *advice =
        is_name ? "this estimator is for another cluster: look at the estimator's --cluster-name "
                  "(of Evenkeel: estimator.members), and look to which estimator the Service leads"
        : a->status == GRPC_UNIMPLEMENTED
            ? "this is a server of gRPC, but not an estimator of Karmada 1.1 or newer"
        : a->status == GRPC_DEADLINE_EXCEEDED
            ? "karmada-scheduler waits --scheduler-estimator-timeout (3s) for all clusters together"
        : a->status == GRPC_UNAVAILABLE ? "look at the estimator's log, and whether it is synced"
                                        : "look at the estimator's log";
    SAY(out, SEVERITY_ERROR, is_name ? "cluster" : "answer", advice, "%s%d%s%s",
        a->from_server ? "it answers with gRPC status " : "no answer, gRPC status ", a->status,
        a->text[0] != '\0' ? ": " : "", a->text);
    SAY(out, SEVERITY_INFO, "answer", "",
        "an error for one cluster (%s) makes karmada-scheduler drop the accurate estimates of all "
        "clusters",
        which->cluster);
}

static void say_answer(const struct asked *a, const struct estimator_check *which, int64_t began_ns,
                       struct check_report *out) {
    const double took_ms = (double)(a->replied_ns - began_ns) / 1e6;
    if (a->status != GRPC_OK)
        say_status(a, which, out);
    else if (!a->understood)
        SAY(out, SEVERITY_ERROR, "answer", "this is a server of gRPC, but not an estimator",
            "the answer is not a MaxAvailableReplicasResponse");
    else if (a->count == ESTIMATE_UNKNOWN)
        SAY(out, SEVERITY_WARNING, "answer",
            "look in the estimator's log whether the estimator has access to the member's API "
            "server, and whether it is synced",
            "the estimator answers -1 (unknown) for cluster %s: karmada-scheduler uses the summary "
            "of the Cluster alone (%.1f ms)",
            which->cluster, took_ms);
    else
        SAY(out, SEVERITY_INFO, "answer", "",
            "%d replicas that request nothing fit cluster %s (%.1f ms)", a->count, which->cluster,
            took_ms);
}

static void check_answer(struct grpc_peer *peer, const struct estimator_check *which,
                         struct asked *a, struct check_report *out) {
    CLEANUP(strbuf_done) struct strbuf message = {.max = LIMIT_GRPC_MESSAGE};
    struct clock *clock = clock_real();
    const int64_t began_ns = clock_now_ns();
    const int64_t deadline_ms = clock->now_ms(clock) + which->timeout_ms;
    struct err err = {0};
    wire_replicas_ask(str_of(which->cluster), (struct str){0}, &message);
    const struct grpc_call_request request = {.path = STR(WIRE_SERVICE "MaxAvailableReplicas"),
                                              .message = strbuf_str(&message),
                                              .deadline_ms = deadline_ms};
    if (grpc_peer_call(peer, &request, keep_reply, a, &err) != 0) {
        SAY(out, SEVERITY_ERROR, "answer", "", "it cannot be asked: %s", err.text);
        return;
    }
    mutex_lock(&a->lock);
    while (!a->replied)
        condition_wait(&a->done, &a->lock); /* the call ends at its deadline */
    mutex_unlock(&a->lock);
    say_answer(a, which, began_ns, out);
}

void estimator_check(const struct estimator_check *which, struct check_report *out) {
    struct asked a = {.replied = false};
    struct grpc_dialer *dialer = NULL;
    struct grpc_peer *peer = NULL;
    struct err err = {0};
    int r = grpc_dialer_start(&which->tls, clock_real(), &dialer, &err);
    if (r == 0)
        r = grpc_peer_add(dialer, &which->address, 1, &peer, &err);
    if (r != 0)
        SAY(out, SEVERITY_ERROR, "connection", "", "%s", err.text);
    mutex_init(&a.lock);
    condition_init(&a.done);
    if (r == 0 && check_connection(peer, which, out))
        check_answer(peer, which, &a, out);
    grpc_dialer_stop(dialer);
    condition_done(&a.done);
    mutex_done(&a.lock);
}
