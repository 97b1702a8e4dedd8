#include "kube/client/transfer.h"

#include "base/limits.h"
#include "base/secret.h"
#include "base/version.h"
#include "kube/client/server_clock.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/utsname.h>

enum {
    CONNECT_MS = 30000,
    PROBE_IDLE_S = 30, /* a dead peer is detected after 30 + 3 x 5 s of silence */
    PROBE_INTERVAL_S = 5,
    PROBE_COUNT = 3,
    UNANSWERED_MS = 45000, /* a peer that does not acknowledge our bytes for this time is dead */
    RETRY_AFTER_S = 300,   /* the longest Retry-After that counts */
};

/* ---- the settings of all requests ---- */

/* The parts of "https://host:6443/prefix". All parts but the scheme may be rewritten. */
struct parts {
    char *scheme, *host, *port, *path;
};

static void parts_done(struct parts *parts) {
    curl_free(parts->scheme);
    curl_free(parts->host);
    curl_free(parts->port);
    curl_free(parts->path);
}

static int take_apart(const char *server, struct parts *ret, struct err *err) {
    CURLU *url = curl_url();
    CURLUcode code =
        url == NULL ? CURLUE_OUT_OF_MEMORY : curl_url_set(url, CURLUPART_URL, server, 0);
    if (code == CURLUE_OK)
        code = curl_url_get(url, CURLUPART_SCHEME, &ret->scheme, 0);
    if (code == CURLUE_OK)
        code = curl_url_get(url, CURLUPART_HOST, &ret->host, 0);
    if (code == CURLUE_OK)
        code = curl_url_get(url, CURLUPART_PORT, &ret->port, CURLU_DEFAULT_PORT);
    if (code == CURLUE_OK)
        code = curl_url_get(url, CURLUPART_PATH, &ret->path, 0);
    curl_url_cleanup(url);
    if (code == CURLUE_OK)
        return 0;
    return err_set(err, code == CURLUE_OUT_OF_MEMORY ? -ENOMEM : -EINVAL,
                   "the server's address '%s' is no URL: %s", server, curl_url_strerror(code));
}

static char *format(struct arena *arena, const char *fmt, ...) PRINTF_LIKE(2, 3);
static char *format(struct arena *arena, const char *fmt, ...) {
    char text[2048];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return n < 0 || n >= (int)sizeof text ? NULL : arena_cstr(arena, str_of(text));
}

/* For a certificate with another name than the address: the URL has that name, but libcurl connects
 * to the address. */
static void use_server_name(struct transfer_settings *s, const struct parts *parts) {
    const char *name = s->access->tls_server_name;
    s->base = format(&s->arena, "%s://%s:%s", parts->scheme, name, parts->port);
    s->host_header = format(&s->arena, "Host: %s:%s", parts->host, parts->port);
    char *via = format(&s->arena, "%s:%s:%s:%s", name, parts->port, parts->host, parts->port);
    s->via = via != NULL ? curl_slist_append(NULL, via) : NULL;
}

int transfer_settings_init(struct transfer_settings *s, const struct kube_access *access,
                           struct err *err) {
    CLEANUP(parts_done) struct parts parts = {0};
    struct utsname machine = {.sysname = "Linux"};
    *s = (struct transfer_settings){.access = access};
    arena_init(&s->arena, LIMIT_CONFIG_BYTES);
    int r = take_apart(access->server, &parts, err);
    if (r != 0)
        return r;
    bool renamed = access->tls_server_name != NULL;
    if (renamed)
        use_server_name(s, &parts);
    else
        s->base = format(&s->arena, "%s://%s:%s", parts.scheme, parts.host, parts.port);
    bool prefixed = !str_eq(str_of(parts.path), STR("/"));
    if (prefixed && s->base != NULL)
        s->base = format(&s->arena, "%s%s", s->base, parts.path);
    (void)uname(&machine); /* only for our User-Agent */
    s->user_agent = format(&s->arena, "evenkeel/%s (linux/%s)", EVENKEEL_VERSION, machine.machine);
    bool all = true;
    for (size_t i = 0; all && i < access->proxy_header_count; i++) {
        struct curl_slist *grown = curl_slist_append(s->proxy_headers, access->proxy_headers[i]);
        all = grown != NULL;
        s->proxy_headers = all ? grown : s->proxy_headers;
    }
    if (!all || s->base == NULL || s->user_agent == NULL || (renamed && s->via == NULL))
        return err_set(err, -ENOMEM, "no memory for the server's address");
    return 0;
}

