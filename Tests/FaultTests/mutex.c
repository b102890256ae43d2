// SPDX-License-Identifier: MIT
// Preloaded into programs that the thread sanitizer watches, it tells the sanitizer when a contended lock of Swift's
// `Mutex` changes hands. The library Synchronization does that out of line, without the sanitizer's instructions, and
// the kernel does the rest (FUTEX_LOCK_PI, futex(2)): without this, whatever such a lock guards is reported as a race.
// Needs clang, for Swift's calling convention.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// In programs without the sanitizer these are null.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// _MutexHandle._lockSlow(_: UInt32), _tryLockSlow() -> Bool and _unlockSlow() of the library.
static SWIFT void (*next_lock)(uint32_t, SELF);
static SWIFT bool (*next_try_lock)(SELF);
static SWIFT void (*next_unlock)(SELF);

__attribute__((constructor)) static void begin(void) {
    next_lock = (__typeof__(next_lock))dlsym(RTLD_NEXT, LOCK);
    next_try_lock = (__typeof__(next_try_lock))dlsym(RTLD_NEXT, TRY_LOCK);
    next_unlock = (__typeof__(next_unlock))dlsym(RTLD_NEXT, UNLOCK);
}

SWIFT void lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void lock(uint32_t thread, SELF) {
    next_lock(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT bool try_lock(SELF) __asm__(TRY_LOCK);
SWIFT bool try_lock(SELF) {
    bool isLocked = next_try_lock(self);
    if (isLocked && __tsan_acquire) __tsan_acquire(self);
    return isLocked;
}

SWIFT void unlock(SELF) __asm__(UNLOCK);
SWIFT void unlock(SELF) {
    if (__tsan_release) __tsan_release(self);
    next_unlock(self);
}
