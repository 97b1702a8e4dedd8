/*
 * Raw requests that RFC 9112 does not allow, each with a second request behind it or inside its
 * body. Each gets one answer, the connection ends, and the second request never runs: whoever reads
 * the bytes before us may have understood them otherwise.
 *
 * Every request is sent in three ways: at once, byte by byte, and over TLS.
 */
#include "unit/http/fixture.h"
#include "unit/http/net.h"
#include "unit/http/pki.h"
#include "unit/unit.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

struct raw {
    int status; /* 0: the connection may end without an answer */
    const char *bytes;
    size_t n;
};
#define RAW(status, text)                                                                          \
    { (status), (text), sizeof(text) - 1 }

/* What must never run: its path is asked for by nothing else. */
#define NEXT "GET /both HTTP/1.1\r\nHost: a\r\n\r\n"
#define NEXT_SIZE "34"
#define HOST "Host: a\r\n"
#define CLOSE HOST "Connection: close\r\n"
#define JSON HOST "Content-Type: application/json\r\n"
#define END "\r\n" NEXT

/* Request lines: RFC 9112 3, 2.2 and 2.3; methods and targets: RFC 9110 9.1, RFC 3986 2. */
#define LINE(status, line) RAW(status, line "\r\n" HOST END)
#define METHOD(m) LINE(400, m " /hello HTTP/1.1")
#define TARGET(t) LINE(400, "GET " t " HTTP/1.1")
#define VERSION(status, v) LINE(status, "GET /hello " v)
static const struct raw lines[] = {
    LINE(400, "GET  /hello HTTP/1.1"),
    LINE(400, "GET /hello  HTTP/1.1"),
    LINE(400, "GET /hello HTTP/1.1 "),
    LINE(400, "GET\t/hello HTTP/1.1"),
    LINE(400, "GET /hello\tHTTP/1.1"),
    LINE(0, " GET /hello HTTP/1.1"),
    LINE(400, "\tGET /hello HTTP/1.1"),
    LINE(400, "GET /hello"),
    LINE(0, "GET"),
    LINE(0, "\x16\x03\x01\x02"),
    LINE(400, "GET /hello HTTP/1.1\r"),
    LINE(400, "GET /hello\rHTTP/1.1"),
    LINE(400, "GET /hello HTTP/1.1 x"),
    RAW(400, "GET /hello HTTP/1.1\n" HOST END),
    RAW(400, "GET /hello HTTP/1.0\n" END),
    RAW(400, "GET /hello HTTP/1.0\n\n" NEXT),
    RAW(400, "GET /hello HTTP/1.0\r\n\n" NEXT),
    METHOD("G\x01T"),
    METHOD("G\x7fT"),
    METHOD("G\x80T"),
    METHOD("G\0T"),
    METHOD("\"GET\""),
    METHOD("G(T"),
    METHOD("G)T"),
    METHOD("G,T"),
    METHOD("G/T"),
    METHOD("G:T"),
    METHOD("G;T"),
    METHOD("G<T"),
    METHOD("G=T"),
    METHOD("G>T"),
    METHOD("G?T"),
    METHOD("G@T"),
    METHOD("G[T"),
    METHOD("G\\T"),
    METHOD("G]T"),
    METHOD("G{T"),
    METHOD("G}T"),
    TARGET("/hello x"),
    TARGET("/hel\tlo"),
    TARGET("/hel\x01lo"),
    TARGET("/hel\x1flo"),
    TARGET("/hel\x7flo"),
    TARGET("/hel\x80lo"),
    TARGET("/hello\xff"),
    TARGET("/hello\0x"),
    TARGET("/hello\0"),
    TARGET("/hello%00"),
    TARGET("/hello%00x"),
    TARGET("/%00hello"),
    TARGET("/tree/%00?x=y"),
    TARGET("/hello?x=%00"),
    TARGET("/hello?x=\x01"),
    VERSION(400, "HTTP/1"),
    VERSION(400, "HTTP/1."),
    VERSION(400, "HTTP/1.1.1"),
    VERSION(400, "HTTP/11.1"),
    VERSION(400, "HTTP/1.10"),
    VERSION(400, "http/1.1"),
    VERSION(400, "Http/1.1"),
    VERSION(400, "HTTP-1.1"),
    VERSION(400, "HTTP/1,1"),
    VERSION(400, "HTTP/a.b"),
    VERSION(400, "HTTP/+1.1"),
    VERSION(400, "HTTP/ 1.1"),
    VERSION(400, "HTTP /1.1"),
    VERSION(400, "HTTQ/1.1"),
    VERSION(400, "HTTP/1.1\0"),
    VERSION(505, "HTTP/0.9"),
    VERSION(505, "HTTP/2.0"),
    VERSION(505, "HTTP/3.0"),
    RAW(505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
};

/* Header lines: RFC 9112 5, RFC 9110 5.1 and 5.5. */
#define HEADER(line) RAW(400, "GET /hello HTTP/1.1\r\n" HOST line "\r\n" END)
#define NAME(name) HEADER(name ": x")
#define VALUE(value) HEADER("X: " value)
static const struct raw headers[] = {
    HEADER("no colon"),
    HEADER(": x"),
    HEADER(" : x"),
    HEADER("X : x"),
    HEADER("X\t: x"),
    HEADER("X  : x"),
    HEADER(" X: x"),
    HEADER("\tX: x"),
    HEADER("X: y\r\n folded"),
    HEADER("X: y\r\n\tfolded"),
    HEADER("X: y\r\n "),
    HEADER("X:\r\n folded\r\n twice"),
    HEADER("X: y\r\n folded: z"),
    HEADER("X: y\n folded"),
    RAW(400, "GET /hello HTTP/1.1\r\n Host: a\r\n" END),
    RAW(400, "GET /hello HTTP/1.1\r\n \r\n" HOST END),
    RAW(400, "GET /hello HTTP/1.1\r\nHost:\r\n a\r\n" END),
    NAME("a b"),
    NAME("a\tb"),
    NAME("a(b"),
    NAME("a)b"),
    NAME("a,b"),
    NAME("a/b"),
    NAME("a;b"),
    NAME("a<b"),
    NAME("a=b"),
    NAME("a>b"),
    NAME("a?b"),
    NAME("a@b"),
    NAME("a[b"),
    NAME("a\\b"),
    NAME("a]b"),
    NAME("a{b"),
    NAME("a}b"),
    NAME("\"a\""),
    NAME("a\x01"),
    NAME("a\x1f"),
    NAME("a\x7f"),
    NAME("a\x80"),
    NAME("a\0"),
    NAME("a\0b"),
    NAME("\0"),
    NAME("a\r"),
    VALUE("a\0"),
    VALUE("a\0b"),
    VALUE("\0"),
    VALUE("a\x01"),
    VALUE("a\x08"),
    VALUE("a\x0b"),
    VALUE("a\x0c"),
    VALUE("a\x1b"),
    VALUE("a\x7f"),
    VALUE("a\rb"),
    VALUE("a\r"),
    VALUE("\rb"),
    VALUE("a\rContent-Length: 5"),
    RAW(400, "GET /hello HTTP/1.1\r\n" HOST "X: a\n" END),
    RAW(400, "GET /hello HTTP/1.1\r\nHost: a\n" END),
    RAW(400, "GET /hello HTTP/1.1\r\nHost: a\r\n\n" NEXT),
    RAW(400, "GET /hello HTTP/1.1\r\nHost: a\n\n" NEXT),
    RAW(400, "GET /hello HTTP/1.1\r\nHost: a\n\r\n"),
    RAW(400, "GET /hello HTTP/1.1\r\nHost: a\r\n\n"),
};

/* Host: RFC 9112 3.2. */
#define HOSTS(lines) RAW(400, "GET /hello HTTP/1.1\r\n" lines END)
static const struct raw hosts[] = {
    HOSTS(""),
    HOSTS("X: y\r\n"),
    HOSTS("Host : a\r\n"),
    HOSTS("Host: a\r\nHost: a\r\n"),
    HOSTS("Host: a\r\nHost: b\r\n"),
    HOSTS("Host: a\r\nhost: b\r\n"),
    HOSTS("Host: a\r\nX: y\r\nHOST: b\r\n"),
    HOSTS("Host:\r\nHost: b\r\n"),
    HOSTS("Host: a b\r\n"),
    HOSTS("Host: a\tb\r\n"),
    HOSTS("Host: a/b\r\n"),
    HOSTS("Host: user@a\r\n"),
    HOSTS("Host: a?b\r\n"),
    HOSTS("Host: a#b\r\n"),
    HOSTS("Host: a\\b\r\n"),
    HOSTS("Host: <a>\r\n"),
    HOSTS("Host: \"a\"\r\n"),
    HOSTS("Host: a\x80\r\n"),
    HOSTS("Host: http://a\r\n"),
    RAW(400, "GET /hello HTTP/1.0\r\nHost: a\r\nHost: b\r\n" END),
};

/* The length of the body: RFC 9112 6. The second request is the body, or behind it. */
#define LENGTH(lines) RAW(400, "POST /echo HTTP/1.1\r\n" JSON lines "\r\n" NEXT)
#define CODING(coding)                                                                             \
    RAW(400, "POST /echo HTTP/1.1\r\n" JSON "Transfer-Encoding: " coding "\r\n\r\n0\r\n\r\n" NEXT)
static const struct raw lengths[] = {
    LENGTH("Content-Length : " NEXT_SIZE "\r\n"),
    LENGTH("Content-Length\t: " NEXT_SIZE "\r\n"),
    LENGTH("Content-Length:\r\n " NEXT_SIZE "\r\n"),
    LENGTH("Content-Length:\r\n\t" NEXT_SIZE "\r\n"),
    LENGTH("Content-Length: 3\r\n 4\r\n"),
    LENGTH(" Content-Length: " NEXT_SIZE "\r\n"),
    LENGTH("X: y\r\n Content-Length: " NEXT_SIZE "\r\n"),
    LENGTH("X: y\n Content-Length: " NEXT_SIZE "\r\n"),
    LENGTH("X: y\nContent-Length: " NEXT_SIZE "\r\n"),
    LENGTH("X: y\rContent-Length: " NEXT_SIZE "\r\n"),
    LENGTH("Content-Length: " NEXT_SIZE "\n"),
    LENGTH("Content-Length: " NEXT_SIZE "\0\r\n"),
    LENGTH("Content-Length: " NEXT_SIZE "\0x\r\n"),
    LENGTH("Content-Length\0: " NEXT_SIZE "\r\n"),
    LENGTH("Content-Length\0x: " NEXT_SIZE "\r\n"),
    LENGTH("Content-Length:\r\n"),
    LENGTH("Content-Length: +" NEXT_SIZE "\r\n"),
    LENGTH("Content-Length: -" NEXT_SIZE "\r\n"),
    LENGTH("Content-Length: -0\r\n"),
    LENGTH("Content-Length: 0x22\r\n"),
    LENGTH("Content-Length: 3 4\r\n"),
    LENGTH("Content-Length: 34,34\r\n"),
    LENGTH("Content-Length: 34, 34\r\n"),
    LENGTH("Content-Length: 34, 0\r\n"),
    LENGTH("Content-Length: 34;\r\n"),
    LENGTH("Content-Length: 34.0\r\n"),
    LENGTH("Content-Length: 3e1\r\n"),
    LENGTH("Content-Length: 34x\r\n"),
    LENGTH("Content-Length: x\r\n"),
    LENGTH("Content-Length: \"34\"\r\n"),
    LENGTH("Content-Length: \xd9\xa3\r\n"),
    LENGTH("Content-Length: 34\r\nContent-Length: 34\r\n"),
    LENGTH("Content-Length: 34\r\nContent-Length: 0\r\n"),
    LENGTH("Content-Length: 0\r\nContent-Length: 34\r\n"),
    LENGTH("Content-Length: 0\r\ncontent-length: 34\r\n"),
    LENGTH("Content-Length: 9223372036854775808\r\n"),
    RAW(413, "POST /echo HTTP/1.1\r\n" JSON "Content-Length: 99999999999999999999\r\n" END),
    LENGTH("Transfer-Encoding : chunked\r\n"),
    LENGTH("Transfer-Encoding\t: chunked\r\n"),
    LENGTH("Transfer-Encoding:\r\n chunked\r\n"),
    LENGTH("Transfer-Encoding\0: chunked\r\n"),
    LENGTH(" Transfer-Encoding: chunked\r\n"),
    LENGTH("X: y\r\n Transfer-Encoding: chunked\r\n"),
    LENGTH("X: y\nTransfer-Encoding: chunked\r\n"),
    LENGTH("Content-Length: 34\r\nTransfer-Encoding: chunked\r\n"),
    LENGTH("Transfer-Encoding: chunked\r\nContent-Length: 34\r\n"),
    LENGTH("Content-Length: 34\r\nTransfer-Encoding: identity\r\n"),
    LENGTH("Content-Length: 34\r\nTransfer-Encoding: x\r\n"),
    LENGTH("Content-Length: 34\r\nTransfer-Encoding:\r\n"),
    LENGTH("Content-Length: 34\r\nTransfer-Encoding : chunked\r\n"),
    LENGTH("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
    LENGTH("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"),
    LENGTH("Transfer-Encoding: x\r\ntransfer-encoding: chunked\r\n"),
    CODING(""),
    CODING("identity"),
    CODING("gzip"),
    CODING("gzip, chunked"),
    CODING("chunked, gzip"),
    CODING("chunked, chunked"),
    CODING("chunked, identity"),
    CODING("chunked,"),
    CODING(",chunked"),
    CODING("chunked;q=1"),
    CODING("\"chunked\""),
    CODING("'chunked'"),
    CODING("chunke"),
    CODING("chunkedd"),
    CODING("xchunked"),
    CODING("chunked\x0b"),
    CODING("\x0b"
           "chunked"),
    CODING("\x0c"
           "chunked"),
    CODING("chunked\0"),
    CODING("chunked\0x"),
    CODING("\0chunked"),
    CODING("chun\0ked"),
    CODING("chunked\r"),
    CODING("\rchunked"),
    CODING("chunked\r\n x"),
    CODING("chun\r\n ked"),
    /* both, where each of them is right by itself */
    RAW(400, "POST /echo HTTP/1.1\r\n" JSON
             "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" NEXT),
    RAW(400, "POST /echo HTTP/1.1\r\n" JSON
             "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" NEXT),
    RAW(400, "POST /echo HTTP/1.0\r\n" JSON "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" NEXT),
    RAW(400, "POST /echo HTTP/1.0\r\n" JSON
             "Transfer-Encoding: chunked\r\nContent-Length: 34\r\n\r\n" NEXT),
    RAW(400, "GET /hello HTTP/1.1\r\n" HOST "Content-Length : 34\r\n" END),
    RAW(400, "HEAD /hello HTTP/1.1\r\n" HOST "Transfer-Encoding : chunked\r\n" END),
    RAW(400, "DELETE /both HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 34\r\n" END),
    RAW(400, "POST /echo HTTP/1.1\r\n" JSON "Expect: 100-continue\r\nContent-Length : 34\r\n" END),
};

/* Chunks: RFC 9112 7.1. */
#define CHUNKS(chunks)                                                                             \
    RAW(400, "POST /echo HTTP/1.1\r\n" JSON "Transfer-Encoding: chunked\r\n\r\n" chunks NEXT)
static const struct raw chunks[] = {
    CHUNKS("x\r\n"),
    CHUNKS("-1\r\na\r\n0\r\n\r\n"),
    CHUNKS("+1\r\na\r\n0\r\n\r\n"),
    CHUNKS("0x1\r\na\r\n0\r\n\r\n"),
    CHUNKS(" 1\r\na\r\n0\r\n\r\n"),
    CHUNKS("1 \r\na\r\n0\r\n\r\n"),
    CHUNKS("1\t\r\na\r\n0\r\n\r\n"),
    CHUNKS("\r\n"),
    CHUNKS(";x=y\r\na\r\n0\r\n\r\n"),
    CHUNKS("1,\r\na\r\n0\r\n\r\n"),
    CHUNKS("1\0\r\na\r\n0\r\n\r\n"),
    CHUNKS("1\rx\r\na\r\n0\r\n\r\n"),
    CHUNKS("1\r\nab\r\n0\r\n\r\n"),
    CHUNKS("1\r\na0\r\n\r\n"),
    CHUNKS("1\r\na\r0\r\n\r\n"),
    CHUNKS("1\r\na\r\ng\r\n\r\n"),
    CHUNKS("1\r\na\r\n0\r\nno colon\r\n\r\n"),
    RAW(413, "POST /echo HTTP/1.1\r\n" JSON
             "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n" NEXT),
};

/* Not as RFC 9112 has it, and taken all the same by libmicrohttpd; or chunks as they should be. In
 * both cases nothing behind is looked at. */
#define TAKEN(chunks)                                                                              \
    RAW(200, "POST /echo HTTP/1.1\r\n" JSON "Transfer-Encoding: chunked\r\n\r\n" chunks NEXT)
static const struct raw taken[] = {
    TAKEN("1\r\na\r\n0\r\n\r\n"),
    TAKEN("1;x=y\r\na\r\n0\r\n\r\n"),
    TAKEN("001\r\na\r\n000\r\n\r\n"),
    TAKEN("A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n"),
    TAKEN("1\na\r\n0\r\n\r\n"),
    TAKEN("1\r\na\n0\r\n\r\n"),
    TAKEN("2\r\na\r\n0\r\n\r\n"),
    TAKEN("1\r\na\r\n0\n\r\n"),
    TAKEN("1\r\na\r\n0\r\n\n"),
    TAKEN("1;\na\r\n0\r\n\r\n"),
    TAKEN("1\r\na\r\n0\r\nX : y\r\n\r\n"),
    TAKEN("1\r\na\r\n0\r\nX: y\r\n folded\r\n\r\n"),
    RAW(200, "POST /echo HTTP/1.1\r\n" JSON "transfer-encoding: CHUNKED\r\n\r\n0\r\n\r\n" NEXT),
    RAW(200, "GET /hello HTTP/1.0\r\n\r\n" NEXT), /* which needs no Host */
    RAW(200, "GET /hello HTTP/1.0\r\n" HOST "\r\n" NEXT),
};

/* Refused before a body that is not waited for: what comes instead of it is no request. */
#define REFUSED(status, line)                                                                      \
    RAW(status, line " HTTP/1.1\r\n" HOST "Content-Length: 1048577\r\n" END),                      \
        RAW(status,                                                                                \
            line " HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 34\r\n" END)
static const struct raw refused[] = {
    REFUSED(405, "GET /echo"),     REFUSED(405, "PUT /echo"),   REFUSED(405, "DELETE /echo"),
    REFUSED(405, "OPTIONS /echo"), REFUSED(405, "PATCH /echo"), REFUSED(405, "HEAD /echo"),
    REFUSED(405, "POST /hello"),   REFUSED(415, "POST /echo"),  REFUSED(404, "POST /nope"),
};

/* Unusual, but allowed: the connection goes on, and so the next request is answered. */
static const struct raw good[] = {
    RAW(200, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"),
    RAW(200, "\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n"),
    RAW(200, "GET /hello HTTP/1.1\r\nHost:\r\n\r\n"),
    RAW(200, "GET /hello HTTP/1.1\r\nHost:a\r\n\r\n"),
    RAW(200, "GET /hello HTTP/1.1\r\nHost: \t a \t\r\n\r\n"),
    RAW(200, "GET /hello HTTP/1.1\r\nhOST: [fd00::1]:8443\r\n\r\n"),
    RAW(200, "GET /hello HTTP/1.1\r\nHost: evenkeel.kube-system.svc:443\r\n\r\n"),
    RAW(200, "GET /hello HTTP/1.1\r\nHost: a%41!$&'()*+,;=_~\r\n\r\n"),
    RAW(200, "GET /hello HTTP/1.1\r\nHost: a\r\n!#$%&'*+-.^_`|~09azAZ: x\r\n\r\n"),
    RAW(200, "GET /hello HTTP/1.1\r\nHost: a\r\nX: a\tb \xe9 \xff : , \"\\\r\nY:\r\nZ: \r\n\r\n"),
    RAW(200, "GET /hello HTTP/1.1\r\nHost: a\r\nX: y\r\nX: z\r\nCookie: a=b; c=d\r\n\r\n"),
    RAW(200, "GET /hello HTTP/1.2\r\nHost: a\r\n\r\n"),
    RAW(200, "GET /hello?a=b&c;%41%zz=? HTTP/1.1\r\nHost: a\r\n\r\n"),
    RAW(200, "GET /hel%6co HTTP/1.1\r\nHost: a\r\n\r\n"),
    RAW(200, "GET /tree/~:@!$&'()*+,;=-._%20 HTTP/1.1\r\nHost: a\r\n\r\n"),
    RAW(200, "GET /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"),
    RAW(200, "POST /echo HTTP/1.1\r\n" JSON "Content-Length: 2\r\n\r\n{}"),
    RAW(200, "POST /echo HTTP/1.1\r\n" JSON "Content-Length: 0002\r\n\r\n{}"),
    RAW(200, "POST /echo HTTP/1.1\r\n" JSON "Transfer_Encoding: x\r\ncontent-length:2\r\n\r\n{}"),
};

struct all {
    struct served served;
    struct pki pki;
    char cert[512], key[512];
};

static struct all *begin(bool tls) {
    struct all *a = calloc(1, sizeof *a);
    assert_non_null(a);
    served_init(&a->served);
    if (tls) {
        pki_init(&a->pki);
        pki_make(&a->pki, &(struct pki_wish){.name = "server", .cn = "server"});
        (void)snprintf(a->cert, sizeof a->cert, "%s", pki_path(&a->pki, "server.pem"));
        (void)snprintf(a->key, sizeof a->key, "%s", pki_path(&a->pki, "server.key"));
        a->served.options.tls.cert_file = a->cert;
        a->served.options.tls.key_file = a->key;
    }
    served_start(&a->served);
    return a;
}

static void end(struct all *a) {
    assert_int_equal(
        metric_now("evenkeel_http_requests_total{listener=\"test\",verb=\"both\",code=\"200\"}"),
        0);
    served_done(&a->served);
    if (a->cert[0] != '\0')
        pki_done(&a->pki);
    free(a);
}

static void open_net(struct all *a, struct net *net) {
    const struct net_tls tls = {.ca_file = NULL};
    assert_true(a->cert[0] != '\0' ? net_open_tls(net, served_address(&a->served), &tls)
                                   : net_open(net, served_address(&a->served)));
}

/* All that comes until the end, with a NUL. */
static void hear_all(struct net *net, struct strbuf *all) {
    struct net_answer answer = {0};
    strbuf_clear(all);
    while (net_receive(net))
        ;
    strbuf_append(all, net->in.p, net->in.n);
    strbuf_append_char(all, '\0');
    net_answer_done(&answer);
}

/* A request in C, for messages. */
static void quote(const struct raw *raw, struct strbuf *text) {
    strbuf_clear(text);
    for (size_t i = 0; i < raw->n && i < 300; i++) {
        const unsigned char c = (unsigned char)raw->bytes[i];
        strbuf_appendf(text, c >= ' ' && c < 0x7f ? "%c" : "\\x%02x", c);
    }
    strbuf_append_char(text, '\0');
}

static int answers_in(const char *text) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, "HTTP/1.")) != NULL; at++)
        n++;
    return n;
}

