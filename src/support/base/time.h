/*
 * Time for leases and events: texts for the API's fields, and a clock that also runs while the
 * machine is suspended.
 */
#pragma once

#include "base/clock.h"

#include <stdint.h>

enum { KUBE_TIME_SIZE = 32 }; /* bytes of a MicroTime's text with its NUL */

/* Returns the wall clock, in microseconds since 1970. It may jump: use it only for people, for the
 * dates of certificates, and for times that others have set. */
int64_t kube_wall_us(void);

/*
 * Writes a metav1.MicroTime: "2006-01-02T15:04:05.000000Z", always UTC and six digits. A time
 * outside the years 1 to 9999, which upstream could not read back, becomes the nearest microsecond
 * inside. upstream: apimachinery pkg/apis/meta/v1/micro_time.go
 */
void kube_time_text(int64_t wall_us, char ret[static KUBE_TIME_SIZE]);

/*
 * CLOCK_BOOTTIME: monotonic, and runs while the machine sleeps. A leader that slept must find its
 * time over when it wakes; CLOCK_MONOTONIC would have stood still for it, but not for the others.
 * Shared, never freed.
 */
struct clock *kube_clock_boot(void);
