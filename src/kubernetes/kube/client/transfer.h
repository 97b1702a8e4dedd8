/*
 * The libcurl side of one request: sets up a handle, receives the answer, reports the result. The
 * loop (kube/client/loop.c) runs the handles; only these two files know libcurl.
 */
#pragma once

#include "kube/auth/credentials.h"
#include "kube/client/client.h"

#include <curl/curl.h>

/* Settings shared by all requests to one server. Made once. */
struct transfer_settings {
    const struct kube_access *access;
    struct arena arena;
    char *base;             /* URL of the server; its host is the name that the certificate must
                               have */
    char *host_header;      /* "Host: ..."; NULL: the host of the URL is right */
    struct curl_slist *via; /* CURLOPT_CONNECT_TO, or NULL */
    struct curl_slist *proxy_headers;
    char *user_agent;
};

int transfer_settings_init(struct transfer_settings *s, const struct kube_access *access,
                           struct err *err) MUST_CHECK;
void transfer_settings_done(struct transfer_settings *s);

/* Makes request->own.transfer.easy, ready to be added to a multi handle, with `timeout_ms` from
 * now. The identity is copied. */
int transfer_prepare(const struct transfer_settings *s, const struct identity *identity,
                     struct kube_request *request, int64_t timeout_ms, struct err *err) MUST_CHECK;
/* Frees the handle and its data, but not the body; wipes our copy of the token. */
void transfer_done(struct kube_request *request);

/* Returns how far the request has come; KUBE_STAGE_CREDENTIALS without a handle. */
enum kube_stage transfer_stage(const struct kube_request *request);
/* Returns the result of a transfer that ended with `code`; borrowed from the request. */
void transfer_result(struct kube_request *request, CURLcode code, struct kube_result *ret);