static void expect_one_answer(const struct raw *raw, const char *heard) {
    struct strbuf text = {0};
    int n = answers_in(heard), status = n > 0 ? (int)strtol(heard + 9, NULL, 10) : 0;
    quote(raw, &text);
    if (raw->status == 0 ? n > 1 || (n == 1 && status != 400) : n != 1 || status != raw->status)
        fail_msg("expected %d, got %d in %d answers to %s: %s", raw->status, status, n, text.p,
                 heard);
    strbuf_done(&text);
}

static void run(struct all *a, const struct raw *table, size_t count, bool bytewise) {
    struct strbuf heard = {0};
    for (size_t i = 0; i < count; i++) {
        struct net net;
        open_net(a, &net);
        for (size_t at = 0, k = bytewise ? 1 : table[i].n; at < table[i].n; at += k)
            if (!net_send(&net, table[i].bytes + at, k))
                break; /* it has ended already */
        hear_all(&net, &heard);
        expect_one_answer(&table[i], heard.p);
        net_close(&net);
    }
    strbuf_done(&heard);
}

#define RUN(table, bytewise) run(a, table, sizeof table / sizeof table[0], bytewise)

static void run_all(struct all *a, bool bytewise) {
    RUN(lines, bytewise);
    RUN(headers, bytewise);
    RUN(hosts, bytewise);
    RUN(lengths, bytewise);
    RUN(chunks, bytewise);
    RUN(taken, bytewise);
    RUN(refused, bytewise);
}

