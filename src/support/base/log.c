/*
 * A line is made piece by piece in a buffer on the stack, which keeps room for the end of the line
 * (an ellipsis, a quote, a brace, the newline). So a line that is cut is still one valid logfmt
 * line or JSON object. Nothing here allocates or locks: logging works without free memory.
 *
 * Threads: the settings except the level are written before threads exist; a site's counters are
 * atomic. If two threads open a new window at the same moment, one line more or less may be
 * written, which does no harm.
 */
#include "base/log.h"

#include "base/limits.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

const char *const log_level_names[LOG_LEVELS] = {"debug", "info", "warn", "error"};

enum { SITE_LINES = 20, SITE_WINDOW_MS = 10000 };
enum { TAIL = sizeof "…\"}\n" - 1 }; /* the longest end of a line */

static struct {
    _Atomic(enum log_level) least;
    enum log_format format;
    int fd;
    struct clock *clock; /* borrowed; NULL: the real clock */
} settings = {.least = LOG_INFO, .format = LOG_LOGFMT, .fd = STDERR_FILENO};

/* The trace that this thread's lines belong to. */
static _Thread_local struct {
    log_trace_fn *fn; /* NULL: none */
    const void *ctx;
} trace;

struct line {
    size_t n;
    bool json;
    bool cut; /* a part did not fit: only the tail may still be added */
    char bytes[LIMIT_LOG_LINE];
};

void log_setup(enum log_level least, enum log_format format, int fd) {
    log_set_level(least);
    settings.format = format;
    settings.fd = fd;
}

void log_use_clock(struct clock *clock) {
    settings.clock = clock;
}

void log_set_level(enum log_level least) {
    atomic_store_explicit(&settings.least, least, memory_order_relaxed);
}

enum log_level log_level(void) {
    return atomic_load_explicit(&settings.least, memory_order_relaxed);
}

bool log_wants(enum log_level level) {
    return level >= log_level();
}

/* Returns the bytes that may still be added; a closing quote may already use the tail's room. */
static size_t room(const struct line *line) {
    return line->n < sizeof line->bytes - TAIL ? sizeof line->bytes - TAIL - line->n : 0;
}

/* Adds all bytes, or none if they do not fit. */
static void add(struct line *line, const char *bytes, size_t n) {
    if (line->cut || n > room(line)) {
        line->cut = true;
        return;
    }
    memcpy(line->bytes + line->n, bytes, n);
    line->n += n;
}

static void add_cstr(struct line *line, const char *text) {
    add(line, text, strlen(text));
}

/* Adds text to the tail, for which room is kept free. */
static void add_tail(struct line *line, const char *text) {
    memcpy(line->bytes + line->n, text, strlen(text));
    line->n += strlen(text);
}

/* Returns the bytes of the first character of s; 0 if it is not valid UTF-8. */
static size_t character_length(struct str s) {
    return (unsigned char)s.p[0] < 0x80 ? 1 : str_utf8_length(s);
}

/* Adds the first character of s, escaped if necessary; returns its bytes in s. */
static size_t add_character(struct line *line, struct str s) {
    static const char short_escapes[] = "\"\"\\\\\nn\rr\tt";
    unsigned char c = (unsigned char)s.p[0];
    for (size_t i = 0; i + 1 < sizeof short_escapes; i += 2)
        if (s.p[0] == short_escapes[i]) {
            add(line, (const char[]){'\\', short_escapes[i + 1]}, 2);
            return 1;
        }
    size_t n = character_length(s);
    char escape[8];
    if (n == 0) {
        if (line->json)
            add_cstr(line, "\\ufffd");
        else
            add(line, escape, (size_t)snprintf(escape, sizeof escape, "\\x%02x", c));
        return 1;
    }
    bool c1_control = n == 2 && c == 0xc2 && (unsigned char)s.p[1] < 0xa0;
    if (c < 0x20 || c == 0x7f || c1_control) {
        unsigned code = n == 1 ? c : (unsigned char)s.p[1];
        add(line, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", code));
    } else {
        add(line, s.p, n);
    }
    return n;
}

static bool needs_quotes(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] >= 0x7f || s.p[i] == '"' || s.p[i] == '=' || s.p[i] == '\\')
            return true; /* plain char is signed or not: bytes from 0x80 are caught either way */
    return s.n == 0;
}

static void add_text(struct line *line, struct str s) {
    bool quoted = line->json || needs_quotes(s);
    if (quoted)
        add(line, "\"", 1);
    bool begun = !line->cut;
    for (size_t at = 0; at < s.n && !line->cut;)
        at += add_character(line, (struct str){s.p + at, s.n - at});
    if (line->cut && begun)
        add_tail(line, "…");
    if (quoted && begun)
        add_tail(line, "\"");
}