void transfer_settings_done(struct transfer_settings *s) {
    curl_slist_free_all(s->proxy_headers);
    curl_slist_free_all(s->via);
    arena_done(&s->arena);
}

/* ---- libcurl's callbacks ---- */

static int on_socket(void *ctx, curl_socket_t fd, curlsocktype purpose) {
    (void)ctx, (void)purpose;
    const int count = PROBE_COUNT, unanswered_ms = UNANSWERED_MS;
    /* both only help to detect a dead peer earlier */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms, sizeof unanswered_ms);
    return CURL_SOCKOPT_OK;
}

static int status_of(const struct kube_request *request) {
    long status = 0;
    (void)curl_easy_getinfo(request->own.transfer.easy, CURLINFO_RESPONSE_CODE,
                            &status); /* 0 on failure */
    return (int)status;
}

static const char date[] = "Date:";

/* Called line by line; an empty line ends the headers, also those of a "100 Continue". */
static size_t on_header(char *bytes, size_t size, size_t count, void *ctx) {
    const struct kube_request *request = ctx;
    size_t n = size * count, name = sizeof date - 1;
    if (n > name && strncasecmp(bytes, date, name) == 0)
        server_clock_heard(request->own.server, (struct str){bytes + name, n - name});
    if (n <= 2 && (n == 0 || bytes[0] == '\r' || bytes[0] == '\n')) {
        int status = status_of(request);
        if (status >= 200 && request->on_head != NULL)
            request->on_head(request->ctx, status);
    }
    return n;
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *ctx) {
    struct kube_request *request = ctx;
    struct strbuf *body = &request->own.body;
    size_t n = size * count;
    if (request->on_data != NULL) {
        if (request->on_data(request->ctx, (struct str){bytes, n}) != 0)
            request->own.refused = -ECANCELED;
    } else {
        strbuf_append(body, bytes, n);
        if (strbuf_failed(body))
            request->own.refused = n > body->max - body->n ? -EFBIG : -ENOMEM;
    }
    return request->own.refused == 0 ? n : 0;
}

/* ---- one request ---- */

static struct curl_blob blob(struct str text) {
    /* libcurl's struct is not const, but with CURL_BLOB_COPY libcurl only reads it */
    union {
        const void *in;
        void *out;
    } bytes = {text.p};
    return (struct curl_blob){.data = bytes.out, .len = text.n, .flags = CURL_BLOB_COPY};
}

static CURLcode set_tls(CURL *easy, const struct kube_access *access,
                        const struct identity *identity) {
    struct curl_blob ca = blob(identity->ca), certificate = blob(identity->certificate),
                     key = blob(identity->key);
    long verify = access->insecure_skip_tls_verify ? 0 : 1;
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, verify);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, verify * 2);
    if (code == CURLE_OK && ca.len > 0)
        code = curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &ca);
    if (code == CURLE_OK && certificate.len > 0)
        code = curl_easy_setopt(easy, CURLOPT_SSLCERT_BLOB, &certificate);
    if (code == CURLE_OK && key.len > 0)
        code = curl_easy_setopt(easy, CURLOPT_SSLKEY_BLOB, &key);
    return code;
}

/* May requests share a connection? Not over plain HTTP: there libcurl does not learn that a
 * connection cannot be shared, so a second request would wait for the end of the first request,
 * which may be a watch. */
static bool may_multiplex(const struct kube_access *access) {
    return access->multiplex && strncmp(access->server, "https://", 8) == 0;
}

