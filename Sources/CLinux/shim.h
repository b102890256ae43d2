// SPDX-License-Identifier: MIT
// System calls that glibc only declares under _GNU_SOURCE, which Swift's Glibc module does not define, or not at all.
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <malloc.h>
#include <sched.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/// Reads at an offset, with flags; see preadv2(2).
ssize_t preadv2(int descriptor, const struct iovec *parts, int count, off_t offset, int flags);

/// Asks for a niceness and for time slices of this length, 0 for usual ones, for the calling thread, but not for those that it
/// starts; see sched_setattr(2). Since Linux 6.12 a thread preempts those with longer slices as soon as it wakes; earlier ones
/// ignore it. Returns -1 if the system refuses, or the thread has another policy than the usual one.
static inline int clusterd_use_slices(uint64_t nanoseconds, int niceness) {
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t niceness;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes = {
        .size = sizeof attributes,
        .policy = SCHED_OTHER,
        .flags = 1 /* SCHED_FLAG_RESET_ON_FORK */,
        .niceness = niceness,
        .runtime = nanoseconds};
    if ((sched_getscheduler(0) & ~0x40000000 /* SCHED_RESET_ON_FORK */) != SCHED_OTHER) return -1;
    return (int)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/// Resizes a mapping, which may move; see mremap(2).
void *mremap(void *start, size_t old_size, size_t new_size, int flags, ...);
static inline void *clusterd_remap(void *start, size_t old_size, size_t new_size) {
    return mremap(start, old_size, new_size, 1 /* MREMAP_MAYMOVE */);
}

/// Finds bytes in others in linear time; see memmem(3).
void *memmem(const void *bytes, size_t count, const void *wanted, size_t wanted_count);

/// The offset of the first occurrence of a text at or after `start`, which is at most `count`; -1 if there is none.
static inline ssize_t clusterd_find(
    const void *text, size_t count, const void *wanted, size_t wanted_count, size_t start) {
    const char *found = memmem((const char *)text + start, count - start, wanted, wanted_count);
    return found ? found - (const char *)text : -1;
}

/// Fail with EAGAIN instead of waiting for a disk.
static const int CLUSTERD_RWF_NOWAIT = 8;

/// Makes a descriptor (userfaultfd(2)) that reports reads of pages of a mapping that have no memory. The thread that reads waits until the
/// page is filled. Only the program's own reads are reported: a system call that reads such a page fails with EFAULT, so that no
/// privilege is needed. Returns -1 if the system does not permit it.
static inline int clusterd_faults_open(void *start, size_t length) {
    int descriptor = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
    if (descriptor < 0) return -1;
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register pages = {
        .range = {(uintptr_t)start, length}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (ioctl(descriptor, UFFDIO_API, &api) == 0 && ioctl(descriptor, UFFDIO_REGISTER, &pages) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}

/// The address of the next read that waits; 0 if none does.
static inline uintptr_t clusterd_faults_next(int descriptor) {
    struct uffd_msg message;
    if (read(descriptor, &message, sizeof message) != sizeof message) return 0;
    return message.event == UFFD_EVENT_PAGEFAULT ? (uintptr_t)message.arg.pagefault.address : 0;
}

/// Lets the threads go on that wait for pages; those that still have no memory are reported again.
static inline void clusterd_faults_wake(int descriptor, void *start, size_t length) {
    struct uffdio_range range = {(uintptr_t)start, length};
    ioctl(descriptor, UFFDIO_WAKE, &range);
}

/// Fills pages that have no memory, and lets the threads go on that wait for them. If `bytes` is null, with zeros. Pages that
/// have memory keep it. Returns -1 if some could not be filled.
static inline int clusterd_faults_fill(int descriptor, void *start, const void *bytes, size_t length) {
    size_t done = 0, page = (size_t)sysconf(_SC_PAGESIZE);
    while (done < length) {
        int64_t moved;
        int failed;
        if (bytes) {
            struct uffdio_copy copy = {
                .dst = (uintptr_t)start + done, .src = (uintptr_t)bytes + done, .len = length - done};
            failed = ioctl(descriptor, UFFDIO_COPY, &copy);
            moved = copy.copy;
        } else {
            struct uffdio_zeropage zero = {.range = {(uintptr_t)start + done, length - done}};
            failed = ioctl(descriptor, UFFDIO_ZEROPAGE, &zero);
            moved = zero.zeropage;
        }
        if (!failed) return 0;
        // Some were filled before another had memory already, or before a change of other mappings interrupted.
        if (moved > 0) done += (size_t)moved;
        else if (errno == EEXIST) done += page;
        else if (errno != EAGAIN) break;
    }
    clusterd_faults_wake(descriptor, start, length);
    return done < length ? -1 : 0;
}