static void test_at_once(void **state) {
    (void)state;
    struct all *a = begin(false);
    run_all(a, false);
    end(a);
}

static void test_byte_by_byte(void **state) {
    (void)state;
    struct all *a = begin(false);
    run_all(a, true);
    end(a);
}

static void test_over_tls(void **state) {
    (void)state;
    struct all *a = begin(true);
    run_all(a, false);
    end(a);
}

/* Two heads that arrive by turns on one thread: libmicrohttpd does not say which of them it
 * refuses. */
static void test_by_turns(void **state) {
    (void)state;
    struct all *a = calloc(1, sizeof *a);
    struct net good_one, bad_one;
    struct net_answer answer = {0};
    struct strbuf heard = {0};
    assert_non_null(a);
    served_init(&a->served);
    a->served.options.threads = 1;
    served_start(&a->served);
    open_net(a, &good_one);
    open_net(a, &bad_one);
    assert_true(net_say(&good_one, "POST /echo HTTP/1.1\r\n" JSON "Content-Length: 2\r\n"));
    assert_true(net_say(&bad_one, "POST /echo HTTP/1.1\r\n" JSON));
    metric_becomes("evenkeel_http_requests_in_flight{listener=\"test\"}", 2);
    assert_true(net_say(&bad_one, "Content-Length: 2x\r\n\r\n{}"));
    hear_all(&bad_one, &heard);
    assert_int_equal(answers_in(heard.p), 1);
    assert_int_equal(strncmp(heard.p, "HTTP/1.1 400 ", 13), 0);
    assert_true(net_say(&good_one, "\r\n{}"));
    assert_true(net_hear(&good_one, &answer));
    assert_int_equal(answer.status, 200);
    net_answer_done(&answer);
    strbuf_done(&heard);
    net_close(&good_one);
    net_close(&bad_one);
    end(a);
}

