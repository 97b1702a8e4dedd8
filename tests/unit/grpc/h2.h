/*
 * The other side of a session for tests: writes frames as bytes, with headers without compression,
 * and reads the frames that a server sent, for each stream. HPACK is decoded by nghttp2's inflater.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include "unit/unit.h"

enum h2_type {
    H2_DATA,
    H2_HEADERS,
    H2_PRIORITY,
    H2_RST_STREAM,
    H2_SETTINGS,
    H2_PUSH_PROMISE,
    H2_PING,
    H2_GOAWAY,
    H2_WINDOW_UPDATE,
    H2_CONTINUATION,
};
enum { H2_END_STREAM = 1, H2_ACK = 1, H2_END_HEADERS = 4 };

/* ---- what a client sends ---- */

void h2_frame(struct strbuf *out, enum h2_type type, unsigned flags, uint32_t stream,
              struct str payload);
/* Appends the preface and empty SETTINGS. */
void h2_preface(struct strbuf *out);
/* Appends a header field as a literal that is not indexed. */
void h2_field(struct strbuf *block, const char *name, const char *value);
/* Appends the headers of a POST to `path`, as gRPC demands them; `more` has further fields, or is
 * NULL. */
void h2_request(struct strbuf *out, uint32_t stream, const char *path, const struct strbuf *more);
/* Appends a message with its prefix, as DATA that ends the stream. */
void h2_message(struct strbuf *out, uint32_t stream, struct str message);
/* Appends one complete call. */
void h2_call(struct strbuf *out, uint32_t stream, const char *path, struct str message);

/* ---- what a server sent ---- */

enum { H2_STREAMS = 512, H2_TEXT = 256, H2_BODY = 64 };

struct h2_answer {
    char status[4], type[64], grpc_status[4], grpc_message[H2_TEXT];
    char body[H2_BODY]; /* the bytes of DATA */
    size_t body_length;
    unsigned header_frames;
    bool ended, reset;
    uint32_t reset_code;
};
/* The frames that a server sent. The answer of stream n is answers[n / 2]. All zero at first. */
struct h2_seen {
    struct h2_answer answers[H2_STREAMS];
    unsigned settings, settings_acks, pings, ping_acks, goaways, window_updates;
    uint32_t goaway_stream, goaway_code;
    char ping[8], ping_ack[8]; /* contents of the last PING and of its last acknowledgement */
    struct strbuf left;        /* the bytes of an incomplete frame */
    void *inflater;            /* nghttp2's, made on first use */
};
void h2_see(struct h2_seen *seen, struct str bytes);
void h2_seen_done(struct h2_seen *seen);
