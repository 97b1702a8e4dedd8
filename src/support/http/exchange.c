/*
 * The steps of a request. Deadlines: header_ms for the headers, counted from the connection's
 * beginning, for later requests from the request line; request_ms for body, handler and answer
 * together; idle_ms until the next request line.
 */
#include "http/exchange.h"

#include "base/limits.h"
#include "base/log.h"
#include "http/framing.h"
#include "http/large.h"
#include "http/listener.h"
#include "http/origin.h"
#include "http/running.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <string.h>

void exchange_begin(struct connection *c, const char *uri) {
    struct exchange *x = &c->exchange;
    const char *question = strchr(uri, '?');
    if (c->used) { /* a new connection has its deadline, and counts as waiting, from the start */
        watchdog_rearm(c->listener->watchdog, &c->deadline, c->listener->options.limits.header_ms);
        listener_wait_for(c->listener);
    }
    c->used = true;
    if (!c->verified)
        slots_busy(c->listener->door.slots, c->slot);
    metric_add(&c->listener->stats->in_flight.metric, 1);
    x->phase = EXCHANGE_HEADERS;
    x->target = str_of(uri);
    x->target_is_clean = framing_target_is_clean(x->target);
    arena_init(&x->arena, LIMIT_REQUEST_ARENA);
    x->response = (struct http_response){.text.max = LIMIT_REQUEST_ARENA};
    x->request = (struct http_request){
        .query = question != NULL ? arena_str(&x->arena, str_of(question + 1)) : STR(""),
        .arena = &x->arena,
        .client = STR(""),
        .peer = str_of(c->peer),
        .peer_is_loopback = c->peer_is_loopback,
        .transport = c,
    };
}

/*
 * The checks, in order. Each returns true to go on; otherwise it has filled the response. No check
 * looks at the body.
 */
static bool check_framing(struct connection *c, const struct framing *f) {
    struct exchange *x = &c->exchange;
    x->expects_continue = f->expects_continue;
    x->length = f->length == FRAMING_CHUNKED ? BODY_LENGTH_UNKNOWN : (size_t)f->length;
    /* libmicrohttpd is also lenient with chunks, and we cannot check them */
    x->last = f->fault != NULL || x->length == BODY_LENGTH_UNKNOWN;
    if (f->fault == NULL)
        return true;
    http_answer_text(&x->response, MHD_HTTP_BAD_REQUEST, "%s", f->fault);
    return false;
}

/* Refuses requests of web pages. Over TLS the client has checked our name in the certificate, so we
 * do not check Host. */
static bool check_origin(struct connection *c, const struct framing *f) {
    struct exchange *x = &c->exchange;
    bool proxied = str_has_prefix(x->request.peer, STR("127.0.0.6:"));
    x->request.is_local =
        c->peer_is_loopback && !proxied && (c->session != NULL || origin_is_loopback(&f->origin));
    if (!origin_is_foreign(&f->origin))
        return true;
    http_answer_text(&x->response, MHD_HTTP_FORBIDDEN,
                     "a web page of another site sent this request: only programs and this "
                     "listener's own pages are answered");
    return false;
}

static bool check_client(struct connection *c) {
    struct exchange *x = &c->exchange;
    if (c->session == NULL || !tls_wants_client(c->listener->tls))
        return true;
    int status =
        tls_client_check(c->listener->tls, c->listener->options.services, c->session, &c->client);
    x->request.client = str_of(c->client.name);
    if (status == 0 && !c->verified)
        slots_verified(c->listener->door.slots, c->slot);
    if (status == 0) {
        c->verified = true;
        x->last = x->last || time(NULL) >= c->client.reconnects;
        return true;
    }
    LOG_W("client refused", LOG_CSTR("listener", c->listener->options.name),
          LOG_CSTR("peer", c->peer), LOG_CSTR("why", c->client.refusal));
    http_answer_text(&x->response, status, "%s", c->client.refusal);
    return false;
}

/* Logs requests for paths that are off, because kube-scheduler does not show the text of the
 * answer. */
