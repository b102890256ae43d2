// SPDX-License-Identifier: MIT
#ifndef CALLOCATIONCOUNTER_H
#define CALLOCATIONCOUNTER_H

/// How many blocks the calling thread has allocated since it began. 0 always under a sanitizer, which has an allocator of
/// its own.
unsigned long allocations_of_this_thread(void);

#endif