/* Two heads that one thread finds complete at the same time, both refused by libmicrohttpd. */
static void test_at_the_same_time(void **state) {
    (void)state;
    enum { CLIENTS = 4 };
    struct all *a = calloc(1, sizeof *a);
    struct net busy, net[CLIENTS];
    struct strbuf heard = {0};
    assert_non_null(a);
    served_init(&a->served);
    a->served.options.threads = 1;
    served_start(&a->served);
    open_net(a, &busy);
    for (int i = 0; i < CLIENTS; i++) {
        open_net(a, &net[i]);
        assert_true(net_say(&net[i], "POST /echo HTTP/1.1\r\n" JSON));
    }
    metric_becomes("evenkeel_http_requests_in_flight{listener=\"test\"}", CLIENTS);
    assert_true(net_say(&busy, "POST /gate HTTP/1.1\r\n" JSON "Content-Length: 2\r\n\r\n{}"));
    assert_int_equal(sem_wait(&a->served.entered), 0);
    for (int i = 0; i < CLIENTS; i++)
        assert_true(net_say(&net[i], "Content-Length: 2x\r\n\r\n{}"));
    assert_int_equal(sem_post(&a->served.leave), 0);
    for (int i = 0; i < CLIENTS; i++) {
        hear_all(&net[i], &heard);
        assert_int_equal(answers_in(heard.p), 1);
        net_close(&net[i]);
    }
    strbuf_done(&heard);
    net_close(&busy);
    end(a);
}

