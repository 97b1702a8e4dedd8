#include "base/table.h"

#include <assert.h>

static const uint32_t gap = 2; /* blanks between columns */

void table_init(struct table *t, const char *const *headings, uint32_t columns,
                struct arena *arena) {
    assert(columns > 0 && columns <= TABLE_COLUMNS);
    *t = (struct table){.arena = arena, .headings = headings, .columns = columns, .narrowest = 24};
}

static struct str cut(const struct table *t, struct str text) {
    static const struct str dots = STR("...");
    size_t n = t->widest;
    if (n <= dots.n || text.n <= n || t->cell_count % t->columns + 1 == t->columns)
        return text;
    for (n -= dots.n; n > 0 && ((unsigned char)text.p[n] & 0xc0) == 0x80;)
        n--; /* not inside a character */
    char *copy = arena_alloc(t->arena, n + dots.n);
    if (copy == NULL)
        return text; /* table_render() reports it */
    memcpy(copy, text.p, n);
    memcpy(copy + n, dots.p, dots.n);
    return (struct str){copy, n + dots.n};
}

void table_cell(struct table *t, struct str text) {
    struct str *cells =
        arena_push(t->arena, t->cells, t->cell_count, &t->cell_cap, sizeof *t->cells);
    if (cells == NULL)
        return; /* table_render() reports it */
    t->cells = cells;
    text = cut(t, text);
    t->cells[t->cell_count++] = text.n > 0 ? text : STR("");
}

void table_number(struct table *t, int64_t number) {
    table_cell(t, arena_printf(t->arena, "%lld", (long long)number));
}

/* ---- layout ---- */

/* Returns the cell's text up to its first line break. */
static struct str first_line(struct str text) {
    size_t end = str_find(text, '\n');
    return (struct str){text.p, end < text.n ? end : text.n};
}

/* Returns how many bytes of a line go into `room`, which is shorter: as many whole words as fit. If
 * not even the first word fits, it is the length of this word, or (breaks_words) of the part of it
 * that fits. */
static size_t break_line(struct str line, size_t room, bool breaks_words) {
    size_t used = room;
    while (used > 0 && line.p[used] != ' ')
        used--;
    if (used > 0)
        return used;
    for (used = room; !breaks_words && used < line.n && line.p[used] != ' ';)
        used++;
    while (breaks_words && used > 1 && ((unsigned char)line.p[used] & 0xc0) == 0x80)
        used--; /* not inside a character */
    return used;
}

/* Removes one output line from the front of a cell and returns it: the text up to a line break, or
 * as much text as fits into `room`. */
static struct str take_line(struct str *rest, size_t room, bool breaks_words) {
    struct str line = first_line(*rest);
    size_t used = line.n;
    if (room > 0 && line.n > room)
        line.n = used = break_line(line, room, breaks_words);
    bool ended = used < rest->n && (rest->p[used] == ' ' ||
                                    rest->p[used] == '\n'); /* the blank or line break is dropped */
    *rest = (struct str){rest->p + used + ended, rest->n - used - ended};
    return line;
}

static uint32_t cell_width(struct str text) {
    size_t widest = 0;
    do {
        struct str line = take_line(&text, 0, false);
        widest = line.n > widest ? line.n : widest;
    } while (text.n > 0);
    return (uint32_t)widest;
}

static void measure(const struct table *t, uint32_t widths[TABLE_COLUMNS]) {
    for (uint32_t c = 0; c < t->columns; c++)
        widths[c] = cell_width(str_of(t->headings[c]));
    for (uint32_t i = 0; i < t->cell_count; i++) {
        uint32_t width = cell_width(t->cells[i]), *widest = &widths[i % t->columns];
        *widest = width > *widest ? width : *widest;
    }
}

