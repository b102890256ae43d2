// SPDX-License-Identifier: MIT
// Functions that glibc only declares under _GNU_SOURCE, which Swift's Glibc module does not define.
#include <malloc.h>
#include <sys/types.h>
#include <sys/uio.h>

/// Reads at an offset, with flags; see preadv2(2).
ssize_t preadv2(int descriptor, const struct iovec *parts, int count, off_t offset, int flags);

/// Finds bytes in others in linear time; see memmem(3).
void *memmem(const void *bytes, size_t count, const void *wanted, size_t wanted_count);

/// Fail with EAGAIN instead of waiting for a disk.
static const int CLUSTERD_RWF_NOWAIT = 8;