static CURLcode set_connection(CURL *easy, const struct transfer_settings *s) {
    const char *proxy = s->access->proxy_url != NULL ? s->access->proxy_url : "";
    const struct {
        CURLoption option;
        long value;
    } numbers[] = {
        {CURLOPT_NOSIGNAL, 1},
        {CURLOPT_HTTP_VERSION,
         may_multiplex(s->access) ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1},
        {CURLOPT_PIPEWAIT, may_multiplex(s->access)}, /* waits for the connection that is being
                                                         made */
        {CURLOPT_FOLLOWLOCATION, 0},
        {CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS},
        {CURLOPT_TCP_KEEPALIVE, 1},
        {CURLOPT_TCP_KEEPIDLE, PROBE_IDLE_S},
        {CURLOPT_TCP_KEEPINTVL, PROBE_INTERVAL_S},
        {CURLOPT_SUPPRESS_CONNECT_HEADERS, 1},
        {CURLOPT_DNS_CACHE_TIMEOUT, 0}, /* the cache uses the wall clock, which may be set back */
        /* do not wait for a thread that looks up a name: requests to other servers use this loop,
         * too */
        {CURLOPT_QUICK_EXIT, 1},
    };
    CURLcode code = CURLE_OK;
    for (size_t i = 0; code == CURLE_OK && i < sizeof numbers / sizeof numbers[0]; i++)
        code = curl_easy_setopt(easy, numbers[i].option, numbers[i].value);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_PROXY, proxy); /* "": no proxy, whatever the
                                                                environment says */
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_NOPROXY, ""); /* the same for its exceptions */
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_HEADEROPT, CURLHEADER_SEPARATE);
    if (code == CURLE_OK && s->proxy_headers != NULL)
        code = curl_easy_setopt(easy, CURLOPT_PROXYHEADER, s->proxy_headers);
    if (code == CURLE_OK && s->via != NULL)
        code = curl_easy_setopt(easy, CURLOPT_CONNECT_TO, s->via);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_socket);
    return code;
}

static bool add_header(struct kube_request *request, const char *line) {
    struct curl_slist *grown = line != NULL ? curl_slist_append(request->own.headers, line) : NULL;
    if (grown != NULL)
        request->own.headers = grown;
    return grown != NULL;
}

static bool add_content_type(struct kube_request *request) {
    CLEANUP(strbuf_done) struct strbuf line = {.max = 1024};
    strbuf_appendf(&line, "Content-Type: %s",
                   request->content_type != NULL ? request->content_type : "application/json");
    strbuf_append_char(&line, '\0');
    return !strbuf_failed(&line) && add_header(request, line.p);
}

static const struct str authorization = {"Authorization: ", 15};

static bool add_authorization(struct kube_request *request, struct str value) {
    CLEANUP(secret_buffer_done) struct strbuf line = {0};
    if (secret_buffer_init(&line, authorization.n + value.n + 1, NULL) != 0)
        return false;
    strbuf_append_str(&line, authorization);
    strbuf_append_str(&line, value);
    strbuf_append_char(&line, '\0');
    return add_header(request, line.p);
}

static void wipe_authorization(struct curl_slist *headers) {
    for (struct curl_slist *at = headers; at != NULL; at = at->next)
        if (str_has_prefix(str_of(at->data), authorization))
            explicit_bzero(at->data, strlen(at->data));
}

static CURLcode set_headers(struct kube_request *request, const struct transfer_settings *s,
                            const struct identity *identity) {
    bool ok =
        add_header(request, "Accept: application/json") && add_header(request, "Expect:") &&
        (s->host_header == NULL || add_header(request, s->host_header)) &&
        (identity->authorization.n == 0 || add_authorization(request, identity->authorization)) &&
        (request->body.n == 0 || add_content_type(request));
    if (!ok)
        return CURLE_OUT_OF_MEMORY;
    CURLcode code =
        curl_easy_setopt(request->own.transfer.easy, CURLOPT_HTTPHEADER, request->own.headers);
    return code == CURLE_OK
               ? curl_easy_setopt(request->own.transfer.easy, CURLOPT_USERAGENT, s->user_agent)
               : code;
}

static CURLcode set_request(struct kube_request *request, const struct transfer_settings *s,
                            int64_t timeout_ms) {
    CURL *easy = request->own.transfer.easy;
    CLEANUP(strbuf_done) struct strbuf url = {.max = 1 << 20};
    strbuf_appendf(&url, "%s%s", s->base, request->path);
    strbuf_append_char(&url, '\0');
    if (strbuf_failed(&url))
        return CURLE_OUT_OF_MEMORY;
    CURLcode code = curl_easy_setopt(easy, CURLOPT_URL, url.p);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    if (code == CURLE_OK && request->silence_ms > 0) {
        code = curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
        if (code == CURLE_OK)
            code = curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME,
                                    (long)((request->silence_ms + 999) / 1000));
    }
    if (code == CURLE_OK && request->body.n > 0) {
        code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.n);
        if (code == CURLE_OK) /* the body is not copied: it does not change until on_done */
            code = curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body.p);
    }
    return code;
}

static CURLcode set_callbacks(struct kube_request *request) {
    CURL *easy = request->own.transfer.easy;
    CURLcode code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_WRITEDATA, request);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_HEADERDATA, request);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, request->own.error_text);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_PRIVATE, &request->own.transfer)
                            : code;
}