/* The listener stops while heads are on their way. */
static void test_stop(void **state) {
    (void)state;
    enum { CLIENTS = 8 };
    struct all *a = begin(false);
    struct net net[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        open_net(a, &net[i]);
        assert_true(net_say(&net[i], "GET /hello HTTP/1.1\r\n"));
    }
    metric_becomes("evenkeel_http_requests_in_flight{listener=\"test\"}", CLIENTS);
    http_listener_stop(a->served.listener, 0);
    a->served.listener = NULL;
    for (int i = 0; i < CLIENTS; i++) {
        assert_true(net_ended(&net[i]));
        net_close(&net[i]);
    }
    served_done(&a->served);
    free(a);
}

static void test_good_ones(void **state) {
    (void)state;
    struct all *a = begin(false);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct net net;
        struct net_answer answer = {0};
        struct strbuf text = {0};
        quote(&good[i], &text);
        open_net(a, &net);
        for (int k = 0; k < 2; k++) {
            assert_true(net_send(&net, good[i].bytes, good[i].n));
            if (!net_hear(&net, &answer) || answer.status != good[i].status)
                fail_msg("%d to %s", answer.status, text.p);
        }
        strbuf_done(&text);
        net_answer_done(&answer);
        net_close(&net);
    }
    end(a);
}