/* Returns the width that is left for the last column; 0: no limit. */
static uint32_t room_of_last(const struct table *t, const uint32_t widths[TABLE_COLUMNS]) {
    if (t->width == 0)
        return 0;
    uint32_t before = 0;
    for (uint32_t c = 0; c + 1 < t->columns; c++)
        before += widths[c] + gap;
    return before + t->narrowest < t->width ? t->width - before : t->narrowest;
}

/* Makes the widest column narrower by one, again and again, until all columns fit. */
static void make_fit(const struct table *t, uint32_t widths[TABLE_COLUMNS]) {
    enum { LEAST = 4 };
    uint32_t all = gap * (t->columns - 1), widest = 0;
    for (uint32_t c = 0; c < t->columns; c++) {
        widths[c] = widths[c] < t->width ? widths[c] : t->width;
        all += widths[c];
    }
    for (; all > t->width; all--) {
        for (uint32_t c = 0; c < t->columns; c++)
            widest = widths[c] > widths[widest] ? c : widest;
        if (widths[widest] <= LEAST)
            return;
        widths[widest]--;
    }
}

/* ---- output ---- */

static void pad(struct strbuf *out, uint32_t n) {
    strbuf_appendf(out, "%*s", (int)n, "");
}

/* Is this byte a control character, or one of the two bytes of U+0080 to U+009F? For terminals,
 * U+009B begins a command. */
static bool is_control(struct str text, size_t i) {
    const unsigned char c = (unsigned char)text.p[i];
    const unsigned char before = i > 0 ? (unsigned char)text.p[i - 1] : 0;
    const unsigned char next = i + 1 < text.n ? (unsigned char)text.p[i + 1] : 0;
    return c < 0x20 || c == 0x7f || (c == 0xc2 && next >= 0x80 && next < 0xa0) ||
           (c >= 0x80 && c < 0xa0 && before == 0xc2);
}

void table_text(struct str text, struct strbuf *out) {
    for (size_t i = 0; i < text.n; i++)
        strbuf_append_char(out, is_control(text, i) ? '?' : text.p[i]);
}

/* Ends the line without the blanks that fill its last columns. */
static void end_line(struct strbuf *out, size_t from) {
    while (out->n > from && out->p[out->n - 1] == ' ')
        out->n--;
    strbuf_append_char(out, '\n');
}

static void render_row(const struct table *t, const struct str *cells, const uint32_t *widths,
                       uint32_t last_room, struct strbuf *out) {
    struct str rest[TABLE_COLUMNS] = {{0}};
    bool more = true;
    for (uint32_t c = 0; c < t->columns; c++)
        rest[c] = cells[c];
    while (more && !strbuf_failed(out)) {
        size_t from = out->n;
        more = false;
        for (uint32_t c = 0; c < t->columns; c++) {
            bool last = c + 1 == t->columns, right = (t->right_aligned >> c & 1) != 0;
            uint32_t room = t->fits ? widths[c] : last ? last_room : 0;
            struct str line = take_line(&rest[c], room, t->fits);
            uint32_t fill = line.n < widths[c] ? widths[c] - (uint32_t)line.n : 0;
            pad(out, (c > 0 ? gap : 0) + (right ? fill : 0));
            table_text(line, out);
            pad(out, right || last ? 0 : fill);
            more = more || rest[c].n > 0;
        }
        end_line(out, from);
    }
}

bool table_render(const struct table *t, struct strbuf *out) {
    uint32_t widths[TABLE_COLUMNS];
    struct str headings[TABLE_COLUMNS] = {{0}};
    if (arena_failed(t->arena))
        return false;
    assert(t->cell_count % t->columns == 0);
    for (uint32_t c = 0; c < t->columns; c++)
        headings[c] = str_of(t->headings[c]);
    measure(t, widths);
    if (t->fits)
        make_fit(t, widths);
    uint32_t room = room_of_last(t, widths);
    render_row(t, headings, widths, room, out);
    for (uint32_t i = 0; i < t->cell_count; i += t->columns)
        render_row(t, t->cells + i, widths, room, out);
    return !strbuf_failed(out);
}