static void answer_not_found(struct connection *c) {
    CLEANUP(strbuf_done) struct strbuf known = {.max = 4096};
    struct exchange *x = &c->exchange;
    const char *off = router_why_off(&c->listener->router, x->request.path);
    router_describe(&c->listener->router, &known);
    http_answer_text(&x->response, MHD_HTTP_NOT_FOUND, "no such path%s%s; there are: %.*s",
                     off != NULL ? ": " : "", off != NULL ? off : "", (int)known.n,
                     known.p != NULL ? known.p : "");
    if (off != NULL)
        LOG_W("a request asked for a path that is switched off", LOG_STR("path", x->request.path),
              LOG_CSTR("listener", c->listener->options.name), LOG_CSTR("peer", c->peer),
              LOG_CSTR("advice", off));
}

/* Checks the service's own list; the listener admits every caller that may call any service. */
static bool check_subjects(struct connection *c, const struct http_service *service) {
    const struct http_tls_options *own = &c->listener->options.tls;
    if (c->session == NULL || !tls_wants_client(c->listener->tls))
        return true;
    const unsigned list =
        service->subjects == NULL ? 0 : 1 + (unsigned)(service - c->listener->options.services);
    if ((c->client.lists & 1u << list) != 0)
        return true;
    const char *setting = list == 0 ? own->setting : service->subjects->setting;
    LOG_W("client refused", LOG_CSTR("listener", c->listener->options.name),
          LOG_CSTR("peer", c->peer), LOG_CSTR("client", c->client.name),
          LOG_STR("path", c->exchange.request.path));
    http_answer_text(&c->exchange.response, MHD_HTTP_FORBIDDEN,
                     "client '%s' may not call this path%s%s", c->client.name,
                     setting != NULL ? ": add one of its certificate's names to " : "",
                     setting != NULL ? setting : "");
    return false;
}

static bool check_route(struct connection *c) {
    struct exchange *x = &c->exchange;
    const struct router *router = &c->listener->router;
    bool path_known;
    const struct http_service *service;
    x->route = router_find(router, x->request.method, x->request.path, &service, &path_known);
    if (x->route != NULL) {
        x->ctx = service->ctx;
        return check_subjects(c, service);
    }
    if (path_known) {
        const char *methods = router_methods(router, x->request.path, &x->arena);
        http_answer_text(&x->response, MHD_HTTP_METHOD_NOT_ALLOWED, "this path takes only %s",
                         methods != NULL ? methods : "other methods");
        x->response.allow = methods;
        return false;
    }
    answer_not_found(c);
    return false;
}

static bool check_type(struct connection *c, const struct framing *f) {
    if (c->exchange.route->takes == HTTP_ANY || router_is_json(f->content_type))
        return true;
    http_answer_text(&c->exchange.response, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
                     "send Content-Type: application/json");
    return false;
}

static void answer_too_large(struct connection *c) {
    http_answer_text(&c->exchange.response, MHD_HTTP_CONTENT_TOO_LARGE,
                     "the body is too large: it must be smaller than %zu bytes",
                     c->listener->options.limits.body_bytes);
}

bool exchange_make_room(struct connection *c, size_t n, size_t wanted) {
    struct byte_budget *budget = &c->listener->budget;
    for (;;) {
        const size_t leaving = slots_leaving_bytes(c->listener->door.slots);
        const size_t most = budget->max / LIMIT_HTTP_LEAVING_PART;
        const size_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
        if (used + n <= budget->max + (leaving < most ? leaving : most))
            return true;
        if (leaving >= most || !door_evict_holder(&c->listener->door, c->slot, wanted))
            return false;
    }
}

static void answer_too_busy(struct connection *c) {
    struct http_response *response = &c->exchange.response;
    LOG_W("request refused: too many bytes are held",
          LOG_CSTR("listener", c->listener->options.name), LOG_CSTR("peer", c->peer),
          LOG_CSTR("advice", "the client may try again; evenkeel_http_bytes_held shows how long "
                             "too many bytes are held"));
    http_answer_text(response, MHD_HTTP_SERVICE_UNAVAILABLE,
                     "too many bodies are being received at the moment: try again");
    response->retry_after_s = 1;
}