int transfer_prepare(const struct transfer_settings *s, const struct identity *identity,
                     struct kube_request *request, int64_t timeout_ms, struct err *err) {
    request->own.transfer.easy = curl_easy_init();
    request->own.headers = NULL;
    request->own.tls_version = identity->tls_version;
    CURLcode code = request->own.transfer.easy != NULL
                        ? set_connection(request->own.transfer.easy, s)
                        : CURLE_OUT_OF_MEMORY;
    if (code == CURLE_OK)
        code = set_tls(request->own.transfer.easy, s->access, identity);
    if (code == CURLE_OK)
        code = set_callbacks(request);
    if (code == CURLE_OK)
        code = set_headers(request, s, identity);
    if (code == CURLE_OK)
        code = set_request(request, s, timeout_ms);
    if (code == CURLE_OK)
        return 0;
    transfer_done(request);
    return err_set(err, code == CURLE_OUT_OF_MEMORY ? -ENOMEM : -EINVAL,
                   "cannot set up the request %s %s: %s", request->method, request->path,
                   curl_easy_strerror(code));
}

void transfer_done(struct kube_request *request) {
    curl_easy_cleanup(request->own.transfer.easy);
    wipe_authorization(request->own.headers);
    curl_slist_free_all(request->own.headers);
    request->own.transfer.easy = request->own.headers = NULL;
}

/* ---- how it ended ---- */

static int errno_of(const struct kube_request *request, CURLcode code) {
    long os_errno = 0;
    switch (code) {
    case CURLE_OK:
        return 0;
    case CURLE_OUT_OF_MEMORY:
        return -ENOMEM;
    case CURLE_OPERATION_TIMEDOUT:
        return -ETIMEDOUT;
    case CURLE_COULDNT_CONNECT:
        (void)curl_easy_getinfo(request->own.transfer.easy, CURLINFO_OS_ERRNO,
                                &os_errno); /* 0 on failure */
        return os_errno > 0 ? -(int)os_errno : -ECONNREFUSED;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
        return -EHOSTUNREACH;
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return -ECONNRESET;
    case CURLE_WRITE_ERROR:
        return request->own.refused;
    default:
        return -EIO;
    }
}

enum kube_stage transfer_stage(const struct kube_request *request) {
    CURL *easy = request->own.transfer.easy;
    curl_off_t name_us = 0, connect_us = 0; /* libcurl sets them to 1 at least */
    if (easy == NULL)
        return KUBE_STAGE_CREDENTIALS;
    (void)curl_easy_getinfo(easy, CURLINFO_NAMELOOKUP_TIME_T, &name_us); /* 0 on failure */
    (void)curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, &connect_us);
    return connect_us > 0 ? KUBE_STAGE_ANSWER
           : name_us > 0  ? KUBE_STAGE_CONNECTION
                          : KUBE_STAGE_NAME;
}

/* A certificate is refused, the server's by us or ours by the TLS library: the request was never
 * sent, and the network is not the cause. */
static bool is_unasked(CURLcode code) {
    return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CERTPROBLEM ||
           code == CURLE_SSL_CACERT_BADFILE || code == CURLE_OUT_OF_MEMORY;
}

void transfer_result(struct kube_request *request, CURLcode code, struct kube_result *ret) {
    curl_off_t retry_after_s = 0;
    char *type = NULL;
    (void)curl_easy_getinfo(request->own.transfer.easy, CURLINFO_RETRY_AFTER, &retry_after_s);
    (void)curl_easy_getinfo(request->own.transfer.easy, CURLINFO_CONTENT_TYPE, &type);
    char *text = request->own.error_text;
    int error = errno_of(request, code);
    if (error == -EFBIG)
        (void)snprintf(text, sizeof request->own.error_text, "the answer is larger than %zu bytes",
                       request->own.body.max);
    else if (error != 0 && text[0] == '\0')
        (void)snprintf(text, sizeof request->own.error_text, "%s", curl_easy_strerror(code));
    if (retry_after_s > RETRY_AFTER_S)
        retry_after_s = RETRY_AFTER_S;
    *ret = (struct kube_result){.error = error,
                                .error_text = text,
                                .status = status_of(request),
                                .stage = transfer_stage(request),
                                .unasked = is_unasked(code),
                                .retry_after_ms = retry_after_s > 0 ? retry_after_s * 1000 : -1,
                                .content_type = type != NULL ? str_of(type) : STR(""),
                                .body = strbuf_str(&request->own.body)};
}

const char *kube_library_version(void) {
    return curl_version_info(CURLVERSION_NOW)->version;
}
