#include "bench/turn.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS_MAX = 100 };

static int compare_times(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The nearest rank. */
static double percentile_us(const int64_t *sorted_ns, uint32_t count, uint32_t percent) {
    uint64_t rank = ((uint64_t)count * percent + 99) / 100;
    return (double)sorted_ns[rank > 0 ? rank - 1 : 0] / 1000;
}

void turn_measure(int64_t *times_ns, uint32_t count, int64_t lasted_ns, struct turn *ret) {
    qsort(times_ns, count, sizeof *times_ns, compare_times);
    *ret = (struct turn){
        .p50_us = percentile_us(times_ns, count, 50),
        .p99_us = percentile_us(times_ns, count, 99),
        .max_us = percentile_us(times_ns, count, 100),
        .calls_per_s = (double)count * 1e9 / (double)lasted_ns,
    };
}

static double median(double *values, uint32_t count) {
    qsort(values, count, sizeof *values, compare_doubles);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

double turn_median(const struct turn *turns, uint32_t count, size_t field) {
    double values[TURNS_MAX];
    assert(count > 0 && count <= TURNS_MAX);
    for (uint32_t i = 0; i < count; i++)
        memcpy(&values[i], (const char *)&turns[i] + field, sizeof values[i]);
    return median(values, count);
}

double turn_median_ratio(const struct turn *ours, const struct turn *theirs, uint32_t count) {
    double values[TURNS_MAX];
    assert(count > 0 && count <= TURNS_MAX);
    for (uint32_t i = 0; i < count; i++)
        values[i] = ours[i].p50_us / theirs[i].p50_us;
    return median(values, count);
}