/* Is the body, after n more bytes, still small enough to be accepted even if the budget is used up?
 */
static bool is_small(const struct exchange *x, size_t n) {
    return (x->length != BODY_LENGTH_UNKNOWN ? x->length : x->body.n + n) <= LIMIT_HTTP_SMALL_BODY;
}

static bool check_length(struct connection *c) {
    struct exchange *x = &c->exchange;
    struct byte_budget *budget = &c->listener->budget;
    if (x->length == BODY_LENGTH_UNKNOWN || x->length == 0)
        return true; /* bytes are counted when they come, or there are no bytes to count */
    if (x->length >= c->listener->options.limits.body_bytes) {
        answer_too_large(c);
        return false;
    }
    size_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    if (is_small(x, 0) || (used <= budget->max && x->length <= budget->max - used) ||
        exchange_make_room(c, x->length, x->length))
        return true;
    answer_too_busy(c);
    return false;
}

enum MHD_Result exchange_headers(struct connection *c, const char *path, const char *method,
                                 const char *version) {
    struct exchange *x = &c->exchange;
    const struct framing_line line = {method, version, x->target, x->target_is_clean};
    struct framing f;
    watchdog_rearm(c->listener->watchdog, &c->deadline, c->listener->options.limits.request_ms);
    stopwatch_start(&x->stopwatch, c->listener->clock);
    x->request.path = str_of(path);
    x->request.method = str_of(method);
    framing_read(c->mhd, &line, &f);
    bool clear = check_framing(c, &f);
    bool accepted = clear && check_origin(c, &f) && check_client(c) && check_route(c) &&
                    check_type(c, &f) && check_length(c);
    x->verb = stats_verb(c->listener->stats, x->route);
    stats_begin(x->verb);
    if (accepted) {
        x->phase = EXCHANGE_BODY;
        return MHD_YES;
    }
    x->phase = EXCHANGE_REFUSED;
    bool much = x->length != BODY_LENGTH_UNKNOWN && x->length > LIMIT_HTTP_DROP_BYTES;
    bool answer_now = !clear || much || (x->length > 0 && x->expects_continue);
    x->last |= answer_now; /* the next bytes still belong to this request's body */
    return answer_now ? answer_send(c) : MHD_YES;
}

/* Drops the rest of the body. The response is filled already, and is sent after the body. */
static void refuse_body(struct connection *c) {
    body_done(&c->exchange.body);
    slots_hold(c->slot, 0, true);
    c->exchange.phase = EXCHANGE_REFUSED;
}

