#include "http/framing.h"

#include <string.h>

/* The state while the headers are checked, in order. */
struct look {
    struct framing *framing;
    const char *at; /* where the next line must begin */
    unsigned lengths, encodings, hosts;
    struct str length, encoding;
};

/* Keeps the first fault. */
static void refuse(struct framing *f, const char *fault) {
    if (f->fault == NULL)
        f->fault = fault;
}

/* Is the character a letter, a digit, or in `others`? */
static bool is_one_of(char c, const char *others) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != '\0' && strchr(others, c) != NULL);
}

static bool is_token(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (!is_one_of(s.p[i], "!#$%&'*+-.^_`|~"))
            return false;
    return s.n > 0;
}

/* Is the value free of control characters other than tabs? */
static bool is_field_value(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (((unsigned char)s.p[i] < ' ' && s.p[i] != '\t') || s.p[i] == 0x7f)
            return false;
    return true;
}

/* Does the text have only characters of a name, of an address in brackets, and of a port? */
static bool is_host(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (!is_one_of(s.p[i], "-._~%!$&'()*+,;=:[]"))
            return false;
    return true;
}

/* Is the text digits only, and does the number fit an int64? */
static bool read_length(struct str text, int64_t *ret) {
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
    return str_to_i64(text, ret);
}

bool framing_target_is_clean(struct str target) {
    for (size_t i = 0; i < target.n; i++) {
        const unsigned char c = (unsigned char)target.p[i];
        if (c <= ' ' || c >= 0x7f)
            return false;
        if (target.n - i >= 3 && memcmp(target.p + i, "%00", 3) == 0)
            return false;
    }
    return true;
}

/* Takes the first value of a header that may be repeated. */
static void take(struct str *into, struct str text) {
    *into = into->p == NULL ? text : *into;
}

static void take_header(struct look *look, struct str name, struct str value) {
    struct framing *f = look->framing;
    if (str_eq_nocase(name, STR("Content-Length"))) {
        look->lengths++;
        look->length = value;
    } else if (str_eq_nocase(name, STR("Transfer-Encoding"))) {
        look->encodings++;
        look->encoding = value;
    } else if (str_eq_nocase(name, STR("Host"))) {
        look->hosts++;
        f->origin.host = str_trim(value);
    } else if (str_eq_nocase(name, STR("Content-Type"))) {
        take(&f->content_type, value);
    } else if (str_eq_nocase(name, STR("Origin"))) {
        take(&f->origin.origin, str_trim(value));
    } else if (str_eq_nocase(name, STR("Sec-Fetch-Site"))) {
        take(&f->origin.sec_fetch_site, str_trim(value));
    } else if (str_eq_nocase(name, STR("Expect"))) {
        f->expects_continue = true;
    }
}

static enum MHD_Result look_at_header(void *ctx, enum MHD_ValueKind kind, const char *key,
                                      const char *text) {
    (void)kind; /* only headers were asked for */
    struct look *look = ctx;
    const struct str name = str_of(key), value = str_of(text != NULL ? text : "");
    if (key != look->at || text == NULL || text <= key + name.n)
        refuse(look->framing, "a header is not one line that ends with CR and LF");
    if (!is_token(name))
        refuse(look->framing, "a header's name is empty, has characters that no name may have, or "
                              "is followed by a blank");
    if (!is_field_value(value))
        refuse(look->framing, "a header's value has control characters");
    take_header(look, name, value);
    look->at = value.p + value.n + 2; /* CR and LF */
    return MHD_YES;
}

/* METHOD SP target SP HTTP/1.x CR LF */
static void check_line(const struct framing_line *line, struct framing *f) {
    const struct str method = str_of(line->method), version = str_of(line->version);
    if (!is_token(method) || line->target.p != method.p + method.n + 1 ||
        version.p != line->target.p + line->target.n + 1 || version.n != strlen("HTTP/1.1"))
        refuse(
            f,
            "the request line is not a method, a path and a version with one space between them");
    if (!line->target_is_clean)
        refuse(f, "the path has a %00, or characters that must be percent-encoded, such as %41");
}

static void check_host(const struct look *look, bool old) {
    if (look->hosts > 1 || (look->hosts == 0 && !old))
        refuse(look->framing, "send exactly one Host header");
    if (!is_host(look->framing->origin.host))
        refuse(look->framing, "the value of the Host header is no host");
}

static void check_length(const struct look *look, bool old) {
    static const char unclear[] =
        "the length of the body is not clear: send one Content-Length, or "
        "Transfer-Encoding: chunked";
    struct framing *f = look->framing;
    f->length = look->encodings > 0 ? FRAMING_CHUNKED : 0;
    if (look->lengths + look->encodings > 1 || (look->encodings > 0 && old))
        refuse(f, unclear);
    if (look->encodings > 0 && !str_eq_nocase(look->encoding, STR("chunked")))
        refuse(f, unclear);
    if (look->lengths > 0 && !read_length(look->length, &f->length))
        refuse(f, unclear);
}

void framing_read(struct MHD_Connection *mhd, const struct framing_line *line,
                  struct framing *ret) {
    *ret = (struct framing){.fault = NULL};
    struct look look = {.framing = ret, .at = line->version + strlen("HTTP/1.1\r\n")};
    const bool old = strcmp(line->version, "HTTP/1.0") == 0;
    check_line(line, ret);
    (void)MHD_get_connection_values(mhd, MHD_HEADER_KIND, look_at_header, &look); /* it returns
                                                                                     their number */
    size_t size =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;
    if (look.at + strlen("\r\n") != line->method + size)
        refuse(ret, "a header is not one line that ends with CR and LF");
    check_host(&look, old);
    check_length(&look, old);
}