/* Long heads that fit, at once and in two pieces, two of them on a connection. */
static void test_long_enough(void **state) {
    (void)state;
    static const size_t sizes[] = {8000, 16000, 28000};
    struct all *a = begin(false);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t piece = 1; piece <= 2; piece++) {
            struct strbuf request = {0}, heard = {0};
            struct net net;
            for (int k = 0; k < 2; k++) {
                const size_t begins = request.n;
                strbuf_append_str(&request, STR("GET /hello HTTP/1.1\r\n" HOST));
                strbuf_append_str(&request, k == 1 ? STR("Connection: close\r\nX: ") : STR("X: "));
                while (request.n < begins + sizes[i])
                    strbuf_append_char(&request, 'x');
                strbuf_append_str(&request, STR("\r\n\r\n"));
            }
            open_net(a, &net);
            assert_true(net_send(&net, request.p, request.n / piece));
            assert_true(
                net_send(&net, request.p + request.n / piece, request.n - request.n / piece));
            hear_all(&net, &heard);
            if (answers_in(heard.p) != 2 || strstr(heard.p, "HTTP/1.1 4") != NULL)
                fail_msg("two heads of %zu bytes in %zu pieces: %s", sizes[i], piece, heard.p);
            net_close(&net);
            strbuf_done(&request);
            strbuf_done(&heard);
        }
    end(a);
}

