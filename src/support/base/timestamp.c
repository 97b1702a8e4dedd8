#include "base/timestamp.h"

#include <time.h>

/* Reads a number of exactly `count` digits, and removes it from the front of s. */
static bool take_number(struct str *s, size_t count, int64_t max, int64_t *ret) {
    int64_t value = 0;
    if (s->n < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (s->p[i] < '0' || s->p[i] > '9')
            return false;
        value = value * 10 + (s->p[i] - '0');
    }
    *s = (struct str){s->p + count, s->n - count};
    *ret = value;
    return value <= max;
}

static bool take_char(struct str *s, char c) {
    if (s->n == 0 || s->p[0] != c)
        return false;
    *s = (struct str){s->p + 1, s->n - 1};
    return true;
}

static bool take_pair(struct str *s, char separator, int64_t max, int64_t *ret) {
    return take_char(s, separator) && take_number(s, 2, max, ret);
}

/* ".123456": digits beyond milliseconds do not count. */
static bool take_fraction(struct str *s, int64_t *ret_ms) {
    int64_t scale = 100, ms = 0;
    *ret_ms = 0;
    if (!take_char(s, '.'))
        return true;
    size_t before = s->n;
    for (int64_t digit; s->n > 0 && take_number(s, 1, 9, &digit); scale /= 10)
        ms += digit * scale;
    *ret_ms = ms;
    return s->n < before;
}

/* "Z", "+02:00", "-02:00" */
static bool take_offset(struct str *s, int64_t *ret_minutes) {
    int64_t hours, minutes;
    *ret_minutes = 0;
    if (take_char(s, 'Z'))
        return true;
    bool west = s->n > 0 && s->p[0] == '-';
    if (!take_pair(s, west ? '-' : '+', 23, &hours) || !take_pair(s, ':', 59, &minutes))
        return false;
    *ret_minutes = (hours * 60 + minutes) * (west ? -1 : 1);
    return true;
}

bool timestamp_parse(struct str s, int64_t *ret_ms) {
    int64_t year, month, day, hour, minute, second, ms, offset;
    if (!take_number(&s, 4, 9999, &year) || !take_pair(&s, '-', 12, &month) ||
        !take_pair(&s, '-', 31, &day) || !take_pair(&s, 'T', 23, &hour) ||
        !take_pair(&s, ':', 59, &minute) || !take_pair(&s, ':', 59, &second) ||
        !take_fraction(&s, &ms) || !take_offset(&s, &offset) || s.n > 0)
        return false;
    struct tm tm = {.tm_year = (int)year - 1900,
                    .tm_mon = (int)month - 1,
                    .tm_mday = (int)day,
                    .tm_hour = (int)hour,
                    .tm_min = (int)minute,
                    .tm_sec = (int)second};
    int64_t seconds = timegm(&tm); /* turns February 30 into March 2 */
    if (tm.tm_mon != month - 1 || tm.tm_mday != day)
        return false;
    *ret_ms = (seconds - offset * 60) * 1000 + ms;
    return true;
}