/* Adds "key=" or "\"key\":", with the separator before it. */
static void add_key(struct line *line, const char *key) {
    size_t start = line->n;
    if (line->json) {
        add_cstr(line, line->n == 0 ? "{\"" : ",\"");
        add_cstr(line, key);
        add_cstr(line, "\":");
    } else {
        add_cstr(line, line->n == 0 ? "" : " ");
        add_cstr(line, key);
        add(line, "=", 1);
    }
    if (line->cut || room(line) < sizeof "-9223372036854775808") {
        line->n = start; /* no key without a value */
        line->cut = true;
    }
}

static void add_number(struct line *line, int64_t number) {
    char text[24];
    add(line, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)number));
}

static void add_field(struct line *line, const struct log_field *field) {
    if (line->cut)
        return;
    if (field->key == NULL)
        return; /* left out */
    add_key(line, field->key);
    if (line->cut)
        return;
    if (field->is_number)
        add_number(line, field->number);
    else
        add_text(line, field->text);
}

static void add_head(struct line *line, enum log_level level, const char *message) {
    struct timespec now;
    struct tm utc;
    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail on Linux */
    (void)gmtime_r(&now.tv_sec, &utc);         /* fails only after the year 2^31 */
    char date[32], text[48];
    (void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
    (void)snprintf(text, sizeof text, "%s.%03dZ", date, (int)(now.tv_nsec / 1000000));
    const struct log_field head[] = {LOG_CSTR("time", text),
                                     LOG_CSTR("level", log_level_names[level]),
                                     LOG_CSTR("msg", message)};
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        add_field(line, &head[i]);
}

void log_trace(log_trace_fn *fn, const void *ctx) {
    trace.fn = fn;
    trace.ctx = ctx;
}

/* upstream: W3C Trace Context, "00-<32 hex digits>-<16>-<2>", of any version but ff. */
static bool is_traceparent(struct str s) {
    static const char form[] = "xx-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";
    if (s.n != sizeof form - 1 || str_has_prefix(s, STR("ff")))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        bool hex = (s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f');
        if (form[i] == 'x' ? !hex : s.p[i] != '-')
            return false;
    }
    return true;
}

static void add_trace(struct line *line) {
    struct str traceparent = trace.fn != NULL ? trace.fn(trace.ctx) : STR("");
    if (is_traceparent(traceparent))
        add_field(line, &(struct log_field)LOG_STR("traceparent", traceparent));
}

/* May this site write now? Sets *ret_dropped to the number of lines it lost in the window that has
 * just ended. */
static bool admit(struct log_site *site, uint32_t *ret_dropped) {
    struct clock *clock = settings.clock != NULL ? settings.clock : clock_real();
    int64_t now_ms = clock->now_ms(clock);
    int64_t start = atomic_load_explicit(&site->window_start_ms, memory_order_relaxed);
    bool first = start == 0;
    if (!first && now_ms - start < SITE_WINDOW_MS)
        return atomic_fetch_add_explicit(&site->lines, 1, memory_order_relaxed) < SITE_LINES;
    if (!atomic_compare_exchange_strong(&site->window_start_ms, &start, now_ms != 0 ? now_ms : 1))
        return atomic_fetch_add_explicit(&site->lines, 1, memory_order_relaxed) < SITE_LINES;
    uint32_t lines = atomic_exchange_explicit(&site->lines, 1, memory_order_relaxed);
    *ret_dropped = lines > SITE_LINES ? lines - SITE_LINES : 0;
    return true;
}

/* A log that cannot be written (disk full, pipe closed) must not stop the daemon. */
static void write_line(const struct line *line) {
    size_t done = 0;
    while (done < line->n) {
        ssize_t n = write(settings.fd, line->bytes + done, line->n - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        done += (size_t)n;
    }
}

void log_write(struct log_site *site, enum log_level level, const char *message,
               const struct log_field *fields, size_t field_count) {
    uint32_t dropped = 0;
    if (!log_wants(level))
        return;
    int errno_before = errno;
    if (admit(site, &dropped)) {
        struct line line;
        line.n = 0;
        line.cut = false;
        line.json = settings.format == LOG_JSON;
        add_head(&line, level, message);
        for (size_t i = 0; i < field_count; i++)
            add_field(&line, &fields[i]);
        add_trace(&line);
        if (dropped > 0)
            add_field(&line, &(struct log_field)LOG_INT("dropped", dropped));
        add_tail(&line, line.json ? "}\n" : "\n");
        write_line(&line);
    }
    errno = errno_before;
}
