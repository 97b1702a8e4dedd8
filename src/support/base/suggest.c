#include "base/suggest.h"

enum { WORD_MAX = 48 }; /* only the beginning of longer words is compared */

struct letters {
    char text[WORD_MAX];
    unsigned n;
};

static struct letters letters_of(struct str s) {
    struct letters out = {.n = 0};
    for (size_t i = 0; i < s.n && out.n < WORD_MAX; i++) {
        char c = s.p[i];
        if (c != '-' && c != '_')
            out.text[out.n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return out;
}

static unsigned least(unsigned a, unsigned b, unsigned c) {
    unsigned ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Counts the edits between the words; an edit adds, removes or replaces a letter, or swaps two
 * letters. Optimal string alignment, with three rows of its matrix at a time. */
static unsigned edits(const struct letters *a, const struct letters *b) {
    unsigned rows[3][WORD_MAX + 1] = {{0}};
    for (unsigned j = 0; j <= b->n; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= a->n; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (unsigned j = 1; j <= b->n; j++) {
            bool same = a->text[i - 1] == b->text[j - 1];
            row[j] = least(above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1));
            bool swapped = i > 1 && j > 1 && a->text[i - 1] == b->text[j - 2] &&
                           a->text[i - 2] == b->text[j - 1];
            if (swapped && above2[j - 2] + 1 < row[j])
                row[j] = above2[j - 2] + 1;
        }
    }
    return rows[a->n % 3][b->n];
}

struct suggestion suggestion_for(struct str word) {
    return (struct suggestion){.word = word};
}

void suggestion_offer(struct suggestion *s, const char *candidate) {
    struct letters typed = letters_of(s->word), meant = letters_of(str_of(candidate));
    unsigned distance = edits(&typed, &meant), shorter = typed.n < meant.n ? typed.n : meant.n;
    /* one wrong letter in three is allowed; none in words of one or two letters */
    if (distance <= shorter / 3 && (s->best == NULL || distance < s->distance)) {
        s->best = candidate;
        s->distance = distance;
    }
}