enum MHD_Result exchange_body(struct connection *c, const char *bytes, size_t n) {
    struct exchange *x = &c->exchange;
    size_t max = c->listener->options.limits.body_bytes;
    metric_add(&c->listener->stats->body_bytes.metric, (int64_t)n);
    if (x->phase == EXCHANGE_REFUSED) {
        size_t most = max > LIMIT_HTTP_DROP_BYTES ? max : LIMIT_HTTP_DROP_BYTES;
        x->dropped += n;
        return x->dropped <= most ? MHD_YES : MHD_NO;
    }
    if (n >= max - x->body.n) {
        answer_too_large(c);
        refuse_body(c);
        return MHD_YES;
    }
    int r = body_append(&x->body, &c->listener->budget, (struct str){bytes, n}, x->length,
                        is_small(x, n));
    const size_t wanted = x->length != BODY_LENGTH_UNKNOWN ? x->length : x->body.n + n;
    if (r == -ENOBUFS && exchange_make_room(c, n, wanted))
        r = body_append(&x->body, &c->listener->budget, (struct str){bytes, n}, x->length, true);
    slots_hold(c->slot, x->body.n, true);
    if (r == -ENOBUFS)
        answer_too_busy(c);
    else if (r != 0)
        http_answer_text(&x->response, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory");
    if (r != 0)
        refuse_body(c);
    return MHD_YES;
}

/* Returns the handler or the continuation that must run. Returns false if neither must run. */
static bool take_handler(struct exchange *x, http_handler_fn **ret, void **ret_ctx) {
    if (x->phase == EXCHANGE_BODY) {
        x->request.body = (struct str){x->body.p, x->body.n};
        *ret = x->route->handle;
        *ret_ctx = x->ctx;
        return true;
    }
    if (x->phase != EXCHANGE_DEFERRED || x->next.go_on == NULL)
        return false;
    *ret = x->next.go_on;
    *ret_ctx = x->next.ctx;
    x->next = (struct http_continuation){.go_on = NULL};
    x->phase = EXCHANGE_BODY;
    return true;
}

static struct str trace_of(const void *request) {
    return http_request_header(request, "traceparent");
}

void exchange_call(struct exchange *x, http_handler_fn *handle, void *ctx,
                   struct http_response *response) {
    int place = running_begin(x->verb->name);
    stopwatch_lap(&x->stopwatch, LAP_HANDLING);
    log_trace(trace_of, &x->request);
    handle(ctx, &x->request, response);
    log_trace(NULL, NULL);
    stopwatch_lap(&x->stopwatch, LAP_WAITING);
    running_end(place);
}

static enum MHD_Result finish_large(struct connection *c) {
    stopwatch_lap(&c->exchange.stopwatch, LAP_QUEUED);
    if (large_take(c))
        return MHD_YES; /* called again once there is an answer */
    large_refuse(&c->exchange.response);
    return answer_send(c);
}

enum MHD_Result exchange_finish(struct connection *c) {
    struct exchange *x = &c->exchange;
    http_handler_fn *handle;
    void *ctx;
    if (x->phase == EXCHANGE_ANSWERED)
        return MHD_YES;
    if (take_handler(x, &handle, &ctx)) {
        slots_hold(c->slot, x->body.n, false);
        if (large_is(c))
            return finish_large(c);
        exchange_call(x, handle, ctx, &x->response);
        if (x->phase == EXCHANGE_DEFERRED)
            return MHD_YES; /* called again once there is an answer or a continuation */
    }
    return answer_send(c);
}

/* A slow request is counted and logged, also if its client did not wait for the answer. */
static void count(struct connection *c) {
    struct exchange *x = &c->exchange;
    const int64_t took_ns = stopwatch_stop(&x->stopwatch);
    const bool answered = x->phase == EXCHANGE_ANSWERED;
    if (answered)
        stats_count(x->verb, x->response.status, took_ns);
    if (took_ns < LIMIT_HTTP_SLOW_MS * INT64_C(1000000))
        return;
    const struct slow_request slow = {.listener = c->listener->options.name,
                                      .verb = x->verb->name,
                                      .peer = c->peer,
                                      .length = x->length,
                                      .answered = answered,
                                      .times = &x->stopwatch};
    metric_add(&c->listener->stats->slow[slow_report(&slow)].metric, 1);
}

void exchange_end(struct connection *c) {
    struct exchange *x = &c->exchange;
    if (x->phase == EXCHANGE_NONE)
        return;
    if (x->next.go_on != NULL)
        x->next.drop(x->next.ctx);
    if (x->verb != NULL) {
        count(c);
        stats_end(x->verb);
    }
    watchdog_rearm(c->listener->watchdog, &c->deadline, c->listener->options.limits.idle_ms);
    const bool huge = x->body.n >= LIMIT_HTTP_TRIM_BODY && large_is(c);
    strbuf_done(&x->response.text);
    body_done(&x->body);
    arena_done(&x->arena);
    if (huge) /* the heap of each thread keeps free memory after such requests, and does not need it
                 soon */
        (void)malloc_trim(0);
    byte_budget_give_back(&c->listener->budget, x->charged);
    slots_hold(c->slot, 0, false);
    *x = (struct exchange){.phase = EXCHANGE_NONE};
    metric_add(&c->listener->stats->in_flight.metric, -1);
    if (!c->verified)
        slots_idle(c->listener->door.slots, c->slot);
    listener_waited_for(c->listener);
}

struct str http_request_header(const struct http_request *request, const char *name) {
    if (request->transport == NULL)
        return STR("");
    const struct connection *c = request->transport;
    const char *value = MHD_lookup_connection_value(c->mhd, MHD_HEADER_KIND, name);
    return value != NULL ? str_of(value) : STR("");
}
