/*
 * One request as libcurl sees it: setting a handle up, taking what comes, saying how it ended. The
 * loop (kube/client/loop.c) has the handles work; only these two know libcurl.
 */
#pragma once

#include "kube/auth/credentials.h"
#include "kube/client/client.h"

#include <curl/curl.h>

/* What all requests to one server have in common. Made once. */
struct transfer_settings {
    const struct kube_access *access;
    struct arena arena;
    char *base;             /* URL of the server, with the name its certificate must have */
    char *host_header;      /* "Host: ..." or NULL when the URL's is right */
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
/* Frees the handle and what belongs to it, but not the body; our copy of the token is wiped. */
void transfer_done(struct kube_request *request);

/* What a transfer that ended with `code` comes to; borrowed from the request. */
void transfer_result(struct kube_request *request, CURLcode code, struct kube_result *ret);
