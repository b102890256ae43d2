// SPDX-License-Identifier: MIT
// Makes a page of a mapped file that the disk cannot deliver harmless. Such a page is a signal, SIGBUS, to the thread that reads it,
// and by default that ends the process.
#ifndef CPAGEFAULT_H
#define CPAGEFAULT_H

#include <stddef.h>

/// How many regions can be guarded at the same time.
enum { CLUSTERD_MOST_REGIONS = 4096 };

/// Guards a mapped region, which begins and ends with a page. If one of its pages cannot be read, the whole region contains zeros from
/// then on, the thread that read goes on, and `clusterd_region_has_failed` becomes true before any thread can see a zero. The first
/// region installs the handler of SIGBUS. Elsewhere the signal has the action that it had before.
///
/// Returns the region's number, or -1 if there are too many regions or the handler cannot be installed. Safe from any thread.
int clusterd_region_guard(void *start, size_t length);

/// Ends that. To be called before the region is unmapped, when no thread reads it any more.
void clusterd_region_release(int number);

/// Whether a page of the region could not be read. Never becomes false again.
int clusterd_region_has_failed(int number);

/// Does what happens if a page cannot be read; for tests.
void clusterd_region_fail(int number);

#endif
