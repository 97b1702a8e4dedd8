/*
 * Time as leases and events need it: texts for the API's fields, and a clock that also runs while
 * the machine is suspended.
 */
#pragma once

#include "base/clock.h"

#include <stdint.h>

enum { KUBE_TIME_SIZE = 32 }; /* bytes of a MicroTime's text with its NUL */

/* The wall clock, microseconds since 1970. For people to read, for the dates of certificates and of
 * what others have named by the time: it may jump, so nothing else is decided by it. */
int64_t kube_wall_us(void);

/*
 * Writes a metav1.MicroTime: "2006-01-02T15:04:05.000000Z", always UTC and six digits. What lies
 * outside the years 1 to 9999, which upstream would not read back, is written as the nearest
 * microsecond inside. upstream: apimachinery pkg/apis/meta/v1/micro_time.go
 */
void kube_time_text(int64_t wall_us, char ret[static KUBE_TIME_SIZE]);

/*
 * CLOCK_BOOTTIME: monotonic, and goes on while the machine sleeps. A leader that slept must find
 * its time used up when it wakes; CLOCK_MONOTONIC would have stood still for it, though not for the
 * others. Shared, never freed.
 */
struct clock *kube_clock_boot(void);
