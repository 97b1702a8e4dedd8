#include "unit/grpc/h2.h"

#include <nghttp2/nghttp2.h>

void h2_frame(struct strbuf *out, enum h2_type type, unsigned flags, uint32_t stream,
              struct str payload) {
    const char head[] = {(char)(payload.n >> 16),
                         (char)(payload.n >> 8),
                         (char)payload.n,
                         (char)type,
                         (char)flags,
                         (char)(stream >> 24),
                         (char)(stream >> 16),
                         (char)(stream >> 8),
                         (char)stream};
    strbuf_append(out, head, sizeof head);
    strbuf_append_str(out, payload);
}

void h2_preface(struct strbuf *out) {
    strbuf_append_str(out, STR("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    h2_frame(out, H2_SETTINGS, 0, 0, STR(""));
}

static void string(struct strbuf *block, const char *text) {
    size_t n = strlen(text); /* a prefix of seven bits, RFC 7541 5.1 */
    strbuf_append_char(block, (char)(n < 127 ? n : 127));
    if (n >= 127) {
        for (n -= 127; n >= 128; n /= 128)
            strbuf_append_char(block, (char)(n % 128 + 128));
        strbuf_append_char(block, (char)n);
    }
    strbuf_append_str(block, str_of(text));
}

void h2_field(struct strbuf *block, const char *name, const char *value) {
    strbuf_append_char(block, 0);
    string(block, name);
    string(block, value);
}

void h2_request(struct strbuf *out, uint32_t stream, const char *path, const struct strbuf *more) {
    CLEANUP(strbuf_done) struct strbuf block = {0};
    h2_field(&block, ":method", "POST");
    h2_field(&block, ":scheme", "http");
    h2_field(&block, ":path", path);
    h2_field(&block, ":authority", "estimator");
    h2_field(&block, "content-type", "application/grpc");
    h2_field(&block, "te", "trailers");
    if (more != NULL)
        strbuf_append_str(&block, strbuf_str(more));
    h2_frame(out, H2_HEADERS, H2_END_HEADERS, stream, strbuf_str(&block));
}

void h2_message(struct strbuf *out, uint32_t stream, struct str message) {
    CLEANUP(strbuf_done) struct strbuf data = {0};
    const char prefix[] = {0, (char)(message.n >> 24), (char)(message.n >> 16),
                           (char)(message.n >> 8), (char)message.n};
    strbuf_append(&data, prefix, sizeof prefix);
    strbuf_append_str(&data, message);
    h2_frame(out, H2_DATA, H2_END_STREAM, stream, strbuf_str(&data));
}

void h2_call(struct strbuf *out, uint32_t stream, const char *path, struct str message) {
    h2_request(out, stream, path, NULL);
    h2_message(out, stream, message);
}

/* ---- what a server sent ---- */

static void keep(struct str value, char *to, size_t size) {
    assert_true(value.n < size);
    memcpy(to, value.p, value.n);
    to[value.n] = '\0';
}

static void see_field(struct h2_answer *a, struct str name, struct str value) {
    if (str_eq(name, STR(":status")))
        keep(value, a->status, sizeof a->status);
    else if (str_eq(name, STR("content-type")))
        keep(value, a->type, sizeof a->type);
    else if (str_eq(name, STR("grpc-status")))
        keep(value, a->grpc_status, sizeof a->grpc_status);
    else if (str_eq(name, STR("grpc-message")))
        keep(value, a->grpc_message, sizeof a->grpc_message);
}

static void see_headers(struct h2_seen *seen, struct h2_answer *a, struct str block) {
    nghttp2_hd_inflater *inflater = seen->inflater;
    if (inflater == NULL)
        assert_int_equal(nghttp2_hd_inflate_new(&inflater), 0);
    seen->inflater = inflater;
    a->header_frames++;
    for (;;) {
        nghttp2_nv nv;
        int flags = 0;
        const ssize_t n =
            nghttp2_hd_inflate_hd2(inflater, &nv, &flags, (const uint8_t *)block.p, block.n, 1);
        assert_true(n >= 0);
        block = (struct str){block.p + n, block.n - (size_t)n};
        if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0)
            see_field(a, (struct str){(const char *)nv.name, nv.namelen},
                      (struct str){(const char *)nv.value, nv.valuelen});
        if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0)
            break;
    }
    assert_int_equal(nghttp2_hd_inflate_end_headers(inflater), 0);
}

static uint32_t number(const char *p) {
    const unsigned char *u = (const unsigned char *)p;
    return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

static void see_stream(struct h2_seen *seen, enum h2_type type, unsigned flags, uint32_t stream,
                       struct str payload) {
    assert_true(stream % 2 == 1 && stream / 2 < H2_STREAMS);
    struct h2_answer *a = &seen->answers[stream / 2];
    if (type == H2_HEADERS) {
        assert_int_equal(flags & H2_END_HEADERS, H2_END_HEADERS);
        see_headers(seen, a, payload);
    } else if (type == H2_DATA) {
        assert_true(a->body_length + payload.n <= sizeof a->body);
        memcpy(a->body + a->body_length, payload.p, payload.n);
        a->body_length += payload.n;
    } else if (type == H2_RST_STREAM) {
        a->reset = true;
        a->reset_code = number(payload.p);
    }
    if ((type == H2_HEADERS || type == H2_DATA) && (flags & H2_END_STREAM) != 0)
        a->ended = true;
}

static void see_frame(struct h2_seen *seen, enum h2_type type, unsigned flags, uint32_t stream,
                      struct str payload) {
    const bool ack = (flags & H2_ACK) != 0;
    if (type == H2_SETTINGS)
        *(ack ? &seen->settings_acks : &seen->settings) += 1;
    else if (type == H2_PING) {
        *(ack ? &seen->ping_acks : &seen->pings) += 1;
        assert_int_equal(payload.n, sizeof seen->ping);
        memcpy(ack ? seen->ping_ack : seen->ping, payload.p, sizeof seen->ping);
    } else if (type == H2_GOAWAY) {
        seen->goaways++;
        seen->goaway_stream = number(payload.p);
        seen->goaway_code = number(payload.p + 4);
    } else if (type == H2_WINDOW_UPDATE)
        seen->window_updates++;
    else
        see_stream(seen, type, flags, stream, payload);
}

void h2_see(struct h2_seen *seen, struct str bytes) {
    enum { HEAD = 9 };
    strbuf_append_str(&seen->left, bytes);
    size_t at = 0;
    while (seen->left.n - at >= HEAD) {
        const char *p = seen->left.p + at;
        const size_t n = number(p) >> 8;
        if (seen->left.n - at < HEAD + n)
            break;
        see_frame(seen, (enum h2_type)p[3], (unsigned char)p[4], number(p + 5) & 0x7fffffff,
                  (struct str){p + HEAD, n});
        at += HEAD + n;
    }
    if (at > 0)
        memmove(seen->left.p, seen->left.p + at, seen->left.n - at);
    seen->left.n -= at;
}

void h2_seen_done(struct h2_seen *seen) {
    if (seen->inflater != NULL)
        nghttp2_hd_inflate_del(seen->inflater);
    strbuf_done(&seen->left);
    *seen = (struct h2_seen){.settings = 0};
}