/* Too long for the memory of a connection, in every place where that can be. */
static void test_too_long(void **state) {
    (void)state;
    static const struct {
        int status, other; /* may be either: it depends on where memory ends */
        const char *before, *often, *after;
    } cases[] = {
        {414, 414, "GET /hello?", "x", " HTTP/1.1\r\n" CLOSE END},
        {431, 431, "GET /hello HTTP/1.1\r\n" CLOSE "X: ", "x", "\r\n" END},
        {431, 431, "GET /hello HTTP/1.1\r\n" CLOSE, "a:b\r\n", END},
        {431, 431, "GET /hello HTTP/1.1\r\n" CLOSE "Cookie: ", "a=b;", "\r\n" END},
        {414, 414, "", "x", " /hello HTTP/1.1\r\n" CLOSE END},
        {413, 500,
         "POST /echo HTTP/1.1\r\n" JSON "Connection: close\r\n"
         "Transfer-Encoding: chunked\r\n\r\n1;",
         "x", "\r\na\r\n0\r\n\r\n" NEXT},
        {431, 413,
         "POST /echo HTTP/1.1\r\n" JSON "Connection: close\r\n"
         "Transfer-Encoding: chunked\r\n\r\n0\r\nX: ",
         "x", "\r\n\r\n" NEXT},
    };
    struct all *a = begin(false);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t size = 8000; size < 60000; size += 2000) {
            struct strbuf request = {0}, heard = {0};
            struct net net;
            strbuf_append_str(&request, str_of(cases[i].before));
            while (request.n < size)
                strbuf_append_str(&request, str_of(cases[i].often));
            strbuf_append_str(&request, str_of(cases[i].after));
            open_net(a, &net);
            (void)net_send(&net, request.p, request.n); /* it may end before */
            (void)shutdown(net.fd, SHUT_WR);
            hear_all(&net, &heard);
            int status = answers_in(heard.p) > 0 ? (int)strtol(heard.p + 9, NULL, 10) : 0;
            if (size > 40000 && status != cases[i].status && status != cases[i].other)
                fail_msg("%zu bytes of case %zu: %s", size, i, heard.p);
            if (status >= 400 && answers_in(heard.p) != 1)
                fail_msg("%zu bytes of case %zu: %s", size, i, heard.p);
            net_close(&net);
            strbuf_done(&request);
            strbuf_done(&heard);
        }
    served_done(&a->served);
    free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_once),     cmocka_unit_test(test_byte_by_byte),
        cmocka_unit_test(test_over_tls),    cmocka_unit_test(test_by_turns),
        cmocka_unit_test(test_good_ones),   cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_stop),        cmocka_unit_test(test_at_the_same_time),
        cmocka_unit_test(test_long_enough),
    };
    return cmocka_run_group_tests_name("raw requests", tests, NULL, NULL);
}
